"""A BERT's last hidden states at the positions that are read, and at no other.

Below the last layer every position is needed, since the next layer attends to it. In the last layer
a position is of use only if somebody reads it: [CLS] for a cross-encoder and TILDE, the terms of a
query for TILDEv2. With two layers the last one is half of the work.

The states are those of `transformers.BertModel` but for the rounding of sums.
"""

from __future__ import annotations

import torch
from torch.nn import functional
from transformers import BertModel
from transformers.masking_utils import create_bidirectional_mask

from everycell.learning.batching import Batch


def first_state(bert: BertModel, batch: Batch) -> torch.Tensor:
    """Last hidden state of the first token.

    Parameters
    ----------
    bert : transformers.BertModel
    batch : mapping of str to torch.Tensor
        Of b sequences, as `everycell.learning.batching.pad` makes it.

    Returns
    -------
    torch.Tensor, shape (b, hidden size)

    Examples
    --------
    >>> from transformers import BertConfig
    >>> size = {"hidden_size": 4, "num_attention_heads": 1, "intermediate_size": 4}
    >>> bert = BertModel(BertConfig(vocab_size=9, num_hidden_layers=2, **size)).eval()
    >>> batch = {"input_ids": torch.tensor([[3, 5]]), "attention_mask": torch.ones(1, 2)}
    >>> whole = bert(**batch).last_hidden_state
    >>> torch.allclose(first_state(bert, batch), whole[:, 0], atol=1e-6)
    True
    """
    hidden, mask = _below_last(bert, batch)
    last = bert.encoder.layer[-1]
    attention = last.attention.self

    def heads(values: torch.Tensor) -> torch.Tensor:
        split = len(values), -1, attention.num_attention_heads, attention.attention_head_size
        return values.view(split).transpose(1, 2)

    found = functional.scaled_dot_product_attention(
        heads(attention.query(hidden[:, :1])),
        heads(attention.key(hidden)),
        heads(attention.value(hidden)),
        # The same for each position that asks.
        attn_mask=None if mask is None else mask[:, :, :1],
        dropout_p=attention.dropout.p if bert.training else 0.0,
    )
    return _after_attention(bert, found.reshape(len(hidden), -1), hidden[:, 0])


def states_at(bert: BertModel, batch: Batch, read: torch.Tensor) -> torch.Tensor:
    """Last hidden states at chosen positions.

    Parameters
    ----------
    bert : transformers.BertModel
    batch : mapping of str to torch.Tensor
        Of b sequences, as `everycell.learning.batching.pad` makes it.
    read : torch.Tensor of bool, shape (b, longest)
        The n positions that are read; may be none.

    Returns
    -------
    torch.Tensor, shape (n, hidden size)
        In the order of the positions, row by row: ``last_hidden_state[read]``.
    """
    hidden, mask = _below_last(bert, batch)
    found, _ = bert.encoder.layer[-1].attention.self(hidden, mask)
    return _after_attention(bert, found[read], hidden[read])


def _below_last(bert: BertModel, batch: Batch) -> tuple[torch.Tensor, torch.Tensor | None]:
    """States that the last layer reads, shape (b, longest, hidden size), and its mask."""
    hidden = bert.embeddings(batch["input_ids"], token_type_ids=batch.get("token_type_ids"))
    mask = create_bidirectional_mask(
        config=bert.config, inputs_embeds=hidden, attention_mask=batch["attention_mask"]
    )
    for layer in bert.encoder.layer[:-1]:
        hidden = layer(hidden, mask)
    return hidden, mask


def _after_attention(bert: BertModel, found: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
    """What the last layer makes of attention, each position by itself; shape (n, hidden size)."""
    last = bert.encoder.layer[-1]
    return last.feed_forward_chunk(last.attention.output(found, before))
