"""Position weights, gains and relevance of the entities that a user reads in a conversation.

Source: sakai2023, section 3.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.base.arrays import FloatArray

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
    if not budget >= 1:
        raise ValueError(f"The reading budget is {budget}; give 1 word or more.")
    if (counts < 1).any():
        raise ValueError(
            f"A word count is {np.nanmin(counts):g}; words are counted from 1, so give 1 or more."
        )
    return np.maximum(0, 1 - (counts - 1) / budget)


def checked_gains(gains: npt.ArrayLike) -> FloatArray:
    """Check that gains are between 0 and 1, and return them as floats."""
    values = np.asarray(gains, dtype=float)
    invalid = ~((values >= 0) & (values <= 1))
    if invalid.any():
        raise ValueError(
            f"A gain is {values[invalid][0]:g}; give gains between 0 (not relevant) and 1."
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
    if counts.shape != g.shape:
        raise ValueError(
            f"There are {counts.size} word counts and {g.size} gains; give one of each per entity."
        )
    relevant = g > 0
    if np.isnan(counts[relevant]).any():
        entity = int(np.flatnonzero(relevant & np.isnan(counts))[0]) + 1
        raise ValueError(f"Entity {entity} is relevant but has no word count; give one.")
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
