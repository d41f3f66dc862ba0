"""Spread over seeds: variation between training runs that differ only in their seed."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from everycell.records.published_cells import RecordError, as_number

#: Suffix of the supplementary table.
SEEDS = "seeds"
#: Its last key column, and the values of that column.
STATISTIC = "statistic"
STATISTICS = ("mean", "standard deviation", "lowest", "highest", "seeds")
#: Minimum number of training runs for a tolerance. With two, it would be 15.6 standard deviations,
#: which would accept almost any value.
FEWEST = 3
#: Probability that another training run is within the tolerance.
COVERAGE = 0.95
#: Sentence on the spread of a single cell, see `describe_spread`.
_SENTENCE = re.compile(r"Spread over seeds: [^()]*\([^()]*\), so .*? of their mean\. ?")


class Spread(NamedTuple):
    """Summary of a cell over n training runs; `deviation` (divisor n - 1) is NaN for n = 1."""

    mean: float
    deviation: float
    lowest: float
    highest: float
    seeds: int


def summarise_seeds(cells: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Make the supplementary table of the spread over seeds, for a table of means."""
    rows = []
    for key, values in cells.groupby(list(keys), sort=False, dropna=False)["value"]:
        numbers = values.astype(float)
        statistics = (numbers.mean(), numbers.std(), numbers.min(), numbers.max(), numbers.count())
        rows += [
            (*key, name, number)
            for name, number in zip(STATISTICS, statistics, strict=True)
            if not math.isnan(number)
        ]
    # With this type, the number of runs remains an integer.
    return pd.DataFrame(rows, columns=[*keys, STATISTIC, "value"], dtype=object)


def read_spreads(table: pd.DataFrame, keys: Sequence[str], *, where: str) -> dict[tuple, Spread]:
    """Read the spreads of cells from a supplementary table."""
    missing = [name for name in (*keys, STATISTIC, "value") if name not in table]
    if missing:
        raise RecordError(
            f"{where}: the table of seeds lacks the column {missing[0]!r}; it needs "
            f"{[*keys, STATISTIC, 'value']}."
        )
    statistics: dict[tuple, dict[str, float | None]] = {}
    columns = [*keys, STATISTIC, "value"]
    for *key, name, value in table[columns].itertuples(index=False, name=None):
        statistics.setdefault(tuple(map(str, key)), {})[name] = as_number(value)
    spreads_by_cell = {}
    for key, values in statistics.items():
        mean, deviation, lowest, highest, seeds = (values.get(name) for name in STATISTICS)
        if mean is None or lowest is None or highest is None or seeds is None:
            raise RecordError(
                f"{where}: the table of seeds lacks one of {', '.join(STATISTICS)} for the cell "
                f"{' / '.join(key)}; write it with `everycell.records.spread.summarise_seeds`."
            )
        deviation = math.nan if deviation is None else deviation
        spreads_by_cell[key] = Spread(mean, deviation, lowest, highest, int(seeds))
    return spreads_by_cell


def tolerance_of(spread: Spread, mean_of: int = 1) -> float | None:
    r"""Tolerance for the distance from our mean; None for fewer than three training runs.

    It is the half-width of the two-sided 95 % prediction interval for the mean of :math:`m` future
    observations of a normal distribution, :math:`\bar x \pm t_{n-1,\,0.975}\; s \sqrt{1/m + 1/n}`
    after :math:`n` observations (W. Q. Meeker, G. J. Hahn and L. A. Escobar, *Statistical
    Intervals*, 2nd edition, Wiley 2017, chapter 4).
    """
    if spread.seeds < FEWEST:
        return None
    # Imported here since scipy is slow to import and few records need it.
    from scipy.special import stdtrit

    quantile = float(stdtrit(spread.seeds - 1, (1 + COVERAGE) / 2))
    return quantile * spread.deviation * math.sqrt(1 / mean_of + 1 / spread.seeds)


def describe_spread(spread: Spread, decimals: int, mean_of: int = 1) -> str:
    """Describe the spread behind a tolerance, with two more digits than published."""
    within = tolerance_of(spread, mean_of)
    if within is None:
        runs = "1 training run" if spread.seeds == 1 else f"{spread.seeds} training runs"
        return f"Spread over seeds: {runs}, but a tolerance requires at least {FEWEST}."
    if within == 0:
        return f"Spread over seeds: none; {spread.seeds} training runs gave the same value."
    lowest, highest, mean, deviation, distance = (
        f"{number:.{decimals + 2}f}"
        for number in (spread.lowest, spread.highest, spread.mean, spread.deviation, within)
    )
    more = "one more" if mean_of == 1 else f"the mean of {mean_of} more"
    return (
        f"Spread over seeds: {spread.seeds} training runs gave {lowest} to {highest} (mean {mean}, "
        f"standard deviation {deviation}), so {more} is expected within {distance} of their mean."
    )


def without_spread(why: str) -> str:
    """Reason for a verdict without the spread of its cell, to group cells with the same reason."""
    return _SENTENCE.sub("", why).strip()
