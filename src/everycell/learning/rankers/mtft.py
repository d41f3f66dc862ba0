"""MTFT: a cross-encoder that learns a triplet loss beside its own (abolghasemi2026, chapter 2)."""

from everycell.learning.ranker import Lengths, Reading
from everycell.learning.rankers.cross_encoder import CrossEncoderRanker


class MultiTaskRanker(CrossEncoderRanker):
    """A cross-encoder whose loss is the plain sum of softmax and triplet loss."""

    name = "mtft"
    triplet_weight = 1.0

    def training_reading(self, lengths: Lengths, *, few_steps: bool) -> Reading:
        """The length of a pair, and that of a text which the triplet loss has alone."""
        return {**self.pair_reading(lengths), "text_length": lengths["training"]}


RANKER = MultiTaskRanker()
