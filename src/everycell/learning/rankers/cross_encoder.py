"""A cross-encoder, which reads a query and a document together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from everycell.learning.rankers import (
    InputOptions,
    Lengths,
    PairRanker,
    Start,
    Texts,
    TrainedRanker,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


class CrossEncoderRanker(TrainedRanker, PairRanker):
    """Ranker that uses `everycell.learning.cross_encoder`."""

    name = "cross-encoder"
    triplet_weight: ClassVar[float] = 0.0

    def training_input_options(self, lengths: Lengths, *, few_steps: bool) -> InputOptions:
        """Maximum length of a pair."""
        return self.pair_input_options(lengths)

    def start(self, encoder: Path, input_options: InputOptions, seed: int) -> Start:
        """Add a new scoring head to the encoder, and create the softmax loss."""
        from everycell.learning.cross_encoder import PairLength, training_loss
        from everycell.learning.models import load_model

        model, tokenizer = load_model(encoder, "classifier", seed=seed)
        loss = training_loss(
            tokenizer,
            PairLength(**input_options["pair_length"]),
            triplet_weight=self.triplet_weight,
        )
        return Start(model, tokenizer, loss)

    def pair_input_options(self, lengths: Lengths) -> InputOptions:
        """Maximum length of a pair."""
        return {"pair_length": {"total": lengths["pair"]}}

    def load(self, model: Path) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
        """Load a BERT with a trained scoring head, on a GPU if there is one."""
        from everycell.learning.models import device, load_model

        loaded, tokenizer = load_model(model, "classifier")
        return loaded.to(device()), tokenizer

    def score(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        queries: Texts,
        documents: Texts,
        pairs: Sequence[tuple[str, str]],
        input_options: InputOptions,
    ) -> npt.NDArray[np.float32]:
        """Score each pair."""
        from everycell.learning.cross_encoder import PairLength, score_pairs

        length = PairLength(**input_options["pair_length"])
        return score_pairs(model, tokenizer, queries, documents, pairs, length)


RANKER = CrossEncoderRanker()
