"""Votes of people for one of two responses: shares of votes, majorities per item, and tests."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from everycell.base.errors import DataError, require


class Preference(NamedTuple):
    """Votes for the first of two options, and the items on which it has the majority."""

    votes: int
    share: float
    low: float
    high: float
    p: float
    items: int
    won: int
    lost: int
    tied: int
    p_items: float


def preference_test(
    items: Sequence[Hashable],
    choices: Sequence[str],
    options: tuple[str, str],
    *,
    confidence: float = 0.95,
) -> Preference:
    """Test whether people prefer one of two options, such as the responses of two systems.

    Several people vote on each item, such as a query with two responses. Votes are tested as in
    studies that report shares of votes, and majorities as a test in which an item counts once.

    Parameters
    ----------
    items : sequence of hashable
        Item of each vote, of length n.
    choices : sequence of str
        Chosen option of each vote, of length n.
    options : (str, str)
        Both options; shares and wins are those of the first one.
    confidence : float
        Coverage of the interval of the share.

    Returns
    -------
    Preference
        ``votes`` (n); ``share`` of the votes for the first option (0 to 1), with Wilson's interval
        ``low``, ``high``; ``p`` of a chi-square test of equal shares (goodness of fit, 1 degree of
        freedom); ``items``, and how many of them the first option has ``won``, ``lost`` or
        ``tied``; ``p_items`` of an exact two-sided sign test of won against lost items.

    Raises
    ------
    ValueError
        If there is no vote, the lengths differ, both options are the same, or a choice is not one
        of them.

    Notes
    -----
    The chi-square test treats votes as independent. Votes on the same item are usually correlated,
    and it then rejects too often; the sign test does not, since an item is a single observation.
    Tied items are left out of it, and its p is 1 if all items are tied.

    Examples
    --------
    >>> items = ["q1"] * 3 + ["q2"] * 3 + ["q3"] * 2
    >>> choices = ["new", "new", "old", "new", "new", "new", "old", "new"]
    >>> result = preference_test(items, choices, ("new", "old"))
    >>> result.votes, result.share, round(result.p, 3)
    (8, 0.75, 0.157)
    >>> result.won, result.lost, result.tied, result.p_items
    (2, 0, 1, 0.5)
    """
    first, second = options
    require(first != second, "options", options, "two different options")
    require(0 < confidence < 1, "confidence", confidence, "a number above 0 and below 1")
    if len(items) != len(choices):
        raise DataError(
            column="items and choices",
            fault=f"have {len(items)} and {len(choices)} values",
            expected="one item and one choice per vote",
        )
    require(len(choices), "choices", list(choices), "one vote or more")
    selected = np.asarray(choices, dtype=object)
    is_first = selected == first
    unknown = np.flatnonzero(~is_first & (selected != second))
    if len(unknown):
        raise DataError(
            row=f"vote {unknown[0]}",
            column="choice",
            value=choices[int(unknown[0])],
            expected=f"{first!r} or {second!r}",
        )
    votes, count = len(selected), int(is_first.sum())
    low, high = proportion_confint(count, votes, alpha=1 - confidence, method="wilson")
    by_item = pd.Series(is_first).groupby(pd.Index(items), sort=False).agg(["sum", "size"])
    lead = (2 * by_item["sum"] - by_item["size"]).to_numpy()
    won, lost = int((lead > 0).sum()), int((lead < 0).sum())
    return Preference(
        votes=votes,
        share=count / votes,
        low=float(low),
        high=float(high),
        p=float(stats.chisquare([count, votes - count]).pvalue),
        items=len(by_item),
        won=won,
        lost=lost,
        tied=len(by_item) - won - lost,
        p_items=float(stats.binomtest(won, won + lost).pvalue) if won + lost else 1.0,
    )
