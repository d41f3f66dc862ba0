"""Attribution sensitivity (CAS) and bias (CAB) of answers in chapter 5 of abolghasemi2026.

Source: abolghasemi2026, Eqs. 5.1 to 5.5, Tables 5.2, 5.3, 5.5, 5.7 to 5.9, Figure 5.9.

A *result* has the key columns of its published table, then `metric`, `value`, the bounds `low` and
`high` of a 95 % bootstrap interval over questions, `p` of the chapter's paired t-test (or NaN) and
`marker`, a dagger where p < 0.05. `citations` is the number of citations behind a value that
depends only on citations. Two values are text: `NO_CITATION` if no citation counts towards a value
(0/0), and `NOT_RUN` if a generator returns no probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import pandas as pd

from everycell.metrics.attribution import cab, cas, paired_difference
from everycell.statistics.hypothesis_tests import t_tests
from papers.abolghasemi2026.ch5_arms import (
    FIRST_RETRIEVER,
    INFORMED_AGAINST_VANILLA,
    MIXED_AGAINST_VANILLA,
    MIXED_ARMS,
    PLAIN_ARMS,
    PRECISION,
    RECALL,
    Arm,
)

DAGGER = "†"
NO_CITATION = "no citation"
NOT_RUN = "not run"
#: Level of the chapter's tests.
ALPHA = 0.05
NUMBERS = ["metric", "value", "low", "high", "p"]
#: Names of the studies behind the tables of CAS and CAB.
Study = Literal["plain", "mixed", "extended", "retrievers", "depths"]
#: Columns of a frame of CAS or CAB.
_COMPARED = [
    "relevant_author",
    "nonrelevant_author",
    "metric",
    "value",
    "low",
    "high",
    "p",
    "citations",
]
_FIELDS = list(Arm._fields)


def sensitivities(
    answers: pd.DataFrame,
    *,
    seed: int,
    pairs: Sequence[tuple[Arm, Arm]] = INFORMED_AGAINST_VANILLA,
) -> pd.DataFrame:
    """Attribution sensitivity (CAS) with its interval, in points (Eq. 5.1)."""
    rows = []
    arms = set(answers[list(Arm._fields)].itertuples(index=False, name=None))
    for informed_arm, vanilla_arm in pairs:
        if not {informed_arm, vanilla_arm} <= arms:
            continue
        for metric in (PRECISION, RECALL):
            informed, vanilla = (
                _values(answers, arm, metric) for arm in (informed_arm, vanilla_arm)
            )
            changes = paired_difference(abs(informed - vanilla), np.zeros(len(informed)), seed=seed)
            numbers = (100 * cas(informed, vanilla), 100 * changes.low, 100 * changes.high)
            values = {"informed": informed, "vanilla": vanilla}
            p = float(t_tests(values, correction="none")["p"].iloc[0])
            name = metric.replace("attribution", "CAS delta")
            rows.append(
                (
                    *informed_arm[:2],
                    name,
                    *numbers,
                    p,
                    _citations(answers, informed_arm, vanilla_arm),
                )
            )
    return pd.DataFrame(rows, columns=_COMPARED)


def biases(answers: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Attribution bias (CAB) of each pair of authors with its interval and test, in points."""
    rows = []
    arms = set(answers[list(Arm._fields)].itertuples(index=False, name=None))
    for authors in dict.fromkeys(arm[:2] for arm in (*PLAIN_ARMS, *MIXED_ARMS)):
        # The two arms with opposite labels: first "Human" on the relevant document, then "LLM".
        human, machine = (
            Arm(*authors, *(_mode(*pair) for pair in zip(authors, labels, strict=True)))
            for labels in (("Human", "LLM"), ("LLM", "Human"))
        )
        if not {human, machine} <= arms:
            continue
        for metric in (PRECISION, RECALL):
            first, second = (_values(answers, arm, metric) for arm in (human, machine))
            difference = paired_difference(first, second, seed=seed)
            value = cab(first, second, relevant="Human", nonrelevant="LLM")
            name = metric.replace("attribution", "CAB delta")
            numbers = (100 * value, 100 * difference.low, 100 * difference.high, difference.p)
            rows.append((*authors, name, *numbers, _citations(answers, human, machine)))
    return pd.DataFrame(rows, columns=_COMPARED)


def compare_labels(
    answers: pd.DataFrame, measure: Literal["CAS", "CAB"], *, study: Study, seed: int
) -> pd.DataFrame:
    """Sensitivity or bias of all generators: Tables 5.2, 5.3, 5.5, 5.7 to 5.9, Figure 5.9."""
    frame = answers[ROWS_OF[study](answers)]
    single = frame["relevant_author"] == frame["nonrelevant_author"]
    frame = frame[~single if study == "plain" else single]
    keys = ["dataset", "generator", "retriever", "k"]
    parts = []
    for names, rows in frame.groupby(keys, sort=False):
        if measure == "CAS":
            pairs = INFORMED_AGAINST_VANILLA if study == "plain" else MIXED_AGAINST_VANILLA
            result = sensitivities(rows, seed=seed, pairs=pairs)
        else:
            result = biases(rows, seed=seed)
        without_citations = result["citations"] == 0
        result = result.astype({"value": object}).mask(
            without_citations, result.assign(value=NO_CITATION, low=np.nan, high=np.nan, p=np.nan)
        )
        parts.append(result.assign(**dict(zip(keys, names, strict=True))))
    order = [*keys, *_FIELDS[:2], *NUMBERS, "citations"]
    table = pd.concat(parts) if parts else pd.DataFrame(columns=order)
    return add_markers(table.reset_index(drop=True)[order])


def _rows_in_retrieval_order(labels: str, first: bool) -> Callable[[pd.DataFrame], pd.Series]:
    """Selector of rows in retrieval order, of the first retriever or of the others."""
    return lambda rows: (
        (rows["labels"] == labels)
        & (rows["place"] == "retrieved")
        & ((rows["retriever"] == FIRST_RETRIEVER) == first)
    )


#: Selector of the rows that belong to a study.
ROWS_OF: dict[Study, Callable[[pd.DataFrame], pd.Series]] = {
    "plain": _rows_in_retrieval_order("plain", True),
    "mixed": _rows_in_retrieval_order("plain", True),
    "extended": _rows_in_retrieval_order("extended", True),
    "retrievers": _rows_in_retrieval_order("extended", False),
    "depths": lambda rows: (rows["labels"] == "extended") & (rows["place"] == "random"),
}


def _mode(author: str, label: str) -> str:
    return "Informed" if author == label else "CF-informed"


def _values(answers: pd.DataFrame, arm: Arm, metric: str) -> np.ndarray:
    """A measure of all answers of an arm, ordered by query."""
    return _of_arm(answers, arm).sort_values("query")[metric].to_numpy(dtype=float)


def _citations(answers: pd.DataFrame, *arms: Arm) -> int:
    """Number of citations in all answers of some arms."""
    return int(sum(_of_arm(answers, arm)["cited"].sum() for arm in arms))


def _of_arm(answers: pd.DataFrame, arm: Arm) -> pd.DataFrame:
    return answers[(answers[list(Arm._fields)] == list(arm)).all(axis=1)]


def add_markers(table: pd.DataFrame) -> pd.DataFrame:
    """Add daggers to a result, from its column `p`."""
    return table.assign(marker=np.where(table["p"].astype(float) < ALPHA, DAGGER, ""))
