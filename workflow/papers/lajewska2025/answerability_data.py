"""Readers of CAsT-answerability, labels and predictions, for chapter 5 of lajewska2025.

Source: Lajewska and Balog, "Towards Reliable and Factual Response Generation" (ECIR 2024);
lajewska2025, section 5.5 and Appendix B.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from everycell.base.csv_files import read_columns
from everycell.base.errors import DataError
from everycell.base.untrusted import parse_json, parse_literal, text_of
from everycell.text.sentences import sentence_spans

Pair = tuple[str, str]
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
#: Number of annotators per passage of CAsT-snippets.
ANNOTATORS = 3


def read_passage_labels(snippets: Path, unanswerable: Path) -> pd.DataFrame:
    """Read the passages of CAsT-snippets and CAsT-unanswerable with their labels."""
    columns = ["turn_id", "passage_id", "partition", "query", "passage"]
    names = {"partition" if name == "partition" else f"Input.{name}": name for name in columns}
    raw = read_columns(snippets, [*names, "no_answer_annotations"]).rename(columns=names)
    parts = [
        raw[columns].assign(
            dataset="CAsT-snippets", answerable=raw["no_answer_annotations"] != str(ANNOTATORS)
        ),
        read_columns(unanswerable, columns).assign(dataset="CAsT-unanswerable", answerable=False),
    ]
    passages = pd.concat(parts, ignore_index=True)[["dataset", *columns, "answerable"]]
    return passages.rename(columns={"query": "question"})


def read_passage_sentences(path: Path) -> pd.DataFrame:
    """Read the labelled sentences of the passages of CAsT-snippets, in the order of the text."""
    labels = {"answerable_sentences": True, "unanswerable_sentences": False}
    raw = read_columns(
        path, ["Input.turn_id", "Input.passage_id", "Input.passage", "answerability", *labels]
    )
    rows = []
    for turn, passage_id, passage, answerable, *parts in raw.itertuples(index=False, name=None):
        sentences = [
            (passage.find(sentence), len(sentence), answers)
            for part, answers in zip(parts, labels.values(), strict=True)
            for sentence in parse_literal(part)
        ]
        rows += [
            (turn, passage_id, answerable == "1", position, answers)
            for position, (_, _, answers) in enumerate(sorted(sentences), start=1)
        ]
    return pd.DataFrame(
        rows, columns=["turn_id", "passage_id", "answerable", "sentence", "answers"]
    )


def read_sentence_labels(path: Path) -> pd.DataFrame:
    """Read the question-sentence pairs on which a classifier is trained and tested."""
    raw = read_columns(path, ["partition", "sentences", "labels"])
    pairs = raw["sentences"].str.split(" [SEP] ", n=1, expand=True, regex=False)
    return pd.DataFrame(
        {
            "partition": raw["partition"],
            "question": pairs[0],
            "sentence": pairs[1],
            "answers": raw["labels"] == "1",
        }
    )


def read_passage_predictions(path: Path) -> pd.DataFrame:
    """Read a language model's predictions of whether passages are answerable."""
    raw = read_columns(path, ["turn_id", "passage_id", "answerability", "predicted_value"])
    return raw[["turn_id", "passage_id"]].assign(
        answerable=raw["answerability"] == "1", predicted=raw["predicted_value"] == "1"
    )


def read_sentence_scores(path: Path) -> pd.DataFrame:
    """Read a classifier's probabilities for the sentences of passages."""
    keys, column = ["turn_id", "passage_id", "partition"], "sentence_probabilities"
    raw = read_columns(path, [*keys, column])
    scores = [tuple(float(answers) for _, answers in parse_literal(row)) for row in raw[column]]
    return raw[keys].assign(scores=scores)


def join_scores(scores: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Join the scores of several classifiers, with one row per passage."""
    keys = ["turn_id", "passage_id", "partition"]
    columns = [part.set_index(keys)["scores"].rename(name) for name, part in scores.items()]
    return pd.concat(columns, axis=1).reset_index()


def read_labels(files: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Passages with their `sentences`, and labelled sentences of the same partitions."""
    passages = read_passage_labels(Path(files.snippets), Path(files.unanswerable))
    sentence_files = (files.snippets_sentences, files.unanswerable_sentences)
    labelled = pd.concat(
        [read_sentence_labels(Path(path)) for path in sentence_files], ignore_index=True
    )
    sentences = [
        [passage[start:end] for start, end in sentence_spans(passage)]
        for passage in passages["passage"]
    ]
    return passages.assign(sentences=sentences), labelled


def hold_out(
    passages: pd.DataFrame, labelled: pd.DataFrame, turns: Iterable[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both frames with the questions of some turns as the test partition, and no others.

    Questions of the released test partition are used for training instead.
    """
    questions = passages.loc[passages["turn_id"].isin(turns), "question"]

    def divide(frame: pd.DataFrame) -> pd.DataFrame:
        partitions = frame["partition"].replace("test", "train")
        return frame.assign(partition=partitions.mask(frame["question"].isin(questions), "test"))

    return divide(passages), divide(labelled)


def labelled_pairs(labelled: pd.DataFrame) -> list[Pair]:
    """Question-sentence pair of each row."""
    return list(zip(labelled["question"], labelled["sentence"], strict=True))


def judged_pairs(passages: pd.DataFrame, labelled: pd.DataFrame) -> list[Pair]:
    """Distinct question-sentence pairs outside the training partition."""
    held_out = passages["partition"] != "train"
    passage_pairs = [
        (question, sentence)
        for question, sentences in passages.loc[held_out, ["question", "sentences"]].values
        for sentence in sentences
    ]
    pairs = labelled_pairs(labelled[labelled["partition"] != "train"]) + passage_pairs
    return list(dict.fromkeys(pairs))


def score_frame(pairs: list[Pair], probabilities: Any) -> pd.DataFrame:
    """Probability of each pair, as a frame."""
    return pd.DataFrame(pairs, columns=["question", "sentence"]).assign(probability=probabilities)


#: A question, its paragraph, and its answers in the words of the paragraph.
Question = tuple[str, str, Sequence[str]]


def read_squad(path: Path) -> pd.DataFrame:
    """Read the questions of SQuAD 2.0 with their paragraphs and answers."""
    try:
        rows = [
            (
                entry["question"],
                paragraph["context"],
                tuple(answer["text"] for answer in entry["answers"]),
            )
            for article in parse_json(text_of(path))["data"]
            for paragraph in article["paragraphs"]
            for entry in paragraph["qas"]
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            path,
            fault=f"is not a file of SQuAD 2.0 ({type(error).__name__}: {error})",
            fix="download it again",
        ) from None
    for question, passage, answers in rows:
        for answer in answers:
            if answer not in passage:
                raise DataError(
                    path,
                    f"question {question[:40]!r}",
                    "answer",
                    answer,
                    "which is not in the paragraph",
                    fix="download the file again",
                )
    return pd.DataFrame(rows, columns=["question", "passage", "answers"])
