"""Group fairness and relevance of a conversation (GFRC), and the divergences it is made of.

A system turn names entities. Each has a gain (how relevant it is), a position (the number of
words the user has read when it ends) and, for each attribute set, a membership vector over the
groups of the set. Relevance R rewards relevant entities that come early; group fairness GF
compares the groups of the relevant entities of a turn with a target distribution.

The divergences work on the last axis and broadcast over all others, so that a ranked list can
pass one row a rank, and a conversation one row a turn.

Source: sakai2023, section 3. RNOD and NMD follow Sakai, "Evaluating Evaluation Measures for
Ordinal Classification and Ordinal Quantification" (ACL-IJCNLP 2021).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import rel_entr

Array = npt.NDArray[np.float64]
Divergence = Literal["JSD", "RNOD", "NMD"]
Method = Literal["independent", "cumulative"]

#: Words that a user reads before giving up: 5 minutes at 250 words a minute (section 3.2).
READING_BUDGET = 1250
#: How far from 1 a distribution may sum: targets are published with six digits or more.
_ROUNDING = 1e-5


def _distributions(achieved: npt.ArrayLike, target: npt.ArrayLike) -> tuple[Array, Array]:
    """Both as checked arrays whose last axis sums to 1."""
    checked = []
    for name, values in (("achieved", achieved), ("target", target)):
        array = np.asarray(values, dtype=float)
        if array.ndim == 0 or array.shape[-1] < 2:
            raise ValueError(
                f"The {name} distribution has the shape {array.shape}; give at least two groups "
                "on its last axis."
            )
        bad = ~(np.isfinite(array) & (array >= 0))
        if bad.any():
            raise ValueError(
                f"The {name} distribution holds {array[bad][0]:g}; the share of a group is a "
                "number of 0 or more, so correct it."
            )
        sums = array.sum(axis=-1, keepdims=True)
        if not np.allclose(sums, 1, rtol=0, atol=_ROUNDING):
            worst = float(sums.flat[np.abs(sums - 1).argmax()])
            raise ValueError(
                f"The {name} distribution sums to {worst:g}; a distribution sums to 1, so divide "
                "it by its sum or correct it."
            )
        checked.append(array / sums)
    if checked[0].shape[-1] != checked[1].shape[-1]:
        raise ValueError(
            f"The achieved distribution has {checked[0].shape[-1]} groups and the target "
            f"{checked[1].shape[-1]}; give both over the same groups in the same order."
        )
    return checked[0], checked[1]


def jensen_shannon(achieved: npt.ArrayLike, target: npt.ArrayLike) -> Array:
    r"""Jensen-Shannon divergence in bits, for groups without an order.

    .. math:: JSD(p \| p^*) = \tfrac12 KL(p \| m) + \tfrac12 KL(p^* \| m),
              \quad m = \tfrac12 (p + p^*)

    Parameters
    ----------
    achieved, target : array, shape (..., C)
        Distributions over the same C >= 2 groups; leading axes broadcast.

    Returns
    -------
    numpy.ndarray, shape (...)
        In [0, 1]: 0 for equal distributions, 1 for distributions that share no group. Symmetric,
        and blind to the order of the groups.

    Raises
    ------
    ValueError
        A share below 0 or not finite, a sum that is not 1 (to five digits), unequal lengths.

    Notes
    -----
    The square of `scipy.spatial.distance.jensenshannon` with base 2. That function is not called
    because it gives NaN where rounding makes the divergence of nearly equal distributions
    slightly negative; here such a value is 0. Source: sakai2023, section 3.1.

    Examples
    --------
    >>> float(jensen_shannon([1, 0], [0, 1])), float(jensen_shannon([0.3, 0.7], [0.3, 0.7]))
    (1.0, 0.0)
    """
    p, q = _distributions(achieved, target)
    middle = (p + q) / 2
    bits = (rel_entr(p, middle) + rel_entr(q, middle)).sum(axis=-1) / (2 * np.log(2))
    return np.clip(bits, 0, 1)


def rnod(achieved: npt.ArrayLike, target: npt.ArrayLike) -> Array:
    r"""Root normalised order-aware divergence, for groups in an order.

    .. math:: DW_i = \sum_j |i - j| (p_j - p^*_j)^2, \quad
              OD = \frac{1}{|C^*|} \sum_{i \in C^*} DW_i, \quad
              RNOD = \sqrt{\frac{OD}{C - 1}}

    with :math:`C^* = \{i : p^*_i > 0\}`, the groups that the target wants.

    Parameters
    ----------
    achieved, target : array, shape (..., C)
        Distributions over the same C >= 2 groups, in their order; leading axes broadcast.

    Returns
    -------
    numpy.ndarray, shape (...)
        0 for equal distributions only. At most 1 if the target wants every group, or if there
        are four groups or fewer. With five or more groups and a target that leaves some out it
        can exceed 1 slightly (see the examples); it is not cut off, since the definition is not.
        Not symmetric.

    Raises
    ------
    ValueError
        As for `jensen_shannon`.

    Notes
    -----
    Source: Sakai (2021), used by sakai2023 for the groups of RATINGS (Table 2).

    Examples
    --------
    The achieved distribution of Bing's first turn (sakai2023, Table 2 prints 1 - RNOD = 0.6773):

    >>> round(1 - float(rnod([0, 0, 0.6, 0.4], [0.25] * 4)), 4)
    0.6773

    A target that leaves two of five groups out, and all but leaves out two more:

    >>> round(float(rnod([0, 0, 0, 1, 0], [0.01, 0.01, 0, 0, 0.98])), 2)
    1.03
    """
    p, q = _distributions(achieved, target)
    p, q = np.broadcast_arrays(p, q)
    groups = np.arange(q.shape[-1])
    distance = np.abs(groups[:, None] - groups)
    weighted = (p - q) ** 2 @ distance
    wanted = q > 0
    order_aware = np.where(wanted, weighted, 0).sum(axis=-1) / wanted.sum(axis=-1)
    return np.sqrt(order_aware / (len(groups) - 1))


def nmd(achieved: npt.ArrayLike, target: npt.ArrayLike) -> Array:
    r"""Normalised match distance (earth mover's), for groups in an order.

    .. math:: NMD = \frac{1}{C - 1} \sum_i \Bigl| \sum_{j \le i} (p_j - p^*_j) \Bigr|

    Parameters
    ----------
    achieved, target : array, shape (..., C)
        Distributions over the same C >= 2 groups, in their order; leading axes broadcast.

    Returns
    -------
    numpy.ndarray, shape (...)
        In [0, 1]: 0 for equal distributions, 1 if one holds only the first group and the other
        only the last. Symmetric.

    Raises
    ------
    ValueError
        As for `jensen_shannon`.

    Notes
    -----
    Source: Sakai (2021). sakai2023 names it as the alternative to RNOD (footnote 14).

    Examples
    --------
    >>> nmd([[1, 0, 0], [0, 1, 0]], [0, 0, 1]).tolist()
    [1.0, 0.5]
    """
    p, q = _distributions(achieved, target)
    distance = np.abs(np.cumsum(p - q, axis=-1)).sum(axis=-1)
    # Rounding of the sums could lead beyond 1.
    return np.minimum(distance / (p.shape[-1] - 1), 1)


#: Divergence by the name that the papers print.
DIVERGENCES: Mapping[str, Callable[[npt.ArrayLike, npt.ArrayLike], Array]] = MappingProxyType(
    {"JSD": jensen_shannon, "RNOD": rnod, "NMD": nmd}
)


def distribution_similarity(
    achieved: npt.ArrayLike, target: npt.ArrayLike, divergence: Divergence = "JSD"
) -> Array:
    """How close an achieved distribution is to its target: 1 minus a divergence.

    Parameters
    ----------
    achieved, target : array, shape (..., C)
        Distributions over the same C >= 2 groups; leading axes broadcast.
    divergence
        "JSD" for groups without an order, "RNOD" or "NMD" for groups in an order.

    Returns
    -------
    numpy.ndarray, shape (...)
        1 for equal distributions, not below 0 (but see `rnod`). Source: sakai2023, section 3.1.

    Raises
    ------
    ValueError
        An unknown divergence, or as for `jensen_shannon`.

    Examples
    --------
    Google's second turn holds only films of the last group (sakai2023, Table 2):

    >>> round(float(distribution_similarity([0, 0, 0, 1], [0.25] * 4, "RNOD")), 4)
    0.4049
    """
    if divergence not in DIVERGENCES:
        raise ValueError(
            f"The divergence {divergence!r} is unknown; choose one of {list(DIVERGENCES)}."
        )
    return 1 - DIVERGENCES[divergence](achieved, target)


def position_weight(word_count: npt.ArrayLike, budget: int = READING_BUDGET) -> Array:
    r"""Weight of an entity by its position: it falls in a line and is 0 beyond the budget.

    .. math:: pw(n) = \max\left(0,\; 1 - \frac{WC(n) - 1}{L}\right)

    Parameters
    ----------
    word_count : array
        WC(n): number of the entity's last word, counted from 1 over all turns, the user's too.
        NaN stays NaN.
    budget
        L, words that the user is ready to read.

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
    if budget < 1:
        raise ValueError(f"The reading budget is {budget}; give 1 word or more.")
    if (counts < 1).any():
        raise ValueError(
            f"A word count is {np.nanmin(counts):g}; words are counted from 1, so correct it."
        )
    return np.maximum(0, 1 - (counts - 1) / budget)


def _gains(gains: npt.ArrayLike) -> Array:
    checked = np.asarray(gains, dtype=float)
    bad = ~((checked >= 0) & (checked <= 1))
    if bad.any():
        raise ValueError(
            f"A gain is {checked[bad][0]:g}; gains are from 0 (not relevant) to 1, so correct it."
        )
    return checked


def relevance(
    word_counts: npt.ArrayLike, gains: npt.ArrayLike, budget: int = READING_BUDGET
) -> float:
    r"""Relevance R of a conversation: discounted gains over those of a perfect one.

    .. math:: R = \frac{1}{N} \sum_n pw(n)\, g(n), \quad
              N = \sum_{l=1}^{L} \left(1 - \frac{l - 1}{L}\right) = \frac{L + 1}{2}

    Parameters
    ----------
    word_counts : array, shape (n,)
        Number of each entity's last word (see `position_weight`). It may be NaN where the gain
        is 0.
    gains : array, shape (n,)
        In [0, 1]; 0 for an entity that is not relevant. Duplicates: see `without_duplicates`.
    budget
        L, words that the user is ready to read.

    Returns
    -------
    float
        In [0, 1] as long as no two entities end on the same word; 1 would need a relevant entity
        at every word. 0 for an empty conversation. Entities of all turns count alike.

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
    g = _gains(gains)
    counts = np.asarray(word_counts, dtype=float)
    if counts.shape != g.shape:
        raise ValueError(
            f"There are {counts.size} word counts and {g.size} gains; give one of each an entity."
        )
    relevant = g > 0
    if np.isnan(counts[relevant]).any():
        entity = int(np.flatnonzero(relevant & np.isnan(counts))[0]) + 1
        raise ValueError(f"Entity {entity} is relevant but has no word count; give its last word.")
    normaliser = (budget + 1) / 2
    return float(position_weight(counts[relevant], budget) @ g[relevant] / normaliser)


def without_duplicates(entities: Sequence[str], gains: npt.ArrayLike) -> Array:
    """Gains in which only the first relevant mention of an entity counts.

    Parameters
    ----------
    entities : sequence of n names
        In the order of the conversation.
    gains : array, shape (n,)
        In [0, 1].

    Returns
    -------
    numpy.ndarray, shape (n,)
        The gains, with 0 for each further relevant mention. A mention that is not relevant (a
        wrong link, say) does not spoil a later one that is.

    Notes
    -----
    Source: sakai2023, section 5, last observation.

    Examples
    --------
    >>> without_duplicates(["Looper", "Tenet", "Looper", "Looper"], [0, 1, 1, 0.5]).tolist()
    [0.0, 1.0, 1.0, 0.0]
    """
    g = _gains(gains)
    mentions = pd.Series(list(entities), dtype=object)
    again = mentions[g > 0].duplicated().reindex(mentions.index, fill_value=False)
    return np.where(again, 0.0, g)


def achieved_distributions(
    turns: Sequence[str],
    gains: npt.ArrayLike,
    memberships: npt.ArrayLike,
    method: Method = "independent",
) -> pd.DataFrame:
    """Distribution over the groups that each turn with a relevant entity achieves.

    Parameters
    ----------
    turns : sequence of n labels
        Turn of each entity, in the order of the conversation.
    gains : array, shape (n,)
        In [0, 1]. An entity counts in full or, with gain 0, not at all: grades play no part.
    memberships : array, shape (n, C)
        Share of each entity in each group; rows of relevant entities sum to 1. Rows of others
        are not read and may be NaN.
    method
        "independent": mean membership of the turn's own relevant entities. "cumulative": of
        those and of all relevant entities of earlier turns.

    Returns
    -------
    pandas.DataFrame, shape (S, C)
        One row for each turn with a relevant entity, in the order of the conversation; the index
        holds the turn. No row if there is none.

    Raises
    ------
    ValueError
        Unequal lengths, an unknown method, a turn that returns after another.

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
    shares = np.asarray(memberships, dtype=float)
    g = _gains(gains)
    if shares.ndim != 2 or not len(labels) == len(g) == len(shares):
        raise ValueError(
            f"There are {len(labels)} turns, {g.size} gains and memberships of the shape "
            f"{shares.shape}; give one turn, one gain and one row of memberships an entity."
        )
    starts = labels[labels != labels.shift()]
    if starts.duplicated().any():
        turn = starts[starts.duplicated()].iloc[0]
        raise ValueError(
            f"The turn {turn!r} returns after another; give entities in the conversation's order."
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
        Distribution that would be fair.
    divergence
        "JSD" for groups without an order, "RNOD" or "NMD" for groups in an order.

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

    Parameters
    ----------
    turns, gains, memberships, method
        As for `achieved_distributions`.
    attribute_set
        Target and divergence.

    Returns
    -------
    pandas.Series, shape (S,)
        One value for each turn with a relevant entity, indexed by turn; empty if there is none.
        Range as for `distribution_similarity`. Source: sakai2023, Table 2.

    Examples
    --------
    >>> uniform = AttributeSet((0.25,) * 4, "RNOD")
    >>> films = [[0, 0, 0, 1], [0, 0, 1, 0]]
    >>> turn_similarities(["S1", "S2"], [1, 1], films, uniform).round(4).to_dict()
    {'S1': 0.4049, 'S2': 0.4796}
    """
    achieved = achieved_distributions(turns, gains, memberships, method)
    similarity = distribution_similarity(
        achieved.to_numpy(), attribute_set.target, attribute_set.divergence
    )
    return pd.Series(similarity, index=achieved.index, dtype=float)


def group_fairness(similarities: npt.ArrayLike) -> float:
    r"""Group fairness of a conversation for one attribute set: mean over its relevant turns.

    .. math:: GF_m(C) = \frac{1}{|S|} \sum_{S_i \in S} DistrSim_m(D_m(S_i) \| D^*_m)

    Parameters
    ----------
    similarities : array, shape (S,)
        What `turn_similarities` gives: turns without a relevant entity are left out.

    Returns
    -------
    float
        Range as for `distribution_similarity`; 0 where no turn holds a relevant entity.

    Notes
    -----
    Source: sakai2023, Eq. 10.

    Examples
    --------
    >>> group_fairness([0.5, 0.25]), group_fairness([])
    (0.375, 0.0)
    """
    values = np.asarray(similarities, dtype=float)
    return float(values.mean()) if values.size else 0.0


def combine(relevance: float, group_fairness: float, alpha: float = 0.5) -> float:
    r"""One number for relevance and group fairness.

    .. math:: \alpha R(C) + (1 - \alpha) GF(C)

    Parameters
    ----------
    relevance, group_fairness
        R and GF of a conversation.
    alpha
        Weight of relevance, in [0, 1]. The paper gives no value and advises to report both
        scores apart; the default weighs them alike.

    Returns
    -------
    float
        Between the two scores.

    Raises
    ------
    ValueError
        `alpha` outside [0, 1].

    Notes
    -----
    Source: sakai2023, Eq. 5.

    Examples
    --------
    >>> combine(0.0, 0.5, alpha=0.25)
    0.375
    """
    if not 0 <= alpha <= 1:
        raise ValueError(f"The weight alpha is {alpha}; give a number from 0 to 1.")
    return alpha * relevance + (1 - alpha) * group_fairness


@dataclass(frozen=True)
class Gfrc:
    """Scores of a conversation, as `gfrc` gives them.

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
    """All scores of one conversation; duplicates count as not relevant.

    Parameters
    ----------
    turns, entities : sequences of n names
        Turn and name of each entity, in the order of the conversation.
    word_counts, gains : arrays, shape (n,)
        As for `relevance`.
    memberships
        Attribute set -> array of shape (n, C), as for `achieved_distributions`.
    attribute_sets
        Attribute set -> target and divergence; one or more, weighted alike.
    budget, method, alpha
        As for `relevance`, `achieved_distributions` and `combine`.

    Returns
    -------
    Gfrc
        Each score is 0 where no turn holds a relevant entity.

    Raises
    ------
    ValueError
        No attribute set, one without memberships, or as for the functions above.

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
                f"The attribute set {name!r} has no memberships; found are {sorted(memberships)}."
            )
    counted = without_duplicates(entities, gains)
    fairness = {
        name: group_fairness(turn_similarities(turns, counted, memberships[name], groups, method))
        for name, groups in attribute_sets.items()
    }
    score = relevance(word_counts, counted, budget)
    mean = float(np.mean(list(fairness.values())))
    return Gfrc(score, fairness, mean, combine(score, mean, alpha))
