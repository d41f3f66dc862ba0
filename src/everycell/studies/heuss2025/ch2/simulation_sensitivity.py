"""What the chapter leaves open: which matrix, which matching rule, and how far from the best."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import comb

import numpy as np
import pandas as pd

from everycell.engine.arrays import FloatArray
from everycell.fair_ranking.decomposition import Matching, resample
from everycell.fair_ranking.exposure_measures import holds_outlier
from everycell.fair_ranking.marginals import centre_marginals, entropy_marginals
from everycell.fair_ranking.optimum import generate_rankings, least_avoided, pool_rankings
from everycell.fair_ranking.policies import omit
from everycell.studies.heuss2025.ch2.simulation import ENDS, melt_bounds, simulated_list

#: Distributions in which outliers are frequent enough to compare methods on few lists.
HEAVY = ("log-normal", "power-law")
#: Items up to which rankings are pooled: the linear program has a row for each item and rank.
POOLED = 40
#: Sets of items up to which the bound for a matrix is computed: a second or less.
ALL_SETS = 200


def _corner(exposures: FloatArray, weights: FloatArray) -> FloatArray:
    """A corner of all matrices with fair exposures: what a simplex solver returns."""
    return omit(exposures / exposures.max(), weights, np.zeros(len(exposures)))


#: Name of a matrix -> how it is made of exposures and rank weights.
MATRICES: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "largest entropy": entropy_marginals,
    "analytic centre": centre_marginals,
    "corner (simplex)": _corner,
}


def matrices_and_rules(
    *,
    items: int,
    lists: int,
    ranks: int,
    iterations: Sequence[int],
    rules: Sequence[Matching],
    bootstrap: int,
    seed: int,
) -> pd.DataFrame:
    """Mean P(u) in percent by matrix, matching rule and number of iterations."""
    samples: dict[tuple[str, ...], list[FloatArray]] = {}
    last = max(iterations)
    for number in range(lists):
        exposures, weights, scores, rng = simulated_list(items, number, ranks, seed)
        for name, make in MATRICES.items():
            matrix = make(exposures, weights)
            for rule in rules:
                for law in HEAVY:
                    test = holds_outlier(scores[law])
                    left = resample(matrix, test, iterations=last, matching=rule, rng=rng).avoided
                    samples.setdefault((law, name, rule), []).append(left)
    keys = ["distribution", "probabilities", "matching", "iterations"]
    rows = (
        (*key, str(iteration), np.array(left)[:, iteration - 1])
        for key, left in samples.items()
        for iteration in iterations
    )
    return _means(rows, keys, bootstrap, seed)


def against_the_best(
    *,
    sizes: Sequence[tuple[int, int]],
    lists: int,
    iterations: int,
    bootstrap: int,
    seed: int,
) -> pd.DataFrame:
    """Mean P(u) in percent of FELIX beside the least that is possible."""
    samples: dict[tuple[str, ...], list[float]] = {}
    for items, ranks in sizes:
        for number in range(lists):
            exposures, weights, scores, rng = simulated_list(items, number, ranks, seed)
            matrix = entropy_marginals(exposures, weights)
            for law in HEAVY:
                test = holds_outlier(scores[law])
                felix = resample(matrix, test, iterations=iterations, rng=rng)
                best = generate_rankings(exposures, weights, test, felix.policy)
                values = {
                    "one decomposition": felix.avoided[0],
                    f"FELIX, {iterations} iterations": felix.avoided[-1],
                }
                if items <= POOLED:
                    pooled = pool_rankings(matrix, test, iterations=iterations, rng=rng)
                    share = pooled.weights[test(pooled.rankings)].sum()
                    values["pooled for this matrix"] = float(share)
                if comb(items, ranks) <= ALL_SETS:
                    values["the least with this matrix"] = least_avoided(matrix, test)
                values["generated for these exposures"] = best.avoided
                for policy, value in values.items():
                    samples.setdefault((str(items), str(ranks), law, policy), []).append(value)
    rows = ((*key, np.array(values)) for key, values in samples.items())
    return _means(rows, ["items", "ranks", "distribution", "policy"], bootstrap, seed)


def _means(rows: Iterator[tuple], keys: list[str], bootstrap: int, seed: int) -> pd.DataFrame:
    """Means over lists in percent, with intervals; as many lists, the same draws."""
    means = []
    for *key, values in rows:
        rng = np.random.default_rng([seed, 3, len(values)])
        count = len(values)
        draws = rng.multinomial(count, np.full(count, 1 / count), size=bootstrap)
        ends = np.quantile(draws @ values / count, ENDS)
        means.append((*key, *(100 * np.array([values.mean(), *ends]))))
    return melt_bounds(pd.DataFrame(means, columns=[*keys, "value", "low", "high"]))
