"""Weighted sums of two systems' scores, with the best weight for each topic.

- Oracle (:func:`oracle`; abolghasemi2026, Table 2.4): the weight with the best value of the
  measure, for each topic.
- Noise oracle (:func:`noise_oracle`): the same choice, with random numbers as the second system.
  Choosing the best of eleven rankings cannot lose and usually gains, so an oracle's gain means
  little unless it is well above that of the noise oracle.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.retrieval.interpolation import ALPHAS, Scaling, Sweep, first_best, sweep
from everycell.retrieval.judged_lists import JudgedLists, ranking_measures


def oracle(results: Sweep, measure: str) -> pd.DataFrame:
    """Best weight of each topic for a measure, and the value at this weight.

    Source: abolghasemi2026, section 2.4 (Table 2.4). The text does not say how ties are broken.
    Here the smallest weight wins, which fits the text's interpretation of alpha 0 as "no gain" and
    its many queries with alpha 0.
    """
    values = results.measure_values(measure)
    return pd.DataFrame(
        {
            "alpha": np.asarray(results.alphas)[first_best(values)],
            "value": values.max(axis=0),
        },
        index=results.queries.rename("query"),
    )


def oracle_summary(choices: pd.DataFrame) -> pd.Series:
    """Summarise the choices of an oracle: the rows of Table 2.4."""
    if choices.empty:
        raise ValueError("The oracle has no topics: give at least one topic.")
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
    """Oracle weights of a system and random numbers; any gain is due to the choice alone.

    The thesis has no such control for Table 2.4. The numbers are drawn in the order of the lists,
    so the same topics, candidates and seed give the same noise.
    """
    seed_list = list(seeds)
    if not seed_list or len(set(seed_list)) != len(seed_list):
        raise ValueError(
            f"The seeds are {seed_list}: give one or more, each only once, such as range(20)."
        )
    baseline = ranking_measures(lists, first, measures)
    rows = []
    for seed in seed_list:
        noise = np.zeros(lists.listed.shape)
        noise[lists.listed] = np.random.default_rng(seed).normal(size=int(lists.listed.sum()))
        results = sweep(lists, first, noise, measures, alphas=alphas, over=over)
        for measure in measures:
            summary = oracle_summary(oracle(results, measure))
            gain = summary["value"] - baseline[measure].mean()
            rows.append({"measure": measure, "seed": seed, **summary, "gain": gain})
    return pd.DataFrame(rows).set_index(["measure", "seed"])
