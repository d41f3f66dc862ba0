"""The game of a single document's rank: only the features of that document are masked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from everycell.base.arrays import BoolArray, FloatArray
from everycell.explain.listwise import Model, masked_scores, score_limit, split_rows


@dataclass(frozen=True)
class RankGame:
    """Rank of each document when features outside a coalition are masked in that document only.

    The documents are n separate games. Ties are broken in favour of the earlier document.

    Source: heuss2025, section 4.6, after Pliatsika et al. (ShaRP, with the rank as the quantity of
    interest). Requires numba, which is not part of a light installation.
    """

    model: Model
    documents: FloatArray
    background: FloatArray

    def __call__(self, coalitions: BoolArray) -> FloatArray:
        """Values of coalitions (c, n): negative ranks, so that higher values are better."""
        # numba takes a second to import.
        from everycell.explain.compiled import add_ranks

        own_scores = np.asarray(self.model(self.documents), dtype=float)
        sums = np.zeros((len(coalitions), len(own_scores)))
        limit = score_limit(self.model) // max(1, sums.size)
        for samples in split_rows(self.background, limit):
            scores = masked_scores(self.model, self.documents, samples, coalitions)
            add_ranks(scores, own_scores, sums)
        return -sums / len(self.background)
