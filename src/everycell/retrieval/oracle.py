"""Weighted sums of two systems' scores, with the best weight of each query.

- oracle: the best weight of each topic, chosen by looking at its value (:func:`oracle`;
  abolghasemi2026, Table 2.4);
- noise oracle: the same choice, with random numbers for the second system
  (:func:`noise_oracle`). Choosing among eleven rankings by their value always gains something, so
  an oracle's gain means little unless it is well above this one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.retrieval.interpolation import ALPHAS, Scaling, Sweep, first_best, sweep
from everycell.retrieval.judged_lists import JudgedLists, ranking_measures


def oracle(swept: Sweep, measure: str) -> pd.DataFrame:
    """Best weight of each topic, chosen by its value.

    Source: abolghasemi2026, section 2.4 (Table 2.4). The text leaves the rule for ties open; the
    smallest weight fits its reading of alpha 0 as "no gain" and its many queries with alpha 0.
    """
    values = swept.of(measure)
    return pd.DataFrame(
        {
            "alpha": np.asarray(swept.alphas)[first_best(values)],
            "value": values.max(axis=0),
        },
        index=swept.queries.rename("query"),
    )


def oracle_summary(choices: pd.DataFrame) -> pd.Series:
    """Summarise the choices of an oracle: the rows of Table 2.4."""
    if choices.empty:
        raise ValueError("The oracle has no topic: give it one topic or more.")
    alpha = choices["alpha"]
    return pd.Series(
        {
            "value": choices["value"].mean(),
            "alpha_mean": alpha.mean(),
            "n_alpha_0": (alpha == 0).sum(),
            "n_alpha_1": (alpha == 1).sum(),
            "alpha_iqr": alpha.quantile(0.75) - alpha.quantile(0.25),
            "n": len(choices),
        }
    )


def noise_oracle(
    lists: JudgedLists,
    first: npt.ArrayLike,
    measures: Sequence[str] = ("MAP", "nDCG"),
    *,
    alphas: Sequence[float] = ALPHAS,
    over: Scaling = "query",
    seeds: Iterable[int] = range(20),
) -> pd.DataFrame:
    """Oracle of one system with random numbers for the other: the gain of choice alone.

    Not in the thesis: our control for Table 2.4. The numbers are drawn in the order of the
    lists, so the same topics, candidates and seed give the same noise.
    """
    chosen_seeds = list(seeds)
    if not chosen_seeds or len(set(chosen_seeds)) != len(chosen_seeds):
        raise ValueError(
            f"The seeds are {chosen_seeds}: give one or more, each only once, such as range(20)."
        )
    alone = ranking_measures(lists, first, measures)
    rows = []
    for seed in chosen_seeds:
        noise = np.zeros(lists.listed.shape)
        noise[lists.listed] = np.random.default_rng(seed).normal(size=int(lists.listed.sum()))
        swept = sweep(lists, first, noise, measures, alphas=alphas, over=over)
        for measure in measures:
            summary = oracle_summary(oracle(swept, measure))
            gain = summary["value"] - alone[measure].mean()
            rows.append({"measure": measure, "seed": seed, **summary, "gain": gain})
    return pd.DataFrame(rows).set_index(["measure", "seed"])
