"""ASAP: satisfaction over the turns of a dialogue as a Hawkes process.

abolghasemi2026 (section 3.5.3) only mentions the system, its Hawkes process and its source: Ye, Hu
and Yilmaz (2023), "Modeling User Satisfaction Dynamics in Dialogue via Hawkes Process", ACL. The
formulas below are those of the authors' public code (smartyfh/ASAP, commit 53ae6f1).

- Base estimator: a causal transformer computes h_1..h_t from v_1..v_t; p_t = softmax(MLP(h_t)),
  shape (K,).
- History: the types of earlier turns are unknown, so the event of a turn is the expected vector of
  its type, e_t = sum_k p_tk E_k, with learnt vectors E_k.
- Kernel: in a Hawkes process, each event raises the intensity of later ones, classically by
  alpha exp(-delta (t - s)). Here the influence of events is learnt by causal self-attention with
  positional encodings: g_t = transformer(e_1..e_t).
- Intensity: lambda_tk = softplus(MLP_history(g_t)_k + MLP_base(h_t)_k). The second term is the
  background rate, which depends on the text of the dialogue.
- Discretisation: time is the number of the turn. One event occurs at each turn, so only its type is
  random: P(k | t) = exp(lambda_tk) / sum_j exp(lambda_tj). Unlike in continuous time, the
  likelihood does not contain an integral of the intensity.
- Loss: -log P(label | T) at the last turn T, the only labelled turn of a sample, plus the same loss
  for p_T of the base estimator (option `train_base` of the code).

Two choices of the code that do not follow from a Hawkes process are kept: the softmax over
intensities (in a point process, probabilities are proportional to them), and a history that
includes the event of the current turn.

This implementation differs from the code, mostly to be faster on a CPU:

- Vectors are projected to `size` before the first transformer, not after it.
- The second task (dialogue acts) is omitted, since the thesis trains on satisfaction only.
- The loss of the base estimator is always added.
- Feed-forward layers are twice as wide as `size`, not four times.
- Layer norms and dropout are those of torch's transformer layers.
- The vector of a turn concatenates those of its two utterances, which are means over word pieces.
  The code encodes both utterances as one text, and uses [CLS] and a mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional
from transformers import BertConfig, BertModel, PreTrainedConfig, PreTrainedModel

from everycell.base.arrays import IntArray
from everycell.base.errors import DataError
from everycell.learning.batching import Ids, pad
from everycell.learning.checkpoints import TrainingOptions, weights_sha256
from everycell.learning.dissatisfaction import (
    SYSTEM,
    UTTERANCE,
    Dialogue,
    Estimate,
    Labelled,
    hash_dialogues,
    macro_f1,
    training_rows,
)
from everycell.learning.models import ModelError, device, load_model, load_weights, quiet
from everycell.learning.text_vectors import dense_vectors
from everycell.learning.tilde import token_ids
from everycell.learning.training import train

#: Maximum number of turns that are read, from the end of a dialogue.
TURNS = 16
_TYPES = 2


class AsapConfig(PreTrainedConfig):
    """Sizes of an ASAP model."""

    model_type = "asap"

    vector: int = 384
    size: int = 128
    heads: int = 4
    layers: int = 2
    hawkes_layers: int = 2
    dropout: float = 0.1
    encoder: dict | None = None


class HawkesLayer(nn.Module):
    """Intensities of events at each turn, from the history and the background rate."""

    def __init__(self, types: int, *, size: int, heads: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.events = nn.Linear(types, size, bias=False)
        self.kernel = _transformer(size, heads, layers, dropout)
        self.from_history = _mlp(size, types, dropout)
        self.from_context = _mlp(size, types, dropout)

    def forward(self, probabilities: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        """Intensities, 0 or more."""
        history = _run_causally(self.kernel, self.events(probabilities))
        return functional.softplus(self.from_history(history) + self.from_context(context))


class Asap(PreTrainedModel):
    """The ASAP estimator; see the docstring of the module."""

    config_class = AsapConfig

    def __init__(self, config: AsapConfig) -> None:
        super().__init__(config)
        size, dropout = config.size, config.dropout
        self.encoder: Any = None
        if config.encoder is not None:
            self.encoder = BertModel(BertConfig(**config.encoder), add_pooling_layer=False)
        self.reduce = nn.Linear(2 * config.vector, size)
        self.dialogue = _transformer(size, config.heads, config.layers, dropout)
        self.base = _mlp(size, _TYPES, dropout)
        self.hawkes = HawkesLayer(
            _TYPES, size=size, heads=config.heads, layers=config.hawkes_layers, dropout=dropout
        )
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        """Keep torch's initialisation: transformers' small weights suit larger models."""

    def forward(self, turns: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits of the base estimator, and intensities."""
        context = _run_causally(self.dialogue, self.reduce(turns))
        base = self.base(context)
        return base, self.hawkes(base.softmax(dim=-1), context)

    def forward_last(self, turns: torch.Tensor, lengths: Sequence[int]) -> tuple[torch.Tensor, ...]:
        """Logits and intensities at the last turn of each dialogue."""
        positions = torch.arange(len(lengths)), torch.tensor(lengths) - 1
        # pyrefly: ignore[not-callable]  its base class is unknown to the checker
        return tuple(values[positions] for values in self(turns))


