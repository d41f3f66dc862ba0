"""Simulated lists of chapter 2 of heuss2025, and how often FELIX displays their outliers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import comb

import numpy as np
import pandas as pd

from everycell.base.arrays import FloatArray
from everycell.fair_ranking.fair_exposure import fair_exposure, logarithmic_rank_weights
from everycell.fair_ranking.felix import Matching, resample
from everycell.fair_ranking.marginals import centre_marginals, entropy_marginals
from everycell.fair_ranking.policies import holds_outlier, omit
from everycell.jobs.result_job import ResultJob
from papers.heuss2025.ch2_figures import outlier_reductions
from papers.heuss2025.ch2_optimum import generate_rankings, lowest_probability, pool_rankings

#: Distributions of the feature in which items may be outliers, as in the authors' code.
DISTRIBUTIONS: dict[str, Callable[[np.random.Generator, tuple[int, ...]], FloatArray]] = {
    "uniform": lambda rng, size: rng.random(size),
    "normal": lambda rng, size: rng.normal(size=size),
    "log-normal": lambda rng, size: np.exp(rng.normal(size=size)),
    "power-law": lambda rng, size: 1 / (1 - rng.random(size)),
}
#: Quantiles of a 95 % interval.
BOUNDS = (0.025, 0.975)
#: Distributions with enough outliers to compare methods on few lists.
HEAVY = ("log-normal", "power-law")
#: Maximum number of items for pooling: the linear program has a row per item and rank.
MAX_POOLED_ITEMS = 40
#: Maximum number of item sets for computing the bound of a matrix (takes up to a second).
MAX_ITEM_SETS = 200
#: Number of lists in memory at a time.
BATCH = 50_000


def simulation(job: ResultJob) -> None:
    """Figure 2.2: how much less often FELIX shows an outlier, compared with alternatives."""
    params = job.params
    random = {"bootstrap": params.bootstrap, "seed": params.seed}
    points, changes = sensitivity_analysis(**params.analysis, **random)
    job.write_figure(points, outlier_reductions(points))
    job.write_supplement(changes, "changes", {"all": 1})
    job.write_supplement(matrices_and_rules(**params.choices, **random), "choices", {"all": 1})
    job.write_supplement(compare_with_optimum(**params.bounds, **random), "bounds", {"all": 1})


def chances(job: ResultJob) -> None:
    """Section 2.7: share of lists of random items with an outlier, in percent."""
    lists, items = job.params.lists, job.params.length
    rng = np.random.default_rng(job.params.seed)
    shares = []
    for name, draw in DISTRIBUTIONS.items():
        hits = 0
        for start in range(0, lists, BATCH):
            count = min(BATCH, lists - start)
            values = draw(rng, (count * items,))
            has_outlier = holds_outlier(values)(np.arange(count * items).reshape(count, items))
            hits += int(has_outlier.sum())
        shares.append((name, "lists with an outlier", 100 * (hits / lists)))
    job.write_table(pd.DataFrame(shares, columns=["distribution", "metric", "value"]))


def simulated_list(
    items: int, number: int, ranks: int, seed: int
) -> tuple[FloatArray, FloatArray, dict[str, FloatArray], np.random.Generator]:
    """Exposures, rank weights, scores by distribution, and random generator of a list.

    Merits are the same for all distributions.
    """
    rng = np.random.default_rng([seed, items, number])
    weights = logarithmic_rank_weights(ranks)
    exposures = fair_exposure(1 - rng.random(items), weights)
    scores = {name: draw(rng, (items,)) for name, draw in DISTRIBUTIONS.items()}
    return exposures, weights, scores, rng


def outliers_by_iteration(
    items: int, *, lists: int, ranks: int, iterations: int, seed: int
) -> dict[str, FloatArray]:
    """P(u) by distribution: arrays of shape (lists, iterations of FELIX)."""
    probabilities: dict[str, FloatArray] = {
        name: np.zeros((lists, iterations)) for name in DISTRIBUTIONS
    }
    for number in range(lists):
        exposures, weights, scores, rng = simulated_list(items, number, ranks, seed)
        marginals = entropy_marginals(exposures, weights)
        for name, values in scores.items():
            probabilities[name][number] = resample(
                marginals, holds_outlier(values), iterations=iterations, rng=rng
            ).avoided
    return probabilities


def reductions(
    measurements: Sequence[tuple[int, FloatArray, FloatArray]], draws: FloatArray, fixed: int | None
) -> tuple[pd.DataFrame, FloatArray]:
    """Relative change of mean P(u) in percent at each x, with intervals over lists.

    `fixed` is an x at which the change is 0 by definition.
    """
    rows, samples = [], []
    for x, once, felix in measurements:
        if x != fixed and once.sum() == 0:
            continue
        if x == fixed:
            value, sampled = 0.0, np.zeros(len(draws))
        else:
            value = 100 * (felix.sum() / once.sum() - 1)
            base = draws @ once
            with np.errstate(invalid="ignore", divide="ignore"):
                sampled = 100 * ((draws @ felix) / base - 1)
        low, high = np.nanquantile(sampled, BOUNDS)
        rows.append((x, value, min(low, value), max(high, value), once.mean(), felix.mean()))
        samples.append(sampled)
    frame = pd.DataFrame(rows, columns=["x", "value", "low", "high", "once", "felix"])
    return frame, np.array(samples).reshape(len(samples), len(draws)).T


def sensitivity_analysis(
    *,
    candidates: Sequence[int],
    iterations: Sequence[int],
    at_candidates: int,
    at_iterations: int,
    lists: int,
    ranks: int,
    bootstrap: int,
    seed: int,
    steps: dict[str, Sequence[tuple[int, int]]],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both panels of Figure 2.2, and changes between points."""
    rng = np.random.default_rng([seed, 2])
    points, changes = [], []
    last_iteration = max(iterations)
    by_items = {
        n: outliers_by_iteration(
            n,
            lists=lists,
            ranks=ranks,
            iterations=last_iteration if n == at_candidates else at_iterations,
            seed=seed,
        )
        for n in {*candidates, at_candidates}
    }
    shared = rng.multinomial(lists, np.full(lists, 1 / lists), size=bootstrap).astype(float)
    for name in DISTRIBUTIONS:
        series = {
            "candidates": (
                [
                    (n, by_items[n][name][:, 0], by_items[n][name][:, at_iterations - 1])
                    for n in candidates
                ],
                ranks,
            ),
            "iterations": (
                [
                    (
                        i,
                        by_items[at_candidates][name][:, 0],
                        by_items[at_candidates][name][:, i - 1],
                    )
                    for i in iterations
                ],
                None,
            ),
        }
        for panel, (measurements, fixed) in series.items():
            if panel == "iterations":
                frame, samples = reductions(measurements, shared, fixed)
            else:
                # Each list size has its own lists, so each point has its own bootstrap samples.
                parts = [
                    reductions(
                        [point],
                        rng.multinomial(lists, np.full(lists, 1 / lists), size=bootstrap) * 1.0,
                        fixed,
                    )
                    for point in measurements
                ]
                frame = pd.concat([part[0] for part in parts], ignore_index=True)
                samples = np.column_stack([part[1] for part in parts])
            points.append(frame.assign(panel=panel, distribution=name))
            changes.append(
                _changes(frame, samples, steps[panel]).assign(panel=panel, distribution=name)
            )
    keys = ["panel", "distribution"]
    return (
        pd.concat(points)[[*keys, "x", "value", "low", "high", "once", "felix"]].reset_index(
            drop=True
        ),
        melt_bounds(pd.concat(changes)[[*keys, "change", "value", "low", "high"]]),
    )


