"""TILDEv2: a weight for each word piece of a document (abolghasemi2026, equations 2.2 and 2.3).

Equation 2.3: the weight of the token at position j of document d is v_j = ReLU(W BERT(d_j) + b).
Equation 2.2: s(q, d) is a sum over the query's vocabulary entries: c(q_i) times the largest v_j at
the positions of that entry in the document. Documents are sparse vectors over the
vocabulary; a query is only tokenised (`everycell.retrieval.encoded.term_weight_scores`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse
from torch.nn import functional
from transformers import BertConfig, BertModel, BertPreTrainedModel, PreTrainedTokenizerBase

from everycell.base.arrays import IntArray
from everycell.learning.batching import Batch, Rows, cache_tokens, check_length, map_batches, pad
from everycell.learning.last_layer import apply_head, states_at
from everycell.learning.tilde import Ids, count_terms, token_ids


class TildeV2(BertPreTrainedModel):
    """BERT with a projection of each token's last hidden state to a weight of 0 or more.

    Its parts are named as in the published checkpoints, so that
    `everycell.learning.models.load_model` can load them with the head "tildev2".
    """

    config_class = BertConfig

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.bert = BertModel(config, add_pooling_layer=False)
        self.tok_proj = torch.nn.Linear(config.hidden_size, 1)
        self.post_init()

    def forward(self, **batch: torch.Tensor) -> torch.Tensor:
        """Weight of each token."""
        return self.weights_of(self.bert(**batch).last_hidden_state)

    def weights_of(self, states: torch.Tensor) -> torch.Tensor:
        """Weights of tokens with these last hidden states: shape (..., hidden size) to (...)."""
        return torch.relu(apply_head(self.tok_proj, states)[..., 0])


def from_encoder(encoder: BertPreTrainedModel, *, bias: float = 0.0, seed: int = 0) -> TildeV2:
    """Create an untrained TILDEv2 from a pre-trained encoder."""
    model = TildeV2(copy.deepcopy(encoder.config))
    # The encoder may have a pooler, but TILDEv2 has none.
    model.bert.load_state_dict(
        {
            name: tensor
            for name, tensor in encoder.base_model.state_dict().items()
            if not name.startswith("pooler.")
        }
    )
    torch.nn.init.normal_(
        model.tok_proj.weight,
        std=encoder.config.initializer_range,
        generator=torch.Generator().manual_seed(seed),
    )
    torch.nn.init.constant_(model.tok_proj.bias, bias)
    return model.to(encoder.device).eval()


def encode(
    model: TildeV2,
    tokenizer: PreTrainedTokenizerBase,
    documents: Sequence[str] | Sequence[Sequence[int]],
    length: int,
    stop: Ids,
    *,
    batch_tokens: int | None = None,
) -> sparse.csr_array:
    """Weights of the vocabulary entries in documents: the maximum in equation 2.2."""
    check_length(model, length)
    texts = [text for text in documents if isinstance(text, str)]
    sequences = [list(ids) for ids in documents if not isinstance(ids, str)]
    sequences = sequences or token_ids(tokenizer, texts, length)
    rows = map_batches(
        lambda batch: model(**batch),
        sequences,
        pad_id=tokenizer.pad_token_id,
        batch_tokens=batch_tokens,
        device=model.device,
        what="documents",
    )
    lengths = [len(ids) for ids in sequences]
    shape = (len(sequences), len(tokenizer))
    if not sequences:
        return sparse.csr_array(shape, dtype=np.float32)
    weights = np.concatenate([row[:size] for row, size in zip(rows, lengths, strict=True)])
    columns = np.concatenate(sequences)
    positions = np.repeat(np.arange(len(sequences)) * len(tokenizer), lengths) + columns
    is_weighted = (weights > 0) & ~np.isin(columns, stop)
    weights, positions = weights[is_weighted], positions[is_weighted]
    order = np.lexsort((weights, positions))
    # The last weight of each position is its largest.
    last = (
        order[np.append(positions[order][1:] != positions[order][:-1], True)]
        if len(order)
        else order
    )
    return sparse.csr_array(
        (weights[last], np.divmod(positions[last], len(tokenizer))), shape=shape
    )


def ranking_loss(
    tokenizer: PreTrainedTokenizerBase,
    length: int,
    stop: Ids,
    *,
    scale: bool = False,
) -> Callable[[TildeV2, Rows], torch.Tensor]:
    """Loss function of TILDEv2 for `everycell.learning.training.train`.

    Cross-entropy of the relevant document against the other documents of the batch, in its row and
    in all others. Unlike in the authors' code, if a batch has two relevant documents for a query,
    neither is a negative for the other.
    """
    ids_of = cache_tokens(lambda texts: token_ids(tokenizer, texts, length))

    def loss(model: TildeV2, rows: Rows) -> torch.Tensor:
        negatives = rows["negatives"]
        texts = [
            text
            for positive, row_negatives in zip(rows["positive"], negatives, strict=True)
            for text in (positive, *row_negatives)
        ]
        group = 1 + len(negatives[0])
        queries = count_terms(ids_of(rows["query"]), model.config.vocab_size, stop)
        counts = torch.from_numpy(queries.toarray())
        scores = pairwise_scores(
            model,
            pad(ids_of(texts), tokenizer.pad_token_id, model.device),
            counts.to(model.device),
        )
        if scale:
            scores = scores / counts.sum(1, keepdim=True).clamp(min=1).sqrt().to(scores)
        relevant = _relevant_documents(rows["query"], texts, group)
        return contrastive_loss(scores, relevant, group)

    return loss


def pairwise_scores(model: TildeV2, batch: Batch, counts: torch.Tensor) -> torch.Tensor:
    """Score of each query with each document, with a gradient."""
    ids = batch["input_ids"]
    query_terms = counts.any(dim=0)
    # Positions of the queries' terms, which exclude stop ids, special tokens and padding.
    has_term = query_terms[ids]
    weights = model.weights_of(states_at(model.bert, batch, has_term))
    # Terms of the queries, numbered from 0.
    number = query_terms.cumsum(0) - 1
    size = int(query_terms.sum())
    cells = has_term.nonzero()[:, 0] * size + number[ids[has_term]]
    vectors = weights.new_zeros(len(ids) * size).scatter_reduce(0, cells, weights, "amax")
    return counts[:, query_terms] @ vectors.view(len(ids), size).T


def contrastive_loss(scores: torch.Tensor, relevant: np.ndarray, group: int) -> torch.Tensor:
    """Mean cross-entropy of each query's relevant document against the documents of a batch."""
    target = torch.arange(len(scores), device=scores.device) * group
    is_excluded = torch.from_numpy(relevant).to(scores.device)
    is_excluded[torch.arange(len(scores)), target] = False
    return functional.cross_entropy(scores.masked_fill(is_excluded, -torch.inf), target)


