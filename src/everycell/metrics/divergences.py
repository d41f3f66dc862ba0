"""Divergences of an achieved distribution over groups from a target: JSD, RNOD and NMD.

Source: sakai2023, section 3. RNOD and NMD follow Sakai, "Evaluating Evaluation Measures for Ordinal
Classification and Ordinal Quantification", ACL 2021.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import rel_entr

from everycell.base.arrays import FloatArray

Divergence = Literal["JSD", "RNOD", "NMD"]
#: Tolerance for the sum of a distribution; published targets have at least six digits.
_ROUNDING = 1e-5


def _distributions(achieved: npt.ArrayLike, target: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Check two distributions, and normalise their sums over the last axis to 1."""
    distributions = []
    for name, values in (("achieved", achieved), ("target", target)):
        array = np.asarray(values, dtype=float)
        if array.ndim == 0 or array.shape[-1] < 2:
            raise ValueError(
                f"The {name} distribution has the shape {array.shape}; give at least two groups on "
                "the last axis."
            )
        invalid = ~(np.isfinite(array) & (array >= 0))
        if invalid.any():
            raise ValueError(
                f"The {name} distribution contains {array[invalid][0]:g}; give shares of 0 or more."
            )
        sums = array.sum(axis=-1, keepdims=True)
        if not np.allclose(sums, 1, rtol=0, atol=_ROUNDING):
            worst = float(sums.flat[np.abs(sums - 1).argmax()])
            raise ValueError(
                f"The {name} distribution sums to {worst:g}; it must sum to 1, so divide it by its "
                "sum or correct it."
            )
        distributions.append(array / sums)
    if distributions[0].shape[-1] != distributions[1].shape[-1]:
        raise ValueError(
            f"The achieved distribution has {distributions[0].shape[-1]} groups and the target "
            f"{distributions[1].shape[-1]}; use the same groups in the same order for both."
        )
    return distributions[0], distributions[1]


