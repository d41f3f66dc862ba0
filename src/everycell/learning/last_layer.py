"""A BERT's last hidden states at the positions that are read, and at no other.

Below the last layer every position is needed, since the next layer attends to it. In the last layer
a position is of use only if somebody reads it: [CLS] for classifiers, cross-encoders and TILDE, the
terms of a query for TILDEv2. With two layers the last one is half of the work.
"""

from __future__ import annotations

import torch
from transformers import BertForSequenceClassification, BertModel
from transformers.masking_utils import create_bidirectional_mask

from everycell.learning.batching import Batch


def in_float32(head: torch.nn.Module, states: torch.Tensor) -> torch.Tensor:
    """A head on an encoder's states in the precision of its weights: bfloat16 ties scores."""
    with torch.autocast(states.device.type, enabled=False):
        return head(states.to(next(head.parameters()).dtype))


def first_state(bert: BertModel, batch: Batch) -> torch.Tensor:
    """Last hidden state of the first token."""
    hidden, _ = _below_last(bert, batch)
    attention = bert.encoder.layer[-1].attention.self
    heads, size = attention.num_attention_heads, attention.attention_head_size
    query = attention.query(hidden[:, 0]).view(-1, heads, size)
    # There is one query, so no position needs a key or a value of its own: q (K h) = (q K) h, and
    # the weighted mean of all V h is V times the weighted mean of all h.
    key, value = (
        (projection.weight.view(heads, size, -1), projection.bias.view(heads, size))
        for projection in (attention.key, attention.value)
    )
    logits = torch.einsum("bhd,hdm->bhm", query, key[0]) @ hidden.transpose(1, 2)
    # The key's bias, the same for all positions, changes no weight. Its gradient is 0 but for
    # rounding, and must be there: the optimiser treats a parameter without one in another way.
    logits = (logits + (query * key[1]).sum(-1, keepdim=True)) / size**0.5
    padding = batch["attention_mask"][:, None] == 0
    logits = logits.masked_fill(padding, torch.finfo(logits.dtype).min)
    weights = attention.dropout(logits.softmax(-1))
    attended = torch.einsum("bhm,hdm->bhd", weights @ hidden, value[0])
    # The weights add up to 1, but for dropout.
    attended = attended + weights.sum(-1, keepdim=True) * value[1]
    return _after_attention(bert, attended.flatten(1), hidden[:, 0])


def pooled_first_state(model: BertForSequenceClassification, batch: Batch) -> torch.Tensor:
    """What BERT's pooler makes of the first token."""
    # The pooler takes the first position of what it is given.
    return in_float32(model.bert.pooler, first_state(model.bert, batch)[:, None])


def logit(model: BertForSequenceClassification, batch: Batch) -> torch.Tensor:
    """Logit of a classifier with one output, with a gradient where the caller has it on."""
    return in_float32(model.classifier, model.dropout(pooled_first_state(model, batch)))[:, 0]


def states_at(bert: BertModel, batch: Batch, read: torch.Tensor) -> torch.Tensor:
    """Last hidden states at chosen positions."""
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
    """What the last layer makes of attention, each position by itself; shape (n, hidden size)."""
    last = bert.encoder.layer[-1]
    return last.feed_forward_chunk(last.attention.output(attended, before))
