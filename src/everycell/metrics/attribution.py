r"""Quality of citations, and how labels of sources change it: precision, recall, CAS, CAB, AC.

An answer to a query cites some of the documents in its prompt; some of these are relevant.

- *Precision* is the share of cited documents that are relevant, *recall* the share of relevant
  documents that are cited (abolghasemi2026, section 5.3.3).
- *CAS*, the sensitivity to labels, is the mean absolute difference of a measure M between answers
  with and without labels (Eq. 5.1): ``mean(abs(M_informed - M_vanilla))``, in [0, 1].
- *CAB*, the bias of labels, is the mean signed difference between answers under two labellings of
  the same documents, signed so that a positive value favours documents labelled as written by
  people (Eqs. 5.2, 5.3 and, for the mixed mode, 5.5), in [-1, 1].
- *AC*, the confidence, is the mean probability of the citations of documents in a given set (Eq.
  5.4), in [0, 1].

**No citations.** The thesis does not define the precision of an answer without citations. Here it
is 0, as in the library that its authors used (scikit-learn's ``zero_division=0``), and so is the
recall.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from everycell.base.arrays import FloatArray
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
    """Precision and recall of the citations of one answer.

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

    Raises
    ------
    ValueError
        No relevant document, so that recall is undefined.

    Examples
    --------
    >>> citation_quality([2, 8, 2, 9], relevant=[8])
    Quality(precision=0.3333333333333333, recall=1.0)
    >>> citation_quality([], relevant=[8])
    Quality(precision=0.0, recall=0.0)
    """
    relevant_documents, citations = set(relevant), set(cited)
    if not relevant_documents:
        raise ValueError(
            "A query has no relevant document, so recall is undefined; leave the query out."
        )
    hits = len(citations & relevant_documents)
    return Quality(hits / len(citations) if citations else 0.0, hits / len(relevant_documents))


def cas(informed: npt.ArrayLike, vanilla: npt.ArrayLike) -> float:
    """Attribution sensitivity: the mean absolute effect of labels (Eq. 5.1).

    Parameters
    ----------
    informed, vanilla : array of float, shape (n,)
        A measure in [0, 1] of each query's answer, with and without labels, in the same order.

    Returns
    -------
    float
        In [0, 1]: 0 for equal values, and at least the absolute value of the mean difference.

    Raises
    ------
    ValueError
        No query, arrays of different shapes, or a value outside [0, 1].

    Examples
    --------
    >>> cas([1, 0, 0.5], [0, 1, 0.5])
    0.6666666666666666
    """
    first, second = _pair(informed, vanilla)
    return float(np.abs(first - second).mean())


def direction(relevant: Author, nonrelevant: Author) -> Literal[1, -1]:
    """Sign of a difference when the first answer saw these labels (omega of Eq. 5.3).

    1 if it saw the relevant documents labelled as written by people, else -1. Equal labels are an
    error, since reversing them for the second answer would change nothing.
    """
    if {relevant, nonrelevant} != {"Human", "LLM"}:
        raise ValueError(
            f"The labels are {relevant!r} (relevant) and {nonrelevant!r} (others); use 'Human' for "
            "one and 'LLM' for the other."
        )
    return 1 if relevant == "Human" else -1


def cab(
    first: npt.ArrayLike, second: npt.ArrayLike, *, relevant: Author, nonrelevant: Author
) -> float:
    """Attribution bias towards documents labelled as written by people (Eqs. 5.2, 5.3, 5.5).

    Parameters
    ----------
    first : array of float, shape (n,)
        A measure in [0, 1] of each query's answer under the labels `relevant` and `nonrelevant`: in
        the informed mode, or in the mixed mode Informed/CF-informed.
    second : array of float, shape (n,)
        The same under the opposite labels: CF-informed, or CF-informed/Informed.
    relevant, nonrelevant
        Labels that the first answers saw.

    Returns
    -------
    float
        In [-1, 1]; positive if answers are better with [Human] on the relevant documents. Swapping
        both the arrays and the labels gives the same value.

    Raises
    ------
    ValueError
        As for `cas` and `direction`.

    Examples
    --------
    >>> with_true, with_false = [1, 1, 0, 1], [1, 0, 0, 0]
    >>> cab(with_true, with_false, relevant="Human", nonrelevant="LLM")
    0.5
    >>> cab(with_true, with_false, relevant="LLM", nonrelevant="Human")
    -0.5
    """
    values, second_values = _pair(first, second)
    return direction(relevant, nonrelevant) * float((values - second_values).mean())


def paired_difference(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    seed: int,
    confidence: float = 0.95,
    resamples: int = 2000,
) -> Difference:
    """Mean of first - second with a percentile bootstrap interval and paired t-test.

    The bootstrap samples queries with replacement. If all differences are 0, t is 0, p is 1 and the
    interval is [0, 0]. The chapter tests signed differences with a paired t-test at 0.05 (L1352),
    also for CAS, which is a mean of absolute differences.
    """
    values, second_values = _pair(first, second)
    test = t_tests({"first": values, "second": second_values}, correction="none").iloc[0]
    differences = values - second_values
    low, high = ratio_interval(
        differences,
        np.ones(len(differences)),
        seed=seed,
        confidence=confidence,
        resamples=resamples,
    )
    mean = float(differences.mean())
    return Difference(mean, low, high, float(test["t"]), float(test["p"]))


def ratio_interval(
    sums: npt.ArrayLike,
    counts: npt.ArrayLike,
    *,
    seed: int,
    confidence: float = 0.95,
    resamples: int = 2000,
) -> tuple[float, float]:
    """Percentile bootstrap interval of a ratio of sums, such as a mean over queries.

    `sums` and `counts` have one value per query, which is sampled with replacement.
    """
    numerators, denominators = np.asarray(sums, dtype=float), np.asarray(counts, dtype=float)
    is_valid = np.isfinite(numerators).all() and np.isfinite(denominators).all()
    if numerators.shape != denominators.shape or not is_valid or (denominators < 0).any():
        raise ValueError(
            f"There are {numerators.size} sums and {denominators.size} counts, or one is not "
            "finite or negative; give a finite sum and a count of 0 or more for every query."
        )
    if not denominators.any():
        raise ValueError("All counts are 0; give a query with a count above 0.")
    if not 0 < confidence < 1:
        raise ValueError(f"The confidence is {confidence}; give a number above 0 and below 1.")
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
        For each citation, whether the cited document is in the set, such as the set of relevant
        documents.

    Returns
    -------
    float or None
        In [0, 1]; None if no cited document is in the set.

    Raises
    ------
    ValueError
        Different shapes, or a log-probability that is above 0 or not a number.

    Examples
    --------
    >>> from math import log
    >>> logprobs, relevant = [[log(0.9), log(0.4)], [log(0.7)]], [[True, False], [True]]
    >>> round(attribution_confidence(logprobs, relevant), 12)
    0.8
    """
    if len(logprobs) != len(inside):
        raise ValueError(
            f"There are log-probabilities of {len(logprobs)} queries and set memberships of "
            f"{len(inside)}; give both for every query."
        )
    selected_logprobs: list[float] = []
    for query, (values, memberships) in enumerate(zip(logprobs, inside, strict=True)):
        if len(values) != len(memberships):
            raise ValueError(
                f"Query {query} has {len(values)} log-probabilities and {len(memberships)} set "
                "memberships; give one of each for every citation."
            )
        for value, in_set in zip(values, memberships, strict=True):
            if value is None or not value <= 0:
                raise ValueError(
                    f"Query {query} has the log-probability {value}; it must be 0 or less."
                )
            if in_set:
                selected_logprobs.append(value)
    return float(np.exp(selected_logprobs).mean()) if selected_logprobs else None