def _relevant_documents(queries: Sequence[str], texts: Sequence[str], group: int) -> np.ndarray:
    """Whether each document is relevant to each query according to any row of the batch."""
    relevant = set(zip(queries, texts[::group], strict=True))
    return np.array([[(query, text) in relevant for text in texts] for query in queries])


@dataclass(frozen=True)
class Expansion:
    """Expanded documents as token ids, and numbers of new terms per document.

    `missing` counts the proposed terms that the document did not contain; `added` counts those that
    fitted into the length.
    """

    sequences: list[list[int]]
    missing: IntArray
    added: IntArray


def expand(
    tokenizer: PreTrainedTokenizerBase,
    texts: Sequence[str],
    proposed: IntArray,
    length: int,
    stop: Ids,
    *,
    document_length: int | None = None,
) -> Expansion:
    """Append the proposed terms that a document does not contain, the most likely first.

    The result is [CLS] document [SEP] new terms [SEP], as in the authors' code. New terms need not
    be words ("##ing"), so the result consists of token ids: text would be split into other word
    pieces.
    """
    documents = token_ids(
        tokenizer, texts, length if document_length is None else min(document_length, length)
    )
    terms = [
        row[~np.isin(row, np.concatenate([ids, stop]))]
        for row, ids in zip(proposed, documents, strict=True)
    ]
    counts = np.array([len(new) for new in terms], dtype=np.int64)
    # One token is reserved for the [SEP] after the new terms.
    room = np.array([max(0, length - len(ids) - 1) for ids in documents], dtype=np.int64)
    added = np.minimum(counts, room)
    sequences = [
        [*ids, *new[:count].tolist(), tokenizer.sep_token_id] if count else ids
        for ids, new, count in zip(documents, terms, added, strict=True)
    ]
    return Expansion(sequences, counts, added)
