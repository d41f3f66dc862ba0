"""Answerability of questions from sentences, passages and rankings.

Source: lajewska2025, sections 5.5 and 5.6.2.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from statsmodels.stats.contingency_tables import mcnemar

from everycell.base.arrays import BoolArray, FloatArray, IntArray

Aggregation = Literal["max", "mean"]
Repeated = Literal["tuples", "distinct", "rows"]
#: Scores from which passages and rankings count as answerable, by aggregation (section 5.6.2).
THRESHOLDS: Mapping[Aggregation, float] = {"max": 0.5, "mean": 0.25}


class McNemar(NamedTuple):
    """McNemar's test: cases that only one of two systems decides correctly, and the p-value."""

    only_first: int
    only_second: int
    p: float


class Level(NamedTuple):
    """Decisions on passages or rankings, with one way of aggregating scores."""

    level: Literal["passage", "ranking"]
    passages: Aggregation
    rankings: Aggregation | Literal[""]
    turns: npt.NDArray
    truth: BoolArray
    predicted: BoolArray


def aggregate(groups: Sequence[npt.ArrayLike], how: Aggregation) -> FloatArray:
    """Aggregate the scores of each group: a passage's sentences, or a ranking's passages."""
    if how not in THRESHOLDS:
        raise ValueError(f"how is {how!r}; expected 'max' or 'mean'.")
    aggregated = np.zeros(len(groups))
    for index, group in enumerate(groups):
        scores = np.asarray(group, dtype=float)
        if scores.ndim != 1 or not len(scores):
            raise ValueError(
                f"Group {index} has the shape {scores.shape}; give a list of at least one score: a "
                "passage without sentences cannot be scored."
            )
        # The negated comparison also rejects NaN.
        if not ((scores >= 0) & (scores <= 1)).all():
            raise ValueError(f"Group {index} has the scores {group}; give numbers from 0 to 1.")
        aggregated[index] = scores.max() if how == "max" else scores.mean()
    return aggregated


def decide(scores: npt.ArrayLike, threshold: float) -> BoolArray:
    """Decide that there is an answer for each score that reaches the threshold.

    Section 5.6.2 requires a score above the threshold. The authors' code also accepts a score equal
    to it, and so does this function. No released score equals its threshold.
    """
    values = np.asarray(scores, dtype=float)
    if not 0 <= threshold <= 1 or not ((values >= 0) & (values <= 1)).all():
        raise ValueError(
            f"The threshold is {threshold} and the scores are {values}; give numbers from 0 to 1."
        )
    return values >= threshold


def best_threshold(scores: npt.ArrayLike, truth: npt.ArrayLike) -> float:
    """Threshold with the most correct decisions, among 0.05, 0.10, ..., 0.95."""
    values, labels = np.asarray(scores, dtype=float), np.asarray(truth)
    if values.ndim != 1 or not len(values) or labels.shape != values.shape or labels.dtype != bool:
        raise ValueError(
            f"There are scores of shape {values.shape} and truth values of shape {labels.shape} "
            f"and type {labels.dtype}; give one True or False for each score, and at least one "
            "score."
        )
    thresholds = [step / 20 for step in range(1, 20)]
    correct = [np.count_nonzero(decide(values, threshold) == labels) for threshold in thresholds]
    return thresholds[int(np.argmax(correct))]


def rankings(
    passages: Sequence[str], size: int = 3, *, repeated: Repeated = "distinct"
) -> IntArray:
    """Positions of all subsets of `size` passages of a question, one row per subset."""
    if size < 1:
        raise ValueError(f"size is {size}; a ranking has at least one passage.")
    first_positions: dict[str, int] = {}
    for position, passage in enumerate(passages):
        first_positions.setdefault(passage, position)
    if repeated == "rows":
        subsets = list(itertools.combinations(range(len(passages)), size))
    elif repeated == "distinct":
        subsets = list(itertools.combinations(first_positions.values(), size))
    elif repeated == "tuples":
        positions = (first_positions[passage] for passage in passages)
        subsets = list(dict.fromkeys(itertools.combinations(positions, size)))
    else:
        raise ValueError(f"repeated is {repeated!r}; expected 'distinct', 'tuples' or 'rows'.")
    return np.array(subsets, dtype=np.intp).reshape(-1, size)


