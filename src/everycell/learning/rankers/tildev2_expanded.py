"""TILDEv2 on documents expanded with terms that TILDE predicts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from everycell.base.arrays import IntArray
from everycell.learning.rankers import ExpandingRanker, InputOptions, Lengths, Texts
from everycell.learning.rankers.tildev2 import RANKER as TILDEV2

if TYPE_CHECKING:
    import pandas as pd

    from everycell.retrieval.encoded import Encoded


class ExpandedTildeV2Ranker(ExpandingRanker):
    """Ranker that uses `everycell.learning.tildev2` and a TILDEv2 model."""

    name = "tildev2-expanded"

    @property
    def pattern(self) -> str:
        """Regular expression for the name, followed by the number of proposed terms."""
        return rf"{self.name}-\d+"

    def input_options(self, lengths: Lengths, *, zero_shot: bool, proposals: int) -> InputOptions:
        """Maximum lengths of a document after and before expansion, and of a query."""
        return {
            "length": lengths["expanded"],
            "query_length": lengths["query"],
            "own": lengths["text"],
        }

    def encode_expanded(
        self,
        model: Path,
        documents: Texts,
        queries: Texts,
        input_options: InputOptions,
        proposed: IntArray,
    ) -> tuple[Encoded, pd.DataFrame]:
        """Encode expanded documents and queries; also count the new terms of each document."""
        import pandas as pd

        from everycell.learning.models import device, load_model
        from everycell.learning.tilde import stop_ids
        from everycell.learning.tildev2 import expand

        loaded, tokenizer = load_model(model, "tildev2")
        expanded = expand(
            tokenizer,
            list(documents.values()),
            proposed,
            input_options["length"],
            stop_ids(tokenizer),
            document_length=input_options["own"],
        )
        encoded = TILDEV2.encode_texts(
            loaded.to(device()), tokenizer, expanded.sequences, documents, queries, input_options
        )
        counts = {"found": expanded.missing, "added": expanded.added}
        return encoded, pd.DataFrame({"document_id": list(documents), **counts})


RANKER = ExpandedTildeV2Ranker()
