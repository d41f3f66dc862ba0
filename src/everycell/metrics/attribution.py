r"""Quality of citations, and how labels of sources change it: precision, recall, CAS, CAB, AC.

All measures are of abolghasemi2026, section 5.3.3. An answer without citations has precision and
recall 0, as in the library that its authors used (scikit-learn's ``zero_division=0``).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from everycell.base.arrays import FloatArray
from everycell.base.errors import DataError, require
from everycell.statistics.hypothesis_tests import t_tests

#: Kinds of author in labels.
Author = Literal["Human", "LLM"]


class Quality(NamedTuple):
    """Precision and recall of the citations of one answer, each in [0, 1]."""

    precision: float
    recall: float


class Difference(NamedTuple):
    """Mean of paired differences, its confidence interval, and the paired t-test."""

    mean: float
    low: float
    high: float
    t: float
    p: float


def citation_quality(cited: Collection[Hashable], relevant: Collection[Hashable]) -> Quality:
    """Precision and recall of the citations of one answer; both are 0 without citations.

    Parameters
    ----------
    cited
        Documents that the answer cites; repeated citations count once. A citation of a
        nonexistent document counts as wrong.
    relevant
        Relevant documents of the query, one or more.

    Returns
    -------
    Quality
        Both are 0 for an answer without citations.

    Examples
    --------
    >>> citation_quality([2, 8, 2, 9], relevant=[8])
    Quality(precision=0.3333333333333333, recall=1.0)
    >>> citation_quality([], relevant=[8])
    Quality(precision=0.0, recall=0.0)
    """
    citations, documents = set(cited), set(relevant)
    require(documents, "relevant", documents, "one document or more; leave the query out")
    hits = len(citations & documents)
    return Quality(hits / len(citations) if citations else 0.0, hits / len(documents))


def cas(informed: npt.ArrayLike, vanilla: npt.ArrayLike) -> float:
    """Attribution sensitivity: the mean absolute effect of labels, in [0, 1] (Eq. 5.1).

    Parameters
    ----------
    informed, vanilla : array of float, shape (n,)
        A measure in [0, 1] of each query's answer, with and without labels, in the same order.

    Examples
    --------
    >>> cas([1, 0, 0.5], [0, 1, 0.5])
    0.6666666666666666
    """
    return float(np.abs(_differences(informed, vanilla)).mean())


def direction(relevant: Author, nonrelevant: Author) -> Literal[1, -1]:
    """1 if relevant documents are labelled as written by people, -1 if the others (Eq. 5.3)."""
    labels = relevant, nonrelevant
    require(
        set(labels) == {"Human", "LLM"},
        "pair of labels",
        labels,
        "'Human' for one, 'LLM' for the other",
    )
    return 1 if relevant == "Human" else -1


def cab(
    first: npt.ArrayLike, second: npt.ArrayLike, *, relevant: Author, nonrelevant: Author
) -> float:
    """Attribution bias towards documents labelled as written by people (Eqs. 5.2, 5.3, 5.5).

    Parameters
    ----------
    first, second : array of float, shape (n,)
        A measure in [0, 1] of each query's answer under the labels `relevant` and `nonrelevant`,
        and under the opposite labels.
    relevant, nonrelevant
        Labels that the first answers saw.

    Returns
    -------
    float
        In [-1, 1]; positive if answers are better with [Human] on the relevant documents.

    Examples
    --------
    >>> with_true, with_false = [1, 1, 0, 1], [1, 0, 0, 0]
    >>> cab(with_true, with_false, relevant="Human", nonrelevant="LLM")
    0.5
    >>> cab(with_true, with_false, relevant="LLM", nonrelevant="Human")
    -0.5
    """
    return direction(relevant, nonrelevant) * float(_differences(first, second).mean())


def paired_difference(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    seed: int,
    confidence: float = 0.95,
    resamples: int = 2000,
) -> Difference:
    """Mean of first - second with a percentile bootstrap interval and the paired t-test (L1352)."""
    differences = _differences(first, second)
    test = t_tests({"d": differences, "0": np.zeros_like(differences)}, correction="none").iloc[0]
    ones = np.ones_like(differences)
    interval = ratio_interval(
        differences, ones, seed=seed, confidence=confidence, resamples=resamples
    )
    return Difference(float(differences.mean()), *interval, float(test["t"]), float(test["p"]))


def ratio_interval(
    sums: npt.ArrayLike,
    counts: npt.ArrayLike,
    *,
    seed: int,
    confidence: float = 0.95,
    resamples: int = 2000,
) -> tuple[float, float]:
    """Percentile bootstrap interval of a ratio of sums over queries, such as a mean."""
    require(0 < confidence < 1, "confidence", confidence, "a number above 0 and below 1")
    numerators, denominators = np.asarray(sums, dtype=float), np.asarray(counts, dtype=float)
    shapes = numerators.shape, denominators.shape
    is_list = numerators.ndim == 1 and len(set(shapes)) == 1
    require(is_list, "shapes of the sums and counts", shapes, "one of each per query")
    for name, values, lowest in (("sum", numerators, -np.inf), ("count", denominators, 0.0)):
        for value in values[~np.isfinite(values) | (values < lowest)]:
            expected = "a finite number" if lowest < 0 else "a finite number of 0 or more"
            raise DataError(column=name, value=float(value), expected=expected)
    require(denominators.any(), "counts", denominators.tolist(), "one or more above 0")
    interval = stats.bootstrap(
        (numerators, denominators),
        lambda sums, counts, axis: sums.sum(axis=axis) / counts.sum(axis=axis),
        paired=True,
        n_resamples=resamples,
        # In a single batch, 2,000 samples of 100,000 queries would take 1.6 GB.
        batch=max(1, 1_000_000 // np.size(sums)),
        confidence_level=confidence,
        method="percentile",
        rng=seed,
    ).confidence_interval
    return float(interval.low), float(interval.high)


def attribution_confidence(
    logprobs: Sequence[Sequence[float]], inside: Sequence[Sequence[bool]]
) -> float | None:
    """Attribution confidence (AC): mean probability of citations of a set of documents (Eq. 5.4).

    Parameters
    ----------
    logprobs
        For each query, the natural log-probability of each citation of its answer, at most 0. A
        document that is cited twice counts twice, as in the formula.
    inside
        For each citation, whether the cited document is in the set.

    Returns
    -------
    float or None
        In [0, 1]; None if no cited document is in the set.

    Examples
    --------
    >>> from math import log
    >>> logprobs, relevant = [[log(0.9), log(0.4)], [log(0.7)]], [[True, False], [True]]
    >>> round(attribution_confidence(logprobs, relevant), 12)
    0.8
    """
    sizes, members = [*map(len, logprobs)], [*map(len, inside)]
    require(sizes == members, "numbers of log-probabilities", sizes, f"{members}, as in `inside`")
    values = np.array([value for values in logprobs for value in values], dtype=float)
    is_member = np.array([member for members in inside for member in members], dtype=bool)
    for value in values[~(values <= 0)]:
        raise DataError(column="log-probability", value=float(value), expected="0 or less")
    return float(np.exp(values[is_member]).mean()) if is_member.any() else None


def pooled_confidence(probabilities: npt.ArrayLike, citations: npt.ArrayLike) -> float | None:
    """`attribution_confidence` from the sum of probabilities and number of citations per answer."""
    sums, counts = np.asarray(probabilities, dtype=float), np.asarray(citations, dtype=float)
    # The tolerance allows for rounding of the sums.
    is_valid = sums.shape == counts.shape and ((sums >= 0) & (sums <= counts + 1e-9)).all()
    require(is_valid, "sums of probabilities", sums.tolist(), "from 0 to the number of citations")
    return float(sums.sum() / counts.sum()) if counts.sum() else None


def _differences(first: npt.ArrayLike, second: npt.ArrayLike) -> FloatArray:
    """Paired differences of a measure in [0, 1], one value per query."""
    pair = [np.asarray(values, dtype=float) for values in (first, second)]
    shapes = [values.shape for values in pair]
    is_paired = shapes[0] == shapes[1] and pair[0].ndim == 1 and pair[0].size > 0
    require(
        is_paired, "pair of shapes", shapes, "one value of each per query, for one query or more"
    )
    for values in pair:
        for position in np.flatnonzero(~((values >= 0) & (values <= 1))):
            raise DataError(
                row=f"position {position}",
                column="value",
                value=float(values[position]),
                expected="a number from 0 to 1",
                fix="divide percentages by 100",
            )
    return pair[0] - pair[1]
