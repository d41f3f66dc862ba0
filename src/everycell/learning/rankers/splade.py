"""Zero-shot SPLADE: weights of vocabulary entries for documents and queries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from everycell.learning.rankers import InputOptions, Lengths, TextEncodingRanker, Texts

if TYPE_CHECKING:
    from everycell.retrieval.encoded import Encoded


class SpladeRanker(TextEncodingRanker):
    """Ranker that uses `everycell.learning.text_vectors.splade_weights`."""

    name = "splade"

    def input_options(self, lengths: Lengths, *, zero_shot: bool, proposals: int) -> InputOptions:
        """Maximum length of a text."""
        return {"length": lengths["zero_shot" if zero_shot else "text"]}

    def encode(
        self, model: Path, documents: Texts, queries: Texts, input_options: InputOptions
    ) -> Encoded:
        """Encode texts as weights of the terms that occur in any query's encoding."""
        import numpy as np

        from everycell.learning.models import device, load_model
        from everycell.learning.text_vectors import splade_weights
        from everycell.retrieval.encoded import Encoded

        loaded, tokenizer = load_model(model, "masked-lm")
        loaded.to(device())
        length = input_options["length"]
        query_weights = splade_weights(loaded, tokenizer, list(queries.values()), length)
        columns = np.unique(query_weights.indices)
        weights = splade_weights(
            loaded, tokenizer, list(documents.values()), length, columns=columns
        )
        ids = list(documents), list(queries)
        return Encoded("term_weights", weights, query_weights[:, columns], *ids)


RANKER = SpladeRanker()
