"""Tables as grids of cells: layout of tidy frames, headings, and formatting of values.

A tidy frame has one row per cell: key columns that identify the cell, then `value`, and optionally
`marker`, such as significance letters. In a `Grid`, some key columns label its rows, the others its
columns. Writers of all formats take a grid.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from numbers import Integral, Real
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import pandas as pd

#: Number of decimals by metric; "text" keeps all digits.
Decimals = Mapping[str, int | Literal["text"]]
#: Columns of a tidy frame other than keys: the value, its marker and the bounds of its interval.
VALUE_COLUMNS = ("value", "marker", "low", "high")
#: Maximum number of digits added to distinguish two values.
_MAX_ADDED_DIGITS = 6
#: Separator of a heading over several columns and that of one column, as in "Quality | Recall".
_BAR = " | "
#: Labels that say which parts a system has, as in ablations.
_CHECK_MARKS = frozenset("✓✔☑✅✗✘✕✖❌")
#: The same separator in labels, as a character that no label contains.
_SPLIT = "\x1f"
#: Names with the same meaning in every table; records add their own (`Record.names`).
COMMON = {
    "acceptance_rate_pct": "Acceptance rate (%)",
    "change_percent": "Change (%)",
    "cost_usd": "Cost (USD)",
    "kendall_tau": "Kendall's τ",
    "median_time_s": "Median time (s)",
    "n_annotators": "Annotators",
    "n_workers": "Workers",
    "p_paired": "p (paired)",
    "p_paired_corrected": "p (paired, corrected)",
    "p_unpaired": "p (unpaired)",
    "p_unpaired_corrected": "p (unpaired, corrected)",
    "p_value": "p",
    "query_sha256": "Query (SHA-256)",
    "rag_mode": "RAG mode",
    "rerank_time_s": "Re-ranking time (s)",
    "row": "",
    "trec_id": "TREC ID",
}


@dataclass(frozen=True)
class Cell:
    """Text of a cell, its mark, shown as a superscript, and its verdict, shown as a colour."""

    text: str = ""
    mark: str = ""
    verdict: str = ""


class HeadCell(NamedTuple):
    """Label that spans `span` columns (in the header) or rows."""

    label: str
    span: int


AnyCell = TypeVar("AnyCell")
OtherCell = TypeVar("OtherCell")


@dataclass(frozen=True)
class Grid(Generic[AnyCell]):
    """A table with labelled rows and columns; a missing cell is None."""

    #: Headings of the row labels.
    names: list[str]
    #: Headings of each column, from the outermost; empty if the table has one column without keys.
    columns: list[tuple[str, ...]]
    #: Keys of each row, which form groups; different keys may have the same label.
    keys: list[tuple[Hashable, ...]]
    #: Labels of each row, from the outermost.
    labels: list[tuple[str, ...]]
    rows: list[list[AnyCell | None]]

    @property
    def head(self) -> list[list[HeadCell]]:
        """Header rows; adjacent equal headings under the same parent become one cell."""
        return head_rows(self.columns)

    @property
    def label_cells(self) -> list[list[HeadCell]]:
        """Labels that start in each row, with the number of rows in their group."""
        depths = range(len(self.names))
        sizes = Counter(key[: depth + 1] for key in self.keys for depth in depths)
        # A group's size is removed at its first row.
        return [
            [
                HeadCell(texts[depth], sizes.pop(key[: depth + 1]))
                for depth in depths
                if key[: depth + 1] in sizes
            ]
            for key, texts in zip(self.keys, self.labels, strict=True)
        ]

    def map(self, function: Callable[[AnyCell], OtherCell]) -> Grid[OtherCell]:
        """Grid with the same labels and other cells."""
        rows = [[None if cell is None else function(cell) for cell in row] for row in self.rows]
        return Grid(self.names, self.columns, self.keys, self.labels, rows)


def make_grid(
    frame: pd.DataFrame, rows: Sequence[str], columns: Sequence[str], names: Mapping[str, str] = {}
) -> Grid[Any]:
    """Grid of a tidy frame whose values are its cells, with the headings of a record."""
    table = lay_out(frame, rows, columns)
    displayed = with_headings(table, names)
    return Grid(
        [str(name) for name in displayed.index.names],
        [texts_of(key) for key in displayed.columns] if columns else [()],
        [key if isinstance(key, tuple) else (key,) for key in table.index],
        [texts_of(key) for key in displayed.index],
        table.astype(object).where(table.notna(), None).to_numpy().tolist(),
    )


def texts_of(key: Any) -> tuple[str, ...]:
    """Labels of a row or column as texts."""
    return tuple(map(str, key if isinstance(key, tuple) else (key,)))


def head_rows(columns: Sequence[tuple[str, ...]]) -> list[list[HeadCell]]:
    """Header rows; adjacent equal headings under the same parent become one cell."""
    return [
        [
            HeadCell(prefix[-1], len(list(group)))
            for prefix, group in groupby(columns, key=lambda key, level=level: key[: level + 1])
        ]
        for level in range(len(columns[0]) if columns else 0)
    ]


def labels_once(labels: Sequence[Sequence[str]]) -> list[list[str]]:
    """Labels of rows, emptied where an earlier row of the group has the same label.

    Those of a column of check marks are kept, since a blank there means no.
    """
    are_marks = [
        any(text.rstrip("\ufe0f") in _CHECK_MARKS for text in level)
        for level in zip(*labels, strict=True)
    ]
    earlier: set[tuple[str, ...]] = set()
    result = []
    for row in labels:
        prefixes = [tuple(row[: depth + 1]) for depth in range(len(row))]
        result.append(
            [
                "" if prefix in earlier and not is_mark else prefix[-1]
                for prefix, is_mark in zip(prefixes, are_marks, strict=True)
            ]
        )
        earlier.update(prefixes)
    return result


def lay_out(frame: pd.DataFrame, rows: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """Arrange a tidy frame as a table, with keys in order of first appearance."""
    frame = frame.reset_index(drop=True)
    keys = [*rows, *columns]
    missing_keys = [key for key in [*keys, "value"] if key not in frame]
    if not rows or missing_keys:
        raise ValueError(
            f"cannot lay out by rows {list(rows)} and columns {list(columns)}: give at least one "
            f"row key, and only columns of the table, which are {list(frame.columns)}."
        )
    for key in keys:
        if frame[key].isna().any():
            raise ValueError(
                f"column {key!r}, row {int(frame[key].isna().argmax())}: a key is empty; read "
                "text such as 'None' with keep_default_na=False."
            )
    is_duplicate = frame.duplicated(keys)
    if is_duplicate.any():
        raise ValueError(
            f"two cells for {frame.loc[is_duplicate, keys].iloc[0].to_dict()}; add another key "
            "column."
        )
    if columns:
        table = frame.set_index(keys)["value"].astype(object).unstack(list(columns))
        table = table[_ordered_keys(frame, columns)]
    else:
        table = frame.set_index(keys)[["value"]].astype(object)
    return table.loc[_ordered_keys(frame, rows)]


def _ordered_keys(frame: pd.DataFrame, keys: Sequence[str]) -> pd.Index:
    """Distinct keys, with each level in order of first appearance in its group."""
    distinct = dict.fromkeys(zip(*(frame[key].tolist() for key in keys), strict=True))
    row: dict[tuple, int] = {}
    for names in distinct:
        for depth in range(len(keys)):
            row.setdefault(names[: depth + 1], len(row))
    ordered = sorted(
        distinct, key=lambda names: [row[names[: depth + 1]] for depth in range(len(keys))]
    )
    if len(keys) == 1:
        return pd.Index([name for (name,) in ordered], name=keys[0])
    return pd.MultiIndex.from_tuples(ordered, names=list(keys))


def shown_name(name: str, names: Mapping[str, str] = {}) -> str:
    """Heading of a column or metric, from the record or derived from its name."""
    if name in names:
        return names[name]
    if name in COMMON:
        return COMMON[name]
    text = name.replace("_", " ")
    return re.sub(r"^[a-z]{3,}(?=[ -]|$)", lambda word: word[0].capitalize(), text)


def shown_label(
    level: str | None, label: Any, names: Mapping[str, str] = {}, between: str = " "
) -> Any:
    """Displayed label of a cell; `between` replaces the bar in a name."""
    if str(label) in names:
        return names[str(label)].replace(_BAR, between)
    return shown_name(str(label)) if level is None or level == "metric" else label


def with_headings(table: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Replace internal names in a laid-out table by the published, or else readable, headings.

    A name with a bar gives two header rows, the upper one for all columns that share it. A metric
    that all columns share is left out, unless the record has a name for it.
    """
    columns = table.columns
    last = columns.get_level_values(-1)
    if columns.nlevels > 1 and last.nunique() == 1 and last.name == "metric":
        columns = columns if str(last[0]) in names else columns.droplevel(-1)
    return table.set_axis(_with_headings(table.index, names, " "), axis="index").set_axis(
        _in_groups(_with_headings(columns, names, _SPLIT)), axis="columns"
    )


