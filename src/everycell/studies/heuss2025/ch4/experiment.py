"""The experiment of section 4.6: explanations of ranked lists, and how faithful they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from everycell.engine.arrays import FloatArray, IntArray
from everycell.explain.checks import checks
from everycell.explain.explainers import (
    ExplainedList,
    greedy,
    mean_listwise_lime,
    mean_pointwise_lime,
    pointwise_shap,
    ranking_shap,
    sharp,
)
from everycell.explain.forests import Forest
from everycell.explain.value_functions import (
    exposure_difference,
    kendall,
    weighted_rank_difference,
)

#: Sizes of explanations.
SIZES = (1, 3, 5, 7, 10)
#: Features that greedy selection takes at most.
SELECTED = 10
#: What a list is worth, in the order of the columns of a game. The text defines the sum of exposure
#: differences over documents (section 4.6.2); the drawn values are those of the mean.
MEASURES = ("Kendall's tau", "Exposure difference", "Mean exposure difference")


class Setup(NamedTuple):
    """What a data set is explained with."""

    background: int  #: samples for explanations, and as many others for the checks
    lime_samples: int


Explainer = Callable[[ExplainedList, np.random.Generator, Setup], FloatArray]


def _weighted(given: ExplainedList, rng: np.random.Generator, setup: Setup) -> FloatArray:
    """RankingSHAP of the weighted rank difference, with the sign by which no change is best."""
    difference = weighted_rank_difference(given.ranks)
    return ranking_shap(given, lambda ranks: -difference(ranks), rng, select=True)


#: The explainers by their names in Figure 4.4.
EXPLAINERS: dict[str, Explainer] = {
    "RShapK": lambda given, rng, setup: ranking_shap(given, kendall(given.ranks), rng, select=True),
    "RShapW": _weighted,
    "Greedy": lambda given, rng, setup: greedy(given, kendall(given.ranks), SELECTED),
    "ShaRP": lambda given, rng, setup: sharp(given, rng),
    "PWShap": lambda given, rng, setup: pointwise_shap(given),
    "PWLime": lambda given, rng, setup: mean_pointwise_lime(given, rng, setup.lime_samples),
    "RLime": lambda given, rng, setup: mean_listwise_lime(given, rng, setup.lime_samples),
    "Random": lambda given, rng, setup: rng.random(given.documents.shape[1]),
}


def explanations(
    forest: Forest,
    lists: Mapping[str, FloatArray],
    pool: FloatArray,
    names: Sequence[str],
    setup: Setup,
    seed: int,
    known: FloatArray | None = None,
) -> Iterator[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """Explain lists one by one, and check each explanation."""
    draw = np.random.default_rng(seed)
    drawn = pool[
        draw.choice(len(pool), 2 * setup.background, replace=len(pool) < 2 * setup.background)
    ]
    explaining, checking = drawn[: setup.background], drawn[setup.background :]
    for place, (query, documents) in enumerate(lists.items()):
        given = ExplainedList(forest, documents, explaining)
        found = {
            name: explain(given, np.random.default_rng([seed, place, number]), setup)
            for number, (name, explain) in enumerate(EXPLAINERS.items())
        }
        if known is not None:
            found["Planted"] = known
        yield query, _attributions(query, found, names), _checked(query, found, given, checking)


def _attributions(
    query: str, found: Mapping[str, FloatArray], names: Sequence[str]
) -> pd.DataFrame:
    columns = {
        "query": query,
        "explainer": np.repeat(list(found), len(names)),
        "feature": list(names) * len(found),
        "value": np.concatenate(list(found.values())),
    }
    return pd.DataFrame(columns)


def _checked(
    query: str, found: Mapping[str, FloatArray], given: ExplainedList, background: FloatArray
) -> pd.DataFrame:
    tau, exposed = kendall(given.ranks), exposure_difference(given.ranks)

    def value(ranks: IntArray) -> FloatArray:
        exposures = exposed(ranks)
        return np.column_stack([tau(ranks), exposures, exposures / len(given.ranks)])

    game = ExplainedList(given.forest, given.documents, background).game(value)
    checked = checks(game, np.array(list(found.values()))[:, given.read], SIZES)
    rows = [
        (query, name, check, measure, size, float(number))
        for place, name in enumerate(found)
        for check, worth in checked._asdict().items()
        for size, pair in zip(SIZES, worth[place], strict=True)
        for measure, number in zip(MEASURES, pair, strict=True)
    ]
    columns = ["query", "explainer", "check", "measure", "size", "value"]
    return pd.DataFrame(rows, columns=columns)
