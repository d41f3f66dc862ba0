"""ASAP: satisfaction over the turns of a dialogue as a Hawkes process.

abolghasemi2026 (section 3.5.3) only names the system, its Hawkes process, and its source: Ye, Hu
and Yilmaz (2023), "Modeling User Satisfaction Dynamics in Dialogue via Hawkes Process", ACL. The
formulas below are those of the authors' public code (smartyfh/ASAP, commit 53ae6f1), in our words.

- Base estimator: h_1..h_t from v_1..v_t by a transformer in which a turn sees itself and those
  before it; p_t = softmax(MLP(h_t)), shape (K,).
- History: the type of an earlier turn is not known, so its event is the mean of the types' learnt
  vectors, e_t = sum_k p_tk E_k.
- Kernel: a Hawkes process lets each earlier event raise the intensity of later ones, in the
  classic form by alpha exp(-delta (t - s)). Here the influence of the events is learnt by
  self-attention with positions: g_t = transformer(e_1..e_t), causal as above.
- Intensity: lambda_tk = softplus(MLP_history(g_t)_k + MLP_base(h_t)_k), 0 or more; the second part
  is the background rate, which the text of the dialogue sets.
- Discretisation: time is the number of the turn. One event happens at each turn, so only its type
  is left to chance: P(k | t) = exp(lambda_tk) / sum_j exp(lambda_tj). The likelihood of a process
  in continuous time would have an integral of the intensity between events; here it has none.
- Loss: -log P(label | T) at the last turn T, the only one whose label a sample has, plus the same
  of p_T for the base estimator (the code's option `train_base`).

Choices of the code that do not follow from a Hawkes process are kept: the softmax over intensities
(the types of a point process would have lambda_k over their sum), and a history that has the event
of its own turn in it. What differs from the code, mostly for the sake of a CPU: vectors are brought
to `size` before the first transformer and not after it; the second task (dialogue acts) is left
out, since the thesis trains on satisfaction alone; the loss of the base estimator is always added;
feed-forward layers are twice as wide as `size`, not four times; layer norms and dropout stand where
torch has them. Vectors of turns are those of both utterances side by side, means over word pieces;
the code reads both as one text and takes [CLS] and a mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from transformers import BertConfig, BertModel, PreTrainedConfig, PreTrainedModel

_TYPES = 2


class AsapConfig(PreTrainedConfig):
    """Sizes of an ASAP."""

    model_type = "asap"

    vector: int = 384
    size: int = 128
    heads: int = 4
    layers: int = 2
    hawkes_layers: int = 2
    dropout: float = 0.1
    encoder: dict | None = None


class HawkesLayer(nn.Module):
    """Intensities of the events after each turn, from the events before and the background."""

    def __init__(self, types: int, *, size: int, heads: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.events = nn.Linear(types, size, bias=False)
        self.kernel = _transformer(size, heads, layers, dropout)
        self.from_history = _mlp(size, types, dropout)
        self.from_context = _mlp(size, types, dropout)

    def forward(self, probabilities: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        """Intensities, 0 or more."""
        history = _causal(self.kernel, self.events(probabilities))
        return functional.softplus(self.from_history(history) + self.from_context(context))


class Asap(PreTrainedModel):
    """The whole estimator; see the head of this module."""

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
        """Leave parts as torch draws them: transformers' small weights suit larger models."""

    def forward(self, turns: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits of the base estimator, and intensities."""
        context = _causal(self.dialogue, self.reduce(turns))
        base = self.base(context)
        return base, self.hawkes(base.softmax(dim=-1), context)

    def last(self, turns: torch.Tensor, lengths: Sequence[int]) -> tuple[torch.Tensor, ...]:
        """The same at the last turn of each dialogue only."""
        positions = torch.arange(len(lengths)), torch.tensor(lengths) - 1
        # pyrefly: ignore[not-callable]  its base class is unknown to the checker
        return tuple(values[positions] for values in self(turns))


def asap_from_encoder(encoder: BertModel, **sizes: Any) -> Asap:
    """An ASAP whose encoder is trained along and starts from a BERT."""
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


def _causal(transformer: nn.TransformerEncoder, values: torch.Tensor) -> torch.Tensor:
    """Run a transformer in which a turn sees itself and those before it.

    Padding stands after the last turn, which therefore never sees it.
    """
    turns, size = values.shape[1:]
    mask = torch.ones(turns, turns, dtype=torch.bool, device=values.device).triu(1)
    return transformer(values + _positions(turns, size).to(values), mask)


def _positions(turns: int, size: int) -> torch.Tensor:
    """Sines and cosines of the turn's number, of Vaswani et al. (2017), section 3.5."""
    position = torch.arange(turns, dtype=torch.float64)[:, None]
    rate = 10000.0 ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
    return torch.stack([(position * rate).sin(), (position * rate).cos()], dim=2).reshape(turns, -1)
