"""Spread over seeds: how much training runs differ that differ only in their seed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from everycell.engine.published_cells import CardError, as_number

#: Suffix of the supplementary table.
SEEDS = "seeds"
#: Its last key column, and the values of that column, in order.
STATISTIC = "statistic"
STATISTICS = ("mean", "standard deviation", "lowest", "highest", "seeds")
#: Number of training runs from which a tolerance can be derived. With two, the factor is 15.6
#: standard deviations, which would accept anything.
FEWEST = 3
#: Probability that one more training run lies within the tolerance.
COVERAGE = 0.95


class Spread(NamedTuple):
    """Summary of training runs in one cell; sample standard deviation (n - 1), NaN for one run."""

    mean: float
    deviation: float
    lowest: float
    highest: float
    seeds: int


def summarised(cells: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Supplementary table of the spread over seeds, for a table of means."""
    rows = []
    for key, values in cells.groupby(list(keys), sort=False, dropna=False)["value"]:
        numbers = values.astype(float)
        statistics = (numbers.mean(), numbers.std(), numbers.min(), numbers.max(), numbers.count())
        rows += [
            (*key, name, number)
            for name, number in zip(STATISTICS, statistics, strict=True)
            if not math.isnan(number)
        ]
    # The number of runs stays an integer.
    return pd.DataFrame(rows, columns=[*keys, STATISTIC, "value"], dtype=object)


def spreads(table: pd.DataFrame, keys: Sequence[str], *, where: str) -> dict[tuple, Spread]:
    """Read a table of the spread over seeds, by cell."""
    missing = [name for name in (*keys, STATISTIC, "value") if name not in table]
    if missing:
        raise CardError(
            f"{where}: the table of seeds lacks the column {missing[0]!r}; it needs "
            f"{[*keys, STATISTIC, 'value']}."
        )
    read: dict[tuple, dict[str, float | None]] = {}
    columns = [*keys, STATISTIC, "value"]
    for *key, name, value in table[columns].itertuples(index=False, name=None):
        read.setdefault(tuple(map(str, key)), {})[name] = as_number(value)
    spreads_by_cell = {}
    for key, values in read.items():
        mean, deviation, lowest, highest, seeds = (values.get(name) for name in STATISTICS)
        if mean is None or lowest is None or highest is None or seeds is None:
            raise CardError(
                f"{where}: the table of seeds lacks one of {', '.join(STATISTICS)} for the cell "
                f"{' / '.join(key)}; write it with `everycell.engine.spread.summarised`."
            )
        deviation = math.nan if deviation is None else deviation
        spreads_by_cell[key] = Spread(mean, deviation, lowest, highest, int(seeds))
    return spreads_by_cell


def tolerance_of(spread: Spread, mean_of: int = 1) -> float | None:
    r"""How far the published value may be from our mean; None for fewer than three training runs.

    If the authors' :math:`m` runs are more draws from the same normal distribution, their mean lies
    within :math:`\bar x \pm t_{n-1,\,0.975}\; s \sqrt{1/m + 1/n}` of :math:`n` runs with a
    probability of 95 %. Source: W. Q. Meeker, G. J. Hahn and L. A. Escobar, *Statistical
    Intervals*, 2nd edition, Wiley 2017, chapter 4: two-sided prediction interval for the mean of m
    future observations of a normal distribution.
    """
    if spread.seeds < FEWEST:
        return None
    # Few cards need it, and every verdict job would wait for it.
    from scipy.special import stdtrit

    quantile = float(stdtrit(spread.seeds - 1, (1 + COVERAGE) / 2))
    return quantile * spread.deviation * math.sqrt(1 / mean_of + 1 / spread.seeds)


def describe_spread(spread: Spread, decimals: int, mean_of: int = 1) -> str:
    """Say what a tolerance is derived from, with two digits more than published."""
    within = tolerance_of(spread, mean_of)
    if within is None:
        few = "1 training" if spread.seeds == 1 else f"{spread.seeds} trainings"
        return f"Spread over seeds: {few}, too few for a tolerance; it takes {FEWEST}."
    if within == 0:
        return f"Spread over seeds: none, {spread.seeds} trainings gave the same number."
    lowest, highest, mean, deviation, distance = (
        f"{number:.{decimals + 2}f}"
        for number in (spread.lowest, spread.highest, spread.mean, spread.deviation, within)
    )
    more = "one more" if mean_of == 1 else f"the mean of {mean_of} more"
    return (
        f"Spread over seeds: {spread.seeds} trainings gave {lowest} to {highest} (mean {mean}, "
        f"deviation {deviation}), so {more} is expected within {distance} of their mean."
    )
