"""Rows of Table B.1: questions, passages and sentences of a set, by whether there is an answer."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from everycell.collections.squad import Question
from everycell.text.sentences import sentences_with


def set_counts(passages: pd.DataFrame, sentences: tuple[int, int, int]) -> dict[str, int]:
    """Counts of a set, by the rows of the table.

    Examples
    --------
    >>> passages = pd.DataFrame({"turn_id": ["8_1", "8_1"], "answerable": [True, False]})
    >>> list(set_counts(passages, (3, 2, 4)).values())
    [1, 1, 0, 2, 1, 1, 3, 2, 4]
    """
    questions = passages.groupby("turn_id")["answerable"].any()
    answering, silent, without = sentences
    counts = {
        "# questions": len(questions),
        "# ans. questions": questions.sum(),
        "# unans. questions": (~questions).sum(),
        "# QPP": len(passages),
        "# ans. QPP": passages["answerable"].sum(),
        "# unans. QPP": (~passages["answerable"]).sum(),
        "# sent. w/ answers in ans. QPP": answering,
        "# sent. w/o answers in ans. QPP": silent,
        "# sent. w/o answers in unans. QPP": without,
    }
    return {row: int(number) for row, number in counts.items()}


def squad_counts(questions: Iterable[Question]) -> dict[str, int]:
    """The same of SQuAD 2.0, where each question has one passage.

    Examples
    --------
    >>> questions = [("who?", "It rains. Ann left.", ["Ann"]), ("why?", "So.", [])]
    >>> list(squad_counts(questions).values())
    [2, 1, 1, 2, 1, 1, 1, 1, 1]
    """
    rows, sentences = [], [0, 0, 0]
    for number, (_, passage, right_answers) in enumerate(questions):
        rows.append((str(number), bool(right_answers)))
        for _, answers in sentences_with(passage, right_answers):
            sentences[0 if answers else 1 if right_answers else 2] += 1
    passages = pd.DataFrame(rows, columns=["turn_id", "answerable"]).astype({"answerable": bool})
    return set_counts(passages, (sentences[0], sentences[1], sentences[2]))
