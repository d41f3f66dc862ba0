"""Headings and row names of a published table, which become the keys of its values."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from everycell.base.errors import DataError
from everycell.cli.importing.collection_names import is_collection
from everycell.cli.importing.grids import SourceTable
from everycell.cli.importing.rows import is_group, is_measure, is_spanning, shorten
from everycell.cli.importing.values import (
    READABLE,
    SourceCell,
    begins_with_number,
    is_numeric,
    split_cell,
)
from everycell.cli.printing import pluralise
from everycell.records.cells import DESCRIPTION

#: Arrows in a heading, which say whether higher or lower values are better.
_ARROWS = "↑↓▲▼⇑⇓"
_UNIT = re.compile(rf"(?<!\s)\s*+[(\[]\s*+(?:in )?(%|[{_ARROWS}])\s*+[)\]]")
_WORD = re.compile(r"[^\W\d_]{2}")
_COLLECTIONS = re.compile(
    r"(test_)?(data_?sets?|collections?|corpus|corpora|benchmarks?|tasks?)(_and_\w+|_names?)?"
    r"|test_sets?"
)
_MEASURES = re.compile(r"metrics?|measures?")


def count_head(table: SourceTable) -> int:
    """Rows of the heading: those declared, and rows directly below that go on with it.

    Such a row has no values, and its first cell is blank or that of the row above: a row with a
    name of its own is data, even if none of its values can be read. The exception is the row below
    blank first cells and headings across columns, if it has words in all columns.
    """
    head = max(table.head, 1)
    while head < len(table.rows) - 1:
        row, above = table.rows[head], table.rows[head - 1]
        if row[0].text and row[0].text != above[0].text and not _is_below_spans(table, head):
            break
        if (
            is_spanning(row)
            or any(map(split_cell, row[1:]))
            or not any(cell.text for cell in row[1:])
        ):
            break
        head += 1
    return min(head, len(table.rows) - 1)


def _is_below_spans(table: SourceTable, head: int) -> bool:
    above = [cell.text for cell in table.rows[head - 1] if cell.text]
    words = [cell.text for cell in table.rows[head] if cell.text]
    has_corner = any(row[0].text for row in table.rows[:head])
    is_filled = len(words) > len(above) or len(words) == len(table.rows[head])
    is_word = not any(map(begins_with_number, words))
    return not has_corner and len(set(above)) < len(above) and is_filled and is_word


def label_of_column(table: SourceTable, head: int, column: int) -> str:
    """Lowest heading of a column."""
    texts = (table.rows[row][column].text for row in reversed(range(head)))
    return next(filter(None, texts), f"column {column + 1}")


def without_sign(cell: SourceCell) -> str:
    """Label without footnote signs, and with other superscripts."""
    raised = re.sub(r"[†‡*∗§¶‖#,\s]|^[a-z]$", "", cell.raised)
    return (cell.text.rstrip("†‡∗§¶ ") + raised).strip() or cell.text


class RowNames(NamedTuple):
    """Columns that name the rows, the names of these columns, and the keys of each row."""

    columns: list[int]
    names: list[str]
    keys: dict[int, list[str]]


def name_rows(
    path: object,
    table: SourceTable,
    head: int,
    body: Sequence[int],
    texts: Sequence[int],
    notes: list[str],
) -> RowNames:
    """Name the rows by the fewest columns of text, and by headings of groups if needed."""
    groups = {
        row: next(cell.text for cell in table.rows[row] if cell.text)
        for row in range(head, len(table.rows))
        if is_group(table.rows[row])
    }
    if not texts:
        raise DataError(path, fault="has a table without names of rows", fix="add a first column")
    _fill_down(table, body, texts)
    leading = [column for number, column in enumerate(texts) if column == texts[0] + number]
    # Names come before numbers of rows and references such as "[1] (2a)".
    words = [column for column in leading if _has_words(table, body, column)]

    def keys_of(columns: Sequence[int], *, grouped: bool) -> dict[int, list[str]]:
        heading = {row: [_group_of(row, groups)] if grouped else [] for row in body}
        return {
            row: heading[row] + [without_sign(table.rows[row][column]) for column in columns]
            for row in body
        }

    choices = [([column], False) for column in words] + [(words, False)] * bool(words)
    choices += [([column], False) for column in leading if column not in words]
    choices += [(leading, False), (list(texts), False)]
    choices += [([texts[0]], True), (leading, True)] if groups else []
    if table.keys:
        choices = [(list(texts)[: table.keys], False)]
    columns, grouped = choices[-1]
    keys = keys_of(columns, grouped=grouped)
    for columns, grouped in choices:
        keys = keys_of(columns, grouped=grouped)
        if len(set(map(tuple, keys.values()))) == len(keys):
            break
    else:
        repeated = pd.Series(keys).map(tuple).duplicated()
        row = repeated.idxmax()
        raise DataError(
            path,
            f"row {row + 1} of the table",
            fault=f"has the same name as another row: {' / '.join(keys[row])}",
            fix="give each row its own name",
        )
    if groups and not grouped:
        notes.append(f"Not needed to name the rows: {shorten(groups.values())}.")
    if unused := [column for column in texts if column not in columns]:
        headings = []
        for column in unused:
            _refuse_numbers(path, table, head, body, column)
            cells = (split_cell(table.rows[row][column]) for row in body)
            count = sum(bool(cell) and is_numeric(cell[0]) for cell in cells)
            label = label_of_column(table, head, column)
            headings.append(f"{label} ({pluralise(count, 'number')})" if count else label)
        notes.append(
            f"Not imported, since it is text that does not name the rows: {shorten(headings)}."
        )
    names = [
        _key_name(table, head, column, "system" if column == columns[-1] else "group")
        for column in columns
    ]
    if len({"group", *names}) < len(names) + grouped:
        names = [f"{name}_{number}" for number, name in enumerate(names, 1)]
    return RowNames(columns, ["group"] * grouped + names, keys)


def _refuse_numbers(
    path: object, table: SourceTable, head: int, body: Sequence[int], column: int
) -> None:
    """Refuse a column that is about to be left out as text although it has numbers."""
    texts = {row: table.rows[row][column].text for row in body if table.rows[row][column].text}
    with_digits = [row for row, text in texts.items() if begins_with_number(text)]
    unread = [row for row in with_digits if split_cell(table.rows[row][column]) is None]
    if 2 * len(with_digits) > len(texts) and unread:
        row = unread[0]
        raise DataError(
            path,
            f"row {row + 1} of the table",
            label_of_column(table, head, column),
            texts[row],
            expected=READABLE,
            fix="write it as a number, or remove the column",
        )


def _has_words(table: SourceTable, body: Sequence[int], column: int) -> bool:
    texts = [table.rows[row][column].text for row in body]
    return 2 * sum(bool(_WORD.search(text)) for text in texts) > len(texts)


def _fill_down(table: SourceTable, body: Sequence[int], texts: Sequence[int]) -> None:
    """Repeat labels that stand once for several rows; the last column of labels is complete."""
    for column in texts[:-1]:
        above = None
        for row in body:
            if table.rows[row][column].text:
                above = table.rows[row][column]
            elif above is not None:
                table.rows[row][column] = above


def _group_of(row: int, groups: dict[int, str]) -> str:
    above = [heading for heading in groups if heading < row]
    return groups[max(above)] if above else "–"


def _key_name(table: SourceTable, head: int, column: int, default: str) -> str:
    heading = label_of_column(table, head, column)
    name = re.sub(r"\W+", "_", heading.lower()).strip("_")
    if _COLLECTIONS.fullmatch(name):
        return "collection"
    if _MEASURES.fullmatch(name):
        return "metric"
    unnamed = not name or name in DESCRIPTION or heading == f"column {column + 1}"
    return default if unnamed else name


def name_columns(
    table: SourceTable,
    head: int,
    numbers: Sequence[int],
    measure: str | None,
    row_names: Sequence[str],
) -> tuple[dict[int, list[str]], list[str]]:
    """Keys of each column of values, and their names.

    Of two levels of headings, the one with names of measures is `metric`, by default the lower.
    """
    texts = _headings(table, head, numbers)
    # A level that is the same for all columns distinguishes no columns.
    levels = [row for row in range(head) if len({texts[column][row] for column in numbers}) > 1]
    levels = levels or [head - 1]
    keys = {
        column: [headings[row] or f"column {column + 1}" for row in levels]
        for column, headings in texts.items()
    }
    if len(numbers) == 1 and texts[numbers[0]][-1].lower() == "value":
        # One value per row: its heading is no key.
        if measure is not None:
            return {numbers[0]: [measure]}, ["metric"]
        if "metric" in row_names:
            return {numbers[0]: []}, []
    free = next(name for name in ("collection", "system", "heading") if name not in row_names)
    if measure is None and "metric" in row_names:
        name = "system" if "system" not in row_names else free
        return {column: [_join(key)] for column, key in keys.items()}, [name]
    is_named = any(is_measure(name) for key in keys.values() for name in key)
    if measure is None and numbers and not is_named:
        # A measure above all columns does not distinguish them, but names their values.
        headings = texts[numbers[0]]
        common = [headings[row] for row in range(head) if row not in levels]
        measure = next(filter(is_measure, common), None)
    if measure is not None:
        return {column: [_join(key), measure] for column, key in keys.items()}, [free, "metric"]
    if len(levels) == 1:
        names = [key[0] for key in keys.values()]
        if free == "collection" and len(names) > 1 and names_collections(names):
            return keys, ["collection"]
        split = {column: split_measure(key[0]) for column, key in keys.items()}
        if all(collection for _, collection in split.values()):
            return {column: [collection, name] for column, (name, collection) in split.items()}, [
                free,
                "metric",
            ]
        return keys, ["metric"]
    upper, lower = ({key[level] for key in keys.values()} for level in (0, -1))
    counts = [sum(map(is_measure, names)) for names in (upper, lower)]
    if counts[0] > counts[1]:
        keys = {column: [*key[1:], key[0]] for column, key in keys.items()}
    keys = {column: [_join(key[:-1]), key[-1]] for column, key in keys.items()}
    return keys, [free if max(counts) else "heading", "metric"]


def _headings(table: SourceTable, head: int, columns: Sequence[int]) -> dict[int, list[str]]:
    texts = {
        column: [_without_unit(without_sign(table.rows[row][column])) for row in range(head)]
        for column in columns
    }
    for row in range(head - 1):
        _widen(texts, row)
    return texts


def _widen(texts: dict[int, list[str]], row: int) -> None:
    """Fill blank headings beside one that belongs to a block of columns.

    Blocks are those between columns without values, or else those with equal headings below.
    """
    columns = list(texts)
    gaps = [right - left > 1 for left, right in itertools.pairwise(columns)]
    starts = [
        columns[0],
        *(right for right, is_gap in zip(columns[1:], gaps, strict=True) if is_gap),
    ]
    if len(starts) == 1:
        starts = [column for column in columns if texts[column][row]]
    blocks = [
        [column for column in columns if start <= column < end]
        for start, end in itertools.pairwise([*starts, columns[-1] + 1])
    ]
    if any(len({texts[column][row] for column in block} - {""}) != 1 for block in blocks):
        return
    below = [[texts[column][row + 1 :] for column in block] for block in blocks]
    if sum(map(len, blocks)) == len(columns) and all(names == below[0] for names in below):
        for block in blocks:
            name = next(texts[column][row] for column in block if texts[column][row])
            for column in block:
                texts[column][row] = name


def split_measure(heading: str) -> tuple[str, str]:
    """Measure of a heading such as "nDCG@10, dev queries", and its collection, if any.

    Only measures with a cut-off, and some known names, can have one: "P value" is no precision.
    """
    if is_measure(heading):
        return heading, ""
    words = heading.split()
    for measure, collection in ((words[:1], words[1:]), (words[-1:], words[:-1])):
        name = "".join(measure).strip("()[],;:")
        text = re.sub(r"^on\s|[-–—|/]$", "", " ".join(collection).strip("()[],;: ")).strip()
        if text and re.fullmatch(r".*@.*|MAP|MRR|nDCG", name, re.IGNORECASE) and is_measure(name):
            return name, text
    return "", ""


def measure_in_corner(
    table: SourceTable, head: int, numbers: Sequence[int], column: int
) -> tuple[str, str] | None:
    """Measure of all values and its collection, if that of the row names is one."""
    measure, collection = split_measure(label_of_column(table, head, column))
    headings = {name for names in _headings(table, head, numbers).values() for name in names}
    return (measure, collection) if measure and not any(map(is_measure, headings)) else None


def names_measures(
    table: SourceTable, head: int, numbers: Sequence[int], keys: Mapping[int, Sequence[str]]
) -> bool:
    """Whether the rows are named by measures, and the columns are not."""
    headings = {name for names in _headings(table, head, numbers).values() for name in names}
    rows = [is_measure(key[-1]) for key in keys.values()]
    return 2 * sum(rows) > len(rows) and not any(map(is_measure, headings))


def names_collections(names: Sequence[str]) -> bool:
    """Whether most names are those of well-known collections or tasks."""
    known = [is_collection(name) for name in names]
    return 2 * sum(known) > len(known)


def _join(headings: Sequence[str]) -> str:
    return " ".join(dict.fromkeys(headings))


def _without_unit(heading: str) -> str:
    return _UNIT.sub("", heading).strip(_ARROWS + " ")


def is_in_percent(table: SourceTable, head: int, column: int) -> bool:
    """Whether a heading says that the values below are percentages."""
    units = (_UNIT.search(table.rows[row][column].text) for row in range(head))
    return any(unit is not None and unit[1] == "%" for unit in units)
