"""Vectors of texts by two zero-shot encoders: SPLADE and a dense encoder."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from scipy import sparse
from torch.nn import functional
from transformers import BertForMaskedLM, BertModel, PreTrainedTokenizerBase

from everycell.base.arrays import IntArray
from everycell.learning.batching import Batch, check_length, map_batches
from everycell.learning.tilde import token_ids

# Number of vocabulary entries whose logits are computed at once.
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

    It is the maximum of log(1 + ReLU(logit)) over the tokens of the text, including [CLS] and
    [SEP], without padding (Formal et al. 2021, SPLADE v2, equations 1 and 6).
    """
    check_length(model, length)
    decoder = model.cls.predictions.decoder
    selection = slice(None) if columns is None else torch.as_tensor(columns, dtype=torch.long)
    projection, bias = decoder.weight[selection], decoder.bias[selection]

    def forward(batch: Batch) -> torch.Tensor:
        states = model.cls.predictions.transform(model.bert(**batch).last_hidden_state)
        # States of padding are replaced by that of [CLS], which does not change the maximum.
        states = states.where(batch["attention_mask"][:, :, None] == 1, states[:, :1])
        # The bias, ReLU and the logarithm preserve the order, so the maximum is computed first.
        # Blocks that fit into the processor's cache are twice as fast as all logits at once.
        largest = [(states @ block.T).amax(dim=1) for block in projection.split(_BLOCK)]
        weights = (torch.cat(largest, dim=1) + bias).relu().log1p()
        # Return only the largest weights, so many that no weight above 0 is lost in the batch.
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
    """Vector of each text: the mean of its last hidden states, normalised to length 1.

    The mean includes [CLS] and [SEP] but not padding (Reimers and Gurevych 2019, Sentence-BERT,
    section 3).
    """
    check_length(model, length)

    def forward(batch: Batch) -> torch.Tensor:
        states = model(**batch).last_hidden_state
        mask = batch["attention_mask"][:, :, None].to(states.dtype)
        return functional.normalize((states * mask).sum(dim=1) / mask.sum(dim=1), dim=1)

    rows = map_batches(
        forward,
        token_ids(tokenizer, texts, length),
        pad_id=tokenizer.pad_token_id,
        batch_tokens=batch_tokens,
        device=model.device,
    )
    return np.array(rows, dtype=np.float32).reshape(len(texts), model.config.hidden_size)
