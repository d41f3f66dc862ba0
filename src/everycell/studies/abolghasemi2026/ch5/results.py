"""Quality, confidence and counts of citations from the frame of answers, arm by arm.

Results are as `everycell.studies.abolghasemi2026.ch5.marks` says.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from everycell.engine.arrays import FloatArray
from everycell.metrics.attribution import pooled_confidence, ratio_interval
from everycell.statistics.hypothesis_tests import t_tests
from everycell.studies.abolghasemi2026.ch5.arms import PLAIN_ARMS, Arm
from everycell.studies.abolghasemi2026.ch5.comparisons import ROWS_OF
from everycell.studies.abolghasemi2026.ch5.marks import NO_CITATION, NOT_RUN, NUMBERS, add_markers
from everycell.studies.abolghasemi2026.ch5.modes import CITED, PRECISION, RECALL, SETTING, TOTAL

CORRECT = "EM correctness"
CONFIDENCES = {"AC relevant": "relevant", "AC non-relevant": "other"}
#: Fewest answers that cite documents of both kinds for a test of their confidences. The t-test
#: takes the mean of the differences for normal; of fewer probabilities, which lie near 1 where a
#: model is sure, that cannot be said, and one answer could make the dagger.
FEWEST_PAIRS = 10
_FIELDS = list(Arm._fields)
_NO_ENDS = (np.nan, np.nan)
_ARM_KEYS = [*SETTING, *_FIELDS[2:]]


def quality(answers: pd.DataFrame, arms: Sequence[Arm], *, seed: int) -> pd.DataFrame:
    """Precision, recall and right answers of each arm: Tables 5.1, 5.4, 5.11, 5.14, 5.15."""
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
    """Confidence (AC) in citations of relevant documents and of others: Tables 5.6, 5.10."""
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
            ends = (
                ratio_interval(sums, counts, seed=seed) if len(with_probabilities) > 1 else _NO_ENDS
            )
            rows.append((*key, metric, value, *ends, p, counts.sum(), pairs))
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
    """Cells of Figure 5.5: the mean number of all cited documents."""
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
    """Answers of each generator in the study's first setting, arm by arm in the order of these."""
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
    """A measure of the answers of one arm in the order of questions, without unknown ones."""
    return answers.sort_values("query_id")[column].dropna().to_numpy(dtype=float)


def _mean(values: FloatArray, seed: int) -> tuple[float, float, float]:
    """Mean and interval; of one value there is none."""
    mean = float(values.mean())
    if len(values) < 2:
        return mean, *_NO_ENDS
    return mean, *ratio_interval(values, np.ones(len(values)), seed=seed)


def _above_all(values: FloatArray, alternatives: list[FloatArray]) -> float:
    """Largest p of the tests against all others, where the mean is above all of theirs."""
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
    """Test of the confidence in relevant citations against that in others: its p, and its pairs."""
    means = [
        answers[f"{side}_probability"]
        / answers[f"{side}_citations"].where(answers[f"{side}_citations"] > 0)
        for side in CONFIDENCES.values()
    ]
    both = pd.concat(means, axis=1).dropna().to_numpy(dtype=float)
    if len(both) < FEWEST_PAIRS:
        return np.nan, len(both)
    # Of a constant difference, as a planted generator has it, the t-test would divide by 0.
    if np.ptp(differences := (both[:, 0] - both[:, 1]).round(12)) == 0:
        return float(differences[0] == 0), len(both)
    return _paired_p(both[:, 0], both[:, 1]), len(both)
