"""TILDE: how likely a document makes the terms of a query."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from everycell.learning.ranker import (
    Lengths,
    Reading,
    Start,
    TextEncodingRanker,
    Texts,
    TrainedRanker,
)

if TYPE_CHECKING:
    from everycell.retrieval.encoded import Encoded


class TildeRanker(TrainedRanker, TextEncodingRanker):
    """`everycell.learning.tilde`. Its loss has no use for documents that are not relevant."""

    name = "tilde"
    optimiser = "adam"

    def training_reading(self, lengths: Lengths, *, few_steps: bool) -> Reading:
        """The length of a text."""
        return {"length": lengths["training"]}

    def start(self, encoder: Path, reading: Reading, seed: int) -> Start:
        """The language model as it is, and the loss both ways."""
        from everycell.learning.models import load_model
        from everycell.learning.tilde import stop_ids, two_way_loss

        model, tokenizer = load_model(encoder, "masked-lm", seed=seed)
        loss = two_way_loss(tokenizer, reading["length"], stop_ids(tokenizer))
        return Start(model, tokenizer, loss)

    def reading(self, lengths: Lengths, *, zero_shot: bool, proposals: int) -> Reading:
        """Lengths of documents and queries, and the likely terms to find for each document."""
        return {
            "length": lengths["zero_shot" if zero_shot else "text"],
            "query_length": lengths["query"],
            "proposals": proposals,
        }

    def encode(self, model: Path, documents: Texts, queries: Texts, reading: Reading) -> Encoded:
        """Log P of each term that stands in a query, and the likeliest terms of all."""
        import numpy as np

        from everycell.learning.models import device, load_model
        from everycell.learning.tilde import encode, query_terms, stop_ids
        from everycell.retrieval.encoded import Encoded

        loaded, tokenizer = load_model(model, "masked-lm")
        stop = stop_ids(tokenizer)
        terms = query_terms(tokenizer, list(queries.values()), reading["query_length"], stop)
        # Of a document only what stands in a query is kept.
        columns = np.unique(terms.indices)
        likelihoods, proposed = encode(
            loaded.to(device()),
            tokenizer,
            list(documents.values()),
            reading["length"],
            columns,
            proposals=min(reading["proposals"], loaded.config.vocab_size),
        )
        ids = list(documents), list(queries)
        return Encoded("likelihoods", likelihoods, terms[:, columns], *ids, proposed)


RANKER = TildeRanker()
