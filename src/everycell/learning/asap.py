"""ASAP on dialogues: its inputs, loss and probabilities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from everycell.base.arrays import IntArray
from everycell.learning.batching import Ids, pad
from everycell.learning.hawkes import Asap
from everycell.learning.satisfaction import SYSTEM, Dialogue

#: Maximum number of turns that are read, from the end of a dialogue.
TURNS = 16


def exchanges(dialogue: Dialogue) -> list[tuple[str, str]]:
    """Turns of a dialogue, as pairs of the user's and the system's text."""
    turns: list[tuple[list[str], list[str]]] = []
    for speaker, text in dialogue:
        is_system = speaker == SYSTEM
        if not turns or (not is_system and turns[-1][1]):
            turns.append(([], []))
        turns[-1][is_system].append(text)
    return [(" ".join(user), " ".join(system)) for user, system in turns]


#: Model and numbers of utterances -> vectors of the utterances, one per row.
Lookup = Callable[[Asap, IntArray], torch.Tensor]


def frozen_vectors(vectors: npt.NDArray[np.float32]) -> Lookup:
    """Look up precomputed vectors, which are not trained."""
    table = torch.from_numpy(vectors)
    return lambda model, numbers: table[torch.from_numpy(numbers)].to(model.device)


def trained_vectors(ids: Sequence[Ids], pad_id: int) -> Lookup:
    """Compute vectors with the model's encoder, as means over word pieces."""

    def vectors(model: Asap, numbers: IntArray) -> torch.Tensor:
        batch = pad([ids[number] for number in numbers], pad_id, model.device)
        states = model.encoder(**batch).last_hidden_state
        mask = batch["attention_mask"][:, :, None].to(states.dtype)
        return (states * mask).sum(dim=1) / mask.sum(dim=1)

    return vectors


def number_utterances(
    dialogues: Sequence[Dialogue], *, limit: int = TURNS
) -> tuple[list[str], list[list[list[int]]]]:
    """Replace utterances by numbers, so that each is encoded only once."""
    numbers: dict[str, int] = {}
    turns = []
    for number, dialogue in enumerate(dialogues):
        last_exchanges = exchanges(dialogue)[-limit:]
        if not last_exchanges:
            raise ValueError(f"Dialogue {number} has no utterances: remove it, or add its text.")
        turns.append(
            [
                [numbers.setdefault(text, len(numbers)) for text in exchange]
                for exchange in last_exchanges
            ]
        )
    return list(numbers), turns


def asap_loss(
    lookup: Lookup, *, base_weight: float = 1.0
) -> Callable[[Asap, Mapping[str, Any]], torch.Tensor]:
    """Cross-entropy of the last event's type and of the base estimator's prediction."""

    def loss(model: Asap, rows: Mapping[str, Any]) -> torch.Tensor:
        base, intensities = _predict_last(model, lookup, rows["turns"])
        labels = torch.tensor(rows["dissatisfied"], dtype=torch.int64, device=model.device)
        value = functional.cross_entropy(intensities, labels)
        return value + base_weight * functional.cross_entropy(base, labels)

    return loss


def asap_probabilities(
    model: Asap, lookup: Lookup, turns: Sequence[Sequence[Sequence[int]]], *, batch: int = 64
) -> npt.NDArray[np.float32]:
    """Probability of dissatisfaction after the last turn."""
    batches = [np.empty(0, dtype=np.float32)]
    with torch.no_grad():
        for start in range(0, len(turns), batch):
            _, intensities = _predict_last(model, lookup, turns[start : start + batch])
            batches.append(intensities.softmax(dim=-1)[:, 1].cpu().numpy())
    return np.concatenate(batches)


def _predict_last(
    model: Asap, lookup: Lookup, turns: Sequence[Sequence[Sequence[int]]]
) -> tuple[torch.Tensor, ...]:
    """Outputs of the model at the last turn of each dialogue."""
    lengths = [len(dialogue) for dialogue in turns]
    flat = np.concatenate([np.asarray(dialogue, dtype=np.int64) for dialogue in turns])
    numbers, positions = np.unique(flat, return_inverse=True)
    vectors = lookup(model, numbers)[torch.from_numpy(positions.reshape(flat.shape))]
    parts = vectors.reshape(len(flat), -1).split(lengths)
    return model.forward_last(nn.utils.rnn.pad_sequence(parts, batch_first=True), lengths)
