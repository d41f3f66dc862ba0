"""Last hidden states of a BERT, computed only at the positions that are used.

Below the last layer, every position is needed because the next layer attends to it. In the last
layer, only the positions that a model uses are needed: [CLS] for classifiers, cross-encoders and
TILDE, and the terms of a query for TILDEv2. With two layers, the last one is half of the
computation.
"""

from __future__ import annotations

import torch
from transformers import BertForSequenceClassification, BertModel
from transformers.masking_utils import create_bidirectional_mask

from everycell.learning.batching import Batch


def apply_head(head: torch.nn.Module, states: torch.Tensor) -> torch.Tensor:
    """Apply a head in the precision of its weights, because bfloat16 causes ties of scores."""
    with torch.autocast(states.device.type, enabled=False):
        return head(states.to(next(head.parameters()).dtype))


def first_state(bert: BertModel, batch: Batch) -> torch.Tensor:
    """Last hidden state of the first token."""
    hidden, _ = _below_last(bert, batch)
    attention = bert.encoder.layer[-1].attention.self
    heads, size = attention.num_attention_heads, attention.attention_head_size
    query = attention.query(hidden[:, 0]).view(-1, heads, size)
    # With a single query, no keys and values per position are needed: q (K h) = (q K) h, and the
    # weighted mean of V h is V times the weighted mean of h.
    key, value = (
        (projection.weight.view(heads, size, -1), projection.bias.view(heads, size))
        for projection in (attention.key, attention.value)
    )
    logits = torch.einsum("bhd,hdm->bhm", query, key[0]) @ hidden.transpose(1, 2)
    # The key's bias is the same for all positions, so it does not change the weights. It is added
    # because the optimiser treats parameters without a gradient differently.
    logits = (logits + (query * key[1]).sum(-1, keepdim=True)) / size**0.5
    padding = batch["attention_mask"][:, None] == 0
    logits = logits.masked_fill(padding, torch.finfo(logits.dtype).min)
    weights = attention.dropout(logits.softmax(-1))
    attended = torch.einsum("bhm,hdm->bhd", weights @ hidden, value[0])
    # The weights sum to 1, except for dropout.
    attended = attended + weights.sum(-1, keepdim=True) * value[1]
    return _after_attention(bert, attended.flatten(1), hidden[:, 0])


def pooled_first_state(model: BertForSequenceClassification, batch: Batch) -> torch.Tensor:
    """Output of BERT's pooler for the first token."""
    # The pooler reads the first position of its input.
    return apply_head(model.bert.pooler, first_state(model.bert, batch)[:, None])


def logit(model: BertForSequenceClassification, batch: Batch) -> torch.Tensor:
    """Logit of a classifier with one output; it has a gradient if gradients are enabled."""
    return apply_head(model.classifier, model.dropout(pooled_first_state(model, batch)))[:, 0]


def states_at(bert: BertModel, batch: Batch, read: torch.Tensor) -> torch.Tensor:
    """Last hidden states at the given positions."""
    hidden, mask = _below_last(bert, batch)
    attended, _ = bert.encoder.layer[-1].attention.self(hidden, mask)
    return _after_attention(bert, attended[read], hidden[read])


def _below_last(bert: BertModel, batch: Batch) -> tuple[torch.Tensor, torch.Tensor | None]:
    """States that the last layer reads, shape (b, longest, hidden size), and its mask."""
    hidden = bert.embeddings(batch["input_ids"], token_type_ids=batch.get("token_type_ids"))
    mask = create_bidirectional_mask(
        config=bert.config, inputs_embeds=hidden, attention_mask=batch["attention_mask"]
    )
    for layer in bert.encoder.layer[:-1]:
        hidden = layer(hidden, mask)
    return hidden, mask


def _after_attention(bert: BertModel, attended: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
    """Output of the last layer after attention, per position; shape (n, hidden size)."""
    last = bert.encoder.layer[-1]
    return last.feed_forward_chunk(last.attention.output(attended, before))
