"""Group fairness and relevance (GFR) of ranked lists, the measure that GFRC extends.

A user reads down the list and stops at a document with a probability that increases with its gain,
as for expected reciprocal rank (ERR). A user who stops at rank k gains the utility of rank k and
has seen the first k documents, whose groups are compared with a target. GFR is the mean over users
of a weighted sum of the utility and the group fairness of each attribute set.

Source: sakai2023, Eq. 1, after Sakai et al., "A versatile framework for evaluating ranked lists in
terms of group fairness and relevance" (2022). Where these leave details open, the functions follow
the program of the NTCIR-17 FairWeb-1 task (NTCIREVAL, GFRcompute).

For `ir_measures`, ``GFR(groups='groups.csv',max_rel=3)@10`` has these parameters:

======================  ================================================================
parameter               meaning
======================  ================================================================
cut-off (required)      number of documents considered
``groups`` (required)   CSV with a column ``document`` and a column per group: the share
                        of the document in the group
``max_rel`` (required)  highest relevance level of the collection, whether or not a
                        document has it; `max_gain` of `gfr`
``divergence``          as for `AttributeSet`, 'JSD' by default
``utility``             as for `gfr`, 'ERR' by default
======================  ================================================================

The gains are the relevance levels of the qrels; levels below 0 and unjudged documents count as 0.
To use the gains 1 and 3 for two levels, as FairWeb-1 does, write 1 and 3 in the qrels, with
``max_rel=3``. The target is an equal share of each group, and a document without groups belongs
equally to all of them. For other targets, several attribute sets or weights, see `gfr`.

Values are those of `gfr`, in [0, 1). A query without results has the value 0, as for nDCG.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd
from ir_measures import ParamInfo

from everycell.base.arrays import FloatArray
from everycell.base.csv_files import read_table
from everycell.base.errors import DataError, require
from everycell.metrics.divergences import (
    AttributeSet,
    Divergence,
    check_attribute_sets,
    distribution_similarity,
)
from everycell.metrics.ranked_groups import checked_lists
from everycell.metrics.run_measure import CUTOFF, RunMeasure, register, top_documents

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
    require(0 < max_gain < np.inf, "max_gain", max_gain, "a number above 0")
    array, _ = checked_lists(gains, listed, "gains", axes=2)
    highest = float(array.max(initial=0.0))
    require(highest <= max_gain, "gain", highest, f"at most the highest gain {max_gain:g}")
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
    require(utility in get_args(Utility), "utility", utility, "'ERR' or 'iRBU'")
    check_attribute_sets(attribute_sets, memberships)
    decay = stopping(gains, max_gain, listed)
    ranks = np.arange(1, decay.shape[1] + 1)
    scores = [
        np.cumsum(decay * (1 / ranks if utility == "ERR" else IRBU_PERSISTENCE**ranks), axis=1)
    ]
    for name, groups in attribute_sets.items():
        shares = np.asarray(memberships[name], dtype=float)
        expected = (*decay.shape, len(groups.target))
        require(
            shares.shape == expected,
            f"shape of the memberships of {name!r}",
            shares.shape,
            f"{expected}: queries, ranks and groups of the target",
        )
        if listed is not None:
            # No user stops at an empty rank; equal shares only keep each row a distribution.
            occupied = np.asarray(listed, dtype=bool)[:, :, None]
            shares = np.where(occupied, shares, 1 / len(groups.target))
        is_valid = (shares >= 0).all(axis=2) & (np.abs(shares.sum(axis=2) - 1) <= 1e-5)
        if not is_valid.all():
            query, rank = np.argwhere(~is_valid)[0]
            raise DataError(
                row=f"rank {rank + 1} of query {query} (counted from 0)",
                column=f"membership of {name!r}",
                value=shares[query, rank].tolist(),
                expected="shares of 0 or more that sum to 1",
            )
        achieved = np.cumsum(shares, axis=1) / ranks[:, None]
        similarity = distribution_similarity(achieved, groups.target, groups.divergence)
        scores.append(np.cumsum(decay * similarity, axis=1))
    score_weights = np.ones(len(scores)) if weights is None else np.asarray(weights, dtype=float)
    require(
        score_weights.shape == (len(scores),)
        and (score_weights >= 0).all()
        and score_weights.sum() > 0,
        "weights",
        weights,
        f"{len(scores)} numbers of 0 or more, not all 0: one for the utility, then one for each "
        "attribute set",
    )
    combined = np.tensordot(score_weights / score_weights.sum(), np.stack(scores), axes=1)
    return Gfr(scores[0], dict(zip(attribute_sets, scores[1:], strict=True)), combined)


class _GFR(RunMeasure):
    """GFR: group fairness and relevance, sakai2023, Eq. 1."""

    __name__ = NAME = "GFR"
    DEFAULT = 0.0
    SUPPORTED_PARAMS = {
        "cutoff": CUTOFF,
        "groups": ParamInfo(
            dtype=str, required=True, desc="CSV with the share of each document in each group"
        ),
        "max_rel": ParamInfo(
            dtype=int, required=True, desc="highest relevance level of the collection"
        ),
        "divergence": ParamInfo(
            dtype=str,
            choices=get_args(Divergence),
            default="JSD",
            desc="divergence of the groups from their target",
        ),
        "utility": ParamInfo(
            dtype=str,
            choices=get_args(Utility),
            default="ERR",
            desc="utility of the rank at which a user stops",
        ),
    }

    def by_query(self, run: pd.DataFrame, qrels: pd.DataFrame) -> Mapping[str, float]:
        """GFR of each query of the run."""
        above = qrels[qrels["relevance"] > self["max_rel"]]
        if len(above):
            query, document, relevance = above.iloc[0]
            raise DataError(
                row=f"document {document!r} of query {query!r}",
                column="relevance",
                value=int(relevance),
                expected=f"at most the highest level of {self}",
                fix="set max_rel to the highest level of the collection",
            )
        shares = _read_shares(Path(self["groups"]))
        ranked = top_documents(run, self["cutoff"])
        ranked = ranked.merge(qrels, on=["query", "document"], how="left")
        rows, queries = pd.factorize(ranked["query"])
        position = rows, ranked["rank"].to_numpy() - 1
        shape = len(queries), int(ranked["rank"].max())
        gains, listed = np.zeros(shape), np.zeros(shape, dtype=bool)
        gains[position] = ranked["relevance"].fillna(0).clip(lower=0)
        listed[position] = True
        equal_shares = np.full(shares.shape[1], 1 / shares.shape[1])
        memberships = np.full((*shape, len(equal_shares)), equal_shares)
        document_shares = shares.reindex(ranked["document"]).to_numpy()
        memberships[position] = np.where(np.isnan(document_shares), equal_shares, document_shares)
        scores = gfr(
            gains,
            {"groups": memberships},
            {"groups": AttributeSet(tuple(equal_shares), self["divergence"])},
            max_gain=self["max_rel"],
            utility=self["utility"],
            listed=listed,
        )
        return dict(zip(queries, scores.combined[:, -1].tolist(), strict=True))


def _read_shares(path: Path) -> pd.DataFrame:
    """Shares of documents (rows) in the groups (columns)."""
    table = read_table(path, ("document",)).set_index("document")
    shares = table.apply(pd.to_numeric, errors="coerce")
    invalid = table.index.duplicated() | ~(
        (shares >= 0).all(axis=1) & np.isclose(shares.sum(axis=1), 1)
    )
    if shares.shape[1] < 2 or invalid.any():
        row = f"document {table.index[invalid][0]!r}" if invalid.any() else None
        raise DataError(
            path,
            row,
            fault="has no valid shares" if row else "has fewer than two groups",
            expected="one row per document, and one column per group (two or more) with shares "
            "between 0 and 1 that sum to 1",
        )
    return shares


GFR = register(_GFR)
