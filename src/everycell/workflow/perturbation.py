"""Seeded perturbations of rows of values.

A perturbation never changes keys, such as ids of queries, documents and participants: it changes
the values that belong to them, or drops rows.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

#: Share of the rows, or of the groups of rows, that `resample` and `thin` change.
SHARE = 0.1
#: Standard deviation of the noise on scores, relative to their range.
NOISE = 0.2
#: Smallest mean number of rows for each value of a condition.
ROWS_PER_CONDITION = 5


@dataclass
class Rows:
    """Values of a file by row, and how they may change."""

    values: list[list[Any]]
    #: Columns that never change.
    keys: frozenset[int]
    write: Callable[[list[list[Any]]], str | bytes]
    #: Columns with scores or published numbers, which get noise.
    scores: frozenset[int] = frozenset()
    #: Columns whose values are only exchanged between rows of a group.
    bound: frozenset[int] = frozenset()
    #: Pairs of bound columns with opposite labels, such as the sentences that answer and do not.
    opposites: tuple[tuple[int, int], ...] = ()
    #: Columns of experimental conditions: values of one determine those of another.
    conditions: frozenset[int] = frozenset()
    #: Group of each row: rows about the same item, published values of the same metric, or records
    #: of the same form.
    groups: list[Any] | None = None
    #: Whether rows (or groups, if there are bound columns) can be left out.
    can_drop: bool = True

    @property
    def columns(self) -> list[int]:
        """Columns that may change."""
        width = max(map(len, self.values), default=0)
        return [column for column in range(width) if column not in self.keys]

    @property
    def rows_by_group(self) -> list[list[int]]:
        """Rows of each group; one group without `groups`."""
        groups: dict[Any, list[int]] = {}
        for index in range(len(self.values)):
            groups.setdefault(self.groups[index] if self.groups else "", []).append(index)
        return list(groups.values())


Change = Callable[[Rows, random.Random], list[list[Any]] | None]


def has_value(row: Sequence[Any], column: int) -> bool:
    """Whether a row has a value in a column."""
    return column < len(row) and row[column] not in ("", None)


def _reorder(
    rows: Rows,
    order: Callable[[list[Any]], list[Any]],
    position: Callable[[int], int] = lambda index: index,
) -> list[list[Any]]:
    """Reorder the values of each column that is not bound, in rows sorted by position.

    Values stay within their group, unless there are bound columns. Missing values stay missing.
    """
    changed = [list(row) for row in rows.values]
    indices = [range(len(changed))] if rows.bound else rows.rows_by_group
    for column in rows.columns:
        if column in rows.bound:
            continue
        for group in indices:
            indices_with_values = [index for index in group if has_value(changed[index], column)]
            indices_with_values.sort(key=position)
            values = order([changed[index][column] for index in indices_with_values])
            for index, value in zip(indices_with_values, values, strict=True):
                changed[index][column] = value
    return changed


def permute(rows: Rows, generator: random.Random) -> list[list[Any]]:
    """Permute the values of each column that is not bound."""
    return _reorder(rows, lambda values: generator.sample(values, len(values)))


def permute_in_design(rows: Rows, generator: random.Random) -> list[list[Any]] | None:
    """Permute as `permute` does, but leave the experimental conditions; None without conditions."""
    if not rows.conditions:
        return None
    return permute(replace(rows, keys=rows.keys | rows.conditions), generator)


def jitter(rows: Rows, generator: random.Random) -> list[list[Any]]:
    """Add noise to scores; shares of a group that add up to 1 still do."""
    changed = [list(row) for row in rows.values]
    for column in rows.scores:
        for group in rows.rows_by_group:
            indices_with_values = [index for index in group if is_number(changed[index][column])]
            numbers = [float(changed[index][column]) for index in indices_with_values]
            width = NOISE * (max(numbers, default=0.0) - min(numbers, default=0.0))
            noises = [
                generator.gauss(0.0, width or NOISE * abs(number) or NOISE) for number in numbers
            ]
            if (
                len(numbers) > 1
                and min(numbers) >= 0
                and math.isclose(sum(numbers), 1, abs_tol=1e-6)
            ):
                shares = [
                    abs(number + noise) for number, noise in zip(numbers, noises, strict=True)
                ]
                texts = [f"{share / sum(shares):.9f}" for share in shares]
            else:
                texts = [
                    _with_decimals(number, noise, changed[index][column])
                    for index, number, noise in zip(
                        indices_with_values, numbers, noises, strict=True
                    )
                ]
            for index, text in zip(indices_with_values, texts, strict=True):
                changed[index][column] = text
    return changed


def is_number(value: Any) -> bool:
    """Whether a value is a finite number, or its text."""
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError):
        return False


def _with_decimals(number: float, noise: float, text: str) -> str:
    """Sum with the decimals of the text of the number, on the same side of zero."""
    noisy = abs(number + noise) if number >= 0 else -abs(number + noise)
    return f"{noisy:.{len(text.partition('.')[2])}f}"


def order_values(rows: Rows, generator: random.Random) -> list[list[Any]]:
    """Sort the values of each column that is not bound, in rows sorted by their keys.

    So the values depend on the keys as much as possible.
    """
    # The key with the fewest values comes first: it is a condition rather than an id.
    distinct = {
        column: len({repr(row[column]) for row in rows.values if column < len(row)})
        for column in sorted(rows.keys)
    }
    by_number = sorted(
        (c for c, number in distinct.items() if number > 1), key=lambda c: distinct[c]
    )
    order = sorted(
        range(len(rows.values)),
        key=lambda index: [_sort_key(rows.values[index][column]) for column in by_number],
    )
    position = {index: rank for rank, index in enumerate(order)}
    return _reorder(
        rows, lambda values: sorted(values, key=_sort_key), lambda index: position[index]
    )


def _sort_key(value: Any) -> tuple[bool, float, str]:
    return (False, float(value), "") if is_number(value) else (True, 0.0, str(value))


def resample(rows: Rows, generator: random.Random) -> list[list[Any]]:
    """Replace a tenth of the rows of each group, at least one, by rows drawn from the group.

    Keys stay. A row may be replaced by itself.
    """
    sources = list(range(len(rows.values)))
    for group in rows.rows_by_group:
        for index in generator.sample(group, max(1, round(SHARE * len(group)))):
            sources[index] = generator.choice(group)
    return _replace(rows, sources)


def move(rows: Rows, generator: random.Random) -> list[list[Any]] | None:
    """Permute rows within their group, so that the values of a row stay together; keys stay."""
    if rows.bound:
        return None
    sources = list(range(len(rows.values)))
    for group in rows.rows_by_group:
        shuffled = generator.sample(group, len(group))
        for index, source in zip(group, shuffled, strict=True):
            sources[index] = source
    return _replace(rows, sources)


def _replace(rows: Rows, sources: Sequence[int]) -> list[list[Any]]:
    """Rows with the values of other rows and their own keys."""
    changed = []
    for row, source in zip(rows.values, sources, strict=True):
        other = rows.values[source]
        changed.append(
            [
                row[column] if column in rows.keys or column >= len(other) else other[column]
                for column in range(len(row))
            ]
        )
    return changed


def thin(rows: Rows, generator: random.Random) -> list[list[Any]] | None:
    """Leave out a tenth of the rows, or of the groups if columns are bound, and at least one."""
    return _drop(rows, generator, SHARE)


def halve(rows: Rows, generator: random.Random) -> list[list[Any]] | None:
    """Leave out half of the rows, or of the groups if columns are bound, and at least one."""
    return _drop(rows, generator, 0.5)


def _drop(rows: Rows, generator: random.Random, share: float) -> list[list[Any]] | None:
    groups = rows.rows_by_group if rows.bound else [[index] for index in range(len(rows.values))]
    if len(groups) < 2 or not rows.can_drop:
        return None
    dropped = {
        index
        for group in generator.sample(groups, max(1, round(share * len(groups))))
        for index in group
    }
    return [list(row) for index, row in enumerate(rows.values) if index not in dropped]


def relabel(rows: Rows, generator: random.Random) -> list[list[Any]]:
    """Replace each value of a column with few values by the next in frequency.

    The frequencies of the values are permuted, so totals stay. Bound columns and conditions do not
    change.
    """
    changed = [list(row) for row in rows.values]
    for column in rows.columns:
        # By their text, since values may be lists or dictionaries.
        values = {repr(row[column]): row[column] for row in changed if has_value(row, column)}
        counts = Counter(repr(row[column]) for row in changed if has_value(row, column))
        if column in rows.bound | rows.conditions or not _has_few(counts, changed):
            continue
        levels = sorted(counts, key=lambda text: (-counts[text], _sort_key(values[text])))
        following = dict(zip(levels, [*levels[1:], levels[0]], strict=True))
        for row in changed:
            if has_value(row, column):
                row[column] = values[following[repr(row[column])]]
    return changed


def make_unanimous(rows: Rows, generator: random.Random) -> list[list[Any]] | None:
    """Replace the bound values of all rows of a group by those of one row, drawn at random."""
    if not rows.bound:
        return None
    changed = [list(row) for row in rows.values]
    for group in rows.rows_by_group:
        source = rows.values[generator.choice(group)]
        for index in group:
            for column in rows.bound:
                changed[index][column] = source[column]
    return changed


def reverse_labels(rows: Rows, generator: random.Random) -> list[list[Any]] | None:
    """Exchange the values of the two columns of each pair with opposite labels, in all rows."""
    if not rows.opposites:
        return None
    changed = [list(row) for row in rows.values]
    for row in changed:
        for first, second in rows.opposites:
            row[first], row[second] = row[second], row[first]
    return changed


def leave_out_level(rows: Rows, generator: random.Random) -> list[list[Any]] | None:
    """Leave out all rows with one value, drawn at random, of a key or a condition.

    The column is the one with few values whose numbers of rows differ least, so that a balanced
    design stays balanced.
    """
    candidates = []
    for column in sorted(rows.keys | rows.conditions):
        counts = Counter(row[column] for row in rows.values if has_value(row, column))
        if _has_few(counts, rows.values):
            imbalance = max(counts.values()) / min(counts.values())
            candidates.append((imbalance, len(counts), column))
    if not candidates or not rows.can_drop:
        return None
    column = min(candidates)[2]
    levels = {row[column] for row in rows.values if has_value(row, column)}
    dropped = generator.choice(sorted(levels, key=_sort_key))
    return [
        list(row) for row in rows.values if not has_value(row, column) or row[column] != dropped
    ]


def _has_few(counts: Counter[Any], rows: Sequence[Any]) -> bool:
    return 1 < len(counts) <= len(rows) / ROWS_PER_CONDITION


#: Perturbations, in the order in which they are tried.
PERTURBATIONS: dict[str, Change] = {
    "permuted": permute,
    "permuted within the design": permute_in_design,
    "jittered": jitter,
    "ordered": order_values,
    "thinned": thin,
    "resampled": resample,
    "moved": move,
    "halved": halve,
    "relabelled": relabel,
    "without a level": leave_out_level,
    "unanimous": make_unanimous,
    "reversed labels": reverse_labels,
}
