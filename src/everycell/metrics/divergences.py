"""Targets of groups, and divergences of an achieved distribution from them: JSD, RNOD and NMD.

Source: sakai2023, section 3. RNOD and NMD follow Sakai, "Evaluating Evaluation Measures for Ordinal
Classification and Ordinal Quantification", ACL 2021.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
import numpy.typing as npt

from everycell.base.arrays import FloatArray
from everycell.base.errors import DataError, require

Divergence = Literal["JSD", "RNOD", "NMD"]
#: Tolerance for the sum of a distribution; published targets have at least six digits.
_ROUNDING = 1e-5


def _distributions(achieved: npt.ArrayLike, target: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Check two distributions, and normalise their sums over the last axis to 1."""
    distributions = []
    for name, values in (("achieved", achieved), ("target", target)):
        array = np.asarray(values, dtype=float)
        require(
            array.ndim > 0 and array.shape[-1] >= 2,
            f"shape of the {name} distribution",
            array.shape,
            "two or more groups on the last axis",
        )
        invalid = ~(np.isfinite(array) & (array >= 0))
        if invalid.any():
            raise DataError(
                column=f"share of the {name} distribution",
                value=float(array[invalid][0]),
                expected="a number of 0 or more",
            )
        sums = array.sum(axis=-1, keepdims=True)
        if not np.allclose(sums, 1, rtol=0, atol=_ROUNDING):
            raise DataError(
                column=f"sum of the {name} distribution",
                value=float(sums.flat[np.abs(sums - 1).argmax()]),
                expected="1",
                fix="divide it by its sum, or correct it",
            )
        distributions.append(array / sums)
    groups = [array.shape[-1] for array in distributions]
    require(groups[0] == groups[1], "number of achieved groups", groups[0], f"{groups[1]}, as in "
            "the target")  # fmt: skip
    return distributions[0], distributions[1]


def jensen_shannon(achieved: npt.ArrayLike, target: npt.ArrayLike) -> FloatArray:
    r"""Jensen-Shannon divergence in bits, for groups without an order.

    .. math:: JSD(p \| p^*) = \tfrac12 KL(p \| m) + \tfrac12 KL(p^* \| m),
              \quad m = \tfrac12 (p + p^*)

    Shapes (..., C); 0 for equal distributions, 1 for those without a common group. The square of
    `scipy.spatial.distance.jensenshannon` with base 2, which returns NaN if rounding makes the
    divergence of nearly equal distributions negative; this is 0 here. Source: sakai2023, section
    3.1.
    """
    p, q = _distributions(achieved, target)
    middle = (p + q) / 2
    # Commands parse names of measures, for which importing SciPy would take most of the time.
    from scipy.special import rel_entr

    bits = (rel_entr(p, middle) + rel_entr(q, middle)).sum(axis=-1) / (2 * np.log(2))
    return np.clip(bits, 0, 1)


def rnod(achieved: npt.ArrayLike, target: npt.ArrayLike) -> FloatArray:
    r"""Root normalised order-aware divergence, for ordered groups; shapes (..., C).

    .. math:: DW_i = \sum_j |i - j| (p_j - p^*_j)^2, \quad
              OD = \frac{1}{|C^*|} \sum_{i \in C^*} DW_i, \quad
              RNOD = \sqrt{\frac{OD}{C - 1}}

    with :math:`C^* = \{i : p^*_i > 0\}`, the groups with a share in the target. Not symmetric. At
    most 1 if every group has a share in the target, or if there are at most four groups; otherwise
    it can slightly exceed 1, and is not clipped. Source: Sakai (2021), used by sakai2023 for the
    groups of RATINGS (Table 2).
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
    r"""Normalised match distance (earth mover's distance), for ordered groups, 0 to 1.

    .. math:: NMD = \frac{1}{C - 1} \sum_i \Bigl| \sum_{j \le i} (p_j - p^*_j) \Bigr|

    Source: Sakai (2021). sakai2023 mentions it as an alternative to RNOD (footnote 14).
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
    """Similarity of distributions (..., C) to their target: 1 minus a divergence.

    In [0, 1], but see `rnod`; 1 for equal distributions. Source: sakai2023, section 3.1.
    """
    require(divergence in DIVERGENCES, "divergence", divergence, f"one of {list(DIVERGENCES)}")
    return 1 - DIVERGENCES[divergence](achieved, target)


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


def check_attribute_sets(
    attribute_sets: Mapping[str, AttributeSet], memberships: Mapping[str, object]
) -> None:
    """Check that there is an attribute set, and memberships for each."""
    if not attribute_sets:
        raise DataError(
            fault="There is no attribute set", fix="give one or more with their targets"
        )
    for name in attribute_sets:
        require(name in memberships, "attribute set", name, f"one of {sorted(memberships)}, which "
                "have memberships")  # fmt: skip
