"""Cross-encoder: a BERT-like model that reads query and document together (abolghasemi2026, 2.4).

Equation 2.4: s(q, d) = BERT([CLS] q [SEP] d [SEP])_[CLS] W. The model is transformers' sequence
classifier with one output, which applies BERT's pooler (a dense layer with tanh) before W.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from torch.nn import functional
from transformers import BertForSequenceClassification, PreTrainedTokenizerBase

from everycell.base.errors import DataError
from everycell.learning.batching import (
    Batch,
    Ids,
    TokenPair,
    cache_tokens,
    check_length,
    map_batches,
    pad,
)
from everycell.learning.last_layer import first_state, logit, pooled_first_state
from everycell.statistics.laplace import LastLayer

#: [CLS] and two [SEP].
SPECIAL = 3


@dataclass(frozen=True)
class PairLength:
    """How a query and a document are truncated to `total` tokens.

    "query_first" truncates the query to `query` tokens regardless of the document, so that it is
    the same for all candidates; "longest_first" truncates the longer text, which is the default of
    transformers.
    """

    total: int
    cut: Literal["query_first", "longest_first"] = "query_first"
    query: int | None = None

    def __post_init__(self) -> None:
        """Check the lengths."""
        if self.total < SPECIAL + 2:
            raise DataError(
                column="total",
                value=self.total,
                expected=f"{SPECIAL + 2} tokens or more, including {SPECIAL} special tokens",
            )
        highest = self.total - SPECIAL - 1
        if self.query is not None and not 1 <= self.query <= highest:
            raise DataError(
                column="query", value=self.query, expected=f"a number from 1 to {highest}"
            )

    def room(self, query: int, document: int) -> tuple[int, int]:
        """Number of tokens of each text that are kept."""
        free = self.total - SPECIAL
        half = free // 2
        if self.cut == "query_first":
            query = min(query, half if self.query is None else self.query)
        elif query + document > free:
            # An odd token goes to the longer text, or to the document in a tie, as in tokenizers.
            query = min(query, max(half if query <= document else free - half, free - document))
        return query, min(document, free - query)


def tokenise(
    tokenizer: PreTrainedTokenizerBase, texts: Sequence[str]
) -> list[npt.NDArray[np.int32]]:
    """Token ids of texts, without truncation or special tokens."""
    if not texts:
        return []
    encoded = tokenizer(
        list(texts),
        add_special_tokens=False,
        return_attention_mask=False,
        return_token_type_ids=False,
        # No warning about long texts, since pairs are truncated later.
        verbose=False,
    )
    return [np.array(ids, dtype=np.int32) for ids in encoded["input_ids"]]


def join(
    tokenizer: PreTrainedTokenizerBase, query: Ids, document: Ids, length: PairLength
) -> TokenPair:
    """Truncate two texts, and join [CLS] q [SEP] and d [SEP] into one sequence."""
    query_length, document_length = length.room(len(query), len(document))
    start, end = [tokenizer.cls_token_id], [tokenizer.sep_token_id]
    return TokenPair(
        np.concatenate([start, query[:query_length], end]).astype(np.int32),
        np.concatenate([document[:document_length], end]).astype(np.int32),
    )


def score_pairs(
    model: BertForSequenceClassification,
    tokenizer: PreTrainedTokenizerBase,
    queries: Mapping[Any, str],
    documents: Mapping[Any, str],
    pairs: Sequence[tuple[Hashable, Hashable]],
    length: PairLength,
    *,
    batch_tokens: int | None = None,
) -> npt.NDArray[np.float32]:
    """Score query-document pairs with a cross-encoder."""
    joined = _join_pairs(model, tokenizer, queries, documents, pairs, length)
    return np.array(_map_pairs(logit, model, tokenizer, joined, batch_tokens), dtype=np.float32)


def pair_vectors(
    model: BertForSequenceClassification,
    tokenizer: PreTrainedTokenizerBase,
    queries: Mapping[Any, str],
    documents: Mapping[Any, str],
    pairs: Sequence[tuple[Hashable, Hashable]],
    length: PairLength,
) -> npt.NDArray[np.float32]:
    """Representation of each query-document pair before the last layer."""
    joined = _join_pairs(model, tokenizer, queries, documents, pairs, length)
    rows = _map_pairs(pooled_first_state, model, tokenizer, joined)
    return np.array(rows, dtype=np.float32).reshape(len(pairs), model.config.hidden_size)


def head_of(model: BertForSequenceClassification) -> LastLayer:
    """Weights and bias of a model's last layer, which has one or two outputs."""
    layer = model.classifier
    return LastLayer(
        *(part.detach().cpu().numpy().astype(np.float64) for part in (layer.weight, layer.bias))
    )


def _join_pairs(
    model: BertForSequenceClassification,
    tokenizer: PreTrainedTokenizerBase,
    queries: Mapping[Any, str],
    documents: Mapping[Any, str],
    pairs: Sequence[tuple[Hashable, Hashable]],
    length: PairLength,
) -> list[TokenPair]:
    """Token ids of pairs; each text is tokenised once."""
    check_length(model, length.total)
    ids = []
    for kind, texts, side in (("query", queries, 0), ("document", documents, 1)):
        keys = list(dict.fromkeys(pair[side] for pair in pairs))
        if missing := [key for key in keys if key not in texts]:
            raise DataError(
                column=kind,
                value=missing[0],
                fault="which has no text",
                fix="add its text or remove its pairs",
            )
        tokens = tokenise(tokenizer, [texts[key] for key in keys])
        ids.append(dict(zip(keys, tokens, strict=True)))
    return [join(tokenizer, ids[0][query], ids[1][document], length) for query, document in pairs]


