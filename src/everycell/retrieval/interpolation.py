"""Weighted sums of two systems' scores, with one weight for all queries or one for each.

``s = alpha * first + (1 - alpha) * second`` with both scores z-scaled (abolghasemi2026, equation
2.5, where `first` is BM25). :func:`sweep` evaluates every weight of a grid, and :meth:`Sweep.tune`
returns the weight with the best mean, for instance on validation topics (Table 2.3).

- Oracle (:func:`oracle`; abolghasemi2026, Table 2.4): the weight with the best value of the
  measure, for each topic.
- Noise oracle (:func:`noise_oracle`): the same choice, with random numbers as the second system.
  Choosing the best of eleven rankings cannot lose and usually gains, so an oracle's gain means
  little unless it is well above that of the noise oracle.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.base.arrays import BoolArray, FloatArray, IntArray
from everycell.retrieval.judged_lists import JudgedLists, ranking_measures

Scaling = Literal["query", "run"]

#: 0, 0.1, ..., 1, each the float nearest to its decimal (so ``ALPHAS[3] == 0.3``).
ALPHAS: tuple[float, ...] = tuple(step / 10 for step in range(11))

# Values within this tolerance are ties: they differ only by the order of summation.
_TIE = 1e-12
# Number of scores sorted at once: larger blocks need more memory and are no faster.
_BLOCK = 1 << 20


def z_scores(scores: npt.ArrayLike, listed: BoolArray, *, over: Scaling = "query") -> FloatArray:
    """Scale scores to mean 0 and standard deviation 1."""
    values = np.asarray(scores, dtype=np.float64)
    axis = 1 if over == "query" else None
    values = np.where(listed, values, 0.0)
    count = np.maximum(listed.sum(axis=axis, keepdims=True), 1)
    mean = values.sum(axis=axis, keepdims=True) / count
    centred = np.where(listed, values - mean, 0.0)
    deviation = np.sqrt((centred**2).sum(axis=axis, keepdims=True) / count)
    highest = np.max(values, axis=axis, keepdims=True, where=listed, initial=-np.inf)
    lowest = np.min(values, axis=axis, keepdims=True, where=listed, initial=np.inf)
    # Testing deviation == 0 is not enough: rounding may move the mean of equal numbers.
    varies = (highest > lowest) & (deviation > 0)
    return np.where(varies, centred / np.where(varies, deviation, 1.0), 0.0)


def interpolate(
    first: npt.ArrayLike, second: npt.ArrayLike, alphas: Sequence[float] = ALPHAS
) -> FloatArray:
    """Weighted sums of two systems' scores for every weight."""
    first_scores, second_scores = (np.asarray(s, dtype=np.float64) for s in (first, second))
    weights = np.asarray(alphas, dtype=np.float64).reshape(-1, *[1] * first_scores.ndim)
    return weights * first_scores + (1 - weights) * second_scores


@dataclass(frozen=True)
class Sweep:
    """Values per measure, weight and topic, as returned by :func:`sweep`."""

    alphas: tuple[float, ...]
    queries: pd.Index
    values: Mapping[str, FloatArray]

    def measure_values(self, measure: str) -> FloatArray:
        """Values of one measure, shape (a, n)."""
        return self.values[measure]

    def topic_values(self, alpha: float) -> pd.DataFrame:
        """Values of each topic at one weight."""
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
        """Weight with the best mean value of a measure, for use on other topics."""
        return self.alphas[int(first_best(self.measure_values(measure).mean(axis=1)))]


def first_best(values: FloatArray) -> IntArray:
    """Index of the first maximum along the first axis, up to a tolerance."""
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

    At weights 0 and 1 the original scores are used, so that the values equal those of the single
    systems exactly. Scaled scores could have more ties: if one score is millions of times larger
    than two others, those may become equal as 32-bit floats.
    """
    first_scores, second_scores = (np.asarray(s, dtype=np.float64) for s in (first, second))
    weights = np.asarray(alphas, dtype=np.float64)
    scaled = [z_scores(scores, lists.listed, over=over) for scores in (first_scores, second_scores)]
    n, width = lists.listed.shape
    values = {measure: np.empty((len(weights), n)) for measure in measures}
    step = max(_BLOCK // (len(weights) * width), 1)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        sums = interpolate(scaled[0][rows], scaled[1][rows], alphas)
        sums[weights == 1] = first_scores[rows]
        sums[weights == 0] = second_scores[rows]
        block = ranking_measures(lists.topics(rows), sums, measures)
        for measure, block_values in block.items():
            values[measure][:, rows] = block_values
    return Sweep(tuple(weights.tolist()), lists.queries, values)


def oracle(results: Sweep, measure: str) -> pd.DataFrame:
    """Best weight of each topic for a measure, and the value at this weight.

    Source: abolghasemi2026, section 2.4 (Table 2.4). The text does not say how ties are broken.
    Here the smallest weight wins, which fits the text's interpretation of alpha 0 as "no gain" and
    its many queries with alpha 0.
    """
    values = results.measure_values(measure)
    return pd.DataFrame(
        {
            "alpha": np.asarray(results.alphas)[first_best(values)],
            "value": values.max(axis=0),
        },
        index=results.queries.rename("query"),
    )


def oracle_summary(choices: pd.DataFrame) -> pd.Series:
    """Summarise the choices of an oracle: the rows of Table 2.4."""
    alpha = choices["alpha"]
    return pd.Series(
        {
            "value": choices["value"].mean(),
            "alpha_mean": alpha.mean(),
            "n_alpha_0": (alpha == 0).sum(),
            "n_alpha_1": (alpha == 1).sum(),
            "alpha_iqr": alpha.quantile(0.75) - alpha.quantile(0.25),
            "n": len(choices),
        }
    )


def noise_oracle(
    lists: JudgedLists,
    first: npt.ArrayLike,
    measures: Sequence[str] = ("MAP", "nDCG"),
    *,
    alphas: Sequence[float] = ALPHAS,
    over: Scaling = "query",
    seeds: Iterable[int] = range(20),
) -> pd.DataFrame:
    """Oracle weights of a system and random numbers; any gain is due to the choice alone.

    The thesis has no such control for Table 2.4. The numbers are drawn in the order of the lists,
    so the same topics, candidates and seed give the same noise.
    """
    baseline = ranking_measures(lists, first, measures)
    rows = []
    for seed in seeds:
        noise = np.zeros(lists.listed.shape)
        noise[lists.listed] = np.random.default_rng(seed).normal(size=int(lists.listed.sum()))
        results = sweep(lists, first, noise, measures, alphas=alphas, over=over)
        for measure in measures:
            summary = oracle_summary(oracle(results, measure))
            gain = summary["value"] - baseline[measure].mean()
            rows.append({"measure": measure, "seed": seed, **summary, "gain": gain})
    return pd.DataFrame(rows).set_index(["measure", "seed"])
