"""Appendix B of lajewska2025: the data sets of chapter 5.

One function per rule of ``chB.smk``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.text.sentences import sentences_with
from papers.lajewska2025.answerability_data import (
    Question,
    read_passage_labels,
    read_passage_sentences,
    read_sentence_labels,
    read_squad,
)


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


def data_sets(job: ResultJob) -> None:
    """Table B.1: sizes of the two CAsT data sets, and of SQuAD 2.0 if configured."""
    files = job.input
    labels = read_passage_labels(Path(files.snippets), Path(files.unanswerable))
    pairs = {
        "CAsT-snippets": read_sentence_labels(Path(files.snippets_sentences)),
        "CAsT-unanswerable": read_sentence_labels(Path(files.unanswerable_sentences)),
    }
    sentences = read_passage_sentences(Path(files.snippets))
    counts = counts_by_set(labels, pairs, sentences)
    if files.get("squad"):
        parts = [read_squad(Path(path)) for path in files.squad]
        questions = pd.concat(parts).itertuples(index=False, name=None)
        counts = {"SQuAD 2.0": squad_counts(questions)} | counts
    rows = [
        (row, dataset, "count", number)
        for dataset, of_rows in counts.items()
        for row, number in of_rows.items()
    ]
    job.write_table(pd.DataFrame(rows, columns=["row", "dataset", "metric", "value"]))
    for name, table in (
        ("questions", questions_by_answerable_passages(labels)),
        ("sentences", answers_by_file(pairs["CAsT-snippets"], sentences)),
    ):
        job.write_supplement(table, name, dict.fromkeys(table["metric"], 0))


def sample(job: ResultJob) -> None:
    """Table B.2: labels of three passages, their sentences and their ranking."""
    snippets, unanswerable = Path(job.input.snippets), Path(job.input.unanswerable)
    turn = job.params.turn
    sentences = read_passage_sentences(snippets)
    of_turn = sentences[sentences["turn_id"] == turn]
    rows, answerable = [], []
    for number, passage in enumerate(job.params.passages, start=1):
        of_passage = of_turn[of_turn["passage_id"] == passage]
        rows += [
            (str(number), str(position), "S (sentence label)", int(answers))
            for position, answers in zip(of_passage["sentence"], of_passage["answers"], strict=True)
        ]
        answerable.append(bool(of_passage["answerable"].iloc[0]))
        rows.append((str(number), "", "P (passage label)", int(answerable[-1])))
    rows.append(("", "", "R (ranking label)", int(any(answerable))))
    job.write_table(pd.DataFrame(rows, columns=["passage_no", "sentence_no", "metric", "value"]))
    labels = read_passage_labels(snippets, unanswerable)
    number_of = of_turn.groupby("passage_id").size()
    passages = [
        (row["passage_id"], metric, value)
        for row in labels[labels["turn_id"] == turn].to_dict("records")
        for metric, value in (
            ("partition", row["partition"]),
            ("answerable", int(row["answerable"])),
            # The file with the sentences of CAsT-unanswerable has no ids.
            *(
                [("sentences", int(number_of[row["passage_id"]]))]
                if row["dataset"] == "CAsT-snippets"
                else []
            ),
        )
    ]
    job.write_supplement(
        pd.DataFrame(passages, columns=["passage_id", "metric", "value"]),
        "passages",
        {"partition": "text", "answerable": 0, "sentences": 0},
    )
