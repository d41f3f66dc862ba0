"""Table B.1: questions, passages and sentences of data sets, with and without answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

from everycell.collections.squad import Question
from everycell.text.sentences import sentences_with


def set_counts(passages: pd.DataFrame, sentences: tuple[int, int, int]) -> dict[str, int]:
    """Counts of a data set, by row of Table B.1.

    `sentences` contains the counts for the last three rows of the table.
    """
    questions = passages.groupby("turn_id")["answerable"].any()
    answering, silent, in_unanswerable = sentences
    counts = {
        "# questions": len(questions),
        "# ans. questions": questions.sum(),
        "# unans. questions": (~questions).sum(),
        "# QPP": len(passages),
        "# ans. QPP": passages["answerable"].sum(),
        "# unans. QPP": (~passages["answerable"]).sum(),
        "# sent. w/ answers in ans. QPP": answering,
        "# sent. w/o answers in ans. QPP": silent,
        "# sent. w/o answers in unans. QPP": in_unanswerable,
    }
    return {row: int(number) for row, number in counts.items()}


def squad_counts(questions: Iterable[Question]) -> dict[str, int]:
    """Counts of SQuAD 2.0, where each question has one passage."""
    rows, sentences = [], [0, 0, 0]
    for number, (_, passage, correct_answers) in enumerate(questions):
        rows.append((str(number), bool(correct_answers)))
        for _, answers in sentences_with(passage, correct_answers):
            sentences[0 if answers else 1 if correct_answers else 2] += 1
    passages = pd.DataFrame(rows, columns=["turn_id", "answerable"]).astype({"answerable": bool})
    return set_counts(passages, (sentences[0], sentences[1], sentences[2]))


def counts_by_set(
    labels: pd.DataFrame, pairs: Mapping[str, pd.DataFrame], sentences: pd.DataFrame
) -> dict[str, dict[str, int]]:
    """Counts of both CAsT data sets, from labels of passages and of question-sentence pairs.

    `sentences` are those of CAsT-snippets. A sentence without an answer is counted by whether its
    passage has one. No passage of CAsT-unanswerable has an answer.
    """
    without_answer = sentences[~sentences["answers"]]
    answers = {name: frame["answers"] for name, frame in pairs.items()}
    return {
        "CAsT-snippets": set_counts(
            labels[labels["dataset"] == "CAsT-snippets"],
            (
                answers["CAsT-snippets"].sum(),
                without_answer["answerable"].sum(),
                (~without_answer["answerable"]).sum(),
            ),
        ),
        "CAsT-unanswerable": set_counts(
            labels[labels["dataset"] == "CAsT-unanswerable"],
            (answers["CAsT-unanswerable"].sum(), 0, (~answers["CAsT-unanswerable"]).sum()),
        ),
    }


def questions_by_answerable_passages(labels: pd.DataFrame) -> pd.DataFrame:
    """Questions of CAsT-snippets with at least, and fewer than, n answerable passages."""
    by_question = labels[labels["dataset"] == "CAsT-snippets"].groupby("turn_id")["answerable"]
    answerable, passages = by_question.sum(), by_question.size().max()
    rows = [
        (str(number), metric, int(questions))
        for number in range(1, passages + 1)
        for metric, questions in (
            ("questions with as many or more", (answerable >= number).sum()),
            ("questions with fewer", (answerable < number).sum()),
        )
    ]
    return pd.DataFrame(rows, columns=["answerable passages", "metric", "value"])


def answers_by_file(pairs: pd.DataFrame, sentences: pd.DataFrame) -> pd.DataFrame:
    """Sentences of CAsT-snippets with and without an answer, in both released files."""
    rows = [
        (source, metric, int(number))
        for source, answers in (
            ("sentence pairs of the classifiers", pairs["answers"]),
            ("labels of the passages", sentences["answers"]),
        )
        for metric, number in (("with an answer", answers.sum()), ("without", (~answers).sum()))
    ]
    return pd.DataFrame(rows, columns=["file", "metric", "value"])
