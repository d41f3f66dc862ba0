"""The game of one document at a time: its features are masked, and the others stay unchanged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from everycell.engine.arrays import BoolArray, FloatArray
from everycell.explain.listwise import Model, masked_scores, most_scores, pieces


@dataclass(frozen=True)
class RankGame:
    """Rank that each document of a list gets if only it keeps just a coalition of its features.

    The documents are n games at once. Among equal scores the document that comes first ranks
    higher.

    Source: heuss2025, section 4.6, after Pliatsika et al. (ShaRP, with the rank as the quantity of
    interest). Ranks are counted by numba, which a light installation does not have.
    """

    model: Model
    documents: FloatArray
    background: FloatArray

    def __call__(self, coalitions: BoolArray) -> FloatArray:
        """Values of coalitions, shape (c, n): the negative rank, so that more is better.

        Parameters
        ----------
        coalitions : numpy.ndarray of bool, shape (c, f)
            Features that keep their values.
        """
        # numba takes a second to import.
        from everycell.explain.compiled import add_ranks

        own_scores = np.asarray(self.model(self.documents), dtype=float)
        sums = np.zeros((len(coalitions), len(own_scores)))
        limit = most_scores(self.model) // max(1, sums.size)
        for samples in pieces(self.background, limit):
            scores = masked_scores(self.model, self.documents, samples, coalitions)
            add_ranks(scores, own_scores, sums)
        return -sums / len(self.background)
