"""Weighted sums of two systems' scores, with one weight for all queries.

``s = alpha * first + (1 - alpha) * second`` with both scores z-scaled (abolghasemi2026, equation
2.5, where `first` is BM25). :func:`sweep` gives the values at each weight of a grid, and
:meth:`Sweep.tune` the weight with the best mean on validation topics (Table 2.3).
`everycell.retrieval.oracle` chooses the best weight of each topic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.engine.arrays import BoolArray, FloatArray, IntArray
from everycell.retrieval.judged_lists import JudgedLists, ranking_measures

Scaling = Literal["query", "run"]

#: 0, 0.1, ..., 1, each the float nearest to its decimal (so ``ALPHAS[3] == 0.3``).
ALPHAS: tuple[float, ...] = tuple(step / 10 for step in range(11))

# Equal values differ in their last bits if they were summed in another order; values that really
# differ lie much further apart.
_TIE = 1e-12
# Number of scores sorted at once: larger blocks are no faster and take more memory.
_BLOCK = 1 << 20


def z_scores(scores: npt.ArrayLike, listed: BoolArray, *, over: Scaling = "query") -> FloatArray:
    """Scale scores to mean 0 and standard deviation 1."""
    if over not in ("query", "run"):
        raise ValueError(f"over is {over!r}: give 'query' or 'run'.")
    values = np.asarray(scores, dtype=np.float64)
    if values.shape != listed.shape:
        raise ValueError(
            f"The scores have the shape {values.shape} and the lists {listed.shape} (topics, "
            "candidates): give one score per candidate."
        )
    if not np.isfinite(values[listed]).all():
        topic, candidate = np.argwhere(~np.isfinite(values) & listed)[0]
        raise ValueError(
            f"The score of candidate {candidate} of topic {topic} (counted from 0) is "
            f"{values[topic, candidate]}: find out where it comes from."
        )
    axis = 1 if over == "query" else None
    values = np.where(listed, values, 0.0)
    count = np.maximum(listed.sum(axis=axis, keepdims=True), 1)
    mean = values.sum(axis=axis, keepdims=True) / count
    centred = np.where(listed, values - mean, 0.0)
    deviation = np.sqrt((centred**2).sum(axis=axis, keepdims=True) / count)
    highest = np.max(values, axis=axis, keepdims=True, where=listed, initial=-np.inf)
    lowest = np.min(values, axis=axis, keepdims=True, where=listed, initial=np.inf)
    # Not deviation == 0: the mean of equal numbers need not be that number.
    varies = (highest > lowest) & (deviation > 0)
    return np.where(varies, centred / np.where(varies, deviation, 1.0), 0.0)


def interpolate(
    first: npt.ArrayLike, second: npt.ArrayLike, alphas: Sequence[float] = ALPHAS
) -> FloatArray:
    """Weighted sums of two systems' scores for every weight."""
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != other.shape:
        raise ValueError(
            f"The scores of the two systems have the shapes {one.shape} and {other.shape}: both "
            "must score the same candidates."
        )
    weights = _weights(alphas).reshape(-1, *[1] * one.ndim)
    return weights * one + (1 - weights) * other


def _weights(alphas: Sequence[float]) -> FloatArray:
    weights = np.asarray(alphas, dtype=np.float64)
    inside = weights.ndim == 1 and len(weights) and 0 <= weights.min() and weights.max() <= 1
    if not inside or (np.diff(weights) <= 0).any():
        raise ValueError(
            f"The weights are {list(np.ravel(alphas))}: give one or more from 0 to 1, ascending, "
            "such as ALPHAS."
        )
    return weights


@dataclass(frozen=True)
class Sweep:
    """Values of each measure at each weight for each topic; made by :func:`sweep`."""

    alphas: tuple[float, ...]
    queries: pd.Index
    values: Mapping[str, FloatArray]

    def of(self, measure: str) -> FloatArray:
        """Values of one measure, shape (a, n)."""
        if measure not in self.values:
            raise ValueError(
                f"The measure {measure!r} was not computed: there are {list(self.values)}; name "
                "one of these."
            )
        return self.values[measure]

    def at(self, alpha: float) -> pd.DataFrame:
        """Values of each topic at one weight."""
        if alpha not in self.alphas:
            raise ValueError(
                f"The weight {alpha!r} is not in the grid {list(self.alphas)}: name one of these."
            )
        index = self.alphas.index(alpha)
        return pd.DataFrame(
            {measure: values[index] for measure, values in self.values.items()},
            index=self.queries.rename("query"),
        )

    def means(self) -> pd.DataFrame:
        """Mean over the topics at each weight: the curves of Figure 2.3."""
        return pd.DataFrame(
            {measure: values.mean(axis=1) for measure, values in self.values.items()},
            index=pd.Index(self.alphas, name="alpha"),
        )

    def tune(self, measure: str) -> float:
        """Weight with the best mean of one measure, for use on other topics."""
        return self.alphas[int(first_best(self.of(measure).mean(axis=1)))]


def first_best(values: FloatArray) -> IntArray:
    """Place of the first of the greatest values along the first axis."""
    return np.argmax(values >= values.max(axis=0) - _TIE, axis=0)


def sweep(
    lists: JudgedLists,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    measures: Sequence[str] = ("MAP", "nDCG"),
    *,
    alphas: Sequence[float] = ALPHAS,
    over: Scaling = "query",
) -> Sweep:
    """Evaluate the weighted sum of two systems at every weight.

    At the weights 0 and 1 the systems' own scores are used, so that the ends of the grid equal the
    single systems down to the last tie: two scores that differ as 32-bit floats may become equal by
    scaling if a third is millions of times larger.
    """
    own_first, own_second = (np.asarray(s, dtype=np.float64) for s in (first, second))
    weights = _weights(alphas)
    scaled = [z_scores(scores, lists.listed, over=over) for scores in (own_first, own_second)]
    n, width = lists.listed.shape
    values = {measure: np.empty((len(weights), n)) for measure in measures}
    step = max(_BLOCK // (len(weights) * width), 1)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        sums = interpolate(scaled[0][rows], scaled[1][rows], alphas)
        sums[weights == 1] = own_first[rows]
        sums[weights == 0] = own_second[rows]
        block = ranking_measures(lists.topics(rows), sums, measures)
        for measure, block_values in block.items():
            values[measure][:, rows] = block_values
    return Sweep(tuple(weights.tolist()), lists.queries, values)
