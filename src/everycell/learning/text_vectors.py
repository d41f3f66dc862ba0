"""Vectors of texts by two encoders that are used as they come: SPLADE and a dense encoder."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from scipy import sparse
from torch.nn import functional
from transformers import BertForMaskedLM, BertModel, PreTrainedTokenizerBase

from everycell.engine.arrays import IntArray
from everycell.learning.batching import Batch, map_batches
from everycell.learning.tilde import check_length, token_ids

# Vocabulary entries whose logits are computed at once.
_BLOCK = 1024


def splade_weights(
    model: BertForMaskedLM,
    tokenizer: PreTrainedTokenizerBase,
    texts: Sequence[str],
    length: int,
    *,
    columns: IntArray | None = None,
    batch_tokens: int | None = None,
) -> sparse.csr_array:
    """SPLADE's weight of each vocabulary entry for each text.

    The largest of log(1 + ReLU(logit)) over the tokens of the text, [CLS] and [SEP] included,
    padding left out (Formal et al. 2021, SPLADE v2, equations 1 and 6).
    """
    check_length(model, length)
    decoder = model.cls.predictions.decoder
    kept_entries = slice(None) if columns is None else torch.as_tensor(columns, dtype=torch.long)
    projection, bias = decoder.weight[kept_entries], decoder.bias[kept_entries]

    def forward(batch: Batch) -> torch.Tensor:
        states = model.cls.predictions.transform(model.bert(**batch).last_hidden_state)
        # Padding repeats [CLS], which changes no maximum.
        states = states.where(batch["attention_mask"][:, :, None] == 1, states[:, :1])
        # Adding b, ReLU and the logarithm keep the order, so the largest is taken first. In blocks
        # that fit into the processor's cache: twice as fast as all logits at once.
        largest = [(states @ block.T).amax(dim=1) for block in projection.split(_BLOCK)]
        weights = (torch.cat(largest, dim=1) + bias).relu().log1p()
        # Only the largest leave the batch, as many as its fullest text has above 0.
        width = int((weights > 0).sum(dim=1).max())
        values, entries = weights.topk(width, dim=1)
        return torch.stack((values, entries.to(values.dtype)), dim=1)

    rows = map_batches(
        forward,
        token_ids(tokenizer, texts, length),
        pad_id=tokenizer.pad_token_id,
        batch_tokens=batch_tokens,
        device=model.device,
    )
    nonzero = [row[:, row[0] > 0] for row in rows]
    starts = np.concatenate([[0], np.cumsum([row.shape[1] for row in nonzero], dtype=np.int64)])
    values, entries = np.concatenate([*nonzero, np.empty((2, 0), np.float32)], axis=1)
    # Entries are whole numbers below 2^24, which float32 holds exactly.
    matrix = sparse.csr_array(
        (values, entries.astype(np.int64), starts), shape=(len(texts), len(bias))
    )
    matrix.sort_indices()
    return matrix


def dense_vectors(
    model: BertModel,
    tokenizer: PreTrainedTokenizerBase,
    texts: Sequence[str],
    length: int,
    *,
    batch_tokens: int | None = None,
) -> npt.NDArray[np.float32]:
    """A vector of length 1 for each text: the mean of its tokens' last hidden states.

    [CLS] and [SEP] count, padding does not (Reimers and Gurevych 2019, Sentence-BERT, section 3).
    """
    check_length(model, length)

    def forward(batch: Batch) -> torch.Tensor:
        states = model(**batch).last_hidden_state
        real = batch["attention_mask"][:, :, None].to(states.dtype)
        return functional.normalize((states * real).sum(dim=1) / real.sum(dim=1), dim=1)

    rows = map_batches(
        forward,
        token_ids(tokenizer, texts, length),
        pad_id=tokenizer.pad_token_id,
        batch_tokens=batch_tokens,
        device=model.device,
    )
    return np.array(rows, dtype=np.float32).reshape(len(texts), model.config.hidden_size)
