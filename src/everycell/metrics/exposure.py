"""Exposure of groups in ranked lists, and attention-weighted rank fairness (AWRF).

The functions take arrays of all queries (axes: queries Q, ranks R from the best, groups G) and
return all cut-offs: ``result[:, k - 1]`` is the value at k. Lists shorter than R are padded; the
mask ``listed`` marks the ranks with a document.

Source: abolghasemi2026, section 4.2, after Sapiezynski et al., "Quantifying the impact of user
attention on fair group representation in ranked lists" (WWW 2019 companion).
"""

from __future__ import annotations

from functools import reduce
from typing import Literal

import numpy as np
import numpy.typing as npt

from everycell.base.arrays import FloatArray
from everycell.metrics.divergences import jensen_shannon
from everycell.metrics.ranked_lists import checked_lists, checked_target

Scheme = Literal["log", "TREC", "geometric"]
Definition = Literal["distance", "TREC"]
Distance = Literal["L1", "JSD"]
WithoutTerms = Literal["equal", "none"]


def rank_weights(depth: int, scheme: Scheme = "log", *, stop: float = 0.5) -> FloatArray:
    r"""Attention that each rank receives.

    .. math:: v_r = \frac{1}{\log_2(r + 1)} \;\text{(log)}, \quad
              v_r = \frac{1}{\log_2 \max(r, 2)} \;\text{(TREC)}, \quad
              v_r = s (1 - s)^{r - 1} \;\text{(geometric)}

    Parameters
    ----------
    depth
        Number of ranks, 1 or more.
    scheme
        "log" is the position bias of NFaiRR and TExFAIR. "TREC" is that of the TREC Fair Ranking
        tracks of 2021 and 2022, in which the first two ranks have the same weight. "geometric"
        models a user who stops after each rank with the same probability (Sapiezynski et al.).
    stop
        s, in (0, 1]; used by "geometric" only.

    Returns
    -------
    numpy.ndarray, shape (depth,)
        Positive (with s = 1, 0 from rank 2 on) and non-increasing. The normalised measures do not
        depend on the scale of the weights, nor on the base of the logarithm.

    Raises
    ------
    ValueError
        A depth below 1, an unknown scheme, `stop` outside (0, 1].

    Notes
    -----
    Source: abolghasemi2026, Eqs. 4.2 and 4.8; overview of the TREC 2021 Fair Ranking track.

    Examples
    --------
    >>> rank_weights(3).round(3).tolist(), rank_weights(3, "TREC").round(3).tolist()
    ([1.0, 0.631, 0.5], [1.0, 1.0, 0.631])
    """
    if depth < 1:
        raise ValueError(f"The depth is {depth}; give 1 rank or more.")
    ranks = np.arange(1, depth + 1)
    if scheme == "log":
        return 1 / np.log2(ranks + 1)
    if scheme == "TREC":
        return 1 / np.log2(np.maximum(ranks, 2))
    if scheme != "geometric":
        raise ValueError(f"The scheme {scheme!r} is unknown; choose 'log', 'TREC' or 'geometric'.")
    if not 0 < stop <= 1:
        raise ValueError(
            f"The stopping probability is {stop}; give a number above 0 and at most 1."
        )
    return stop * (1 - stop) ** (ranks - 1)


def checked_weights(weights: npt.ArrayLike | None, depth: int) -> FloatArray:
    """Check the weights of ranks; by default those of the scheme "log"."""
    if weights is None:
        return rank_weights(depth)
    array = np.asarray(weights, dtype=float)
    if array.shape != (depth,):
        raise ValueError(
            f"The weights have the shape {array.shape}; give one for each of the {depth} ranks."
        )
    if not (np.isfinite(array) & (array >= 0)).all() or array[0] == 0:
        raise ValueError(
            "A weight is negative or not finite, or the first one is 0; give numbers of 0 or "
            "more, with the first above 0."
        )
    return array


def sum_last_axis(array: FloatArray) -> FloatArray:
    """Sum over a short last axis, many times faster than `numpy.sum`."""
    return reduce(np.add, np.moveaxis(array, -1, 0))


def group_shares(array: FloatArray, default: float) -> FloatArray:
    """Each group's share of the sum over the groups, or a default if the sum is 0."""
    total = sum_last_axis(array)
    is_positive = total > 0
    factor = 1 / np.where(is_positive, total, 1)
    shares = array * factor[..., None]
    shares += np.where(is_positive, 0.0, default)[..., None]
    return shares


def absolute_distance(shares: FloatArray, target: FloatArray) -> FloatArray:
    """Sum over the groups of the absolute differences from a target."""
    return sum_last_axis(np.abs(shares - target))


def alignments(counts: npt.ArrayLike, without_terms: WithoutTerms = "equal") -> FloatArray:
    r"""Association of documents with groups, from their counts of group terms.

    .. math:: a_d^{G_i} = \frac{M^{G_i}(d)}{\sum_x M^{G_x}(d)}

    Source: abolghasemi2026, Eq. 4.14.
    """
    if without_terms not in ("equal", "none"):
        raise ValueError(f"without_terms is {without_terms!r}; choose 'equal' or 'none'.")
    array = np.asarray(counts, dtype=float)
    if not (array >= 0).all():
        raise ValueError("A count is negative or missing; give numbers of 0 or more.")
    neutral = 1 / array.shape[-1] if without_terms == "equal" else 0.0
    return group_shares(array, neutral)


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
    array, mask = checked_lists(alignment, listed, "alignments")
    return np.cumsum(array * checked_weights(weights, mask.shape[1])[:, None], axis=1)


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
    if definition not in ("distance", "TREC"):
        raise ValueError(f"The definition {definition!r} is unknown; choose 'distance' or 'TREC'.")
    if distance not in ("L1", "JSD"):
        raise ValueError(f"The distance {distance!r} is unknown; choose 'L1' or 'JSD'.")
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