def _with_headings(index: pd.Index, names: Mapping[str, str], between: str) -> pd.Index:
    heads = [None if name is None else shown_name(str(name), names) for name in index.names]
    levels = []
    for level, name in enumerate(index.names):
        labels = index.get_level_values(level)
        texts = [shown_label(name, label, names, between) for label in labels]
        # Labels without new names keep their types: pandas would turn the 1 next to 0.5 into 1.0.
        levels.append(labels if texts == labels.tolist() else pd.Index(texts))
    if index.nlevels == 1:
        return levels[0].rename(heads[0])
    # Not set level by level, because different labels may get the same name.
    return pd.MultiIndex.from_arrays(levels, names=heads)


def _in_groups(columns: pd.Index) -> pd.Index:
    """Columns, with labels that contain a bar split into two levels."""
    levels: list[Any] = []
    for level in range(columns.nlevels):
        labels = columns.get_level_values(level)
        if any(_SPLIT in str(label) for label in labels):
            pairs = [("", *str(label).split(_SPLIT))[-2:] for label in labels]
            levels += zip(*pairs, strict=True)
        else:
            levels.append(labels)
    return columns if len(levels) == columns.nlevels else pd.MultiIndex.from_arrays(levels)


def show_value(value: Any, decimals: int | Literal["text"] | None = None) -> str:
    """Format one value for readers."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, Real) and not isinstance(value, Integral):
        if isinstance(decimals, int):
            return f"{value:z.{decimals}f}"
        if decimals == "text":
            return repr(float(value))
        # All digits of the integer part are shown.
        size: Any = abs(value)
        digits = f"{value:.0f}" if size >= 1e6 else f"{value:.6g}"
        return "0" if size < 1e-12 else digits
    return str(value)


def format_distinct(
    value: Any, published: str, decimals: int | Literal["text"], added: int = 0
) -> str:
    """Format a value with enough digits to tell it from the published one."""
    if not isinstance(value, float) or decimals == "text":
        return show_value(value, decimals)
    minimum = decimals + added
    for digits in range(minimum, minimum + _MAX_ADDED_DIGITS + 1):
        text = show_value(value, digits)
        if not _is_same_number(published, text):
            return text
    return show_value(value, minimum)


def _is_same_number(published: str, text: str) -> bool:
    """Whether two texts are the same number, as 0.5, .5 and 0.500 are."""
    try:
        return float(published) == float(text)
    except ValueError:
        return published == text


def published_mark(marker: str) -> str:
    """Format a published marker for readers.

    In the CSV files, a superscript and a subscript of one cell are written as "bcd;_f-j", and a
    dash instead of a number has the marker "not_reported".
    """
    return "" if marker == "not_reported" else marker.replace(";_", ",")
