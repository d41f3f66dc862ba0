"""Group fairness and relevance (GFR) of ranked lists, the measure that GFRC extends.

A user reads down the list and stops at a document with a probability that increases with its gain,
as for expected reciprocal rank (ERR). A user who stops at rank k gains the utility of rank k and
has seen the first k documents, whose groups are compared with a target. GFR is the mean over users
of a weighted sum of the utility and the group fairness of each attribute set.

Source: sakai2023, Eq. 1, after Sakai et al., "A versatile framework for evaluating ranked lists in
terms of group fairness and relevance" (2022). Where these leave details open, the functions follow
the program of the NTCIR-17 FairWeb-1 task (NTCIREVAL, GFRcompute).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from everycell.base.arrays import FloatArray
from everycell.metrics.divergences import distribution_similarity
from everycell.metrics.group_fairness import AttributeSet
from everycell.metrics.ranked_lists import checked_lists

Utility = Literal["ERR", "iRBU"]

#: Persistence of iRBU in NTCIREVAL.
IRBU_PERSISTENCE = 0.99


def stopping(
    gains: npt.ArrayLike, max_gain: float, listed: npt.ArrayLike | None = None
) -> FloatArray:
    r"""Share of the users who stop at each rank (the ERR-based decay).

    .. math:: Decay(k) = \frac{g_k}{g_{max} + 1} \prod_{j < k} \left(1 - \frac{g_j}{g_{max} + 1}
              \right)

    Parameters
    ----------
    gains : array, shape (Q, R)
        Gain of the document at each rank, from 0 to `max_gain`; 0 for documents that are not
        relevant or not judged.
    max_gain
        Gain of the highest relevance level of the collection, above 0, whether or not the list has
        such a document. FairWeb-1 uses the gains 1 and 3 for its levels L1 and L2.
    listed : array of bool, shape (Q, R), optional
        Ranks with a document; all by default.

    Returns
    -------
    numpy.ndarray, shape (Q, R)
        In [0, 1); sums to less than 1 over a list, since some users never stop. 0 at ranks without
        a document.

    Raises
    ------
    ValueError
        A gain outside its range, `max_gain` of 0 or less, wrong shapes.

    Notes
    -----
    The "+ 1" follows NTCIREVAL: without it, every user would stop at the first document of the
    highest level at the latest.

    Examples
    --------
    >>> stopping([[3, 0, 1]], 3).tolist()
    [[0.75, 0.0, 0.0625]]
    """
    if not 0 < max_gain < np.inf:
        raise ValueError(f"The highest gain is {max_gain}; give a number above 0.")
    array, _ = checked_lists(gains, listed, "gains", axes=2)
    if array.max(initial=0.0) > max_gain:
        raise ValueError(
            f"A gain is {array.max():g}, above the highest gain {max_gain:g}; correct one of them."
        )
    stop = array / (max_gain + 1)
    continuing = np.cumprod(1 - stop, axis=1)
    return stop * np.concatenate([np.ones((len(stop), 1)), continuing[:, :-1]], axis=1)


@dataclass(frozen=True)
class Gfr:
    """Scores of ranked lists at every cut-off, arrays of the shape (Q, R).

    Attributes
    ----------
    utility
        Relevance: ERR or iRBU.
    by_attribute_set
        Group fairness (GF) of each attribute set.
    combined
        GFR: the weighted mean of utility and group fairness.
    """

    utility: FloatArray
    by_attribute_set: Mapping[str, FloatArray]
    combined: FloatArray


def gfr(
    gains: npt.ArrayLike,
    memberships: Mapping[str, npt.ArrayLike],
    attribute_sets: Mapping[str, AttributeSet],
    *,
    max_gain: float,
    utility: Utility = "ERR",
    weights: Sequence[float] | None = None,
    listed: npt.ArrayLike | None = None,
) -> Gfr:
    r"""Group fairness and relevance of ranked lists at every cut-off.

    .. math:: GFR(L) = \sum_{k=1}^{|L|} Decay(L, k) \left( w_0\, Utility(L, k)
              + \sum_m w_m\, DistrSim_m(L, k) \right)

    Parameters
    ----------
    gains, max_gain, listed
        As for `stopping`.
    memberships
        Attribute set -> array of shape (Q, R, C): share of the document at each rank in each of
        the C groups, summing to 1. Give equal shares to a document whose membership is unknown, as
        NTCIREVAL does.
    attribute_sets
        Attribute set -> target and divergence; one or more. FairWeb-1 uses JSD for groups
        without an order, and NMD or RNOD for ordered groups.
    utility
        "ERR": 1 / k, the reciprocal of the rank at which the user stops. "iRBU": 0.99 ** k.
    weights
        w of the utility, then of each attribute set in order: 0 or more, not all 0. They are
        divided by their sum. Equal weights by default, as in FairWeb-1.

    Returns
    -------
    Gfr
        The utility is in [0, 1), and so are GF and GFR if the similarities are in [0, 1] (see
        `rnod`). All scores are non-decreasing in the cut-off, constant beyond the end of a short
        list, and 0 for a list without relevant documents, regardless of its groups.

    Raises
    ------
    ValueError
        No attribute set, an attribute set without memberships, memberships that are not
        distributions or have the wrong shape, an unknown utility, invalid weights, or as for
        `stopping`.

    Notes
    -----
    The achieved distribution at k is the mean membership of the first k documents, relevant or not,
    whereas `gfrc` uses only relevant entities. Source: sakai2023, Eq. 1; NTCIREVAL.

    Examples
    --------
    >>> groups = {"GENDER": [[[1, 0], [0, 1]]]}
    >>> scores = gfr([[0, 1]], groups, {"GENDER": AttributeSet((0.5, 0.5), "JSD")}, max_gain=1)
    >>> scores.utility.tolist(), scores.by_attribute_set["GENDER"].tolist()
    ([[0.0, 0.25]], [[0.0, 0.5]])
    >>> scores.combined.tolist()
    [[0.0, 0.375]]
    """
    if utility not in ("ERR", "iRBU"):
        raise ValueError(f"The utility {utility!r} is unknown; choose 'ERR' or 'iRBU'.")
    if not attribute_sets:
        raise ValueError("There is no attribute set; give at least one with its target.")
    decay = stopping(gains, max_gain, listed)
    ranks = np.arange(1, decay.shape[1] + 1)
    scores = [
        np.cumsum(decay * (1 / ranks if utility == "ERR" else IRBU_PERSISTENCE**ranks), axis=1)
    ]
    for name, groups in attribute_sets.items():
        if name not in memberships:
            raise ValueError(
                f"The attribute set {name!r} has no memberships; available: {sorted(memberships)}."
            )
        shares = np.asarray(memberships[name], dtype=float)
        expected = (*decay.shape, len(groups.target))
        if shares.shape != expected:
            raise ValueError(
                f"The memberships of {name!r} have the shape {shares.shape}; give {expected}, one "
                "share for each query, rank and group of the target."
            )
        if listed is not None:
            # No user stops at an empty rank; equal shares only keep each row a distribution.
            occupied = np.asarray(listed, dtype=bool)[:, :, None]
            shares = np.where(occupied, shares, 1 / len(groups.target))
        sums = shares.sum(axis=2)
        if not (shares >= 0).all() or not np.allclose(sums, 1, rtol=0, atol=1e-5):
            query, rank = np.argwhere(~((shares >= 0).all(axis=2) & (np.abs(sums - 1) <= 1e-5)))[0]
            raise ValueError(
                f"The membership of {name!r} at rank {rank + 1} of query {query} (counted from 0) "
                f"is {shares[query, rank].tolist()}; give shares of 0 or more that sum to 1."
            )
        achieved = np.cumsum(shares, axis=1) / ranks[:, None]
        similarity = distribution_similarity(achieved, groups.target, groups.divergence)
        scores.append(np.cumsum(decay * similarity, axis=1))
    score_weights = np.ones(len(scores)) if weights is None else np.asarray(weights, dtype=float)
    if (
        score_weights.shape != (len(scores),)
        or not (score_weights >= 0).all()
        or not score_weights.sum() > 0
    ):
        raise ValueError(
            f"The weights are {weights}; give {len(scores)} numbers of 0 or more, not all 0: one "
            "for the utility, then one for each attribute set."
        )
    combined = np.tensordot(score_weights / score_weights.sum(), np.stack(scores), axes=1)
    return Gfr(scores[0], dict(zip(attribute_sets, scores[1:], strict=True)), combined)
