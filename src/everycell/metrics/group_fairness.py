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
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.metrics.divergences import Divergence, distribution_similarity
from everycell.metrics.reading_weights import (
    READING_BUDGET,
    checked_gains,
    relevance,
    without_duplicates,
)

Method = Literal["independent", "cumulative"]


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
    if method not in ("independent", "cumulative"):
        raise ValueError(f"The method {method!r} is unknown; choose independent or cumulative.")
    labels = pd.Series(list(turns), dtype=object)
    if labels.isna().any():
        raise ValueError(f"The turn of entity {labels.isna().argmax()} is missing; give its name.")
    shares = np.asarray(memberships, dtype=float)
    g = checked_gains(gains)
    if shares.ndim != 2 or not len(labels) == len(g) == len(shares):
        raise ValueError(
            f"There are {len(labels)} turns, {g.size} gains and memberships of the shape "
            f"{shares.shape}; give a turn, a gain and a row of memberships for each entity."
        )
    starts = labels[labels != labels.shift()]
    if starts.duplicated().any():
        turn = starts[starts.duplicated()].iloc[0]
        raise ValueError(
            f"Turn {turn!r} continues after another turn; give entities in conversation order."
        )
    relevant = g > 0
    groups = pd.DataFrame(shares[relevant]).groupby(labels[relevant].to_numpy(), sort=False)
    total, count = groups.sum(min_count=1), groups.size()
    if method == "cumulative":
        total, count = total.cumsum(), count.cumsum()
    return total.div(count, axis=0)


@dataclass(frozen=True)
class AttributeSet:
    """A set of groups with its target.

    Attributes
    ----------
    target : tuple of C numbers
        The fair distribution.
    divergence
        "JSD" for groups without an order, "RNOD" or "NMD" for ordered groups.

    Examples
    --------
    >>> AttributeSet((0.25,) * 4, "RNOD").divergence
    'RNOD'
    """

    target: tuple[float, ...]
    divergence: Divergence


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


def group_fairness(similarities: npt.ArrayLike) -> float:
    r"""Group fairness for one attribute set: mean over relevant turns.

    .. math:: GF_m(C) = \frac{1}{|S|} \sum_{S_i \in S} DistrSim_m(D_m(S_i) \| D^*_m)

    0 if no turn has a relevant entity. Source: sakai2023, Eq. 10.
    """
    values = np.asarray(similarities, dtype=float)
    return float(values.mean()) if values.size else 0.0


def combine(relevance: float, group_fairness: float, alpha: float = 0.5) -> float:
    r"""Weighted mean of relevance and group fairness (sakai2023, Eq. 5).

    .. math:: \alpha R(C) + (1 - \alpha) GF(C)

    The paper sets no value of `alpha`, in [0, 1], and advises reporting both scores separately.
    """
    if not 0 <= alpha <= 1:
        raise ValueError(f"The weight alpha is {alpha}; give a number from 0 to 1.")
    for name, score in (("relevance", relevance), ("group fairness", group_fairness)):
        if np.isnan(score):
            raise ValueError(f"The {name} is NaN; give a number.")
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
    if not attribute_sets:
        raise ValueError("There is no attribute set; give at least one with its target.")
    for name in attribute_sets:
        if name not in memberships:
            raise ValueError(
                f"The attribute set {name!r} has no memberships; available: {sorted(memberships)}."
            )
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
