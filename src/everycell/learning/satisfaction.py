"""Estimators of user satisfaction from text: baselines and a BERT."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.pipeline import Pipeline
from torch.nn import functional
from transformers import BertForSequenceClassification, PreTrainedTokenizerBase

from everycell.base.arrays import FloatArray, IntArray
from everycell.learning.batching import Ids, map_batches, pad
from everycell.learning.last_layer import logit
from everycell.learning.text_pairs import tokenise

#: A dialogue: (speaker, text) of each utterance.
Dialogue: TypeAlias = Sequence[tuple[str, str]]
#: The speaker whose answers are judged; any other is the user.
SYSTEM = "SYSTEM"
#: Maximum number of word pieces of an utterance, as in the code of both systems of the thesis.
UTTERANCE = 64
_WORD = re.compile(r"\w+")
# Words and word pairs in fewer dialogues are ignored.
_MIN_DIALOGUES = 2


def up_sample(dissatisfied: Sequence[bool], factor: int) -> IntArray:
    """Rows of a training set in which those of dissatisfied users occur `factor` times."""
    if factor < 1:
        raise ValueError(f"The factor of up-sampling is {factor}: it must be 1 or more.")
    rows = np.arange(len(dissatisfied), dtype=np.int64)
    dissatisfied_rows = rows[np.asarray(dissatisfied, dtype=bool)]
    return np.concatenate([rows, np.tile(dissatisfied_rows, factor - 1)])


def macro_f1(dissatisfied: Sequence[bool], probabilities: npt.ArrayLike) -> float:
    """Macro F1 of the prediction "dissatisfied" for probabilities above 0.5."""
    predictions = np.asarray(probabilities) > 0.5
    labels = np.asarray(dissatisfied, dtype=bool)
    return float(
        f1_score(labels, predictions, average="macro", labels=[False, True], zero_division=0)
    )


# -- baselines -----------------------------------------------------------------------------------


def majority_probability(dissatisfied: Sequence[bool]) -> float:
    """Share of dissatisfied users in training, which is predicted for every dialogue."""
    return float(np.mean(np.asarray(dissatisfied, dtype=bool)))


def split_answer(dialogue: Dialogue) -> tuple[str, str]:
    """Split a dialogue into its last utterance and the text before it."""
    if not dialogue:
        raise ValueError("A dialogue has no utterances: remove it, or add its text.")
    texts = [text for _, text in dialogue]
    return texts[-1], "\n".join(texts[:-1])


def logistic_regression(
    dialogues: Sequence[Dialogue],
    dissatisfied: Sequence[bool],
    valid: Sequence[Dialogue],
    valid_dissatisfied: Sequence[bool],
    *,
    factor: int = 1,
    strengths: Sequence[float] = (0.1, 1.0, 10.0),
) -> Pipeline:
    """Fit a logistic regression on TF-IDF of words and word pairs.

    The last answer and the text before it have separate features.
    """
    labels = np.asarray(dissatisfied, dtype=bool)
    if labels.all() or not labels.any():
        raise ValueError(
            f"All {len(labels)} training samples have the same label: add samples with the other "
            "label."
        )
    words = TfidfVectorizer(analyzer=_terms, sublinear_tf=True, min_df=_MIN_DIALOGUES)
    columns, valid_columns = words.fit_transform(dialogues), words.transform(valid)
    best, best_model = -1.0, None
    for strength in strengths:
        weights = {False: 1, True: factor}
        regression = LogisticRegression(C=strength, class_weight=weights, max_iter=1000)
        regression.fit(columns, labels)
        value = macro_f1(valid_dissatisfied, regression.predict_proba(valid_columns)[:, 1])
        if value > best:
            best, best_model = value, regression
    return Pipeline([("words", words), ("regression", best_model)])


def regression_probabilities(model: Pipeline, dialogues: Sequence[Dialogue]) -> FloatArray:
    """Probability of dissatisfaction, estimated by `logistic_regression`."""
    return model.predict_proba(dialogues)[:, 1]


def _terms(dialogue: Dialogue) -> Iterator[str]:
    """Words and word pairs, marked as in the last answer or in the text before it."""
    for part, text in zip(("answer", "before"), split_answer(dialogue), strict=True):
        words = _WORD.findall(text.lower())
        for term in (*words, *(" ".join(pair) for pair in pairwise(words))):
            yield f"{part}: {term}"


# -- BERT ----------------------------------------------------------------------------------------


def context_ids(
    tokenizer: PreTrainedTokenizerBase,
    dialogues: Sequence[Dialogue],
    length: int,
    *,
    utterance: int = UTTERANCE,
) -> list[npt.NDArray[np.int32]]:
    """Last word pieces of dialogues: [CLS], then utterances that each end with [SEP]."""
    if length < 3 or utterance < 1:
        raise ValueError(
            f"The length is {length} and the length of an utterance is {utterance}: they must be "
            "at least 3 and 1."
        )
    texts = list(dict.fromkeys(text for dialogue in dialogues for _, text in dialogue))
    end = np.array([tokenizer.sep_token_id], dtype=np.int32)
    pieces = {
        text: np.concatenate([ids[:utterance], end])
        for text, ids in zip(texts, tokenise(tokenizer, texts), strict=True)
    }
    rows = []
    for dialogue in dialogues:
        split_answer(dialogue)
        last_ids = np.concatenate([pieces[text] for _, text in dialogue])[1 - length :]
        rows.append(np.concatenate([[tokenizer.cls_token_id], last_ids]).astype(np.int32))
    return rows


def classifier_loss(
    pad_id: int,
) -> Callable[[BertForSequenceClassification, Mapping[str, Any]], torch.Tensor]:
    """Cross-entropy of a BERT with one output, the logit of dissatisfaction."""

    def loss(model: BertForSequenceClassification, rows: Mapping[str, Any]) -> torch.Tensor:
        logits = logit(model, pad(rows["ids"], pad_id, model.device))
        labels = torch.tensor(rows["dissatisfied"], dtype=logits.dtype, device=logits.device)
        return functional.binary_cross_entropy_with_logits(logits, labels)

    return loss


def classifier_probabilities(
    model: BertForSequenceClassification, ids: Sequence[Ids], pad_id: int
) -> npt.NDArray[np.float32]:
    """Probability of dissatisfaction, estimated by a BERT with one output."""
    rows = map_batches(
        lambda batch: logit(model, batch).sigmoid(),
        ids,
        pad_id=pad_id,
        device=model.device,
        what="dialogues",
    )
    return np.array(rows, dtype=np.float32)
