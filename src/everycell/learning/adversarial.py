"""Cross-encoder trained against an adversary that predicts an attribute of the texts.

The adversary reads what the scoring head reads, behind a gradient reversal: the adversary learns to
predict the attribute, and the encoder to hide it.

Source: Rekabsaz, Kopeinik and Schedl, "Societal biases in retrieved contents" (SIGIR 2021), and
their code. They use two outputs and a softmax for each head; one output with a sigmoid, as here, is
equivalent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.nn import functional
from transformers import BertForSequenceClassification, PreTrainedTokenizerBase

from everycell.learning.batching import check_length, pad
from everycell.learning.cross_encoder import PairLength, join, tokenise
from everycell.learning.last_layer import apply_head, pooled_first_state


def add_adversary(model: BertForSequenceClassification, seed: int) -> None:
    """Add an untrained adversary with one hidden layer; readers of the saved model ignore it."""
    size = model.config.hidden_size
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        model.adversary = torch.nn.Sequential(
            torch.nn.Linear(size, size), torch.nn.Tanh(), torch.nn.Linear(size, 1)
        )


def reverse_gradient(states: torch.Tensor, scale: float) -> torch.Tensor:
    """The same values; their gradient is multiplied by -scale on its way back."""
    result = states.clone()
    if result.requires_grad:
        result.register_hook(lambda gradient: -scale * gradient)
    return result


def pointwise_loss(
    tokenizer: PreTrainedTokenizerBase, length: PairLength, *, scale: float | None = None
) -> Callable[[BertForSequenceClassification, Mapping[str, Sequence[Any]]], torch.Tensor]:
    """Loss on triples for `everycell.learning.training.train`.

    A row has `query`, `texts` (a relevant and a non-relevant one) and `attributes` (whether each
    pair has the attribute). The loss is the sum over both texts of the cross-entropy of relevance,
    and with `scale` also that of the adversary, whose gradient is reversed and scaled.
    """

    def loss(
        model: BertForSequenceClassification, rows: Mapping[str, Sequence[Any]]
    ) -> torch.Tensor:
        check_length(model, length.total)
        queries = tokenise(tokenizer, rows["query"])
        documents = tokenise(tokenizer, [text for texts in rows["texts"] for text in texts])
        pairs = [
            join(tokenizer, queries[position // 2], document, length)
            for position, document in enumerate(documents)
        ]
        batch = pad(pairs, tokenizer.pad_token_id, model.device)
        states = model.dropout(pooled_first_state(model, batch))
        value = _cross_entropy(apply_head(model.classifier, states), [[1, 0]] * len(queries))
        if scale is None:
            return value
        guesses = apply_head(model.adversary, reverse_gradient(states, scale))
        return value + _cross_entropy(guesses, rows["attributes"])

    return loss


def _cross_entropy(logits: torch.Tensor, labels: Sequence[Sequence[float]]) -> torch.Tensor:
    """Binary cross-entropy, summed over the two texts of a row; mean over the rows."""
    truth = torch.tensor(labels, dtype=logits.dtype, device=logits.device)
    return 2 * functional.binary_cross_entropy_with_logits(logits[:, 0], truth.flatten())
