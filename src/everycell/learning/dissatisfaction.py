"""Probability that the user of a dialogue is dissatisfied: baselines, and a fine-tuned BERT."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from datasets import Dataset
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.pipeline import Pipeline
from torch.nn import functional
from transformers import BertForSequenceClassification, PreTrainedTokenizerBase

from everycell.base.arrays import FloatArray, IntArray
from everycell.base.errors import DataError
from everycell.learning.batching import Ids, map_batches, pad
from everycell.learning.checkpoints import TrainingOptions, sha256_of
from everycell.learning.cross_encoder import tokenise
from everycell.learning.last_layer import logit
from everycell.learning.models import device, load_model
from everycell.learning.training import train

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
        raise DataError(column="factor", value=factor, expected="1 or more")
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


def majority_probability(dissatisfied: Sequence[bool]) -> float:
    """Share of dissatisfied users in training, which is predicted for every dialogue."""
    return float(np.mean(np.asarray(dissatisfied, dtype=bool)))


def split_answer(dialogue: Dialogue) -> tuple[str, str]:
    """Split a dialogue into its last utterance and the text before it."""
    if not dialogue:
        raise DataError(fault="A dialogue has no utterances", fix="remove it, or add its text")
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
    for name, value, lowest in (("length", length, 3), ("utterance", utterance, 1)):
        if value < lowest:
            raise DataError(column=name, value=value, expected=f"{lowest} or more")
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


#: Dialogues -> probabilities of dissatisfaction, 0 to 1.
Estimate: TypeAlias = Callable[[Sequence[Dialogue]], npt.NDArray[np.float32]]


class Labelled(NamedTuple):
    """Dialogues, and whether their users are dissatisfied."""

    dialogues: Sequence[Dialogue]
    dissatisfied: Sequence[bool]


def stepped_options(
    steps: int,
    batch: int,
    learning_rate: float,
    validations: int,
    seed: int,
    *,
    dropout: float | None = None,
    bf16: bool = False,
) -> TrainingOptions:
    """Options of a training run with a given number of steps, regardless of up-sampling."""
    return TrainingOptions(
        learning_rate=learning_rate,
        seed=seed,
        # An upper bound, because an epoch has at least one step.
        epochs=steps,
        max_steps=steps,
        batch_size=batch,
        warmup_ratio=0.1,
        weight_decay=0.01,
        validation_steps=-(-steps // validations),
        checkpoint_steps=100,
        dropout=dropout,
        bf16=bf16,
    )


def train_classifier(
    source: Path | str,
    training: Labelled,
    valid: Labelled,
    options: TrainingOptions,
    folder: Path,
    *,
    factor: int = 1,
    length: int = 128,
    train_embeddings: bool = True,
) -> Estimate:
    """Fine-tune a BERT on the last word pieces of dialogues."""
    model, tokenizer = load_model(source, "classifier", seed=options.seed)
    model = model.to(device())
    model.base_model.embeddings.requires_grad_(train_embeddings)

    def read(dialogues: Sequence[Dialogue]) -> list[npt.NDArray[np.int32]]:
        return context_ids(tokenizer, dialogues, length)

    def estimate(ids: Sequence[npt.NDArray[np.int32]]) -> npt.NDArray[np.float32]:
        return classifier_probabilities(model, ids, tokenizer.pad_token_id)

    rows, valid_ids = read(training.dialogues), read(valid.dialogues)
    # If the folder already contained the finished model, `train` did not change `model`.
    train(
        model,
        training_rows("ids", [ids.tolist() for ids in rows], training.dissatisfied, factor),
        classifier_loss(tokenizer.pad_token_id),
        options,
        folder,
        tokenizer=tokenizer,
        validate=lambda _: macro_f1(valid.dissatisfied, estimate(valid_ids)),
        settings={
            "factor": factor,
            "length": length,
            "train_embeddings": train_embeddings,
            "validation": hash_dialogues(valid.dialogues, valid.dissatisfied),
        },
    )
    finished, _ = load_model(folder, "classifier")
    model.load_state_dict(finished.state_dict())
    return lambda dialogues: estimate(read(dialogues))


def hash_dialogues(dialogues: Sequence[Dialogue], labels: Sequence[bool] = ()) -> str:
    """Hash of dialogues and labels, by which a training run is recognised."""
    texts = (json.dumps([list(turn) for turn in dialogue]).encode() for dialogue in dialogues)
    return sha256_of([*texts, bytes(map(bool, labels))])


def training_rows(name: str, rows: list[Any], dissatisfied: Sequence[bool], factor: int) -> Dataset:
    """Rows of a training set, the dissatisfied ones repeated."""
    indices = up_sample(dissatisfied, factor)
    return Dataset.from_dict(
        {
            name: [rows[index] for index in indices],
            "dissatisfied": [bool(dissatisfied[index]) for index in indices],
        }
    )
