"""FELIX: policies with fair exposure that rarely show outliers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from everycell.fair_ranking.decomposition import resample
from everycell.fair_ranking.exposure import fair_exposure, logarithmic_rank_weights
from everycell.fair_ranking.exposure_measures import holds_outlier
from everycell.fair_ranking.marginals import entropy_marginals
from everycell.fair_ranking.policies import Policy


def felix(
    merits: npt.ArrayLike,
    feature: npt.ArrayLike,
    ranks: int = 10,
    *,
    iterations: int = 20,
    rng: np.random.Generator | None = None,
) -> Policy:
    """Policy with fair exposure that rarely shows an outlier (FELIX).

    Parameters
    ----------
    merits : array_like of float, shape (n,)
        Merit of each item, such as its probability of relevance; above 0.
    feature : array_like of float, shape (n,)
        Displayed value of each item, such as its number of citations. An item whose value is more
        than 2.5 standard deviations from the mean of the ranking is an outlier.
    ranks : int
        Length of the rankings; a shorter list is shown in full.
    iterations : int
        Number of decompositions, 1 or more; with 1, outliers are not avoided.
    rng : numpy.random.Generator, optional
        Shuffles the items before each decomposition; seeded with 0 by default.

    Returns
    -------
    Policy
        Rankings and their probabilities. The expected exposure of each item is that of
        :func:`.fair_exposure` for the rank weights 1 / log2(1 + rank): proportional to merit where
        possible.

    Raises
    ------
    ValueError
        For a merit that is not above 0, lists of different lengths, or fewer than 1 iteration.

    Notes
    -----
    Source: heuss2025, equations 2.5 to 2.8 and Algorithms 1 and 2. Among the matrices with these
    exposures, the function uses the maximum-entropy one. Among seven or fewer displayed items, none
    can be an outlier. For other weights, matrices or tests, use :func:`.resample`.

    Examples
    --------
    Two of twenty items of equal merit have many citations. If only one of them is shown, it is an
    outlier; if both are shown, neither is, so FELIX shows them together:

    >>> from everycell.fair_ranking.exposure_measures import outlier_probability
    >>> citations = [900, 800] + [1] * 18
    >>> policies = [felix([1.0] * 20, citations, iterations=number) for number in (1, 20)]
    >>> [round(outlier_probability(policy, citations), 3) for policy in policies]
    [0.4, 0.0]
    """
    values, displayed_values = np.asarray(merits, dtype=float), np.asarray(feature, dtype=float)
    if values.shape != displayed_values.shape:
        raise ValueError(
            f"There are {values.size} merits and {displayed_values.size} values of the feature: "
            "give one of each per item."
        )
    weights = logarithmic_rank_weights(min(ranks, len(values)))
    matrix = entropy_marginals(fair_exposure(values, weights), weights)
    rng = np.random.default_rng(0) if rng is None else rng
    return resample(matrix, holds_outlier(displayed_values), iterations=iterations, rng=rng).policy