def jensen_shannon(achieved: npt.ArrayLike, target: npt.ArrayLike) -> FloatArray:
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
        In [0, 1]: 0 for equal distributions, 1 for distributions without a common group. Symmetric,
        and independent of the order of the groups.

    Raises
    ------
    ValueError
        A negative or infinite share, a sum that differs from 1 by more than 1e-5, or different
        numbers of groups.

    Notes
    -----
    The square of `scipy.spatial.distance.jensenshannon` with base 2. That function returns NaN if
    rounding makes the divergence of nearly equal distributions slightly negative; this one returns
    0. Source: sakai2023, section 3.1.

    Examples
    --------
    >>> float(jensen_shannon([1, 0], [0, 1])), float(jensen_shannon([0.3, 0.7], [0.3, 0.7]))
    (1.0, 0.0)
    """
    p, q = _distributions(achieved, target)
    middle = (p + q) / 2
    bits = (rel_entr(p, middle) + rel_entr(q, middle)).sum(axis=-1) / (2 * np.log(2))
    return np.clip(bits, 0, 1)


def rnod(achieved: npt.ArrayLike, target: npt.ArrayLike) -> FloatArray:
    r"""Root normalised order-aware divergence, for ordered groups.

    .. math:: DW_i = \sum_j |i - j| (p_j - p^*_j)^2, \quad
              OD = \frac{1}{|C^*|} \sum_{i \in C^*} DW_i, \quad
              RNOD = \sqrt{\frac{OD}{C - 1}}

    with :math:`C^* = \{i : p^*_i > 0\}`, the groups with a share in the target.

    Parameters
    ----------
    achieved, target : array, shape (..., C)
        Distributions over the same C >= 2 groups, in their order; leading axes broadcast.

    Returns
    -------
    numpy.ndarray, shape (...)
        0 only for equal distributions. At most 1 if every group has a share in the target, or if
        there are at most four groups. With five or more groups and a target that excludes some of
        them, it can slightly exceed 1 (see the examples); values are not clipped. Not symmetric.

    Raises
    ------
    ValueError
        As for `jensen_shannon`.

    Notes
    -----
    Source: Sakai (2021), used by sakai2023 for the groups of RATINGS (Table 2).

    Examples
    --------
    The achieved distribution of Bing's first turn (sakai2023, Table 2: 1 - RNOD = 0.6773):

    >>> round(1 - float(rnod([0, 0, 0.6, 0.4], [0.25] * 4)), 4)
    0.6773

    A target with no share for two of five groups, and very small shares for two more:

    >>> round(float(rnod([0, 0, 0, 1, 0], [0.01, 0.01, 0, 0, 0.98])), 2)
    1.03
    """
    p, q = _distributions(achieved, target)
    p, q = np.broadcast_arrays(p, q)
    groups = np.arange(q.shape[-1])
    distance = np.abs(groups[:, None] - groups)
    weighted = (p - q) ** 2 @ distance
    in_target = q > 0
    order_aware = np.where(in_target, weighted, 0).sum(axis=-1) / in_target.sum(axis=-1)
    return np.sqrt(order_aware / (len(groups) - 1))


def nmd(achieved: npt.ArrayLike, target: npt.ArrayLike) -> FloatArray:
    r"""Normalised match distance (earth mover's distance), for ordered groups.

    .. math:: NMD = \frac{1}{C - 1} \sum_i \Bigl| \sum_{j \le i} (p_j - p^*_j) \Bigr|

    Parameters
    ----------
    achieved, target : array, shape (..., C)
        Distributions over the same C >= 2 groups, in their order; leading axes broadcast.

    Returns
    -------
    numpy.ndarray, shape (...)
        In [0, 1]: 0 for equal distributions, 1 if one has all of its mass on the first group and
        the other on the last. Symmetric.

    Raises
    ------
    ValueError
        As for `jensen_shannon`.

    Notes
    -----
    Source: Sakai (2021). sakai2023 mentions it as an alternative to RNOD (footnote 14).

    Examples
    --------
    >>> nmd([[1, 0, 0], [0, 1, 0]], [0, 0, 1]).tolist()
    [1.0, 0.5]
    """
    p, q = _distributions(achieved, target)
    distance = np.abs(np.cumsum(p - q, axis=-1)).sum(axis=-1)
    # Rounding of the sums could give a value above 1.
    return np.minimum(distance / (p.shape[-1] - 1), 1)


#: Divergences by their names in the papers.
DIVERGENCES: Mapping[str, Callable[[npt.ArrayLike, npt.ArrayLike], FloatArray]] = MappingProxyType(
    {"JSD": jensen_shannon, "RNOD": rnod, "NMD": nmd}
)


def distribution_similarity(
    achieved: npt.ArrayLike, target: npt.ArrayLike, divergence: Divergence = "JSD"
) -> FloatArray:
    """Similarity of an achieved distribution to its target: 1 minus a divergence.

    Parameters
    ----------
    achieved, target : array, shape (..., C)
        Distributions over the same C >= 2 groups; leading axes broadcast.
    divergence
        "JSD" for groups without an order, "RNOD" or "NMD" for ordered groups.

    Returns
    -------
    numpy.ndarray, shape (...)
        In [0, 1] (but see `rnod`); 1 for equal distributions. Source: sakai2023, section 3.1.

    Raises
    ------
    ValueError
        An unknown divergence, or as for `jensen_shannon`.

    Examples
    --------
    Google's second turn contains only films of the last group (sakai2023, Table 2):

    >>> round(float(distribution_similarity([0, 0, 0, 1], [0.25] * 4, "RNOD")), 4)
    0.4049
    """
    if divergence not in DIVERGENCES:
        raise ValueError(
            f"The divergence {divergence!r} is unknown; choose one of {list(DIVERGENCES)}."
        )
    return 1 - DIVERGENCES[divergence](achieved, target)