def decide_levels(
    passages: pd.DataFrame,
    scores: Sequence[npt.ArrayLike],
    thresholds: Mapping[Aggregation, float] = THRESHOLDS,
    *,
    size: int = 3,
    repeated: Repeated = "distinct",
) -> list[Level]:
    """Answerability of passages and rankings by sentence scores, by six aggregations."""
    if len(scores) != len(passages):
        raise ValueError(
            f"There are scores for {len(scores)} passages, but {len(passages)} passages; give "
            "scores for each passage."
        )
    turns, truth = passages["turn_id"].to_numpy(), passages["answerable"].to_numpy()
    rows_by_turn = [np.flatnonzero(turns == turn) for turn in passages["turn_id"].unique()]
    ids = passages["passage_id"].to_numpy()
    subsets = [rows[rankings(ids[rows].tolist(), size, repeated=repeated)] for rows in rows_by_turn]
    members = np.concatenate(subsets) if subsets else np.empty((0, size), dtype=np.intp)
    ranking_turns, ranking_truth = turns[members[:, 0]], truth[members].any(axis=1)
    levels = []
    for inner in THRESHOLDS:
        passage_scores = aggregate(scores, inner)
        decisions = decide(passage_scores, thresholds[inner])
        levels.append(Level("passage", inner, "", turns, truth, decisions))
        for outer in THRESHOLDS:
            ranking_scores = aggregate(list(passage_scores[members]), outer)
            decisions = decide(ranking_scores, thresholds[outer])
            levels.append(Level("ranking", inner, outer, ranking_turns, ranking_truth, decisions))
    return levels


def lexical_probabilities(
    training: Sequence[tuple[str, str]], answers: npt.ArrayLike, pairs: Sequence[tuple[str, str]]
) -> FloatArray:
    """Probability of an answer by a bag-of-words baseline: logistic regression over TF-IDF."""
    words = TfidfVectorizer().fit([text for pair in training for text in pair])

    def features(texts: Sequence[tuple[str, str]]) -> sparse.csr_array:
        questions, sentences = (words.transform([pair[side] for pair in texts]) for side in (0, 1))
        shared = questions.multiply(sentences)
        return sparse.hstack([sentences, shared, shared.sum(axis=1)[:, None]], format="csr")

    model = LogisticRegression(max_iter=1000).fit(features(training), np.asarray(answers))
    return model.predict_proba(features(pairs))[:, 1]


def mcnemar_test(
    truth: npt.ArrayLike, first: npt.ArrayLike, second: npt.ArrayLike, *, exact: bool = True
) -> McNemar:
    """Test whether two systems decide the same cases equally well (McNemar's test)."""
    arrays = [np.asarray(array) for array in (truth, first, second)]
    shapes = [array.shape for array in arrays]
    if len(set(shapes)) > 1 or len(shapes[0]) != 1 or not shapes[0][0]:
        raise ValueError(
            f"truth, first and second have the shapes {shapes}; give three lists of the same "
            "length, with at least one case."
        )
    if any(array.dtype != bool for array in arrays):
        raise ValueError(
            "truth, first and second contain values other than True and False; give only those."
        )
    correct = [array == arrays[0] for array in arrays[1:]]
    only_first = int(np.count_nonzero(correct[0] & ~correct[1]))
    only_second = int(np.count_nonzero(correct[1] & ~correct[0]))
    if only_first + only_second == 0:
        return McNemar(0, 0, 1.0)
    table = [[0, only_first], [only_second, 0]]
    result = mcnemar(table, exact=exact, correction=True)
    return McNemar(only_first, only_second, float(result.pvalue))
