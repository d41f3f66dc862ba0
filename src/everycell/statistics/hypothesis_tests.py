"""Corrected t-tests and Pearson correlations of many pairs, with checked inputs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats
from statsmodels.stats.multitest import multipletests

from everycell.base.arrays import FloatArray
from everycell.base.errors import DataError, require

Correction = Literal["bonferroni", "holm", "none"]


def _sample(samples: Mapping[str, npt.ArrayLike], name: str) -> FloatArray:
    require(name in samples, "sample", name, f"one of {', '.join(map(str, samples))}")
    values = np.asarray(samples[name], dtype=float)
    is_list = values.ndim == 1 and len(values) >= 2
    require(is_list, f"sample {name!r}", values.tolist(), "a list of at least 2 values")
    not_finite = np.flatnonzero(~np.isfinite(values))
    if len(not_finite):
        raise DataError(
            row=f"position {not_finite[0]}",
            column=f"sample {name!r}",
            value=float(values[not_finite[0]]),
            fix="remove this value, or replace it with that of the measure for a missing topic",
        )
    return values


def _check_lengths(a: str, first: FloatArray, b: str, second: FloatArray) -> None:
    if len(first) != len(second):
        raise DataError(
            column=f"samples {a!r} and {b!r}",
            fault=f"have {len(first)} and {len(second)} values",
            expected="one value per topic for each, in the same order",
        )


def _t_test(
    first: FloatArray, second: FloatArray, paired: bool, equal_variance: bool
) -> tuple[float, float, float]:
    """Statistic, p-value and degrees of freedom of one test."""
    identical = np.array_equal(first, second) if paired else len({*first, *second}) == 1
    if identical:
        # scipy would return 0/0; identical samples are no evidence of a difference.
        return 0.0, 1.0, float(len(first) - 1 if paired else len(first) + len(second) - 2)
    result = (
        stats.ttest_rel(first, second)
        if paired
        else stats.ttest_ind(first, second, equal_var=equal_variance)
    )
    return float(result.statistic), float(result.pvalue), float(result.df)


def t_tests(
    samples: Mapping[str, npt.ArrayLike],
    pairs: Sequence[tuple[str, str]] | None = None,
    *,
    paired: bool = True,
    equal_variance: bool = True,
    correction: Correction = "holm",
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Two-sided t-tests of pairs of samples, corrected for multiple comparisons.

    Parameters
    ----------
    samples : mapping of str to array, or DataFrame
        Scores by name, each of shape (n,). Paired samples have the same topic at the same position.
    pairs : sequence of (str, str), optional
        Pairs to compare; by default all pairs, in the order of the mapping.
    paired : bool
        Paired test (same topics) or two independent samples.
    equal_variance : bool
        Student's (True) or Welch's (False) test of independent samples.
    correction : {"holm", "bonferroni", "none"}
        Family-wise correction over these pairs.
    alpha : float
        Significance level.

    Returns
    -------
    pandas.DataFrame
        One row per pair, in the given order: ``a``, ``b``, ``n_a``, ``n_b``, ``mean_a``,
        ``mean_b``, ``difference`` (a - b), ``t``, ``df``, ``p`` (0 to 1), ``p_corrected`` and
        ``significant`` (corrected p <= alpha).

    Raises
    ------
    ValueError
        For an unknown name or correction, no pair, fewer than two values, a value that is not
        finite, paired samples of different lengths, or an alpha outside (0, 1).

    Notes
    -----
    Identical samples (paired, all differences 0; independent, both constant and equal) get t = 0
    and p = 1, where scipy has 0/0. Correction: statsmodels ``multipletests``.

    Examples
    --------
    >>> scores = {"bm25": [0.2, 0.4, 0.3, 0.5], "rm3": [0.3, 0.6, 0.3, 0.7]}
    >>> t_tests(scores)[["t", "p", "significant"]].round(3).values.tolist()
    [[-2.611, 0.08, False]]
    """
    choices = get_args(Correction)
    require(correction in choices, "correction", correction, f"one of {', '.join(choices)}")
    require(0 < alpha < 1, "alpha", alpha, "a number above 0 and below 1")
    compared_pairs = list(itertools.combinations(samples, 2)) if pairs is None else list(pairs)
    require(compared_pairs, "samples", list(samples), "at least two to compare")
    rows = []
    for a, b in compared_pairs:
        first, second = _sample(samples, a), _sample(samples, b)
        if paired:
            _check_lengths(a, first, b, second)
        statistic, p, df = _t_test(first, second, paired, equal_variance)
        rows.append(
            {
                "a": a,
                "b": b,
                "n_a": len(first),
                "n_b": len(second),
                "mean_a": first.mean(),
                "mean_b": second.mean(),
                "difference": first.mean() - second.mean(),
                "t": statistic,
                "df": df,
                "p": p,
            }
        )
    table = pd.DataFrame(rows)
    p_corrected = (
        table["p"].to_numpy()
        if correction == "none"
        else multipletests(table["p"], alpha=alpha, method=correction)[1]
    )
    return table.assign(p_corrected=p_corrected, significant=p_corrected <= alpha)


def pearson(
    samples: Mapping[str, npt.ArrayLike],
    pairs: Sequence[tuple[str, str]] | None = None,
    *,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Pearson correlations with confidence intervals (Fisher's z), one row per pair.

    All pairs by default. A constant sample is an error, since its correlation is undefined.
    """
    require(0 < confidence < 1, "confidence", confidence, "a number above 0 and below 1")
    compared_pairs = list(itertools.combinations(samples, 2)) if pairs is None else list(pairs)
    rows = []
    for x, y in compared_pairs:
        first, second = _sample(samples, x), _sample(samples, y)
        _check_lengths(x, first, y, second)
        for name, values in ((x, first), (y, second)):
            require(np.ptp(values), f"sample {name!r}", values.tolist(), "values that vary")
        result = stats.pearsonr(first, second)
        interval = result.confidence_interval(confidence)
        rows.append(
            {
                "x": x,
                "y": y,
                "n": len(first),
                "r": float(result.statistic),
                "p": float(result.pvalue),
                "low": float(interval.low),
                "high": float(interval.high),
            }
        )
    return pd.DataFrame(rows, columns=["x", "y", "n", "r", "p", "low", "high"])
