"""Cross-encoder: a BERT-like model that reads query and document together (abolghasemi2026, 2.4).

Equation 2.4: s(q, d) = BERT([CLS] q [SEP] d [SEP])_[CLS] W. The model is transformers' sequence
classifier with one output, which applies BERT's pooler (a dense layer with tanh) before W.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional
from transformers import (
    BertForSequenceClassification,
    PreTrainedTokenizerBase,
)

from everycell.learning.batching import Ids, map_batches, pad
from everycell.learning.last_layer import first_state, logit
from everycell.learning.text_pairs import PairLength, join, tokenise
from everycell.learning.token_cache import cache_tokens


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
    _check_model(model, length)
    query_ids = _tokenise_texts(tokenizer, queries, [query for query, _ in pairs], "query")
    document_ids = _tokenise_texts(
        tokenizer, documents, [document for _, document in pairs], "document"
    )
    joined = [
        join(tokenizer, query_ids[query], document_ids[document], length)
        for query, document in pairs
    ]
    was_training = model.training
    model.eval()
    try:
        scores = map_batches(
            lambda batch: logit(model, batch).float(),
            joined,
            pad_id=tokenizer.pad_token_id,
            batch_tokens=batch_tokens,
            device=model.device,
            what="pairs",
        )
    finally:
        model.train(was_training)
    return np.array(scores, dtype=np.float32)


def _check_model(model: BertForSequenceClassification, length: PairLength) -> None:
    """Raise an error unless a model has one output and can read `length` tokens."""
    if model.config.num_labels != 1:
        raise ValueError(
            f"The model has {model.config.num_labels} outputs: a cross-encoder has one, so load "
            "it for sequence classification with num_labels=1."
        )
    limit = model.config.max_position_embeddings
    if length.total > limit:
        raise ValueError(
            f"Pairs may have {length.total} tokens, but the model reads at most {limit}: lower the "
            "length."
        )


def _tokenise_texts(
    tokenizer: PreTrainedTokenizerBase,
    texts: Mapping[Any, str],
    keys: Sequence[Hashable],
    kind: str,
) -> dict[Hashable, npt.NDArray[np.int32]]:
    """Token ids of the texts with the given keys."""
    unique = list(dict.fromkeys(keys))
    for key in unique:
        if key not in texts:
            raise ValueError(
                f"The pairs contain the {kind} {key!r}, which has no text: add its text or remove "
                "its pairs."
            )
    ids = tokenise(tokenizer, [texts[key] for key in unique])
    return dict(zip(unique, ids, strict=True))


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
    if triplet_weight < 0 or margin <= 0:
        raise ValueError(
            f"triplet_weight is {triplet_weight} and margin {margin}: the weight must be 0 or more "
            "and the margin above 0."
        )

    ids_of = cache_tokens(lambda texts: tokenise(tokenizer, texts))

    def loss(
        model: BertForSequenceClassification, rows: Mapping[str, Sequence[Any]]
    ) -> torch.Tensor:
        _check_model(model, length)
        numbers = {len(negatives) for negatives in rows["negatives"]}
        if len(numbers) != 1 or 0 in numbers:
            raise ValueError(
                f"The rows have {sorted(numbers)} negatives: all rows must have the same number, 1 "
                "or more."
            )
        queries = ids_of(rows["query"])
        texts = [
            text
            for positive, negatives in zip(rows["positive"], rows["negatives"], strict=True)
            for text in (positive, *negatives)
        ]
        documents = ids_of(texts)
        size = 1 + numbers.pop()
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
