"""Attention-weighted rank fairness (AWRF), and the exposure of groups in ranked lists.

The functions take arrays of all queries (axes: queries Q, ranks R from the best, groups G) and
return all cut-offs: ``result[:, k - 1]`` is the value at k. Lists shorter than R are padded; the
mask ``listed`` marks the ranks with a document.

For `ir_measures`, ``AWRF(counts='counts.parquet')@10`` has the parameters of
`everycell.metrics.run_measure.TermMeasure`.

Source: abolghasemi2026, section 4.2, after Sapiezynski et al., "Quantifying the impact of user
attention on fair group representation in ranked lists" (WWW 2019 companion).
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from everycell.base.arrays import FloatArray
from everycell.base.errors import require
from everycell.metrics.divergences import jensen_shannon
from everycell.metrics.ranked_groups import (
    RankedGroups,
    absolute_distance,
    check_lists,
    checked_target,
    checked_weights,
    group_shares,
    rank_weights,
)
from everycell.metrics.run_measure import TermMeasure, register

Definition = Literal["distance", "TREC"]
Distance = Literal["L1", "JSD"]


def group_exposure(
    alignment: npt.ArrayLike,
    *,
    weights: npt.ArrayLike | None = None,
    listed: npt.ArrayLike | None = None,
) -> FloatArray:
    r"""Attention that each group receives up to each cut-off.

    .. math:: E_k = \sum_{r=1}^{k} v_r\, a_{d^r}

    Parameters
    ----------
    alignment : array, shape (Q, R, G)
        Association of the document at each rank with each group, 0 or more (see `alignments`).
    weights : array, shape (R,), optional
        See `rank_weights`; the scheme "log" by default.
    listed : array of bool, shape (Q, R), optional
        Ranks with a document; all by default.

    Returns
    -------
    numpy.ndarray, shape (Q, R, G)
        0 or more, non-decreasing in the cut-off, and constant beyond the end of a short list.

    Raises
    ------
    ValueError
        Wrong shapes, a negative or infinite value, a list with a gap.

    Notes
    -----
    Source: abolghasemi2026, Eq. 4.4.

    Examples
    --------
    >>> group_exposure([[[1, 0], [0, 1], [1, 0]]]).round(3).tolist()
    [[[1.0, 0.0], [1.0, 0.631], [1.5, 0.631]]]
    """
    lists = check_lists(alignment, listed=listed, name="alignments")
    return _exposure(lists.counts, checked_weights(weights, lists.listed.shape[1]))


def _exposure(alignment: FloatArray, weights: FloatArray) -> FloatArray:
    """Attention that each group receives up to each cut-off."""
    return np.cumsum(alignment * weights[:, None], axis=1)


def awrf(
    alignment: npt.ArrayLike,
    target: npt.ArrayLike | None = None,
    *,
    definition: Definition = "distance",
    distance: Distance = "L1",
    weights: npt.ArrayLike | None = None,
    listed: npt.ArrayLike | None = None,
) -> FloatArray:
    r"""Attention-weighted rank fairness at every cut-off, in both published definitions.

    .. math:: nE = \frac{E}{\|E\|_1}, \quad
              AWRF = \Delta(nE, \hat{E}) \;\text{("distance")}, \quad
              AWRF = 1 - JSD_e(nE, \hat{E}) \;\text{("TREC")}

    Parameters
    ----------
    alignment : array, shape (Q, R, G)
        See `group_exposure`; two or more groups.
    target : array, shape (G,), optional
        Target share of each group, summing to 1; equal shares by default.
    definition
        "distance": the distance of the exposure from its target; 0 is fair (Sapiezynski et al. and
        abolghasemi2026). "TREC": 1 minus the Jensen-Shannon divergence in nats; 1 is fair (the TREC
        Fair Ranking tracks of 2021 and 2022). To use the weights of these tracks too, pass
        ``weights=rank_weights(R, "TREC")``.
    distance
        Distance used by the definition "distance", which the papers do not specify: "L1", the sum
        of absolute differences (as in TED), or "JSD", the Jensen-Shannon divergence in bits.
    weights, listed
        As for `group_exposure`.

    Returns
    -------
    numpy.ndarray, shape (Q, R)
        "distance": in [0, 2 (1 - smallest share)] for "L1", in [0, 1] for "JSD". "TREC": in
        [1 - ln 2, 1]. NaN if no document up to the cut-off belongs to a group, and for a query
        without documents. Constant beyond the end of a short list.

    Raises
    ------
    ValueError
        An unknown definition or distance, only one group, a target that is not a distribution, or
        as for `group_exposure`.

    Notes
    -----
    Source: abolghasemi2026, Eqs. 4.4 to 4.6; the tracks' published evaluation code, which squares
    SciPy's distance and so takes natural logarithms.

    Examples
    --------
    >>> lists = [[[1, 0], [0, 1]]]
    >>> awrf(lists).round(3).tolist()
    [[1.0, 0.226]]
    >>> awrf(lists, definition="TREC", weights=rank_weights(2, "TREC")).round(3).tolist()
    [[0.784, 1.0]]
    """
    require(definition in get_args(Definition), "definition", definition, "'distance' or 'TREC'")
    require(distance in get_args(Distance), "distance", distance, "'L1' or 'JSD'")
    exposure = group_exposure(alignment, weights=weights, listed=listed)
    shares = checked_target(target, exposure.shape[2])
    achieved = group_shares(exposure, np.nan)
    if definition == "distance" and distance == "L1":
        return absolute_distance(achieved, shares)
    # JSD needs distributions; undefined shares become NaN again below.
    is_defined = ~np.isnan(achieved)
    achieved = np.where(is_defined, achieved, shares)
    if definition == "TREC":
        values = 1 - jensen_shannon(achieved, shares) * np.log(2)
    else:
        values = jensen_shannon(achieved, shares)
    return np.where(is_defined[..., 0], values, np.nan)


def exposure_distance(alignment: FloatArray, target: FloatArray, weights: FloatArray) -> FloatArray:
    """AWRF as the L1 distance of checked arrays."""
    return absolute_distance(group_shares(_exposure(alignment, weights), np.nan), target)


class _AWRF(TermMeasure):
    """AWRF: distance of the groups' exposure from equal shares (0 is fair), Eqs. 4.4 to 4.6."""

    __name__ = NAME = "AWRF"

    def values(self, lists: RankedGroups) -> FloatArray:
        """AWRF of each query at each cut-off."""
        _, ranks, groups = lists.counts.shape
        return exposure_distance(
            lists.alignments(), checked_target(None, groups), rank_weights(ranks)
        )


AWRF = register(_AWRF)