def asap_from_encoder(encoder: BertModel, **sizes: Any) -> Asap:
    """Create an ASAP model with a trainable encoder, initialised from a BERT model."""
    config = encoder.config
    model = Asap(AsapConfig(vector=config.hidden_size, encoder=config.to_dict(), **sizes))
    model.encoder.load_state_dict(encoder.state_dict())
    return model


def _transformer(size: int, heads: int, layers: int, dropout: float) -> nn.TransformerEncoder:
    layer = nn.TransformerEncoderLayer(
        size, heads, 2 * size, dropout, "gelu", batch_first=True, norm_first=True
    )
    return nn.TransformerEncoder(layer, layers, nn.LayerNorm(size), enable_nested_tensor=False)


def _mlp(size: int, outputs: int, dropout: float) -> nn.Sequential:
    hidden = size // 4
    return nn.Sequential(
        nn.Linear(size, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, outputs)
    )


def _run_causally(transformer: nn.TransformerEncoder, values: torch.Tensor) -> torch.Tensor:
    """Run a transformer in which each turn attends to itself and to earlier turns.

    Turns do not attend to padding, because it follows the last turn.
    """
    turns, size = values.shape[1:]
    mask = torch.ones(turns, turns, dtype=torch.bool, device=values.device).triu(1)
    return transformer(values + _positions(turns, size).to(values), mask)


def _positions(turns: int, size: int) -> torch.Tensor:
    """Sinusoidal encodings of the turns' positions (Vaswani et al., 2017, section 3.5)."""
    position = torch.arange(turns, dtype=torch.float64)[:, None]
    rate = 10000.0 ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
    return torch.stack([(position * rate).sin(), (position * rate).cos()], dim=2).reshape(turns, -1)


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
            raise DataError(
                row=f"dialogue {number}",
                fault="has no utterances",
                fix="remove it, or add its text",
            )
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
        training_rows("turns", numbers, training.dissatisfied, factor),
        asap_loss(lookup),
        options,
        folder,
        validate=lambda asap: macro_f1(valid.dissatisfied, asap_probabilities(asap, *valid_inputs)),
        settings={
            "factor": factor,
            "turns": turns,
            "utterance": utterance,
            # The examples contain only numbers of utterances, so the texts are hashed too.
            "dialogues": hash_dialogues(training.dialogues),
            "vectors": source.weights if isinstance(source, UtteranceVectors) else None,
            "validation": hash_dialogues(valid.dialogues, valid.dissatisfied),
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
