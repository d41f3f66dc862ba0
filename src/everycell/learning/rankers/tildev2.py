"""TILDEv2: a weight for each word piece of a document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from everycell.learning.rankers import (
    InputOptions,
    Lengths,
    Start,
    TextEncodingRanker,
    Texts,
    TrainedRanker,
)

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from everycell.learning.tildev2 import TildeV2
    from everycell.retrieval.encoded import Encoded


class TildeV2Ranker(TrainedRanker, TextEncodingRanker):
    """Ranker that uses `everycell.learning.tildev2`, with two negatives per pair."""

    name = "tildev2"
    negatives = 2
    training = {"epochs": 1, "batch": 8, "learning_rate": 5e-4}

    def training_input_options(self, lengths: Lengths, *, few_steps: bool) -> InputOptions:
        """Maximum length of a text, initial bias, and whether scores are scaled.

        If there are few training steps, the bias makes all ReLUs active at the start, and scores
        are divided by the square root of the query's length. The authors do neither.
        """
        scoring = {"bias": 1.0, "scale": True} if few_steps else {"bias": 0.0, "scale": False}
        return {"length": lengths["training"], **scoring}

    def start(self, encoder: Path, input_options: InputOptions, seed: int) -> Start:
        """Add a new projection to the encoder, and create the contrastive loss."""
        from everycell.learning.models import load_model
        from everycell.learning.tilde import stop_ids
        from everycell.learning.tildev2 import from_encoder, ranking_loss

        loaded, tokenizer = load_model(encoder, "encoder", seed=seed)
        loss = ranking_loss(
            tokenizer, input_options["length"], stop_ids(tokenizer), scale=input_options["scale"]
        )
        return Start(from_encoder(loaded, bias=input_options["bias"], seed=seed), tokenizer, loss)

    def input_options(self, lengths: Lengths, *, zero_shot: bool, proposals: int) -> InputOptions:
        """Maximum lengths of documents and queries."""
        return {
            "length": lengths["zero_shot" if zero_shot else "text"],
            "query_length": lengths["query"],
        }

    def encode(
        self, model: Path, documents: Texts, queries: Texts, input_options: InputOptions
    ) -> Encoded:
        """Encode documents as term weights, and queries as term counts."""
        from everycell.learning.models import device, load_model

        loaded, tokenizer = load_model(model, "tildev2")
        loaded.to(device())
        return self.encode_texts(
            loaded, tokenizer, list(documents.values()), documents, queries, input_options
        )

    def encode_texts(
        self,
        model: TildeV2,
        tokenizer: PreTrainedTokenizerBase,
        texts: Sequence[str] | Sequence[Sequence[int]],
        documents: Texts,
        queries: Texts,
        input_options: InputOptions,
    ) -> Encoded:
        """Encode documents, given as texts or token ids, and queries."""
        from everycell.learning.tilde import query_terms, stop_ids
        from everycell.learning.tildev2 import encode
        from everycell.retrieval.encoded import Encoded

        stop = stop_ids(tokenizer)
        terms = query_terms(tokenizer, list(queries.values()), input_options["query_length"], stop)
        weights = encode(model, tokenizer, texts, input_options["length"], stop)
        return Encoded("term_weights", weights, terms, list(documents), list(queries))


RANKER = TildeV2Ranker()
