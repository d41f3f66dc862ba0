"""Policies of Tables 2.2 and 2.3 of chapter 2 of heuss2025, and their measures.

The jobs take minutes per data set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.base.arrays import FloatArray
from everycell.fair_ranking.fair_exposure import fair_exposure, logarithmic_rank_weights
from everycell.fair_ranking.felix import TINY, AvoidanceTest, decompose, resample
from everycell.fair_ranking.marginals import centre_marginals, entropy_marginals
from everycell.fair_ranking.policies import (
    Policy,
    deterministic,
    exposure_error,
    holds_outlier,
    list_outliers,
    omit,
    outlier_probability,
    outlierness_released,
    plackett_luce,
    policy_ndcg,
    uniform,
)
from everycell.jobs.job import Job

Marginals = Literal["entropy", "centre"]

#: Lowest normalised score (section 2.5).
MIN_SCORE = 1e-4
#: Metrics of the tables; Outlierness as in the authors' code.
METRICS = ("NDCG@5", "NDCG@10", "EE-L", "P(u|pi)@10", "Outlierness@10")


class Setup(NamedTuple):
    """Parameters of the policies, from section 2.5 and the authors' code."""

    ranks: int | None = None  #: length of a ranking; None: all items
    items: int = 60  #: number of items with the highest scores that are ranked
    outlier_ranks: int = 10  #: number of top ranks displayed together
    iterations: int = 20
    samples: int = 1000  #: number of rankings drawn from Plackett-Luce
    marginals: Marginals = "entropy"


class RankedList(NamedTuple):
    """Items by decreasing score."""

    scores: FloatArray  #: shape (n,), from 1e-4 to 1
    relevance: FloatArray  #: shape (n,)
    outlying: FloatArray  #: shape (n,), the feature in which items may be outliers


def policies(job: Job) -> None:
    """Compute and evaluate the policies of a table for the scored lists of a data set."""
    setup = Setup(**job.params.setup)
    scores = pd.read_parquet(job.input.scores)
    frames = []
    for (epochs, run), part in scores.groupby(["epochs", "run"], sort=False):
        lists = [
            best_items(rows["score"], rows["relevance"], rows["outlying"], setup.items)
            for _, rows in part.groupby("query", sort=False)
        ]
        rng = np.random.default_rng([job.params.seed, int(run)])
        frames.append(measure_policies(lists, setup, rng).assign(epochs=epochs, run=int(run)))
    measures = pd.concat(frames, ignore_index=True).assign(dataset=job.wildcards.dataset)
    job.write_frame(measures, "measures")


def best_items(
    scores: npt.ArrayLike, relevance: npt.ArrayLike, outlying: npt.ArrayLike, items: int
) -> RankedList:
    """Items with the highest scores, after normalisation over the complete list.

    Ties keep the order of the list.
    """
    values = np.asarray(scores, dtype=float)
    low, high = values.min(), values.max()
    if not high > low:
        raise ValueError(
            f"All {len(values)} items of a list have the score {high:g}, expected different "
            "scores; leave the list out."
        )
    normal = MIN_SCORE + (1 - MIN_SCORE) * (values - low) / (high - low)
    order = np.argsort(-normal, kind="stable")[:items]
    return RankedList(
        normal[order],
        np.asarray(relevance, dtype=float)[order],
        np.asarray(outlying, dtype=float)[order],
    )


def policies_of(
    items: RankedList, setup: Setup, rng: np.random.Generator
) -> Iterator[tuple[str, Policy]]:
    """Policies by row of a table, without the suffix `@10` of the top-k tables.

    ``FELIX_iter=1`` is a single decomposition of the fair marginals. ``FELIX_iter=20`` decomposes
    the rankings with outliers again, in 20 iterations. As in the authors' code, the first
    decomposition takes items by decreasing score, and only re-sampling shuffles them. This affects
    which items are displayed together.
    """
    count = len(items.scores)
    ranks = min(setup.ranks or count, count)
    weights = logarithmic_rank_weights(ranks)
    exposures = fair_exposure(items.scores, weights)
    compute_marginals = entropy_marginals if setup.marginals == "entropy" else centre_marginals
    marginals = compute_marginals(exposures, weights)
    outlier = holds_outlier(items.outlying, displayed=setup.outlier_ranks)
    single = decompose(marginals)
    resampled = _resample_outliers(single, outlier, count, setup.iterations, rng)
    yield f"FELIX_iter={setup.iterations}", resampled
    yield "FELIX_iter=1", single
    # As in the authors' code, the item with the lowest score has weight 0.
    item_weights = items.scores - items.scores.min()
    yield "PL", plackett_luce(item_weights, ranks, samples=setup.samples, rng=rng)
    yield "PL-random", uniform(count, ranks, samples=setup.samples, rng=rng)
    yield "Deterministic", deterministic(items.scores, ranks)
    costs = list_outliers(items.outlying)
    fair = (
        omit(items.scores, weights, costs, outlier_ranks=setup.outlier_ranks)
        if costs.any()
        else None
    )
    yield "OMIT", decompose(marginals if fair is None else fair)


def _resample_outliers(
    single: Policy, outlier: AvoidanceTest, items: int, iterations: int, rng: np.random.Generator
) -> Policy:
    """Decompose the rankings with outliers again, by FELIX."""
    has_outlier = outlier(single.rankings)
    share = single.weights[has_outlier].sum()
    if share <= TINY:
        return single
    with_outliers = Policy(single.rankings[has_outlier], single.weights[has_outlier] / share)
    marginals = with_outliers.marginals(items)
    resampled = resample(marginals, outlier, iterations=iterations, rng=rng).policy
    return Policy(
        np.concatenate([single.rankings[~has_outlier], resampled.rankings]),
        np.concatenate([single.weights[~has_outlier], share * resampled.weights]),
    )


def measures(policy: Policy, items: RankedList, outlier_ranks: int) -> dict[str, float]:
    """Measures of a policy, by their names in the tables.

    If no relevant item of a list is among the ranked ones, NDCG is 0 and EE-L is NaN, as in the
    authors' code.
    """
    count, ranks = len(items.scores), policy.rankings.shape[1]
    ndcg, error = {5: 0.0, 10: 0.0}, np.nan
    if items.relevance.any():
        ndcg = {cutoff: policy_ndcg(policy, items.relevance, cutoff) for cutoff in ndcg}
        exposures = policy.exposures(count, logarithmic_rank_weights(ranks))
        error = exposure_error(exposures, items.relevance)
    values = (
        ndcg[5],
        ndcg[10],
        error,
        outlier_probability(policy, items.outlying, displayed=outlier_ranks),
        outlierness_released(policy, items.outlying, displayed=outlier_ranks),
    )
    return dict(zip(METRICS, values, strict=True))


def measure_policies(
    lists: Sequence[RankedList], setup: Setup, rng: np.random.Generator
) -> pd.DataFrame:
    """Measures of all policies on all lists."""
    return pd.DataFrame(
        [
            {"query": query, "row": row} | measures(policy, items, setup.outlier_ranks)
            for query, items in enumerate(lists)
            for row, policy in policies_of(items, setup, rng)
        ]
    )
