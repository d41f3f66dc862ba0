"""Training of estimators of user satisfaction."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from datasets import Dataset

from everycell.learning.asap import (
    TURNS,
    Lookup,
    asap_loss,
    asap_probabilities,
    frozen_vectors,
    number_utterances,
    trained_vectors,
)
from everycell.learning.hawkes import Asap, AsapConfig, asap_from_encoder
from everycell.learning.hub import ModelError
from everycell.learning.models import device, load_model, load_weights
from everycell.learning.quiet import quiet
from everycell.learning.satisfaction import (
    UTTERANCE,
    Dialogue,
    classifier_loss,
    classifier_probabilities,
    context_ids,
    macro_f1,
    up_sample,
)
from everycell.learning.text_vectors import dense_vectors
from everycell.learning.tilde import token_ids
from everycell.learning.training import train
from everycell.learning.training_record import TrainingOptions, sha256_of, weights_sha256

#: Dialogues -> probabilities of dissatisfaction, 0 to 1.
Estimate: TypeAlias = Callable[[Sequence[Dialogue]], npt.NDArray[np.float32]]


class Labelled(NamedTuple):
    """Dialogues, and whether their users are dissatisfied."""

    dialogues: Sequence[Dialogue]
    dissatisfied: Sequence[bool]


class UtteranceVectors:
    """Vectors of utterances from a frozen encoder; each is computed only once."""

    def __init__(self, source: Path | str, *, utterance: int = UTTERANCE) -> None:
        model, self._tokenizer = load_model(source, "encoder")
        self._model, self._utterance = model.to(device()), utterance
        #: Hash of the encoder's weights.
        self.weights = weights_sha256(model)
        self._rows: dict[str, npt.NDArray[np.float32]] = {}

    def __call__(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Vectors of texts."""
        new_texts = [text for text in dict.fromkeys(texts) if text not in self._rows]
        vectors = dense_vectors(self._model, self._tokenizer, new_texts, self._utterance)
        vectors *= np.sqrt(vectors.shape[1])
        self._rows |= dict(zip(new_texts, vectors, strict=True))
        rows = [self._rows[text] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), vectors.shape[1])


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
        _examples("ids", [ids.tolist() for ids in rows], training.dissatisfied, factor),
        classifier_loss(tokenizer.pad_token_id),
        options,
        folder,
        tokenizer=tokenizer,
        validate=lambda _: macro_f1(valid.dissatisfied, estimate(valid_ids)),
        settings={
            "factor": factor,
            "length": length,
            "train_embeddings": train_embeddings,
            "validation": _hash(valid.dialogues, valid.dissatisfied),
        },
    )
    finished, _ = load_model(folder, "classifier")
    model.load_state_dict(finished.state_dict())
    return lambda dialogues: estimate(read(dialogues))


def train_asap(
    source: Path | str | UtteranceVectors,
    training: Labelled,
    valid: Labelled,
    options: TrainingOptions,
    folder: Path,
    *,
    factor: int = 1,
    turns: int = TURNS,
    utterance: int = UTTERANCE,
    **sizes: Any,
) -> Estimate:
    """Train an ASAP model."""
    torch.manual_seed(options.seed)
    if isinstance(source, UtteranceVectors):
        model = Asap(AsapConfig(vector=source([]).shape[1], **sizes))
    else:
        encoder, tokenizer = load_model(source, "encoder")
        model = asap_from_encoder(encoder, **sizes)
    model = model.to(device())

    def read(dialogues: Sequence[Dialogue]) -> tuple[Lookup, list[list[list[int]]]]:
        texts, numbers = number_utterances(dialogues, limit=turns)
        if isinstance(source, UtteranceVectors):
            return frozen_vectors(source(texts)), numbers
        ids = token_ids(tokenizer, texts, utterance)
        return trained_vectors(ids, tokenizer.pad_token_id), numbers

    lookup, numbers = read(training.dialogues)
    valid_inputs = read(valid.dialogues)
    train(
        model,
        _examples("turns", numbers, training.dissatisfied, factor),
        asap_loss(lookup),
        options,
        folder,
        validate=lambda asap: macro_f1(valid.dissatisfied, asap_probabilities(asap, *valid_inputs)),
        settings={
            "factor": factor,
            "turns": turns,
            "utterance": utterance,
            # The examples contain only numbers of utterances, so the texts are hashed too.
            "dialogues": _hash(training.dialogues),
            "vectors": source.weights if isinstance(source, UtteranceVectors) else None,
            "validation": _hash(valid.dialogues, valid.dissatisfied),
            **sizes,
        },
    )
    with quiet():
        finished, missing = load_weights(Asap, folder, str(folder))
    if missing:
        # transformers initialises missing weights at random.
        raise ModelError(
            f"The weights in {folder} lack {missing[0]!r}: remove the folder to retrain the model."
        )
    model.load_state_dict(finished.state_dict())
    model.eval()
    return lambda dialogues: asap_probabilities(model, *read(dialogues))


def _hash(dialogues: Sequence[Dialogue], labels: Sequence[bool] = ()) -> str:
    """Hash of dialogues and labels, by which a training run is recognised."""
    texts = (json.dumps([list(turn) for turn in dialogue]).encode() for dialogue in dialogues)
    return sha256_of([*texts, bytes(map(bool, labels))])


def _examples(name: str, rows: list[Any], dissatisfied: Sequence[bool], factor: int) -> Dataset:
    """Rows of a training set, the dissatisfied ones repeated."""
    indices = up_sample(dissatisfied, factor)
    return Dataset.from_dict(
        {
            name: [rows[index] for index in indices],
            "dissatisfied": [bool(dissatisfied[index]) for index in indices],
        }
    )
