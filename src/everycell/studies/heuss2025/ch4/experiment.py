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


def _weighted(explained_list: ExplainedList, rng: np.random.Generator, setup: Setup) -> FloatArray:
    """RankingSHAP of the weighted rank difference, with the sign by which no change is best."""
    difference = weighted_rank_difference(explained_list.ranks)
    return ranking_shap(explained_list, lambda ranks: -difference(ranks), rng, select=True)


#: The explainers by their names in Figure 4.4.
EXPLAINERS: dict[str, Explainer] = {
    "RShapK": lambda explained, rng, setup: ranking_shap(
        explained, kendall(explained.ranks), rng, select=True
    ),
    "RShapW": _weighted,
    "Greedy": lambda explained, rng, setup: greedy(explained, kendall(explained.ranks), SELECTED),
    "ShaRP": lambda explained, rng, setup: sharp(explained, rng),
    "PWShap": lambda explained, rng, setup: pointwise_shap(explained),
    "PWLime": lambda explained, rng, setup: mean_pointwise_lime(explained, rng, setup.lime_samples),
    "RLime": lambda explained, rng, setup: mean_listwise_lime(explained, rng, setup.lime_samples),
    "Random": lambda explained, rng, setup: rng.random(explained.documents.shape[1]),
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
    for position, (query, documents) in enumerate(lists.items()):
        explained_list = ExplainedList(forest, documents, explaining)
        attributions = {
            name: explain(explained_list, np.random.default_rng([seed, position, number]), setup)
            for number, (name, explain) in enumerate(EXPLAINERS.items())
        }
        if known is not None:
            attributions["Planted"] = known
        yield (
            query,
            _attributions(query, attributions, names),
            _checked(query, attributions, explained_list, checking),
        )


def _attributions(
    query: str, attributions: Mapping[str, FloatArray], names: Sequence[str]
) -> pd.DataFrame:
    columns = {
        "query": query,
        "explainer": np.repeat(list(attributions), len(names)),
        "feature": list(names) * len(attributions),
        "value": np.concatenate(list(attributions.values())),
    }
    return pd.DataFrame(columns)


def _checked(
    query: str,
    attributions: Mapping[str, FloatArray],
    explained_list: ExplainedList,
    background: FloatArray,
) -> pd.DataFrame:
    tau, exposed = kendall(explained_list.ranks), exposure_difference(explained_list.ranks)

    def value(ranks: IntArray) -> FloatArray:
        exposures = exposed(ranks)
        return np.column_stack([tau(ranks), exposures, exposures / len(explained_list.ranks)])

    game = ExplainedList(explained_list.forest, explained_list.documents, background).game(value)
    checked = checks(game, np.array(list(attributions.values()))[:, explained_list.read], SIZES)
    rows = [
        (query, name, check, measure, size, float(number))
        for position, name in enumerate(attributions)
        for check, worth in checked._asdict().items()
        for size, pair in zip(SIZES, worth[position], strict=True)
        for measure, number in zip(MEASURES, pair, strict=True)
    ]
    columns = ["query", "explainer", "check", "measure", "size", "value"]
    return pd.DataFrame(rows, columns=columns)
