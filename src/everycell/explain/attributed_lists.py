"""Explanation of a user's own ranked list: attributions with standard errors, and their plot."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from everycell.base.arrays import FloatArray, IntArray
from everycell.explain.explainers import (
    ExplainedList,
    greedy,
    mean_listwise_lime,
    mean_pointwise_lime,
    pointwise_shap,
    ranking_shap,
    sharp,
)
from everycell.explain.shapley import all_coalitions, sampled_shapley_values, shapley_values
from everycell.explain.value_functions import (
    ValueFunction,
    exposure,
    kendall,
    negative_rank,
    weighted_rank_difference,
)
from everycell.render.figure_files import style
from everycell.render.palette import COLOURS, INK

#: Largest number of features whose coalitions are enumerated; with more, permutations are sampled.
MAX_ENUMERATED = 10
#: Number of features in a plot.
MAX_PLOTTED = 15


def _weighted(ranks: IntArray, _document: int) -> ValueFunction:
    difference = weighted_rank_difference(ranks)
    return lambda new_ranks: -difference(new_ranks)


def _exposure(_ranks: IntArray, document: int) -> ValueFunction:
    return lambda new_ranks: exposure(new_ranks[:, document])


#: Value functions of a ranking, built from its ranks and the document to explain.
OBJECTIVES: dict[str, Callable[[IntArray, int], ValueFunction]] = {
    "kendall": lambda ranks, _document: kendall(ranks),
    "weighted": _weighted,
    "rank": lambda _ranks, document: negative_rank(document),
    "exposure": _exposure,
}
#: Objectives that concern one document.
DOCUMENT_OBJECTIVES = ("rank", "exposure")
#: Explainers, with descriptions.
EXPLAINERS = {
    "shapley": "Shapley values of the ranking (RankingSHAP), exact or with standard errors",
    "kernel": "Shapley values of the ranking by KernelSHAP, without standard errors",
    "greedy": "greedy selection of features; the first feature gets the highest value",
    "pointwise": "mean Shapley values of the scores of the top five documents",
    "sharp": "mean over documents of the Shapley values of their rank",
    "lime": "mean weights of linear models of Kendall's tau",
    "pointwise-lime": "mean absolute weights of linear models of the top five scores",
}
#: Explainers that take an objective.
EXPLAINERS_WITH_OBJECTIVE = ("shapley", "kernel", "greedy")


class Sampling(NamedTuple):
    """Sample sizes and limits of the explainers."""

    tolerance: float = 0.01  #: standard error at which the sampling of permutations ends
    permutations: int = 500  #: largest number of pairs of permutations
    lime_samples: int = 1000
    greedy: int = 10  #: largest number of selected features


def attributed_list(
    ranking: ExplainedList,
    *,
    explainer: str,
    objective: str = "kendall",
    document: int = 0,
    sampling: Sampling | None = None,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Attribute a ranking to the features of its documents, largest first.

    Features that the model does not use are omitted. The column `error` is the standard error due
    to sampling, and NaN for explainers without one. Equal scores of all documents are an error.
    """
    sampling = sampling or Sampling()
    scores = ranking.forest(ranking.documents)
    if len(scores) < 2:
        raise ValueError(
            "The list has fewer than two documents, so there is no order to explain: choose "
            "another list."
        )
    if np.ptp(scores) == 0:
        raise ValueError(
            f"The model gives all {len(scores)} documents the score {scores[0]:g}: there is no "
            "order to explain."
        )
    value = OBJECTIVES[objective](ranking.ranks, document)
    errors = np.full(ranking.documents.shape[1], np.nan)
    if explainer == "shapley":
        values, errors = _shapley(ranking, value, sampling, rng)
    else:
        values = {
            "kernel": lambda: ranking_shap(ranking, value, rng, select=False),
            "greedy": lambda: greedy(ranking, value, sampling.greedy),
            "pointwise": lambda: pointwise_shap(ranking),
            "sharp": lambda: sharp(ranking, rng),
            "lime": lambda: mean_listwise_lime(ranking, rng, sampling.lime_samples),
            "pointwise-lime": lambda: mean_pointwise_lime(ranking, rng, sampling.lime_samples),
        }[explainer]()
    table = pd.DataFrame(
        {"feature": ranking.forest.names, "attribution": values, "error": errors}
    ).iloc[ranking.used_columns]
    return table.sort_values("attribution", ascending=False, kind="stable").reset_index(drop=True)


def _shapley(
    ranking: ExplainedList, value: ValueFunction, sampling: Sampling, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Shapley values and their standard errors, exact (errors of 0) for few features."""
    game = ranking.game(value)
    players = game.features
    if players <= MAX_ENUMERATED:
        values = shapley_values(game(all_coalitions(players)))
        errors = np.zeros(players)
    else:
        values, errors, _ = sampled_shapley_values(
            game, players, tolerance=sampling.tolerance, limit=sampling.permutations, rng=rng
        )
    return ranking.expand_to_all_features(values), ranking.expand_to_all_features(errors)


def attribution_plot(table: pd.DataFrame, label: str) -> Figure:
    """Bar chart of the largest absolute attributions, with two standard errors."""
    largest = table["attribution"].abs().sort_values(ascending=False, kind="stable").index
    rows = table.loc[sorted(largest[:MAX_PLOTTED])]
    with style():
        figure = Figure(figsize=(5, 0.6 + 0.25 * len(rows)), layout="constrained")
        axes = figure.subplots()
        axes.barh(
            rows["feature"].astype(str),
            rows["attribution"],
            xerr=2 * rows["error"].fillna(0),
            color=COLOURS[0],
            ecolor=INK,
        )
        axes.axvline(0, color=INK, linewidth=0.6)
        axes.invert_yaxis()
        axes.set_xlabel(label)
        axes.grid(visible=False, axis="y")
    return figure