def pooled_confidence(probabilities: npt.ArrayLike, citations: npt.ArrayLike) -> float | None:
    """Attribution confidence (AC) from one sum per answer (Eq. 5.4), 0 to 1.

    `probabilities` are the sums over an answer's citations of documents in the set, `citations`
    their numbers; a document that is cited twice counts twice. None if no cited document is in the
    set.
    """
    sums, counts = np.asarray(probabilities, dtype=float), np.asarray(citations, dtype=float)
    if sums.shape != counts.shape:
        raise ValueError(
            f"The sums of probabilities have the shape {sums.shape} and the numbers of citations "
            f"{counts.shape}; give one of each for every answer."
        )
    # The tolerance allows for rounding of the sums.
    out_of_range = np.flatnonzero(~((sums >= 0) & (sums <= counts + 1e-9)))
    if len(out_of_range):
        answer = out_of_range[0]
        raise ValueError(
            f"Answer {answer} has {counts[answer]:g} citations whose probabilities sum to "
            f"{sums[answer]:g}; a sum must be between 0 and the number of citations."
        )
    return float(sums.sum() / counts.sum()) if counts.sum() else None


def _pair(first: npt.ArrayLike, second: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    values, second_values = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if values.ndim != 1 or values.shape != second_values.shape or not len(values):
        raise ValueError(
            f"The values of the first and second answers have the shapes {values.shape} and "
            f"{second_values.shape}; give one value of each per query, for at least one query."
        )
    for name, array in (("first", values), ("second", second_values)):
        invalid = np.flatnonzero(~((array >= 0) & (array <= 1)))
        if len(invalid):
            raise ValueError(
                f"The {name} values have {array[invalid[0]]} at position {invalid[0]}; precision "
                "and recall are between 0 and 1, so divide percentages by 100."
            )
    return values, second_values
