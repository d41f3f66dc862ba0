"""Query encoder that is fine-tuned on ranked lists of documents with fixed vectors (CODER).

Only the encoder of the queries is trained, by a listwise loss over the candidates of a query. A
second term draws the scores of the top documents towards their neutrality.

Source: Zerveas et al., "CODER" (EMNLP 2022) and "Mitigating bias in search results through
contextual document reranking and neutrality regularization" (SIGIR 2022), and their code. Its mask
of the top documents compares indices with ranks; here they are the top documents, as described.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional
from transformers import PreTrainedModel, PreTrainedTokenizerBase

Vectors = npt.NDArray[np.float32]


def listwise_loss(scores: torch.Tensor, relevant: torch.Tensor) -> torch.Tensor:
    """ListNet's cross-entropy; the first `relevant` documents of each list are relevant."""
    positions = torch.arange(scores.shape[1], device=scores.device)
    truth = (positions < relevant[:, None]).to(scores.dtype) / relevant[:, None]
    return -(truth * scores.log_softmax(dim=1)).sum(dim=1).mean()


def neutrality_loss(scores: torch.Tensor, neutralities: torch.Tensor, cutoff: int) -> torch.Tensor:
    """Divergence of the softmax of scores from that of neutralities, in the top of each list."""
    top = scores.topk(min(cutoff, scores.shape[1]), dim=1).indices
    return functional.kl_div(
        scores.gather(1, top).log_softmax(dim=1),
        neutralities.gather(1, top).softmax(dim=1),
        reduction="batchmean",
    )


def query_tuning_loss(
    tokenizer: PreTrainedTokenizerBase,
    vectors: Vectors,
    neutralities: Vectors,
    *,
    length: int,
    weight: float,
    cutoff: int,
) -> Callable[[PreTrainedModel, Mapping[str, Sequence[Any]]], torch.Tensor]:
    """Loss on lists for `everycell.learning.training.train`.

    A row has `query`, `documents` (rows of `vectors`, as many in each list) and `relevant`, the
    number of relevant documents at the start of the list. `weight` is that of the neutrality.
    """

    def loss(model: PreTrainedModel, rows: Mapping[str, Sequence[Any]]) -> torch.Tensor:
        batch = tokenizer(
            list(rows["query"]),
            truncation=True,
            max_length=length,
            padding=True,
            return_token_type_ids=False,
            return_tensors="pt",
        ).to(model.device)
        documents = np.array(rows["documents"])
        # Inner products of hundreds would be rounded to halves in bfloat16.
        with torch.autocast(model.device.type, enabled=False):
            states = model(**batch).last_hidden_state[:, 0]
            candidates = torch.from_numpy(np.array(vectors[documents])).to(model.device)
            scores = torch.einsum("bd,bnd->bn", states, candidates)
            value = listwise_loss(scores, torch.tensor(rows["relevant"], device=model.device))
            if weight == 0:
                return value
            neutral = torch.from_numpy(neutralities[documents]).to(model.device)
            return value + weight * neutrality_loss(scores, neutral, cutoff)

    return loss


def top_rows(
    queries: Vectors, vectors: Vectors, hits: int, *, device: torch.device, part: int = 500_000
) -> npt.NDArray[np.int64]:
    """Rows of `vectors` with the largest inner products, best first, for each query.

    Vectors are read in parts, so they need not fit into memory. Rows with equal scores have no
    particular order.
    """
    queries_at_once, hits = 2048, min(hits, len(vectors))
    best_scores = torch.full((len(queries), hits), -torch.inf)
    best_rows = torch.zeros((len(queries), hits), dtype=torch.int64)
    for start in range(0, len(vectors), part):
        block = torch.from_numpy(np.array(vectors[start : start + part])).to(device)
        for first in range(0, len(queries), queries_at_once):
            batch = slice(first, first + queries_at_once)
            products = torch.from_numpy(queries[batch]).to(device) @ block.T
            top = products.topk(min(hits, len(block)), dim=1)
            scores = torch.cat([best_scores[batch], top.values.cpu()], dim=1)
            rows = torch.cat([best_rows[batch], top.indices.cpu() + start], dim=1)
            order = scores.argsort(dim=1, descending=True, stable=True)[:, :hits]
            best_scores[batch] = scores.gather(1, order)
            best_rows[batch] = rows.gather(1, order)
    return best_rows.numpy()
