"""Simulated user studies with a planted effect, and the power of an ANOVA to detect it.

A rater's opinion is a normal variable (the planted shift, plus optional worker and query effects,
plus noise of standard deviation 1). Three thresholds map it to the ratings 1 to 4. Without a
planted effect, the four ratings have the same shares as in the real study.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import ncfdtr
from statsmodels.stats.proportion import proportion_confint

from everycell.base.arrays import FloatArray, IntArray
from everycell.statistics.effect_size import omega_squared
from everycell.statistics.fast_anova import FastAnova, Solution

Interval = Literal["wilson", "beta"]


@dataclass(frozen=True)
class UserStudy:
    """The design of a user study, without its ratings.

    Attributes
    ----------
    name : str
        Short name.
    design : pandas.DataFrame
        One row per rating: ``worker`` and ``query`` (numbers from 0), ``condition`` (``"EC1"``,
        ...) and the controlled factors.
    contrasts : mapping of str to mapping
        For each controlled factor, the position of each level between -0.5 and 0.5. A planted
        effect of 1 separates the extreme levels by one standard deviation of a rater's noise.
    analyses : mapping of str to tuple of str
        Name of each ANOVA of the study -> its factors.
    shares : tuple of float
        Shares of the ratings 1 to 4 without a planted effect; they sum to 1.
    """

    name: str
    design: pd.DataFrame
    contrasts: Mapping[str, Mapping[object, float]]
    analyses: Mapping[str, tuple[str, ...]]
    shares: tuple[float, float, float, float]


def _shift(study: UserStudy, factor: str) -> FloatArray:
    """Position of each row's level of a factor, shape (n,)."""
    return study.design[factor].map(study.contrasts[factor]).to_numpy(dtype=float)


def _thresholds(study: UserStudy, total_sd: float) -> FloatArray:
    return stats.norm.ppf(np.cumsum(study.shares)[:3], scale=total_sd)


def simulate_ratings(
    study: UserStudy,
    planted_effects: Mapping[str, float],
    n_studies: int,
    rng: np.random.Generator,
    *,
    worker_sd: float = 0.0,
    query_sd: float = 0.0,
) -> IntArray:
    """Simulate the ratings (1 to 4) of many runs of a study, shape (rows, n_studies).

    `planted_effects` maps a factor to the distance between its extreme levels, in standard
    deviations of a rater's noise. The ratings of a worker share a random effect with the standard
    deviation `worker_sd`, and the ratings of a query share one with the standard deviation
    `query_sd`.
    """
    opinion = rng.standard_normal((len(study.design), n_studies))
    for factor, effect in planted_effects.items():
        opinion += effect * _shift(study, factor)[:, None]
    for column, deviation in (("worker", worker_sd), ("query", query_sd)):
        if deviation > 0:
            numbers = study.design[column].to_numpy()
            opinion += deviation * rng.standard_normal((numbers.max() + 1, n_studies))[numbers]
    thresholds = _thresholds(study, float(np.sqrt(1 + worker_sd**2 + query_sd**2)))
    return 1 + np.searchsorted(thresholds, opinion)


def _expected_noncentrality(
    study: UserStudy, factor: str, effect: float, fast_anova: FastAnova
) -> FloatArray:
    """Noncentrality of each term, shape (t,), for independent ratings.

    The mean and variance of a rating follow from the thresholds. The noncentrality is the sum of
    squares of the term for the vector of means, divided by the mean variance.
    """
    shift = effect * _shift(study, factor)
    cumulative = stats.norm.cdf(_thresholds(study, 1.0)[None, :] - shift[:, None])
    shares = np.diff(cumulative, axis=1, prepend=0.0, append=1.0)
    scale = np.arange(1, 5)
    mean = shares @ scale
    variance = shares @ scale**2 - mean**2
    return fast_anova.fit(mean).sum_sq[:, 0] / variance.mean()


def rejection_rates(
    study: UserStudy,
    effects: Sequence[float],
    *,
    rng: np.random.Generator,
    factor: str | None = None,
    analysis: str | None = None,
    n_studies: int = 500,
    alpha: float = 0.05,
    worker_sd: float = 0.0,
    query_sd: float = 0.0,
    typ: int = 2,
    solution: Solution = "minimum_norm",
    interval: Interval = "wilson",
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Share of simulated studies in which each term of an ANOVA is significant.

    The rate and its interval are NaN for a term without degrees of freedom. The expected power and
    effect are NaN with worker or query effects, and for terms that the design cannot separate.
    """
    factor = next(iter(study.contrasts)) if factor is None else factor
    analysis = next(iter(study.analyses)) if analysis is None else analysis
    fast_anova = FastAnova(study.design, study.analyses[analysis], typ=typ, solution=solution)
    is_independent = worker_sd == 0 and query_sd == 0
    is_estimable = (fast_anova.df > 0) & (fast_anova.full_rank or solution == "supported")
    critical_f = stats.f.isf(alpha, fast_anova.df, fast_anova.df_resid)
    frames = []
    for effect in effects:
        ratings = simulate_ratings(
            study, {factor: effect}, n_studies, rng, worker_sd=worker_sd, query_sd=query_sd
        )
        result = fast_anova.fit(ratings)
        rejections = (result.p <= alpha).sum(axis=1)
        bounds = proportion_confint(rejections, n_studies, alpha=1 - confidence, method=interval)
        # A term without degrees of freedom has no test.
        rate, low, high = (
            np.where(fast_anova.df > 0, values, np.nan)
            for values in (rejections / n_studies, *bounds)
        )
        # At a rate of 0 or 1, rounding can put the rate outside its interval.
        low, high = np.minimum(low, rate), np.maximum(high, rate)
        if is_independent:
            noncentrality = np.where(
                is_estimable, _expected_noncentrality(study, factor, effect, fast_anova), np.nan
            )
        else:
            noncentrality = np.full(len(fast_anova.terms), np.nan)
        frames.append(
            pd.DataFrame(
                {
                    "study": study.name,
                    "analysis": analysis,
                    "solution": solution,
                    "term": fast_anova.terms,
                    "planted_factor": factor,
                    "planted_effect": effect,
                    "rejection_rate": rate,
                    "low": low,
                    "high": high,
                    "n_studies": n_studies,
                    # scipy's ncf.sf is negative for a noncentrality of 0.
                    "expected_power": 1
                    - ncfdtr(fast_anova.df, fast_anova.df_resid, noncentrality, critical_f),
                    "mean_omega_sq": omega_squared(
                        result.f, fast_anova.df[:, None], fast_anova.n
                    ).mean(axis=1),
                    "expected_omega_sq": noncentrality / (noncentrality + fast_anova.n),
                }
            )
        )
    return pd.concat(frames, ignore_index=True)
