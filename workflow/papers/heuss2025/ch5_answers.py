"""Tables and figures of answers with citations in chapter 5 of heuss2025."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd

from everycell.rag.citing_styles import GroundedAnswer
from everycell.rag.interventions import KINDS, CitedAnswer, share

#: Rows of Table 5.2.
CITING = (
    "Cited all selected documents",
    "Cited less than all selected documents",
    "Cited not selected documents",
    "Cited nothing",
)
# Names of the kinds of forged documents in claims: for pairs, and for shares.
_PAIRS = (
    "a random document",
    "a relevant document that is not cited",
    "a document cited for something else",
)
_SHARES = ("random document", "relevant, not cited", "cited for something else")


def selection_counts(answers: Sequence[CitedAnswer]) -> pd.DataFrame:
    """Answers by whether they cite the documents selected beforehand (Table 5.2)."""
    steps = {
        "Pred. Rel.": [frozenset(answer.relevant) for answer in answers],
        "Pred. Cited": [frozenset(answer.to_cite) for answer in answers],
    }
    by_step = {
        step: Counter(
            _classify_citations(answer.cited, documents)
            for answer, documents in zip(answers, selected, strict=True)
        )
        for step, selected in steps.items()
    }
    rows = [
        (row, step, "count_answers", counts[row])
        for row in CITING
        for step, counts in by_step.items()
    ]
    return pd.DataFrame(rows, columns=["row", "selection_step", "metric", "value"])


def _classify_citations(cited: frozenset[int], selected: frozenset[int]) -> str:
    if not cited:
        return CITING[3]
    if cited - selected:
        return CITING[2]
    return CITING[0] if cited == selected else CITING[1]


def answer_sizes(
    answers: Sequence[CitedAnswer], sentences: Sequence[int] | None = None
) -> pd.DataFrame:
    """Distributions of sizes of answers and statements (Figures 5.3 and 5.4)."""
    cited = [
        statement for answer in answers for statement in answer.statements if statement.documents
    ]
    values = {
        "sentences": list(sentences or ()),
        "statements": [len(answer.statements) for answer in answers],
        "citations": [sum(len(part.documents) for part in answer.statements) for answer in answers],
        "words": [len(statement.text.split()) for statement in cited],
        "documents": [len(answer.cited) for answer in answers],
        "places": [position + 1 for answer in answers for position in sorted(answer.cited)],
    }
    rows = []
    for panel, numbers in values.items():
        counts = Counter(numbers)
        for x in range(min(counts), max(counts) + 1) if counts else ():
            rows.append((panel, x, 100 * counts[x] / len(numbers)))
    return pd.DataFrame(rows, columns=["panel", "x", "value"])


def reported_numbers(answers: Sequence[CitedAnswer], outcomes: pd.DataFrame) -> pd.DataFrame:
    """The numbers of section 5.5, reproduced."""
    numbers: dict[str, float] = {
        "questions of NaturalQuestions": len(answers),
        "answers that cite nothing": sum(not answer.cited for answer in answers),
    }
    by_metric = outcomes.set_index(["kind", "metric"])
    recovered_shares = []
    for kind, pairs, short in zip(KINDS, _PAIRS, _SHARES, strict=True):
        if (kind, "recovered") in by_metric.index:
            recovered = by_metric.loc[(kind, "recovered")]
            numbers[f"pairs with {pairs}"] = recovered["of"]
            recovered_shares.append(recovered["value"])
            if kind == KINDS[0]:
                numbers[f"{short}: statements recovered"] = recovered["count"]
        if (kind, "cites the forged document") in by_metric.index:
            forged = by_metric.loc[(kind, "cites the forged document")]
            if kind == KINDS[0]:
                numbers[f"{short}: forged one cited"] = forged["count"]
            numbers[f"{short}: forged one cited, share"] = forged["value"]
    if recovered_shares:
        numbers["statements recovered, lowest share"] = min(recovered_shares)
        numbers["statements recovered, highest share"] = max(recovered_shares)
    predicted = sum(len(set(answer.to_cite)) for answer in answers)
    if predicted:
        cited = sum(len(set(answer.to_cite) & answer.cited) for answer in answers)
        numbers["documents predicted to be cited: cited"] = 100 * cited / predicted
        numbers["documents predicted to be cited: otherwise"] = 100 - 100 * cited / predicted
    unpredicted = sum(bool(answer.cited - set(answer.to_cite)) for answer in answers)
    numbers["answers that cite what was not predicted to be cited"] = (
        100 * unpredicted / len(answers)
    )
    table = pd.DataFrame(numbers.items(), columns=["claim", "value"])
    return table.astype({"value": float})


def answer_numbers(answers: Sequence[GroundedAnswer]) -> pd.DataFrame:
    """Other numbers on answers in section 5.5: means, a median, and a ratio."""
    cited = [
        statement
        for answer in answers
        for statement in answer.answer.statements
        if statement.documents
    ]
    positions = [position for answer in answers for position in answer.answer.cited]
    numbers = {
        "sentences of an answer": np.mean([answer.sentences for answer in answers]),
        "citations of an answer": sum(len(statement.documents) for statement in cited)
        / len(answers),
        "documents that an answer cites": len(positions) / len(answers),
        "citations of no document": sum(len(answer.stray) for answer in answers),
        "marks that were mended": sum(answer.mended for answer in answers),
    }
    if cited:
        words = [len(statement.text.split()) for statement in cited]
        numbers["words of a cited statement, median"] = np.median(words)
    if fifth := positions.count(4):
        numbers["first over fifth document"] = positions.count(0) / fifth
    table = pd.DataFrame(numbers.items(), columns=["metric", "value"])
    return table.astype({"value": float})


def relevant_citations(
    answers: Sequence[CitedAnswer], relevant: Sequence[frozenset[int]]
) -> pd.DataFrame:
    """Answers that cite a relevant document, and the best baseline with a fixed rank."""
    relevant_cited = sum(
        bool(answer.cited & positions) for answer, positions in zip(answers, relevant, strict=True)
    )
    last = max((position for positions in relevant for position in positions), default=0)
    fixed_rank = max(
        sum(position in positions for positions in relevant) for position in range(last + 1)
    )
    counts = [
        ("model", "cites a relevant document", relevant_cited),
        ("always the same position", "cites a relevant document", fixed_rank),
        ("model", "cites the first document", sum(0 in answer.cited for answer in answers)),
    ]
    rows = [(*names, *share(count, len(answers))) for *names, count in counts]
    return pd.DataFrame(rows, columns=["chooser", "metric", "value", "low", "high"])