def melt_bounds(frame: pd.DataFrame) -> pd.DataFrame:
    """Turn columns of values and bounds into rows, as in supplementary tables."""
    parts = ["value", "low", "high"]
    keys = [column for column in frame.columns if column not in parts]
    return (
        frame.set_index(keys)[parts]
        .rename_axis("end", axis=1)
        .stack()
        .rename("value")
        .reset_index()
    )


def _changes(
    frame: pd.DataFrame, samples: FloatArray, steps: Sequence[tuple[int, int]]
) -> pd.DataFrame:
    """Differences between points with intervals, and the last minus the first difference."""
    positions = {int(x): position for position, x in enumerate(frame["x"])}
    values = frame["value"].to_numpy()
    rows = []
    first: tuple[str, float, FloatArray] | None = None
    last = first
    for start, stop in steps:
        if start not in positions or stop not in positions:
            continue
        a, b = positions[start], positions[stop]
        change, sampled = values[b] - values[a], samples[:, b] - samples[:, a]
        rows.append((f"{start} to {stop}", change, *np.nanquantile(sampled, BOUNDS)))
        last = (f"{start} to {stop}", change, sampled)
        first = first or last
    if first is not None and last is not None and last[0] != first[0]:
        bounds = np.nanquantile(last[2] - first[2], BOUNDS)
        rows.append((f"{last[0]}, less {first[0]}", last[1] - first[1], *bounds))
    return pd.DataFrame(rows, columns=["change", "value", "low", "high"])


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
    *, sizes: Sequence[tuple[int, int]], lists: int, iterations: int, bootstrap: int, seed: int
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
