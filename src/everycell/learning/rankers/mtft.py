"""MTFT: a cross-encoder with an additional triplet loss."""

from everycell.learning.rankers.cross_encoder import CrossEncoderRanker


class MultiTaskRanker(CrossEncoderRanker):
    """A cross-encoder whose loss is the unweighted sum of softmax and triplet loss."""

    name = "mtft"
    triplet_weight = 1.0


RANKER = MultiTaskRanker()
