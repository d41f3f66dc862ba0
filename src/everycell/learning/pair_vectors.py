"""Representations of pairs before the last layer of a cross-encoder, and that layer."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from transformers import BertForSequenceClassification, PreTrainedTokenizerBase

from everycell.learning.batching import map_batches
from everycell.learning.last_layer import pooled_first_state
from everycell.learning.text_pairs import PairLength, join, tokenise
from everycell.statistics.laplace import LastLayer


def pair_vectors(
    model: BertForSequenceClassification,
    tokenizer: PreTrainedTokenizerBase,
    queries: Mapping[Hashable, str],
    documents: Mapping[Hashable, str],
    pairs: Sequence[tuple[Hashable, Hashable]],
    length: PairLength,
) -> npt.NDArray[np.float32]:
    """Representation of each query-document pair before the last layer."""
    ids = {}
    for name, texts, side in (("query", queries, 0), ("document", documents, 1)):
        pair_keys = list(dict.fromkeys(pair[side] for pair in pairs))
        missing = [key for key in pair_keys if key not in texts]
        if missing:
            raise ValueError(f"The {name} {missing[0]!r} has no text: add the texts of all pairs.")
        tokens = tokenise(tokenizer, [texts[key] for key in pair_keys])
        ids[name] = dict(zip(pair_keys, tokens, strict=True))
    joined = [
        join(tokenizer, ids["query"][query], ids["document"][document], length)
        for query, document in pairs
    ]
    was_training = model.training
    model.eval()
    try:
        rows = map_batches(
            lambda batch: pooled_first_state(model, batch).float(),
            joined,
            pad_id=tokenizer.pad_token_id,
            device=model.device,
            what="pairs",
        )
    finally:
        model.train(was_training)
    size = model.config.hidden_size
    return np.array(rows, dtype=np.float32).reshape(len(pairs), size)


def head_of(model: BertForSequenceClassification) -> LastLayer:
    """Weights and bias of a model's last layer, which has one or two outputs."""
    layer = model.classifier
    return LastLayer(
        *(part.detach().cpu().numpy().astype(np.float64) for part in (layer.weight, layer.bias))
    )
