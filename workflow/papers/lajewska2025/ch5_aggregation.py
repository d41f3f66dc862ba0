"""Answerability of questions by sentences, passages and rankings in chapter 5 of lajewska2025.

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
    function = {"max": np.max, "mean": np.mean}[how]
    return np.array([function(np.asarray(group, dtype=float)) for group in groups], dtype=float)


def decide(scores: npt.ArrayLike, threshold: float) -> BoolArray:
    """Decide that there is an answer for each score that reaches the threshold.

    Section 5.6.2 requires a score above the threshold. The authors' code also accepts a score equal
    to it, and so does this function. No released score equals its threshold.
    """
    return np.asarray(scores, dtype=float) >= threshold


def best_threshold(scores: npt.ArrayLike, truth: npt.ArrayLike) -> float:
    """Threshold with the most correct decisions, among 0.05, 0.10, ..., 0.95."""
    thresholds = [step / 20 for step in range(1, 20)]
    correct = [np.count_nonzero(decide(scores, threshold) == truth) for threshold in thresholds]
    return thresholds[int(np.argmax(correct))]


def rankings(
    passages: Sequence[str], size: int = 3, *, repeated: Repeated = "distinct"
) -> IntArray:
    """Positions of all subsets of `size` passages of a question, one row per subset."""
    first_positions: dict[str, int] = {}
    for position, passage in enumerate(passages):
        first_positions.setdefault(passage, position)
    if repeated == "rows":
        subsets = list(itertools.combinations(range(len(passages)), size))
    elif repeated == "distinct":
        subsets = list(itertools.combinations(first_positions.values(), size))
    else:
        positions = (first_positions[passage] for passage in passages)
        subsets = list(dict.fromkeys(itertools.combinations(positions, size)))
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


def mcnemar_test(truth: npt.ArrayLike, first: npt.ArrayLike, second: npt.ArrayLike) -> McNemar:
    """Test whether two systems decide the same cases equally well (McNemar's exact test)."""
    correct = [np.asarray(array) == np.asarray(truth) for array in (first, second)]
    only_first = int(np.count_nonzero(correct[0] & ~correct[1]))
    only_second = int(np.count_nonzero(correct[1] & ~correct[0]))
    if only_first + only_second == 0:
        return McNemar(0, 0, 1.0)
    table = [[0, only_first], [only_second, 0]]
    result = mcnemar(table, exact=True)
    return McNemar(only_first, only_second, float(result.pvalue))
