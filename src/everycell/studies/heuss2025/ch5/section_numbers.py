"""Numbers of section 5.5 of heuss2025, from answers and from what came of forged documents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from everycell.rag.grounded_template import GroundedAnswer
from everycell.rag.interventions import KINDS, CitedAnswer, share

# What the card calls the kinds of forged documents: of pairs, and of shares.
_PAIRS = (
    "a random document",
    "a relevant document that is not cited",
    "a document cited for something else",
)
_SHARES = ("random document", "relevant, not cited", "cited for something else")


def reported_numbers(answers: Sequence[CitedAnswer], outcomes: pd.DataFrame) -> pd.DataFrame:
    """The numbers of section 5.5, reproduced."""
    numbers: dict[str, float] = {
        "questions of NaturalQuestions": len(answers),
        "answers that cite nothing": sum(not answer.cited for answer in answers),
    }
    of = outcomes.set_index(["kind", "metric"])
    recovered = []
    for kind, pairs, short in zip(KINDS, _PAIRS, _SHARES, strict=True):
        if (kind, "recovered") in of.index:
            back = of.loc[(kind, "recovered")]
            numbers[f"pairs with {pairs}"] = back["of"]
            recovered.append(back["value"])
            if kind == KINDS[0]:
                numbers[f"{short}: statements recovered"] = back["count"]
        if (kind, "cites the forged document") in of.index:
            fooled = of.loc[(kind, "cites the forged document")]
            if kind == KINDS[0]:
                numbers[f"{short}: forged one cited"] = fooled["count"]
            numbers[f"{short}: forged one cited, share"] = fooled["value"]
    if recovered:
        numbers["statements recovered, lowest share"] = min(recovered)
        numbers["statements recovered, highest share"] = max(recovered)
    planned = sum(len(set(answer.to_cite)) for answer in answers)
    if planned:
        cited = sum(len(set(answer.to_cite) & answer.cited) for answer in answers)
        numbers["documents predicted to be cited: cited"] = 100 * cited / planned
        numbers["documents predicted to be cited: otherwise"] = 100 - 100 * cited / planned
    beyond = sum(bool(answer.cited - set(answer.to_cite)) for answer in answers)
    numbers["answers that cite what was not predicted to be cited"] = 100 * beyond / len(answers)
    table = pd.DataFrame(numbers.items(), columns=["claim", "value"])
    return table.astype({"value": float})


def answer_numbers(answers: Sequence[GroundedAnswer]) -> pd.DataFrame:
    """What else section 5.5 says of answers: means, a median, and a ratio.

    Examples
    --------
    >>> from everycell.rag.grounded_template import read_grounded
    >>> table = answer_numbers([read_grounded("Grounded answer: <co: 0,9>Owls</co: 0,9>.", 5)])
    >>> table.set_index("metric")["value"].to_dict()
    {'sentences of an answer': 1.0, 'citations of an answer': 1.0, \
'documents that an answer cites': 1.0, 'citations of no document': 1.0, \
'marks that were mended': 0.0, 'words of a cited statement, median': 1.0}
    """
    cited = [
        statement for one in answers for statement in one.answer.statements if statement.documents
    ]
    positions = [position for one in answers for position in one.answer.cited]
    numbers = {
        "sentences of an answer": np.mean([one.sentences for one in answers]),
        "citations of an answer": sum(len(statement.documents) for statement in cited)
        / len(answers),
        "documents that an answer cites": len(positions) / len(answers),
        "citations of no document": sum(len(one.stray) for one in answers),
        "marks that were mended": sum(one.mended for one in answers),
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
    """How often a relevant document is cited, beside who always cites the same place."""
    right = sum(
        bool(answer.cited & positions) for answer, positions in zip(answers, relevant, strict=True)
    )
    last = max((position for positions in relevant for position in positions), default=0)
    same = max(sum(position in positions for positions in relevant) for position in range(last + 1))
    counts = [
        ("model", "cites a relevant document", right),
        ("always the same place", "cites a relevant document", same),
        ("model", "cites the first document", sum(0 in answer.cited for answer in answers)),
    ]
    rows = [(*names, *share(count, len(answers))) for *names, count in counts]
    return pd.DataFrame(rows, columns=["chooser", "metric", "value", "low", "high"])
