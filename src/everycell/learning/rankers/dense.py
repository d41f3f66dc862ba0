"""A zero-shot dense encoder: one vector per text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from everycell.learning.rankers import InputOptions, Lengths, TextEncodingRanker, Texts

if TYPE_CHECKING:
    from everycell.retrieval.encoded import Encoded


class DenseRanker(TextEncodingRanker):
    """Ranker that uses `everycell.learning.text_vectors.dense_vectors`."""

    name = "dense"

    def input_options(self, lengths: Lengths, *, zero_shot: bool, proposals: int) -> InputOptions:
        """Maximum length of a text."""
        return {"length": lengths["zero_shot" if zero_shot else "text"]}

    def encode(
        self, model: Path, documents: Texts, queries: Texts, input_options: InputOptions
    ) -> Encoded:
        """Encode each text as a vector."""
        from everycell.learning.models import device, load_model
        from everycell.learning.text_vectors import dense_vectors
        from everycell.retrieval.encoded import Encoded

        loaded, tokenizer = load_model(model, "encoder")
        texts = [*documents.values(), *queries.values()]
        vectors = dense_vectors(loaded.to(device()), tokenizer, texts, input_options["length"])
        size = len(documents)
        return Encoded("vectors", vectors[:size], vectors[size:], list(documents), list(queries))


RANKER = DenseRanker()
