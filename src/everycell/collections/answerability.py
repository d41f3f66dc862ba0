"""CAsT-answerability: whether sentences and passages answer a question.

Source: Lajewska and Balog, "Towards Reliable and Factual Response Generation" (ECIR 2024);
lajewska2025, section 5.5 and Appendix B.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from everycell.base import csv_files
from everycell.collections.snippet_files import parse_list_or_set
from everycell.collections.snippets import AnnotationError

#: Registry keys of the released files.
FILES: Mapping[str, str] = {
    "snippets": "cast-answerability/snippets_sentence_answerability.csv",
    "unanswerable": "cast-answerability/unanswerable_passages.csv",
    "snippets_sentences": "cast-answerability/snippets_sentences.csv",
    "unanswerable_sentences": "cast-answerability/unanswerable_sentences.csv",
    "chatgpt_passages": "cast-answerability/chatgpt_passage_zero_shot.csv",
    "classifier": "cast-answerability/predictions_snippets_unanswerable_on_unanswerable.csv",
    "augmented_classifier": (
        "cast-answerability/predictions_squad_snippets_unanswerable_on_unanswerable.csv"
    ),
}
PARTITIONS = ("train", "validation", "test")
#: Number of annotators per passage of CAsT-snippets.
ANNOTATORS = 3

read_labelled_rows = partial(csv_files.read_table, error=AnnotationError)
reject_rows = partial(csv_files.reject_rows, error=AnnotationError)


def read_passage_labels(snippets: Path, unanswerable: Path) -> pd.DataFrame:
    """Read the passages of CAsT-snippets and CAsT-unanswerable with their labels."""
    columns = ["turn_id", "passage_id", "partition", "query", "passage"]
    count, label = "no_answer_annotations", "answerability"
    snippet_rows = read_labelled_rows(
        snippets,
        [column if column == "partition" else f"Input.{column}" for column in columns]
        + [count, label],
    ).rename(columns=lambda name: name.removeprefix("Input."))
    check_values(snippets, snippet_rows, count, [str(number) for number in range(ANNOTATORS + 1)])
    check_values(snippets, snippet_rows, label, ["0", "1"])
    lacks_answer = snippet_rows[count] == str(ANNOTATORS)
    reject_rows(
        snippets,
        snippet_rows,
        label,
        lacks_answer == (snippet_rows[label] == "1"),
        f"0 if all {ANNOTATORS} annotators found no answer, and 1 otherwise",
    )
    unanswerable_rows = read_labelled_rows(unanswerable, columns)
    for path, rows in ((snippets, snippet_rows), (unanswerable, unanswerable_rows)):
        check_values(path, rows, "partition", PARTITIONS)
        reject_rows(
            path, rows, "passage_id", rows.duplicated(columns[:2]), "each passage once per turn"
        )
    answerable_passages = pd.MultiIndex.from_frame(snippet_rows.loc[~lacks_answer, columns[:2]])
    reject_rows(
        unanswerable,
        unanswerable_rows,
        "passage_id",
        pd.MultiIndex.from_frame(unanswerable_rows[columns[:2]]).isin(answerable_passages),
        f"a passage without an answer, but {snippets.name} has an answer for it",
    )
    check_single_partition(snippets, snippet_rows, "turn_id")
    partitions = snippet_rows.drop_duplicates("turn_id").set_index("turn_id")["partition"]
    check_single_partition(unanswerable, unanswerable_rows, "turn_id", partitions)
    parts = [
        snippet_rows[columns].assign(dataset="CAsT-snippets", answerable=~lacks_answer),
        unanswerable_rows[columns].assign(dataset="CAsT-unanswerable", answerable=False),
    ]
    passages = pd.concat(parts, ignore_index=True)[["dataset", *columns, "answerable"]]
    return passages.rename(columns={"query": "question"})


def read_passage_sentences(path: Path) -> pd.DataFrame:
    """Read the labelled sentences of the passages of CAsT-snippets, in the order of the text."""
    labels = {"answerable_sentences": True, "unanswerable_sentences": False}
    raw = read_labelled_rows(
        path, ["Input.turn_id", "Input.passage_id", "Input.passage", "answerability", *labels]
    )
    check_values(path, raw, "answerability", ["0", "1"])
    rows = []
    for number, row in enumerate(raw.to_dict("records"), start=1):
        sentences = []
        for column, answers in labels.items():
            for sentence in parse_list_or_set(row[column], set, f"{path}, row {number}: {column}"):
                start = row["Input.passage"].find(sentence)
                if start < 0:
                    raise AnnotationError(
                        f"{path}, row {number}: {column} has {sentence[:40]!r}, which is not in "
                        "the passage; fetch the file again (delete it first)."
                    )
                sentences.append((start, len(sentence), answers))
        rows += [
            (
                row["Input.turn_id"],
                row["Input.passage_id"],
                row["answerability"] == "1",
                position,
                answers,
            )
            for position, (_, _, answers) in enumerate(sorted(sentences), start=1)
        ]
    return pd.DataFrame(
        rows, columns=["turn_id", "passage_id", "answerable", "sentence", "answers"]
    )


def read_sentence_labels(path: Path) -> pd.DataFrame:
    """Read the question-sentence pairs on which a classifier is trained and tested."""
    raw = read_labelled_rows(path, ["partition", "sentences", "labels"])
    check_values(path, raw, "partition", PARTITIONS)
    check_values(path, raw, "labels", ["0", "1"])
    pairs = raw["sentences"].str.split(" [SEP] ", n=1, expand=True, regex=False)
    if 1 not in pairs:
        pairs[1] = None
    reject_rows(path, raw, "sentences", pairs[1].isna(), "a question, ' [SEP] ' and a sentence")
    check_single_partition(path, raw.assign(question=pairs[0]), "question")
    return pd.DataFrame(
        {
            "partition": raw["partition"],
            "question": pairs[0],
            "sentence": pairs[1],
            "answers": raw["labels"] == "1",
        }
    )


def check_partitions(passages: pd.DataFrame, sentences: pd.DataFrame) -> None:
    """Raise an error if a question's sentences and passages are in different partitions.

    A classifier trained on such sentences would be tested on questions from its training data.
    """
    partitions = passages.groupby("question")["partition"].agg(set).to_dict()
    for number, (question, partition) in enumerate(
        zip(sentences["question"], sentences["partition"], strict=True), start=1
    ):
        expected = partitions.get(question, set())
        if partition not in expected:
            names = " and ".join(map(repr, sorted(expected))) or "no partition"
            raise AnnotationError(
                f"Row {number} of the sentences: the question {question!r} is in the partition "
                f"{partition!r}, but its passages are in {names}; use files of the same release."
            )


def check_single_partition(
    path: Path, rows: pd.DataFrame, column: str, known: pd.Series | None = None
) -> None:
    """Raise an error if a turn or question is in two partitions, or not in its `known` one."""
    expected = rows.groupby(column)["partition"].transform("first")
    if known is not None:
        expected = rows[column].map(known).fillna(expected)
    differs = rows["partition"] != expected
    reject_rows(path, rows, "partition", differs, f"the partition of earlier rows of this {column}")


def check_values(path: Path, raw: pd.DataFrame, column: str, allowed: Sequence[str]) -> None:
    """Raise an error for the first row whose value in a column is not allowed."""
    reject_rows(path, raw, column, ~raw[column].isin(allowed), " or ".join(allowed))
