"""Group fairness and relevance of a conversation (GFRC).

A system turn mentions entities. Each entity has a gain (how relevant it is), a position (the number
of words that the user has read up to its end) and, for each attribute set, a membership vector over
the groups of the set. Relevance R rewards relevant entities that are mentioned early; group
fairness GF compares the groups of the relevant entities of a turn with a target distribution.

Source: sakai2023, section 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.base.arrays import FloatArray
from everycell.base.errors import DataError, require
from everycell.metrics.divergences import (
    AttributeSet,
    check_attribute_sets,
    distribution_similarity,
)

Method = Literal["independent", "cumulative"]

#: Words that a user reads before giving up: 5 minutes at 250 words per minute (section 3.2).
READING_BUDGET = 1250


def position_weight(word_count: npt.ArrayLike, budget: int = READING_BUDGET) -> FloatArray:
    r"""Weight of an entity by its position: decreases linearly, 0 beyond the budget.

    .. math:: pw(n) = \max\left(0,\; 1 - \frac{WC(n) - 1}{L}\right)

    Parameters
    ----------
    word_count : array
        WC(n): position of the entity's last word, counted from 1 over all turns, including the
        user's. NaN stays NaN.
    budget
        L, the number of words that the user is willing to read.

    Returns
    -------
    numpy.ndarray
        Same shape, in [0, 1]: 1 at the first word, 0 from word L + 1 on.

    Raises
    ------
    ValueError
        A word count or a budget below 1.

    Notes
    -----
    Source: sakai2023, Eq. 6, which Table 1 follows. In our copy of the text, Eq. 8 repeats the
    weight without "- 1"; R is the same to four digits.

    Examples
    --------
    >>> position_weight([1, 35, 506, 1251]).tolist()
    [1.0, 0.9728, 0.596, 0.0]
    """
    counts = np.asarray(word_count, dtype=float)
    require(budget >= 1, "budget", budget, "1 word or more")
    if (counts < 1).any():
        raise DataError(
            column="word count",
            value=float(np.nanmin(counts)),
            expected="1 or more, as words are counted from 1",
        )
    return np.maximum(0, 1 - (counts - 1) / budget)


def checked_gains(gains: npt.ArrayLike) -> FloatArray:
    """Check that gains are between 0 and 1, and return them as floats."""
    values = np.asarray(gains, dtype=float)
    invalid = ~((values >= 0) & (values <= 1))
    if invalid.any():
        raise DataError(
            column="gain", value=float(values[invalid][0]), expected="0 (not relevant) to 1"
        )
    return values


def relevance(
    word_counts: npt.ArrayLike, gains: npt.ArrayLike, budget: int = READING_BUDGET
) -> float:
    r"""Relevance R of a conversation: its weighted gains, relative to a perfect conversation.

    .. math:: R = \frac{1}{N} \sum_n pw(n)\, g(n), \quad
              N = \sum_{l=1}^{L} \left(1 - \frac{l - 1}{L}\right) = \frac{L + 1}{2}

    Parameters
    ----------
    word_counts : array, shape (n,)
        Position of each entity's last word (see `position_weight`). It may be NaN where the gain
        is 0.
    gains : array, shape (n,)
        In [0, 1]; 0 for an entity that is not relevant. Duplicates: see `without_duplicates`.
    budget
        L, the number of words that the user is willing to read.

    Returns
    -------
    float
        In [0, 1] as long as no two entities end on the same word; 1 would require a relevant entity
        at every word. 0 for an empty conversation. Entities of all turns count equally.

    Raises
    ------
    ValueError
        Unequal lengths, a relevant entity without a word count, a gain outside [0, 1].

    Notes
    -----
    Source: sakai2023, Eqs. 3, 7 and 8 (with the weight of Eq. 6).

    Examples
    --------
    Google's two relevant films (Table 1):

    >>> round(relevance([506, 560], [1, 0.5]), 4)
    0.0014
    """
    g = checked_gains(gains)
    counts = np.asarray(word_counts, dtype=float)
    require(counts.shape == g.shape, "number of word counts", counts.size, f"{g.size}, as gains")
    relevant = g > 0
    if np.isnan(counts[relevant]).any():
        entity = int(np.flatnonzero(relevant & np.isnan(counts))[0]) + 1
        raise DataError(
            row=f"entity {entity}", fault="is relevant but has no word count", fix="give one"
        )
    normaliser = (budget + 1) / 2
    return float(position_weight(counts[relevant], budget) @ g[relevant] / normaliser)


def without_duplicates(entities: Sequence[str], gains: npt.ArrayLike) -> FloatArray:
    """Gains in which only the first relevant mention of an entity counts.

    Source: sakai2023, section 5, last observation.
    """
    g = checked_gains(gains)
    mentions = pd.Series(list(entities), dtype=object)
    repeated = mentions[g > 0].duplicated().reindex(mentions.index, fill_value=False)
    return np.where(repeated, 0.0, g)


def achieved_distributions(
    turns: Sequence[str],
    gains: npt.ArrayLike,
    memberships: npt.ArrayLike,
    method: Method = "independent",
) -> pd.DataFrame:
    """Achieved distribution over the groups of each turn with a relevant entity.

    Parameters
    ----------
    turns : sequence of n labels
        Turn of each entity, in the order of the conversation.
    gains : array, shape (n,)
        In [0, 1]. All entities with a gain above 0 count equally.
    memberships : array, shape (n, C)
        Share of each entity in each group; rows of relevant entities sum to 1. Rows of other
        entities are ignored and may be NaN.
    method
        "independent": mean membership of the relevant entities of the turn. "cumulative": mean
        membership of the relevant entities of the turn and all earlier turns.

    Returns
    -------
    pandas.DataFrame, shape (S, C)
        One row for each turn with a relevant entity, in the order of the conversation, indexed by
        turn.

    Raises
    ------
    ValueError
        Unequal lengths, an unknown method, a turn that is missing or resumes after another.

    Notes
    -----
    Source: sakai2023, section 3.1 (the paper's scores use the independent method).

    Examples
    --------
    >>> films = [[1, 0], [0, 1], [0, 1]]
    >>> achieved_distributions(["S1", "S1", "S2"], [1, 0.5, 1], films).values.tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    >>> achieved_distributions(
    ...     ["S1", "S2"], [1, 1], films[:2], method="cumulative").loc["S2"].tolist()
    [0.5, 0.5]
    """
    require(method in get_args(Method), "method", method, "'independent' or 'cumulative'")
    labels = pd.Series(list(turns), dtype=object)
    if labels.isna().any():
        raise DataError(
            row=f"entity {labels.isna().argmax()}", fault="has no turn", fix="give its name"
        )
    shares = np.asarray(memberships, dtype=float)
    g = checked_gains(gains)
    sizes = len(labels), g.size, *shares.shape
    require(
        shares.ndim == 2 and len(set(sizes[:3])) == 1,
        "numbers of turns, gains, memberships and groups",
        sizes,
        "as many turns, gains and rows of memberships as entities",
    )
    starts = labels[labels != labels.shift()]
    if (is_resumed := starts.duplicated()).any():
        raise DataError(
            column="turn",
            value=starts[is_resumed].iloc[0],
            fault="which continues after another turn",
            fix="give entities in conversation order",
        )
    relevant = g > 0
    groups = pd.DataFrame(shares[relevant]).groupby(labels[relevant].to_numpy(), sort=False)
    total, count = groups.sum(min_count=1), groups.size()
    if method == "cumulative":
        total, count = total.cumsum(), count.cumsum()
    return total.div(count, axis=0)


def turn_similarities(
    turns: Sequence[str],
    gains: npt.ArrayLike,
    memberships: npt.ArrayLike,
    attribute_set: AttributeSet,
    method: Method = "independent",
) -> pd.Series:
    """Similarity of each turn's achieved distribution to the target (DistrSim).

    One value for each turn with a relevant entity. Source: sakai2023, Table 2.
    """
    achieved = achieved_distributions(turns, gains, memberships, method)
    similarity = distribution_similarity(
        achieved.to_numpy(), attribute_set.target, attribute_set.divergence
    )
    return pd.Series(similarity, index=achieved.index, dtype=float)


def turn_weights(
    turns: Sequence[str],
    word_counts: npt.ArrayLike,
    gains: npt.ArrayLike,
    budget: int = READING_BUDGET,
) -> pd.Series:
    """Position weight PW(S) of each turn with a relevant entity: its largest entity weight.

    Source: sakai2023, section 3.2, which names this weight and uses 1 instead.
    """
    relevant = checked_gains(gains) > 0
    weights = position_weight(np.asarray(word_counts, dtype=float)[relevant], budget)
    labels = np.asarray(list(turns), dtype=object)[relevant]
    return pd.Series(weights).groupby(labels, sort=False).max()


def group_fairness(similarities: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> float:
    r"""Group fairness for one attribute set: mean over relevant turns.

    .. math:: GF_m(C) = \frac{1}{\sum_i PW(S_i)}
              \sum_{S_i \in S} PW(S_i)\, DistrSim_m(D_m(S_i) \| D^*_m)

    Equal weights by default (Eq. 10). For others (Eq. 4) the paper does not state the normaliser;
    the sum of the weights keeps the score in [0, 1]. 0 if no turn has a relevant entity.
    """
    values = np.asarray(similarities, dtype=float)
    shares = None if weights is None else np.asarray(weights, dtype=float)
    is_empty = values.size == 0 if shares is None else not shares.any()
    return 0.0 if is_empty else float(np.average(values, weights=shares))


def combine(relevance: float, group_fairness: float, alpha: float = 0.5) -> float:
    r"""Weighted mean of relevance and group fairness (sakai2023, Eq. 5).

    .. math:: \alpha R(C) + (1 - \alpha) GF(C)

    The paper sets no value of `alpha`, in [0, 1], and advises reporting both scores separately.
    """
    require(0 <= alpha <= 1, "alpha", alpha, "a weight from 0 to 1")
    require(not np.isnan(relevance), "relevance", relevance, "a number")
    require(not np.isnan(group_fairness), "group fairness", group_fairness, "a number")
    return alpha * relevance + (1 - alpha) * group_fairness


@dataclass(frozen=True)
class Gfrc:
    """Scores of a conversation, as `gfrc` returns them.

    Attributes
    ----------
    relevance
        R, Eq. 8.
    by_attribute_set
        GF of each attribute set, Eq. 10.
    group_fairness
        Their mean, Eq. 9.
    combined
        Eq. 5.
    """

    relevance: float
    by_attribute_set: Mapping[str, float]
    group_fairness: float
    combined: float


def gfrc(
    turns: Sequence[str],
    entities: Sequence[str],
    word_counts: npt.ArrayLike,
    gains: npt.ArrayLike,
    memberships: Mapping[str, npt.ArrayLike],
    attribute_sets: Mapping[str, AttributeSet],
    *,
    budget: int = READING_BUDGET,
    method: Method = "independent",
    alpha: float = 0.5,
) -> Gfrc:
    """All scores of one conversation; repeated entities count as not relevant.

    Parameters
    ----------
    turns, entities : sequences of n names
        Turn and name of each entity, in the order of the conversation.
    word_counts, gains : arrays, shape (n,)
        As for `relevance`.
    memberships
        Attribute set -> array of shape (n, C), as for `achieved_distributions`.
    attribute_sets
        Attribute set -> target and divergence; one or more, weighted equally.
    budget, method, alpha
        As for `relevance`, `achieved_distributions` and `combine`.

    Returns
    -------
    Gfrc
        All scores are 0 if no turn has a relevant entity.

    Raises
    ------
    ValueError
        No attribute set, an attribute set without memberships, or as for the functions above.

    Notes
    -----
    Source: sakai2023, Eqs. 5 to 10.

    Examples
    --------
    Google's relevant films, by number of ratings (Tables 1 and 2):

    >>> scores = gfrc(
    ...     ["S2", "S2"], ["Back to the Future", "Interstellar"], [506, 560], [1, 0.5],
    ...     {"RATINGS": [[0, 0, 0, 1], [0, 0, 0, 1]]},
    ...     {"RATINGS": AttributeSet((0.25,) * 4, "RNOD")})
    >>> round(scores.relevance, 4), round(scores.group_fairness, 4)
    (0.0014, 0.4049)
    """
    check_attribute_sets(attribute_sets, memberships)
    counted_gains = without_duplicates(entities, gains)
    fairness = {
        name: group_fairness(
            turn_similarities(turns, counted_gains, memberships[name], groups, method)
        )
        for name, groups in attribute_sets.items()
    }
    score = relevance(word_counts, counted_gains, budget)
    mean = float(np.mean(list(fairness.values())))
    return Gfrc(score, fairness, mean, combine(score, mean, alpha))
