"""Quality, confidence and citations by arm in chapter 5 of abolghasemi2026.

`ch5_comparisons` describes the columns of results.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from everycell.base.arrays import FloatArray
from everycell.metrics.attribution import pooled_confidence, ratio_interval
from everycell.statistics.hypothesis_tests import t_tests
from papers.abolghasemi2026.ch5_arms import (
    CITED,
    CONDITION_COLUMNS,
    PLAIN_ARMS,
    PRECISION,
    RECALL,
    TOTAL,
    Arm,
)
from papers.abolghasemi2026.ch5_comparisons import (
    NO_CITATION,
    NOT_RUN,
    NUMBERS,
    ROWS_OF,
    add_markers,
)

CORRECT = "EM correctness"
CONFIDENCES = {"AC relevant": "relevant", "AC non-relevant": "other"}
#: Minimum number of answers that cite both kinds of documents for a test of their confidences. The
#: t-test assumes a normally distributed mean difference. With fewer answers that is doubtful, since
#: probabilities are often close to 1, and a single answer could decide the outcome.
FEWEST_PAIRS = 10
_FIELDS = list(Arm._fields)
_NO_INTERVAL = (np.nan, np.nan)
_ARM_KEYS = [*CONDITION_COLUMNS, *_FIELDS[2:]]


def quality(answers: pd.DataFrame, arms: Sequence[Arm], *, seed: int) -> pd.DataFrame:
    """Precision, recall and correct answers of each arm: Tables 5.1, 5.4, 5.11, 5.14, 5.15."""
    measures = ((PRECISION, PRECISION, 100), (RECALL, RECALL, 100), (CORRECT, "right", 1))
    rows = []
    for (key, arm_answers, alternatives), (metric, column, scale) in itertools.product(
        _by_arm(answers, arms), measures
    ):
        values = _values(arm_answers, column)
        if not len(values):
            continue
        if metric == PRECISION and not arm_answers["cited"].sum():
            numbers = (NO_CITATION, np.nan, np.nan)
        else:
            numbers = tuple(scale * number for number in _mean(values, seed))
        p = _above_all(values, [_values(other, column) for other in alternatives])
        rows.append((*key, metric, *numbers, p))
    return add_markers(pd.DataFrame(rows, columns=[*_ARM_KEYS, *NUMBERS]))


def confidence(answers: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Confidence (AC) of citations of relevant and of other documents: Tables 5.6, 5.10."""
    rows = []
    for key, arm_answers, _ in _by_arm(answers, PLAIN_ARMS):
        p, pairs = _confidence_test(arm_answers)
        for metric, side in CONFIDENCES.items():
            citing = arm_answers[arm_answers[f"{side}_citations"] > 0]
            with_probabilities = citing.dropna(subset=f"{side}_probability")
            sums, counts = (
                with_probabilities[f"{side}_probability"],
                with_probabilities[f"{side}_citations"],
            )
            value: float | str | None = pooled_confidence(sums, counts)
            if value is None:
                value = NO_CITATION if citing.empty else NOT_RUN
            bounds = (
                ratio_interval(sums, counts, seed=seed)
                if len(with_probabilities) > 1
                else _NO_INTERVAL
            )
            rows.append((*key, metric, value, *bounds, p, counts.sum(), pairs))
    return add_markers(pd.DataFrame(rows, columns=[*_ARM_KEYS, *NUMBERS, "citations", "pairs"]))


def citation_counts(answers: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Mean numbers of cited documents: Tables 5.12, 5.13 and Figure 5.5."""
    rows = [
        (*key, metric, *_mean(_values(arm_answers, column), seed), np.nan)
        for key, arm_answers, _ in _by_arm(answers, PLAIN_ARMS)
        for metric, column in ((CITED, RECALL), (TOTAL, "cited"))
    ]
    return add_markers(pd.DataFrame(rows, columns=[*_ARM_KEYS, *NUMBERS]))


def figure_cells(counts: pd.DataFrame) -> pd.DataFrame:
    """Cells of Figure 5.5: the mean number of cited documents."""
    totals = counts[counts["metric"] == TOTAL]
    authors = totals["relevant_author"] + " nonrel=" + totals["nonrelevant_author"]
    return pd.DataFrame(
        {
            "row": totals["dataset"],
            "series": totals["generator"] + " rel=" + authors,
            "metric": "avg total cited documents",
            "x_name": "RAG mode",
            "x": totals["rag_mode"],
            "value": totals["value"],
        }
    ).reset_index(drop=True)


def _by_arm(
    answers: pd.DataFrame, arms: Sequence[Arm]
) -> Iterator[tuple[tuple[str, ...], pd.DataFrame, list[pd.DataFrame]]]:
    """Key and answers of each arm in the main setting, and answers in other modes."""
    main = answers[ROWS_OF["plain"](answers)]
    for names, rows in main.groupby(["dataset", "generator"], sort=False):
        by_arm = {
            Arm(*fields): arm_answers for fields, arm_answers in rows.groupby(_FIELDS, sort=False)
        }
        present = [arm for arm in arms if arm in by_arm]
        for arm in present:
            alternatives = [
                by_arm[other] for other in present if other != arm and other[:2] == arm[:2]
            ]
            yield (*names, *arm), by_arm[arm], alternatives


def _values(answers: pd.DataFrame, column: str) -> FloatArray:
    """Known values of a measure for the answers of one arm, ordered by query."""
    return answers.sort_values("query")[column].dropna().to_numpy(dtype=float)


def _mean(values: FloatArray, seed: int) -> tuple[float, float, float]:
    """Mean and interval; a single value has no interval."""
    mean = float(values.mean())
    if len(values) < 2:
        return mean, *_NO_INTERVAL
    return mean, *ratio_interval(values, np.ones(len(values)), seed=seed)


def _above_all(values: FloatArray, alternatives: list[FloatArray]) -> float:
    """Largest p against all alternatives; NaN unless the mean exceeds all of theirs."""
    if (
        len(values) < 2
        or not alternatives
        or any(values.mean() <= other.mean() for other in alternatives)
    ):
        return np.nan
    return max(_paired_p(values, other) for other in alternatives)


def _paired_p(first: FloatArray, second: FloatArray) -> float:
    return float(t_tests({"first": first, "second": second}, correction="none")["p"].iloc[0])


def _confidence_test(answers: pd.DataFrame) -> tuple[float, int]:
    """Paired test of confidence in relevant and other citations: p and number of pairs."""
    means = [
        answers[f"{side}_probability"]
        / answers[f"{side}_citations"].where(answers[f"{side}_citations"] > 0)
        for side in CONFIDENCES.values()
    ]
    both = pd.concat(means, axis=1).dropna().to_numpy(dtype=float)
    if len(both) < FEWEST_PAIRS:
        return np.nan, len(both)
    # The t-test would divide by 0 for the constant differences of a planted generator.
    if np.ptp(differences := (both[:, 0] - both[:, 1]).round(12)) == 0:
        return float(differences[0] == 0), len(both)
    return _paired_p(both[:, 0], both[:, 1]), len(both)