def _map_pairs(
    forward: Callable[[BertForSequenceClassification, Batch], torch.Tensor],
    model: BertForSequenceClassification,
    tokenizer: PreTrainedTokenizerBase,
    pairs: Sequence[TokenPair],
    batch_tokens: int | None = None,
) -> list[np.ndarray]:
    """Output of a model, in evaluation mode, for each pair."""
    was_training = model.training
    model.eval()
    try:
        return map_batches(
            lambda batch: forward(model, batch).float(),
            pairs,
            pad_id=tokenizer.pad_token_id,
            batch_tokens=batch_tokens,
            device=model.device,
            what="pairs",
        )
    finally:
        model.train(was_training)


def softmax_loss(scores: torch.Tensor) -> torch.Tensor:
    """Softmax cross-entropy loss, with the relevant document in column 0.

    Mean over the rows of -log(exp(s_0) / sum_j exp(s_j)). With one negative, this is the pairwise
    loss log(1 + exp(s_1 - s_0)).
    """
    relevant = torch.zeros(len(scores), dtype=torch.int64, device=scores.device)
    return functional.cross_entropy(scores, relevant)


def triplet_loss(
    query: torch.Tensor, positive: torch.Tensor, negatives: torch.Tensor, margin: float
) -> torch.Tensor:
    """Triplet margin loss with Euclidean distances.

    Mean over the rows and their negatives of max(0, |q - p| - |q - n| + margin).
    """
    return functional.triplet_margin_loss(
        query[:, None], positive[:, None], negatives, margin=margin, p=2
    )


def training_loss(
    tokenizer: PreTrainedTokenizerBase,
    length: PairLength,
    *,
    triplet_weight: float = 0.0,
    margin: float = 1.0,
) -> Callable[[BertForSequenceClassification, Mapping[str, Sequence[Any]]], torch.Tensor]:
    """Loss of a cross-encoder for `everycell.learning.training.train`."""
    ids_of = cache_tokens(lambda texts: tokenise(tokenizer, texts))

    def loss(
        model: BertForSequenceClassification, rows: Mapping[str, Sequence[Any]]
    ) -> torch.Tensor:
        check_length(model, length.total)
        queries = ids_of(rows["query"])
        texts = [
            text
            for positive, negatives in zip(rows["positive"], rows["negatives"], strict=True)
            for text in (positive, *negatives)
        ]
        documents = ids_of(texts)
        size = 1 + len(rows["negatives"][0])
        pairs = [
            join(tokenizer, queries[position // size], document, length)
            for position, document in enumerate(documents)
        ]
        batch = pad(pairs, tokenizer.pad_token_id, model.device)
        value = softmax_loss(logit(model, batch).reshape(-1, size))
        if triplet_weight == 0:
            return value
        # In one pass, since every pass creates a dense gradient of all word embeddings.
        vectors = _vectors(model, tokenizer, [*queries, *documents], length)
        query, document = vectors.split([len(queries), len(documents)])
        document = document.reshape(len(queries), size, -1)
        triplet = triplet_loss(query, document[:, 0], document[:, 1:], margin)
        return value + triplet_weight * triplet

    return loss


def _vectors(
    model: BertForSequenceClassification,
    tokenizer: PreTrainedTokenizerBase,
    texts: Sequence[Ids],
    length: PairLength,
) -> torch.Tensor:
    """[CLS] vector of each text, encoded on its own; shape (texts, h)."""
    start, end = [tokenizer.cls_token_id], [tokenizer.sep_token_id]
    sequences = [np.concatenate([start, ids[: length.total - 2], end]) for ids in texts]
    batch = pad(sequences, tokenizer.pad_token_id, model.device)
    return first_state(model.bert, batch)


#: (query, document) pairs -> their scores, in the same order.
Scorer = Callable[[Sequence[tuple[str, str]]], npt.ArrayLike]


def score_in_parts(lists: pd.DataFrame, score: Scorer, *, at_once: int = 50) -> pd.DataFrame:
    """Score the documents of ranked lists, in batches of queries."""
    if lists.empty:
        return lists.assign(score=pd.Series(dtype=float))
    part_of = pd.factorize(lists["query"])[0] // at_once
    return pd.concat([_score_part(part, score) for _, part in lists.groupby(part_of)])


def score_by_fold(lists: pd.DataFrame, scorers: Iterable[tuple[Set[str], Scorer]]) -> pd.DataFrame:
    """Score each list with the model whose training data did not include its query."""
    parts, models = [], dict.fromkeys(lists["query"], 0)
    for held_out, score in scorers:
        part = lists[lists["query"].isin(held_out)]
        parts.append(_score_part(part, score))
        for query in part["query"].unique():
            models[query] += 1
    for query, count in models.items():
        if count != 1:
            raise DataError(
                column="query",
                value=query,
                fault=f"which was held out from {count} models",
                expected="each query to be a test query of exactly one fold",
            )
    return pd.concat(parts).sort_index()


def _score_part(part: pd.DataFrame, score: Scorer) -> pd.DataFrame:
    pairs = list(part[["query", "document"]].itertuples(index=False, name=None))
    return part.assign(score=score(pairs))
