"""JSON without a format of its own: objects in objects, and lists of objects."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from everycell.base.errors import DataError
from everycell.cli.importing.columns import STATISTICS, names_collections
from everycell.cli.importing.grids import SourceTable, check_size
from everycell.cli.importing.rows import shorten
from everycell.cli.importing.values import SourceCell
from everycell.cli.printing import pluralise

#: Largest number of objects in each other.
_LEVELS = 8
_DIGITS = r"(?:\d++\.?+\d*+|\.\d++)(?:[eE][-+]?+\d++)?+"
_NUMBER = re.compile(rf"[-+]?+{_DIGITS}\s?+(?:%|±\s?+{_DIGITS}%?+)?+\s?+[*†‡§¶]*+")
#: Largest number of characters of a text with a number; a mean and its deviation have 51.
_LONGEST = 80
#: Names of a level that only hold the next one, and what the names of that are.
_HOLDERS = {
    **dict.fromkeys(("results", "scores", "metrics", "evaluation", "evaluations"), ""),
    **dict.fromkeys(("models", "systems", "methods", "runs"), "System"),
    **dict.fromkeys(("datasets", "tasks", "benchmarks", "collections"), "Collection"),
}
#: Names of settings, which are no values beside those of a level above.
_SETTINGS = {"config", "configs", "args", "params", "hyperparameters", "settings"}
#: Names of a mean and its deviation.
_MEAN = {"mean", "std", "stdev", "sd"}
#: Names that Weights & Biases adds.
_OF_WANDB = {"_step", "_runtime", "_timestamp", "_wandb"}
#: Fields with numbers that name rows if no text does.
_ORDINALS = {"id", "k", "seed", "fold", "epoch", "step", "layer", "year", "shots", "index"}


def to_cell(value: Any, *, bold: bool = False) -> SourceCell:
    """Cell with a value of JSON."""
    # Half a surrogate pair, which JSON can contain, cannot be written.
    text = "" if value is None else str(value)
    text = text.encode(errors="backslashreplace").decode()
    return SourceCell(text, bold=bold, source=text)


def is_result(value: Any) -> bool:
    """Whether a value is a number, and not true or false."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_value(value: Any) -> bool:
    is_text = isinstance(value, str) and len(value) <= _LONGEST
    return is_result(value) or (is_text and _NUMBER.fullmatch(value.strip()) is not None)


def table_of_rows(path: object, objects: Sequence[dict[str, Any]]) -> SourceTable:
    """A row per object of names and numbers; without names, the file names its only row.

    MLflow prints a run as an object with its metrics within `data`. A blank does not mean
    "as above", which it may in a published table.
    """
    rows, notes = _without_internal(
        [
            {"run_name": content["info"].get("run_name"), **content["data"]["metrics"]}
            if isinstance(content.get("data"), dict)
            else content
            for content in objects
        ]
    )
    names = [*dict.fromkeys(name for row in rows for name in row)]
    check_size(path, len(rows) + 1, len(names) + 1)
    left_out: Counter[str] = Counter()
    values: dict[str, list[Any]] = {name: [row.get(name) for row in rows] for name in names}
    for name, column in values.items():
        # Settings that differ distinguish rows.
        if {value for value in column if isinstance(value, bool)} == {True, False}:
            values[name] = column = [
                str(value) if isinstance(value, bool) else value for value in column
            ]
        for index, value in enumerate(column):
            if isinstance(value, dict | list | bool):
                left_out[name] += 1
                column[index] = None
    filled = {
        name: contents
        for name, column in values.items()
        if (contents := [value for value in column if not _is_missing(value)])
    }
    numbers = [
        name
        for name, contents in filled.items()
        if any(map(is_result, contents)) or all(map(_is_value, contents))
    ]
    if not any(map(_is_value, (value for name in numbers for value in filled[name]))):
        raise KeyError
    notes += _note(left_out, "are lists, objects, true or false")
    if empty := [name for name in names if name not in (*filled, *left_out)]:
        notes.append(f"Not imported, since they are empty: {shorten(empty)}.")
    texts = [name for name in filled if name not in numbers]
    if not texts and len(rows) == 1:
        texts, values["system"] = ["system"], [Path(str(path)).stem]
    elif not texts:
        texts = [name for name in numbers if name.lower() in _ORDINALS][:1]
        numbers = [name for name in numbers if name not in texts]
        if not texts:
            raise DataError(
                path, fault="has objects without a name", fix="add a field such as `system`"
            )
    table = [[to_cell(name) for name in [*texts, *numbers]]]
    for index in range(len(rows)):
        row_names, results = (
            [values[name][index] for name in fields] for fields in (texts, numbers)
        )
        cells = [*map(to_cell, results)]
        if not all(map(_is_missing, row_names)):
            missing = SourceCell("–")
            cells[:0] = [missing if _is_missing(name) else to_cell(name) for name in row_names]
        elif all(map(_is_missing, results)):
            continue
        else:
            raise DataError(
                path, f"object {index + 1}", fault="has no name", fix=f"add {shorten(texts)}"
            )
        table.append(cells)
    return SourceTable(table, head=1, notes=notes)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _without_internal(rows: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """Objects without names that begin with `_`, and a note on those that only scripts write."""
    internal = Counter(name for row in rows for name in row if name.startswith("_"))
    notes = _note(
        Counter({name: count for name, count in internal.items() if name not in _OF_WANDB}),
        "begin with _",
    )
    return [{name: row[name] for name in row if name not in internal} for row in rows], notes


def nested_tables(path: object, content: dict[str, Any]) -> list[SourceTable]:
    """A table per depth at which objects in objects have numbers; names above become keys.

    Single numbers beside a table, such as a seed, are left out.
    """
    if rows := _rows_of_frame(content):
        return [table_of_rows(path, rows)]
    (content,), notes = _without_internal([content])
    rows_by_depth: dict[int, dict[tuple[str, ...], dict[str, Any]]] = {}
    has_holder = any(name.lower() in _HOLDERS for name in content)
    left_out = Counter(name for name in content if has_holder and name.lower() in _SETTINGS)
    content = {name: value for name, value in content.items() if name not in left_out}
    lists: dict[str, list[Any]] = {}
    for (*keys, name), value in _entries(path, content, ()):
        if _is_value(value):
            rows_by_depth.setdefault(len(keys), {}).setdefault(tuple(keys), {})[name] = value
        elif not keys and _is_list_of_results(value):
            lists[name] = value
        else:
            left_out[name] += 1
    has_table = any(
        max(Counter(name for row in rows.values() for name in row).values()) > 1
        for depth, rows in rows_by_depth.items()
        if depth
    )
    if has_table:
        left_out.update([*rows_by_depth.pop(0, {(): {}})[()]])
        left_out.update({name: len(rows) for name, rows in lists.items()})
        lists = {}
    notes += _note(left_out, "are beside the values")
    tables = [_nested_table(path, rows_by_depth[depth], notes) for depth in sorted(rows_by_depth)]
    tables += [table_of_rows(path, rows) for rows in lists.values()]
    if not tables:
        raise KeyError
    return tables


def _is_list_of_results(value: Any) -> bool:
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, dict) and any(map(_is_value, first.values()))


