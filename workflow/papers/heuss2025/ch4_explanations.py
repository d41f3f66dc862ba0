"""Faithfulness of explanations of ranked lists in chapter 4 of heuss2025 (section 4.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from everycell.base.arrays import FloatArray, IntArray
from everycell.explain.explainers import (
    ExplainedList,
    checks,
    greedy,
    mean_listwise_lime,
    pointwise_shap,
    ranking_shap,
    sharp,
    top_lime_weights,
)
from everycell.explain.forests import Forest, read_forest
from everycell.explain.value_functions import (
    exposure_difference,
    kendall,
    weighted_rank_difference,
)
from everycell.jobs.job import Job
from papers.heuss2025.ch4_features import planted_weights
from papers.heuss2025.ch4_settings import LIME_VARIANTS

#: Sizes of explanations.
SIZES = (1, 3, 5, 7, 10)
#: Background samples of the checks, for each data set (section 4.6.1).
CHECKING = 100
#: Maximum number of features that greedy selection selects.
MAX_SELECTED = 10
#: Value functions of lists, in the order of a game's columns. The text defines the exposure
#: difference as a sum over documents (section 4.6.2), but the plotted values are means.
MEASURES = ("Kendall's tau", "Exposure difference", "Mean exposure difference")


class Setup(NamedTuple):
    """Numbers of samples for explaining a data set."""

    background: int  #: samples for explanations
    lime_samples: int


Explainer = Callable[[ExplainedList, np.random.Generator, Setup], FloatArray]


def explanations(job: Job) -> None:
    """Explanations of test lists by all explainers, and checks of their faithfulness."""
    files, params = job.input, job.params
    test = pd.read_parquet(files.test)
    names = list(test.columns[2:])
    # A list of one document has only one order.
    lists = {
        query: rows[names].to_numpy(dtype=float)
        for query, rows in test.groupby("query", sort=False)
        if len(rows) > 1
    }
    if params.lists is not None:
        # Spread over the file, since neighbouring lists may be similar.
        spread = np.linspace(0, len(lists) - 1, min(params.lists, len(lists))).round().astype(int)
        lists = {query: lists[query] for query in np.array(list(lists))[spread]}
    pool = pd.read_parquet(files.train)[names].to_numpy(dtype=float)
    setup = Setup(params.background, params.lime_samples)
    planted = planted_weights() if job.wildcards.data == "planted" else None
    forest = read_forest(Path(files.model))
    explained = explain_lists(forest, lists, pool, names, setup, params.seed, planted)
    attributed, checked = [], []
    for number, (query, attribution, list_checks) in enumerate(explained, start=1):
        attributed.append(attribution)
        checked.append(list_checks)
        print(f"{number} of {len(lists)} lists: query {query}", flush=True)
    job.write_frame(pd.concat(attributed, ignore_index=True), "attributions")
    job.write_frame(pd.concat(checked, ignore_index=True), "checks")


def _weighted(explained_list: ExplainedList, rng: np.random.Generator, setup: Setup) -> FloatArray:
    """RankingSHAP of the negative weighted rank difference, so that no change is best."""
    difference = weighted_rank_difference(explained_list.ranks)
    return ranking_shap(explained_list, lambda ranks: -difference(ranks), rng, select=True)


#: Explainers by their names in Figure 4.4.
EXPLAINERS: dict[str, Explainer] = {
    "RShapK": lambda explained, rng, setup: ranking_shap(
        explained, kendall(explained.ranks), rng, select=True
    ),
    "RShapW": _weighted,
    "Greedy": lambda explained, rng, setup: greedy(
        explained, kendall(explained.ranks), MAX_SELECTED
    ),
    "ShaRP": lambda explained, rng, setup: sharp(explained, rng),
    "PWShap": lambda explained, rng, setup: pointwise_shap(explained),
    # Weights of each document, which `combine_weights` combines.
    "PWLime": lambda explained, rng, setup: top_lime_weights(explained, rng, setup.lime_samples),
    "RLime": lambda explained, rng, setup: mean_listwise_lime(explained, rng, setup.lime_samples),
    "Random": lambda explained, rng, setup: rng.random(explained.documents.shape[1]),
}


def explain_lists(
    forest: Forest,
    lists: Mapping[str, FloatArray],
    pool: FloatArray,
    names: Sequence[str],
    setup: Setup,
    seed: int,
    planted: FloatArray | None = None,
) -> Iterator[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """Explain lists one by one, and check each explanation.

    Yields the query, the attributions and the checks of each list.
    """
    rng = np.random.default_rng(seed)
    count = setup.background + CHECKING
    samples = pool[rng.choice(len(pool), count, replace=len(pool) < count)]
    explaining, checking = samples[: setup.background], samples[setup.background :]
    for position, (query, documents) in enumerate(lists.items()):
        explained_list = ExplainedList(forest, documents, explaining)
        attributions = {
            name: explain(explained_list, np.random.default_rng([seed, position, number]), setup)
            for number, (name, explain) in enumerate(EXPLAINERS.items())
        }
        attributions |= combine_weights(attributions["PWLime"])
        if planted is not None:
            attributions["Planted"] = planted
        yield (
            query,
            _attribution_frame(query, attributions, names),
            _check_attributions(query, attributions, explained_list, checking),
        )


def combine_weights(weights: FloatArray) -> dict[str, FloatArray]:
    """Attributions by PWLime and its variants, from weights of shape (documents, f)."""
    means = weights.mean(axis=0)
    return {
        "PWLime": np.abs(weights).mean(axis=0),
        **dict(zip(LIME_VARIANTS, (means, np.abs(means)), strict=True)),
    }


def _attribution_frame(
    query: str, attributions: Mapping[str, FloatArray], names: Sequence[str]
) -> pd.DataFrame:
    columns = {
        "query": query,
        "explainer": np.repeat(list(attributions), len(names)),
        "feature": list(names) * len(attributions),
        "value": np.concatenate(list(attributions.values())),
    }
    return pd.DataFrame(columns)


def _check_attributions(
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
    results = checks(
        game, np.array(list(attributions.values()))[:, explained_list.used_columns], SIZES
    )
    rows = [
        (query, name, check, measure, size, float(number))
        for position, name in enumerate(attributions)
        for check, values in results._asdict().items()
        for size, size_values in zip(SIZES, values[position], strict=True)
        for measure, number in zip(MEASURES, size_values, strict=True)
    ]
    columns = ["query", "explainer", "check", "measure", "size", "value"]
    return pd.DataFrame(rows, columns=columns)
