"""Readings: other interpretations of a paper, and which of them give its published values.

A reading changes how values are computed ("relevance from grade 2") or how they got into the table
("two rows are swapped"). `search_readings` tries readings alone, then in pairs, and counts the
published numbers that each makes equal. It suggests causes; verdicts never depend on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, combinations, permutations, product
from math import comb
from typing import Any, NamedTuple

import numpy as np

from everycell.base.arrays import FloatArray, IntArray

#: Margin for floating-point errors, in units of the last published digit, as in verdicts.
_SLACK = 1e-6
#: Probability below which a number of newly equal values is not put down to chance.
CHANCE_LEVEL = 0.05
#: Slot and kind of the readings that round in another way.
_ROUNDING = "rounding"


@dataclass(frozen=True)
class Block:
    """Published numbers that are compared: one key, value and number of decimals per cell."""

    keys: Sequence[Mapping[str, str]]
    published: FloatArray
    decimals: IntArray
    #: Whether a value is a rounded measurement, not a count.
    is_rounded: np.ndarray
    reproduced: FloatArray

    def equal(self, values: FloatArray) -> np.ndarray:
        """Mask of the values that round to the published ones."""
        allowed = 10.0**-self.decimals * (0.5 * self.is_rounded + _SLACK)
        return np.abs(values - self.published) <= allowed

    def names(self, column: str) -> list[str]:
        """Names in a key column, in the order of the table."""
        return list(dict.fromkeys(key[column] for key in self.keys if column in key))


def _same(values: FloatArray) -> FloatArray:
    return values


@dataclass(frozen=True)
class Reading:
    """A reading; of two with the same `slot`, only one can apply."""

    description: str
    slot: Hashable
    #: Changed settings from which all values are computed again.
    settings: Mapping[Hashable, Any] = field(default_factory=dict)
    #: Change of computed values.
    change: Callable[[FloatArray], FloatArray] = _same
    #: Whether values are assigned to other rows or columns.
    is_relabelling: bool = False


class Trial(NamedTuple):
    """One reading or two, with the mask of the values that are then equal."""

    readings: tuple[Reading, ...]
    values: FloatArray
    is_equal: np.ndarray
    #: Values to compare with: those of the better of two readings, or the reproduced ones.
    baseline: FloatArray

    @property
    def n_equal(self) -> int:
        """Number of equal values."""
        return int(self.is_equal.sum())

    @property
    def description(self) -> str:
        """Readings in words."""
        return " and ".join(reading.description for reading in self.readings)

    @property
    def kind(self) -> tuple[str, ...]:
        """Kinds of the readings, such as those that swap rows."""
        slots = [reading.slot for reading in self.readings]
        return tuple(sorted(str(slot[0] if isinstance(slot, tuple) else slot) for slot in slots))


class Search(NamedTuple):
    """Outcome of a search."""

    block: Block
    #: Number of trials that change a value, by kind.
    counts: Counter[tuple[str, ...]]
    #: Trials that make more values equal, the best first, and of equally good ones single readings
    #: first. Pairs are better than each of their readings.
    trials: list[Trial]

    @property
    def complete(self) -> list[Trial]:
        """Trials that make all values equal."""
        return [trial for trial in self.trials if trial.is_equal.all()]

    @property
    def singles(self) -> int:
        """Number of readings that change a value."""
        return sum(count for kind, count in self.counts.items() if len(kind) == 1)

    @property
    def pairs(self) -> int:
        """Number of pairs that change a value."""
        return self.counts.total() - self.singles

    def chance(self, trial: Trial) -> float:
        """Upper bound of the probability that any trial gains as much over its baseline by chance.

        For a pair, it is the gain over the better of its readings alone. Each kind of trials has
        an equal share of the probability, so that hundreds of swaps do not hide two roundings.
        """
        block = replace(self.block, reproduced=trial.baseline)
        before = block.equal(trial.baseline)
        n_trials = len(self.counts) * self.counts[trial.kind]
        chance = chance_of_gain(block, trial.n_equal - int(before.sum()), n_trials)
        if trial.kind == (_ROUNDING,):
            lost = int((before & ~trial.is_equal).sum())
            gained = int((trial.is_equal & ~before).sum())
            chance = max(chance, min(1.0, n_trials * _sign_test(gained, lost)))
        return chance


def chance_of_gain(block: Block, gain: int, n_trials: int) -> float:
    """Probability that one of several random readings makes `gain` more values equal.

    A random reading moves a value that is d units of its last digit from the published one by up to
    d units in either direction, so it is then equal with probability 1 / (2 d + 1). Values are
    assumed to be independent, and the probability of one trial is multiplied by their number. A
    missing value counts as one unit off, which chance explains best.
    """
    distance = np.abs(block.reproduced - block.published) * 10.0**block.decimals
    distance = np.nan_to_num(distance, nan=1.0)
    is_different = ~block.equal(block.reproduced)
    counts = np.ones(1)
    for probability in 1 / (2 * np.maximum(1, np.rint(distance[is_different])) + 1):
        counts = np.convolve(counts, (1 - probability, probability))
    return min(1.0, n_trials * float(counts[max(gain, 0) :].sum()))


def _sign_test(gained: int, lost: int) -> float:
    """Probability of so many gains if each value that a rounding changes is one with 1/2.

    A rounding moves a value to the other one of its two neighbours. The published value is at least
    as often the nearer one, unless it was rounded in that way.
    """
    changed = gained + lost
    return sum(comb(changed, count) for count in range(gained, changed + 1)) / 2**changed


def search_readings(
    block: Block,
    readings: Sequence[Reading],
    compute: Callable[[Mapping[Hashable, Any]], FloatArray] | None = None,
    track: Callable[[list[Any]], Iterable[Any]] = iter,
) -> Search:
    """Try readings, in the order in which they are applied; pairs only if no reading suffices.

    `compute` gives the values for changed settings, aligned with the block; `track` iterates over
    trials and may show progress. Two relabellings are only paired if each alone makes another value
    equal.
    """
    before = block.equal(block.reproduced)
    computed: dict[frozenset[tuple[Hashable, Any]], FloatArray] = {}

    def values_for(settings: Mapping[Hashable, Any]) -> FloatArray:
        if not settings or compute is None:
            return block.reproduced
        key = frozenset(settings.items())
        if key not in computed:
            computed[key] = compute(settings)
        return computed[key]

    def attempt(parts: Sequence[Reading], baseline: FloatArray) -> Trial | None:
        settings: dict[Hashable, Any] = {}
        for reading in parts:
            settings |= reading.settings
        values = values_for(settings)
        for reading in parts:
            values = reading.change(values)
        if np.array_equal(values, block.reproduced, equal_nan=True):
            return None
        return Trial(tuple(parts), values, block.equal(values), baseline)

    singles = [
        trial for reading in track([*readings]) if (trial := attempt([reading], block.reproduced))
    ]
    better = [trial for trial in singles if trial.n_equal > before.sum()]
    counts = Counter(trial.kind for trial in singles)
    if not any(trial.is_equal.all() for trial in better):
        for first, second in track([*_pairs(singles, before)]):
            alone = max(first, second, key=lambda trial: trial.n_equal)
            is_better = alone.n_equal > before.sum()
            baseline = alone.values if is_better else block.reproduced
            trial = attempt([*first.readings, *second.readings], baseline)
            if trial:
                counts[trial.kind] += 1
            if trial and trial.n_equal > max(alone.n_equal, before.sum()):
                better.append(trial)
    better.sort(key=lambda trial: (-trial.n_equal, len(trial.readings)))
    return Search(block, counts, better)


def _pairs(singles: Sequence[Trial], before: np.ndarray) -> Iterator[tuple[Trial, Trial]]:
    """Pairs of readings that can both apply."""
    relabelling, plain = [], []
    for trial in singles:
        (reading,) = trial.readings
        (relabelling if reading.is_relabelling else plain).append(trial)
    helpful = [trial for trial in relabelling if (trial.is_equal & ~before).any()]
    # In the order in which they are applied, which is that of `singles`.
    rank = {id(trial): position for position, trial in enumerate(singles)}
    pairs = [*combinations(plain, 2), *product(plain, relabelling), *combinations(helpful, 2)]
    # Time may not suffice for all of them.
    pairs.sort(key=lambda pair: -pair[0].n_equal - pair[1].n_equal)
    for first, second in pairs:
        if first.readings[0].slot != second.readings[0].slot:
            in_order = rank[id(first)] < rank[id(second)]
            yield (first, second) if in_order else (second, first)


def replacement(description: str, slot: Hashable, values: FloatArray) -> Reading:
    """Reading that replaces values by others, except where those are NaN."""
    return Reading(description, slot, change=lambda old: np.where(np.isnan(values), old, values))


def cell_readings(block: Block, columns: Sequence[str]) -> list[Reading]:
    """Readings of any table: swapped or copied rows and columns, a factor of 100, and rounding.

    `columns` are the key columns; measures have the name `metric`.
    """
    rows = {tuple(key[column] for column in columns): row for row, key in enumerate(block.keys)}
    return [
        *_relabellings(block, columns, rows),
        *_repeated_lines(block, columns, rows),
        *_factors(block),
        *_roundings(block),
    ]


def _relabellings(
    block: Block, columns: Sequence[str], rows: Mapping[tuple[str, ...], int]
) -> Iterator[Reading]:
    for column in columns:
        for first, second in combinations(block.names(column), 2):
            swap = {first: second, second: first}
            position = columns.index(column)
            yield _relabelling(rows, position, swap, f"{first} swapped with {second} ({column})")
            for name, source in swap.items():
                text = f"values of {source} repeated for {name} ({column})"
                yield _relabelling(rows, position, {name: source}, text)


def _relabelling(
    rows: Mapping[tuple[str, ...], int],
    position: int,
    source_by_name: Mapping[str, str],
    description: str,
) -> Reading:
    sources = []
    for key in rows:
        source = source_by_name.get(key[position], key[position])
        sources.append(rows.get((*key[:position], source, *key[position + 1 :]), -1))
    # A value without a counterpart becomes NaN, which is appended to the values.
    return Reading(
        description,
        ("relabelling", position, *sorted(source_by_name)),
        change=lambda values: np.append(values, np.nan)[sources],
        is_relabelling=True,
    )


def _repeated_lines(
    block: Block, columns: Sequence[str], rows: Mapping[tuple[str, ...], int]
) -> Iterator[Reading]:
    """A row or column named by several keys whose published numbers occur twice in the table.

    Those named by one key are tried without this condition.
    """
    positions = range(len(columns))
    for size in range(2, len(columns)):
        for naming in combinations(positions, size):
            lines: dict[tuple[str, ...], dict[tuple[str, ...], int]] = {}
            for key, row in rows.items():
                across = tuple(key[position] for position in positions if position not in naming)
                name = tuple(key[position] for position in naming)
                lines.setdefault(name, {})[across] = row
            equal: dict[frozenset[Any], list[tuple[str, ...]]] = {}
            for name, line in lines.items():
                numbers = {(across, block.published[row]) for across, row in line.items()}
                if len(numbers) > 1:
                    equal.setdefault(frozenset(numbers), []).append(name)
            for name, source in chain.from_iterable(permutations(e, 2) for e in equal.values()):
                sources = np.arange(len(block.keys))
                for across, row in lines[name].items():
                    sources[row] = lines[source][across]
                texts = " / ".join(source), " / ".join(name)
                yield Reading(
                    f"values of {texts[0]} repeated for {texts[1]}, as published",
                    ("relabelling", naming, *sorted((name, source))),
                    change=lambda values, sources=sources: values[sources],
                    is_relabelling=True,
                )


def _factors(block: Block) -> Iterator[Reading]:
    measures = block.names("metric")
    for measure in ["", *(measures if len(measures) > 1 else [])]:
        is_scaled = np.array([measure in ("", key.get("metric")) for key in block.keys])
        for factor, text in ((100.0, "multiplied by 100"), (0.01, "divided by 100")):
            yield Reading(
                f"{measure or 'all values'} {text}",
                ("factor", measure),
                change=partial(np.multiply, np.where(is_scaled, factor, 1.0)),
            )


def _roundings(block: Block) -> Iterator[Reading]:
    scale = 10.0**block.decimals
    for round_digits, text in ((np.trunc, "truncated"), (_round_up, "rounded up")):
        yield Reading(
            f"values {text}",
            _ROUNDING,
            # Six more digits are exact enough, and 0.29 * 100 is then 29.
            change=lambda values, f=round_digits: f(np.round(values * scale, 6)) / scale,
        )


def _round_up(values: FloatArray) -> FloatArray:
    return np.copysign(np.ceil(np.abs(values)), values)