def _rows_of_frame(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of what `DataFrame.to_json` writes: columns, each an object by number of row."""
    columns = [*content.values()]
    if not columns or not all(isinstance(column, dict) and column for column in columns):
        return []
    if not all([*column] == [str(row) for row in range(len(columns[0]))] for column in columns):
        return []
    return [{name: content[name][row] for name in content} for row in columns[0]]


def _entries(
    path: object, content: dict[str, Any], keys: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Entries that are no objects, with the names above them."""
    if len(keys) > _LEVELS:
        raise DataError(
            path, fault=f"has more than {_LEVELS} objects in each other", fix="give a part of it"
        )
    for name, value in content.items():
        if isinstance(value, dict) and "mean" in value and value.keys() <= _MEAN:
            yield (*keys, name), _with_deviation(**value)
            continue
        if isinstance(value, dict) and value and value.keys() <= STATISTICS:
            raise KeyError
        # Weights & Biases describes files by objects with a type.
        if isinstance(value, dict) and "_type" not in value:
            yield from _entries(path, value, (*keys, name))
        else:
            yield (*keys, name), value


def _with_deviation(mean: Any, **deviations: Any) -> Any:
    return " ± ".join(map(str, [mean, *deviations.values()])) if deviations else mean


def _nested_table(
    path: object, rows: dict[tuple[str, ...], dict[str, Any]], notes: list[str]
) -> SourceTable:
    headings: list[str] = []
    columns: list[Sequence[str]] = []
    meaning = ""
    for names in zip(*rows, strict=True):
        if len({*names}) == 1 and names[0].lower() in _HOLDERS:
            meaning = _HOLDERS[names[0].lower()]
            continue
        is_known = names_collections([*dict.fromkeys(names)])
        headings.append(meaning or "Collection" * is_known)
        columns.append(names)
        meaning = ""
    if not columns:
        headings.append("System")
        columns.append([Path(str(path)).stem] * len(rows))
    # Two levels without a known meaning may be systems and tasks or the reverse.
    if headings.count("") == 1 and "System" not in headings:
        headings[headings.index("")] = "System"
    if "" in headings or len({*headings}) < len(headings):
        headings = [f"Level {number}" for number in range(1, len(headings) + 1)]
    measures = [*dict.fromkeys(name for row in rows.values() for name in row)]
    check_size(path, len(rows) + 1, len(headings) + len(measures))
    table = [[*headings, *measures]]
    for *names, row in zip(*columns, rows.values(), strict=True):
        table.append([*names, *map(row.get, measures)])
    cells = [[to_cell(value) for value in row] for row in table]
    return SourceTable(cells, head=1, keys=len(headings), notes=notes)


def _note(left_out: Counter[str], reason: str) -> list[str]:
    if not left_out:
        return []
    count = pluralise(left_out.total(), "value")
    return [f"Not imported, since they {reason}: {shorten(left_out)} ({count})."]
