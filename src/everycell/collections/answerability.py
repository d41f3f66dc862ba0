"""CAsT-answerability: whether sentences and passages answer a question.

Source: Lajewska and Balog, "Towards Reliable and Factual Response Generation" (ECIR 2024);
lajewska2025, section 5.5 and Appendix B. `FILES` has the registry keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from everycell.collections import rating_files
from everycell.collections.snippet_files import literal
from everycell.collections.snippets import AnnotationError

#: Registry keys.
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
#: Annotators of a passage of CAsT-snippets.
ANNOTATORS = 3

labelled_rows = partial(rating_files.read_table, error=AnnotationError)
refuse_rows = partial(rating_files.refuse_rows, error=AnnotationError)


def read_passage_labels(snippets: Path, unanswerable: Path) -> pd.DataFrame:
    """Passages of both halves with their labels."""
    columns = ["turn_id", "passage_id", "partition", "query", "passage"]
    counted, label = "no_answer_annotations", "answerability"
    first = labelled_rows(
        snippets,
        [column if column == "partition" else f"Input.{column}" for column in columns]
        + [counted, label],
    ).rename(columns=lambda name: name.removeprefix("Input."))
    refuse_levels(snippets, first, counted, [str(number) for number in range(ANNOTATORS + 1)])
    refuse_levels(snippets, first, label, ["0", "1"])
    nobody = first[counted] == str(ANNOTATORS)
    refuse_rows(
        snippets,
        first,
        label,
        nobody == (first[label] == "1"),
        f"0 where all {ANNOTATORS} annotators found no answer, and 1 elsewhere",
    )
    second = labelled_rows(unanswerable, columns)
    for path, rows in ((snippets, first), (unanswerable, second)):
        refuse_levels(path, rows, "partition", PARTITIONS)
        refuse_rows(
            path, rows, "passage_id", rows.duplicated(columns[:2]), "a passage once per turn"
        )
    answering = pd.MultiIndex.from_frame(first.loc[~nobody, columns[:2]])
    refuse_rows(
        unanswerable,
        second,
        "passage_id",
        pd.MultiIndex.from_frame(second[columns[:2]]).isin(answering),
        f"a passage without an answer, and this one has one in {snippets.name}",
    )
    refuse_two_partitions(snippets, first, "turn_id")
    of_first = first.drop_duplicates("turn_id").set_index("turn_id")["partition"]
    refuse_two_partitions(unanswerable, second, "turn_id", of_first)
    parts = [
        first[columns].assign(dataset="CAsT-snippets", answerable=~nobody),
        second[columns].assign(dataset="CAsT-unanswerable", answerable=False),
    ]
    passages = pd.concat(parts, ignore_index=True)[["dataset", *columns, "answerable"]]
    return passages.rename(columns={"query": "question"})


def read_passage_sentences(path: Path) -> pd.DataFrame:
    """Sentences of the passages of CAsT-snippets with their labels, in the passage's order."""
    labels = {"answerable_sentences": True, "unanswerable_sentences": False}
    raw = labelled_rows(
        path, ["Input.turn_id", "Input.passage_id", "Input.passage", "answerability", *labels]
    )
    refuse_levels(path, raw, "answerability", ["0", "1"])
    rows = []
    for number, row in enumerate(raw.to_dict("records"), start=1):
        sentences = []
        for column, answers in labels.items():
            for sentence in literal(row[column], set, f"{path}, row {number}: {column}"):
                start = row["Input.passage"].find(sentence)
                if start < 0:
                    raise AnnotationError(
                        f"{path}, row {number}: {column} has {sentence[:40]!r}, which its passage "
                        "does not have; fetch the file again (delete it first)."
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
    """Question-sentence pairs to train and test a classifier."""
    raw = labelled_rows(path, ["partition", "sentences", "labels"])
    refuse_levels(path, raw, "partition", PARTITIONS)
    refuse_levels(path, raw, "labels", ["0", "1"])
    pairs = raw["sentences"].str.split(" [SEP] ", n=1, expand=True, regex=False)
    if 1 not in pairs:
        pairs[1] = None
    refuse_rows(path, raw, "sentences", pairs[1].isna(), "a question, ' [SEP] ' and a sentence")
    refuse_two_partitions(path, raw.assign(question=pairs[0]), "question")
    return pd.DataFrame(
        {
            "partition": raw["partition"],
            "question": pairs[0],
            "sentence": pairs[1],
            "answers": raw["labels"] == "1",
        }
    )


def check_partitions(passages: pd.DataFrame, sentences: pd.DataFrame) -> None:
    """Refuse sentences whose question is in a different partition from its passages.

    A classifier trained on such sentences would be tested on questions that it has seen.
    """
    partitions = passages.drop_duplicates(["question", "partition"]).groupby("question")[
        "partition"
    ]
    allowed = partitions.agg(set).to_dict()
    for number, (question, partition) in enumerate(
        zip(sentences["question"], sentences["partition"], strict=True), start=1
    ):
        expected = allowed.get(question, set())
        if partition not in expected:
            theirs = " and ".join(map(repr, sorted(expected))) or "no partition"
            raise AnnotationError(
                f"Row {number} of the sentences: the question {question!r} is in the partition "
                f"{partition!r}, and its passages are in {theirs}; take both from one release."
            )


def refuse_two_partitions(
    path: Path, rows: pd.DataFrame, column: str, known: pd.Series | None = None
) -> None:
    """Refuse a turn or question in two partitions; `known` are those of another file."""
    expected = rows.groupby(column)["partition"].transform("first")
    if known is not None:
        expected = rows[column].map(known).fillna(expected)
    other = rows["partition"] != expected
    refuse_rows(path, rows, "partition", other, f"the partition of this {column} in rows before")


def refuse_levels(path: Path, raw: pd.DataFrame, column: str, allowed: Sequence[str]) -> None:
    """Refuse the first row whose value of a column is not allowed."""
    refuse_rows(path, raw, column, ~raw[column].isin(allowed), " or ".join(allowed))
