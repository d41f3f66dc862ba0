"""Headings and row names of a published table, which become the keys of its values."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import pandas as pd

from everycell.base.errors import DataError
from everycell.cli.importing.grids import SourceTable
from everycell.cli.importing.rows import (
    complete_additions,
    count_titles,
    is_group,
    is_measure,
    is_spanning,
    repeats_column,
    shorten,
)
from everycell.cli.importing.values import (
    READABLE,
    SourceCell,
    begins_with_number,
    is_mark,
    is_numeric,
    is_time,
    split_cell,
)
from everycell.cli.printing import pluralise
from everycell.records.cells import DESCRIPTION

_SIZE = re.compile(r"\d[\d,]*\s?[kKMBGT]?")
_WORD = re.compile(r"[^\W\d_]{2}")
_COLLECTIONS = re.compile(
    r"(test_)?(data_?sets?|collections?|corpus|corpora|benchmarks?|tasks?)(_and_\w+|_names?)?"
    r"|test_sets?"
)
_SYSTEMS = re.compile(r"models?|systems?|methods?|approach(es)?|runs?", re.IGNORECASE)
#: Also in Portuguese, Spanish, French, Italian and German.
_MEASURES = re.compile(r"m[eé](asure|sure|dida|tri(c|ca|k|que))s?|metriken|misur[ae]|maße?")


def count_head(table: SourceTable) -> int:
    """Rows of the heading: those declared, and rows directly below that go on with it.

    Such a row has no values, and its first cell is blank or that of the row above: a row with a
    name of its own is data, even if none of its values can be read. Exceptions are rows below
    titles, and below blank first cells and headings across columns, if all columns have words.
    """
    titles = 0 if is_system_heading(table.rows[0][0].text) else count_titles(table.rows)
    head = max(table.head, titles, 1)
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


def choose_names(path: object, table: SourceTable, name: str) -> SourceTable:
    """Table whose rows are named by one column only."""
    head = count_head(table)
    columns = [column for column in range(len(table.rows[0])) if not repeats_column(table, column)]
    labels = [label_of_column(table, head, column) for column in columns]
    if labels.count(name) != 1:
        raise DataError(
            path,
            column=name,
            fault=f"is the heading of {pluralise(labels.count(name), 'column')}",
            expected=f"one column of {shorten(labels)}",
            fix="correct --names",
        )
    return replace(table, names=(columns[labels.index(name)],))


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
    numbers: Sequence[int],
    notes: list[str],
) -> RowNames:
    """Name the rows by the fewest columns of text, and by headings of groups if needed.

    If these do not suffice, columns of sizes that follow them name the rows too.
    """
    groups = {
        row: next(cell.text for cell in table.rows[row] if cell.text)
        for row in range(head, len(table.rows))
        if is_group(table.rows[row])
    }
    if not texts:
        raise DataError(path, fault="has a table without names of rows", fix="add a first column")
    # Labels may stand in rows that have no values.
    rows = [row for row in range(head, len(table.rows)) if not is_spanning(table.rows[row])]
    marks = [column for column in texts if _has_marks(table, rows, column)]
    # The last column of labels is complete.
    columns = [column for column in texts if column in [*texts[:-1], *marks]]
    _fill_down(table, rows, table.names or columns, marks)
    leading = [column for number, column in enumerate(texts) if column == texts[0] + number]
    # Names come before numbers of rows and references such as "[1] (2a)".
    # Check marks distinguish rows only together with other columns.
    words = [
        column for column in leading if column not in marks and _has_words(table, body, column)
    ]
    words.sort(key=lambda column: not _SYSTEMS.fullmatch(label_of_column(table, head, column)))

    def keys_of(columns: Sequence[int], *, grouped: bool) -> dict[int, list[str]]:
        heading = {row: [_group_of(row, groups)] if grouped else [] for row in body}
        return {
            row: heading[row] + [without_sign(table.rows[row][column]) for column in columns]
            for row in body
        }

    # A dash where the source has nothing is no name by itself.
    complete = [
        column
        for column in leading
        if column not in marks and not any(_is_blank(table.rows[row][column]) for row in body)
    ]
    choices = [([column], False) for column in words if column in complete]
    choices += [(sorted(words), False)] * bool(words)
    choices += [([column], False) for column in complete if column not in words]
    choices += [(leading, False), (list(texts), False)]
    choices += [([texts[0]], True), (leading, True)] if groups else []
    is_given = bool(table.keys or table.names)
    if is_given:
        choices = [(list(table.names) or list(texts)[: table.keys], False)]
    for columns, grouped in choices:
        keys = keys_of(columns, grouped=grouped)
        if len(columns) + grouped == 1:
            names = complete_additions([name for (name,) in keys.values()])
            keys = {row: [name] for row, name in zip(keys, names, strict=True)}
        if _are_unique(keys, table):
            break
    if not _are_unique(keys, table) and not is_given:
        # Below a label that stands once, only the sizes differ.
        _fill_down(table, rows, texts, marks)
        columns, grouped = list(leading), False
        for column in _sizes(table, head, body, leading[-1] + 1, numbers):
            columns.append(column)
            if _are_unique(keys_of(columns, grouped=False), table):
                names = shorten(
                    label_of_column(table, head, size) for size in columns[len(leading) :]
                )
                notes.append(f"Names of rows, although they are numbers: {names}.")
                break
        keys = keys_of(columns, grouped=False)
    if not _are_unique(keys, table):
        repeated = pd.Series(_with_seeds(keys, table)).duplicated()
        row = repeated.idxmax()
        raise DataError(
            path,
            f"row {row + 1} of the table",
            fault=f"has the same name as another row: {' / '.join(keys[row])}",
            fix="give each row its own name",
        )
    if table.seeds and not is_given and not grouped:
        # Rows of several seeds may differ in more than the seed, such as in a setting.
        columns = sorted([*columns, *_varying(table, body, texts, columns)])
        keys = keys_of(columns, grouped=False)
    if groups and not grouped:
        notes.append(
            f"Not imported: {pluralise(len(groups), 'row')} without values, not needed to name "
            f"other rows: {shorten(groups.values())}."
        )
    if alternatives := [
        column
        for column in texts
        if column not in [*columns, *marks]
        and not is_given
        and _has_words(table, body, column)
        and _unread_number(table, body, column) is None
        and not _count_numbers(table, body, column)
        and _are_unique(keys_of([column], grouped=False), table)
    ]:
        used, unused = (
            [label_of_column(table, head, column) for column in columns_of_kind]
            for columns_of_kind in (columns, alternatives)
        )
        notes.append(
            f"Not imported, since {shorten(used)} already names the rows: {shorten(unused)}. To "
            f"choose another column, add --names {shlex.quote(unused[0])}."
        )
    if unused := [column for column in texts if column not in [*columns, *alternatives]]:
        texts_left_out, unread = [], []
        for column in unused:
            count = _count_numbers(table, body, column)
            details = [pluralise(count, "number")] if count else []
            label = label_of_column(table, head, column)
            row = _unread_number(table, body, column)
            if row is None:
                texts_left_out.append(_with_details(label, details))
                continue
            text = table.rows[row][column].text
            if is_measure(label) or not set(numbers) - set(columns):
                raise DataError(
                    path,
                    f"row {row + 1} of the table",
                    label,
                    text,
                    expected=READABLE,
                    fix="write it as a number, or remove the column",
                )
            unread.append(_with_details(label, [f"'{text}'", *details]))
        for reason, headings in (
            ("text that does not name the rows", texts_left_out),
            ("not understood as numbers", unread),
        ):
            if headings:
                notes.append(f"Not imported, since it is {reason}: {shorten(headings)}.")
    if blank := [
        label_of_column(table, head, column)
        for column in columns
        if any(_is_blank(table.rows[row][column]) for row in body)
    ]:
        notes.append(f'Read as –, since blanks here do not mean "as above": {shorten(blank)}.')
    names = [
        _key_name(table, head, column, "system" if column == columns[-1] else "group")
        for column in columns
    ]
    if names.count("metric") > 1:
        # Headings such as "Metric" and "Measure" differ.
        names = [_plain(label_of_column(table, head, column)) for column in columns]
    if len({*["group"] * grouped, *names}) < len(names) + grouped:
        names = [f"{name}_{number}" for number, name in enumerate(names, 1)]
    keys = {row: [name or "–" for name in key] for row, key in keys.items()}
    return RowNames(columns, ["group"] * grouped + names, keys)


def _varying(
    table: SourceTable, body: Sequence[int], texts: Sequence[int], columns: Sequence[int]
) -> list[int]:
    """Columns of text, other than times, that differ between rows with the same names."""
    names = [tuple(table.rows[row][column].text for column in columns) for row in body]
    varying = []
    for column in set(texts) - {*columns}:
        values = [table.rows[row][column].text for row in body]
        differs = len({*zip(names, values, strict=True)}) > len({*names})
        varying += [column] * (differs and not all(map(is_time, values)))
    return varying


def _with_seeds(keys: dict[int, list[str]], table: SourceTable) -> dict[int, tuple[str, ...]]:
    return {row: (*key, *table.seeds[row : row + 1]) for row, key in keys.items()}


def _are_unique(keys: dict[int, list[str]], table: SourceTable) -> bool:
    is_unique = len({*_with_seeds(keys, table).values()}) == len(keys)
    return is_unique and all(map(any, keys.values()))


def _sizes(
    table: SourceTable, head: int, body: Sequence[int], first: int, numbers: Sequence[int]
) -> Iterator[int]:
    """Columns from one on that have whole numbers, such as 7B, and no measure as heading."""
    for column in range(first, max(numbers, default=0)):
        if column not in numbers or is_measure(label_of_column(table, head, column)):
            return
        if not all(_SIZE.fullmatch(table.rows[row][column].text) for row in body):
            return
        yield column


def _count_numbers(table: SourceTable, body: Sequence[int], column: int) -> int:
    cells = (split_cell(table.rows[row][column]) for row in body)
    return sum(bool(cell) and is_numeric(cell[0]) for cell in cells)


def _unread_number(table: SourceTable, body: Sequence[int], column: int) -> int | None:
    """First row with a number that is not understood, such as $154, if most texts have digits."""
    texts = {row: table.rows[row][column].text for row in body if table.rows[row][column].text}
    with_digits = [row for row, text in texts.items() if begins_with_number(text)]
    unread = (row for row in with_digits if split_cell(table.rows[row][column]) is None)
    return next(unread, None) if 2 * len(with_digits) > len(texts) else None


def _with_details(label: str, details: Sequence[str]) -> str:
    return f"{label} ({', '.join(details)})" if details else label


def _has_words(table: SourceTable, body: Sequence[int], column: int) -> bool:
    texts = [table.rows[row][column].text for row in body]
    return 2 * sum(bool(_WORD.search(text)) for text in texts) > len(texts)


def _has_marks(table: SourceTable, rows: Sequence[int], column: int) -> bool:
    """Whether a column has only check marks, crosses, yes or no, among which a blank means no."""
    texts = [text for row in rows if (text := table.rows[row][column].text)]
    return bool(texts) and all(map(is_mark, texts))


def _is_blank(cell: SourceCell) -> bool:
    """Whether the source has nothing here, and no label above stands for it."""
    return cell.text in ("", "–") and not cell.source


def _fill_down(
    table: SourceTable, rows: Sequence[int], columns: Sequence[int], marks: Sequence[int]
) -> None:
    """Repeat labels that stand once for several rows, in rows without a name of their own before.

    A blank behind such a name, or among check marks, does not mean "as above".
    """
    above: dict[int, SourceCell] = {}
    for row in rows:
        cells, is_below = table.rows[row], True
        for column in columns:
            cell = cells[column]
            if cell.text:
                # A label repeated here has no source, and one across rows is the same cell.
                is_repeated = not cell.source or cell is table.rows[row - 1][column]
                is_below, above[column] = is_below and is_repeated, cell
            elif column in marks:
                cells[column] = replace(cell, text="–")
            elif is_below and column in above:
                cells[column] = replace(above[column], source=cell.source)
            else:
                above.pop(column, None)


def _group_of(row: int, groups: dict[int, str]) -> str:
    above = [heading for heading in groups if heading < row]
    return groups[max(above)] if above else "–"


def _plain(heading: str) -> str:
    return re.sub(r"\W+", "_", heading.lower()).strip("_")


def is_collection_heading(heading: str) -> bool:
    """Whether cells below a heading are names of collections."""
    return _COLLECTIONS.fullmatch(_plain(heading)) is not None


def is_system_heading(heading: str) -> bool:
    """Whether cells below a heading are names of systems."""
    return _SYSTEMS.fullmatch(heading) is not None


def is_measure_heading(heading: str) -> bool:
    """Whether cells below a heading are names of measures."""
    return _MEASURES.fullmatch(_plain(heading)) is not None


def key_of_heading(heading: str) -> str:
    """Name of the key column below a heading; empty if the heading names none."""
    if is_collection_heading(heading):
        return "collection"
    if is_measure_heading(heading):
        return "metric"
    name = _plain(heading)
    return "" if name in DESCRIPTION else name


def _key_name(table: SourceTable, head: int, column: int, default: str) -> str:
    heading = label_of_column(table, head, column)
    return (heading != f"column {column + 1}" and key_of_heading(heading)) or default
