"""Effects of choices that chapter 2 leaves open, and the optimum of its problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import comb

import numpy as np
import pandas as pd

from everycell.base.arrays import FloatArray
from everycell.fair_ranking.felix import Matching, resample
from everycell.fair_ranking.marginals import centre_marginals, entropy_marginals
from everycell.fair_ranking.optimum import generate_rankings, lowest_probability, pool_rankings
from everycell.fair_ranking.policies import holds_outlier, omit
from everycell.studies.heuss2025.ch2.simulation import BOUNDS, melt_bounds, simulated_list

#: Distributions with enough outliers to compare methods on few lists.
HEAVY = ("log-normal", "power-law")
#: Maximum number of items for pooling: the linear program has a row per item and rank.
MAX_POOLED_ITEMS = 40
#: Maximum number of item sets for computing the bound of a matrix (takes up to a second).
MAX_ITEM_SETS = 200


def _corner(exposures: FloatArray, weights: FloatArray) -> FloatArray:
    """A vertex of the polytope of matrices with fair exposures, from a simplex solver."""
    return omit(exposures / exposures.max(), weights, np.zeros(len(exposures)))


#: Name of a matrix -> function of exposures and rank weights.
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
        for name, compute in MATRICES.items():
            matrix = compute(exposures, weights)
            for rule in rules:
                for distribution in HEAVY:
                    test = holds_outlier(scores[distribution])
                    result = resample(matrix, test, iterations=last, matching=rule, rng=rng)
                    samples.setdefault((distribution, name, rule), []).append(result.avoided)
    keys = ["distribution", "probabilities", "matching", "iterations"]
    rows = (
        (*key, str(iteration), np.array(probabilities)[:, iteration - 1])
        for key, probabilities in samples.items()
        for iteration in iterations
    )
    return _means(rows, keys, bootstrap, seed)


def compare_with_optimum(
    *,
    sizes: Sequence[tuple[int, int]],
    lists: int,
    iterations: int,
    bootstrap: int,
    seed: int,
) -> pd.DataFrame:
    """Mean P(u) in percent of FELIX and of optimal policies."""
    samples: dict[tuple[str, ...], list[float]] = {}
    for items, ranks in sizes:
        for number in range(lists):
            exposures, weights, scores, rng = simulated_list(items, number, ranks, seed)
            matrix = entropy_marginals(exposures, weights)
            for distribution in HEAVY:
                test = holds_outlier(scores[distribution])
                felix = resample(matrix, test, iterations=iterations, rng=rng)
                best = generate_rankings(exposures, weights, test, felix.policy)
                values = {
                    "one decomposition": felix.avoided[0],
                    f"FELIX, {iterations} iterations": felix.avoided[-1],
                }
                if items <= MAX_POOLED_ITEMS:
                    pooled = pool_rankings(matrix, test, iterations=iterations, rng=rng)
                    share = pooled.weights[test(pooled.rankings)].sum()
                    values["pooled for this matrix"] = float(share)
                if comb(items, ranks) <= MAX_ITEM_SETS:
                    values["the least with this matrix"] = lowest_probability(matrix, test)
                values["generated for these exposures"] = best.avoided
                for policy, value in values.items():
                    key = (str(items), str(ranks), distribution, policy)
                    samples.setdefault(key, []).append(value)
    rows = ((*key, np.array(values)) for key, values in samples.items())
    return _means(rows, ["items", "ranks", "distribution", "policy"], bootstrap, seed)


def _means(rows: Iterator[tuple], keys: list[str], bootstrap: int, seed: int) -> pd.DataFrame:
    """Means over lists in percent, with bootstrap intervals."""
    means = []
    for *key, values in rows:
        rng = np.random.default_rng([seed, 3, len(values)])
        count = len(values)
        draws = rng.multinomial(count, np.full(count, 1 / count), size=bootstrap)
        bounds = np.quantile(draws @ values / count, BOUNDS)
        means.append((*key, *(100 * np.array([values.mean(), *bounds]))))
    return melt_bounds(pd.DataFrame(means, columns=[*keys, "value", "low", "high"]))
