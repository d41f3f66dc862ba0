"""TILDE: likelihood of a query's terms given a document."""

from __future__ import annotations

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
    from everycell.retrieval.encoded import Encoded


class TildeRanker(TrainedRanker, TextEncodingRanker):
    """Ranker that uses `everycell.learning.tilde`; its loss ignores negatives."""

    name = "tilde"
    optimiser = "adam"

    def training_input_options(self, lengths: Lengths, *, few_steps: bool) -> InputOptions:
        """Maximum length of a text."""
        return {"length": lengths["training"]}

    def start(self, encoder: Path, input_options: InputOptions, seed: int) -> Start:
        """Load the language model, and create the two-way loss."""
        from everycell.learning.models import load_model
        from everycell.learning.tilde import stop_ids, two_way_loss

        model, tokenizer = load_model(encoder, "masked-lm", seed=seed)
        loss = two_way_loss(tokenizer, input_options["length"], stop_ids(tokenizer))
        return Start(model, tokenizer, loss)

    def input_options(self, lengths: Lengths, *, zero_shot: bool, proposals: int) -> InputOptions:
        """Maximum lengths, and the number of likely terms to compute for each document."""
        return {
            "length": lengths["zero_shot" if zero_shot else "text"],
            "query_length": lengths["query"],
            "proposals": proposals,
        }

    def encode(
        self, model: Path, documents: Texts, queries: Texts, input_options: InputOptions
    ) -> Encoded:
        """Encode documents as log P of the queries' terms, and propose likely terms for each."""
        import numpy as np

        from everycell.learning.models import device, load_model
        from everycell.learning.tilde import encode, query_terms, stop_ids
        from everycell.retrieval.encoded import Encoded

        loaded, tokenizer = load_model(model, "masked-lm")
        stop = stop_ids(tokenizer)
        terms = query_terms(tokenizer, list(queries.values()), input_options["query_length"], stop)
        # Only terms that occur in a query are kept.
        columns = np.unique(terms.indices)
        likelihoods, proposed = encode(
            loaded.to(device()),
            tokenizer,
            list(documents.values()),
            input_options["length"],
            columns,
            proposals=min(input_options["proposals"], loaded.config.vocab_size),
        )
        ids = list(documents), list(queries)
        return Encoded("likelihoods", likelihoods, terms[:, columns], *ids, proposed)


RANKER = TildeRanker()
