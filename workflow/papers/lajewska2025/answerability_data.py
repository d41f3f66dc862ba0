"""Labels and sentence pairs for answer-in-the-sentence classifiers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from everycell.collections.answerability import read_passage_labels, read_sentence_labels
from everycell.text.sentences import sentence_spans

Pair = tuple[str, str]


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
