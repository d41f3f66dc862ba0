"""MTFT: a cross-encoder that learns a triplet loss beside its own (abolghasemi2026, chapter 2)."""

from everycell.learning.rankers.cross_encoder import CrossEncoderRanker


class MultiTaskRanker(CrossEncoderRanker):
    """A cross-encoder whose loss is the plain sum of softmax and triplet loss."""

    name = "mtft"
    triplet_weight = 1.0


RANKER = MultiTaskRanker()
