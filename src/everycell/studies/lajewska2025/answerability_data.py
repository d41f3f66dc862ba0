"""What the scripts that train and judge answer-in-the-sentence classifiers share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from everycell.collections.answerability import (
    check_partitions,
    read_passage_labels,
    read_sentence_labels,
)
from everycell.text.sentences import sentence_spans

Pair = tuple[str, str]


def read_labels(files: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Passages, each with its `sentences`, and labelled sentences, of one partition each."""
    passages = read_passage_labels(Path(files.snippets), Path(files.unanswerable))
    halves = (files.snippets_sentences, files.unanswerable_sentences)
    labelled = pd.concat([read_sentence_labels(Path(path)) for path in halves], ignore_index=True)
    check_partitions(passages, labelled)
    sentences = [
        [passage[start:end] for start, end in sentence_spans(passage)]
        for passage in passages["passage"]
    ]
    return passages.assign(sentences=sentences), labelled


def labelled_pairs(labelled: pd.DataFrame) -> list[Pair]:
    """Question and sentence of each row."""
    return list(zip(labelled["question"], labelled["sentence"], strict=True))


def judged_pairs(passages: pd.DataFrame, labelled: pd.DataFrame) -> list[Pair]:
    """Each question with each sentence that a probability is needed of, once."""
    held_out = passages["partition"] != "train"
    of_passages = [
        (question, sentence)
        for question, sentences in passages.loc[held_out, ["question", "sentences"]].values
        for sentence in sentences
    ]
    pairs = labelled_pairs(labelled[labelled["partition"] != "train"]) + of_passages
    return list(dict.fromkeys(pairs))


def score_frame(pairs: list[Pair], probabilities: Any) -> pd.DataFrame:
    """Frame of the probability of each pair."""
    return pd.DataFrame(pairs, columns=["question", "sentence"]).assign(probability=probabilities)
