"""JSON without a format of its own: objects in objects, and lists of objects."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from everycell.base.errors import DataError
from everycell.cli.importing.columns import names_collections
from everycell.cli.importing.grids import SourceTable, check_size
from everycell.cli.importing.rows import shorten
from everycell.cli.importing.values import SourceCell

#: Largest number of objects in each other.
_LEVELS = 8
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s?(%|±\s?\d+(\.\d+)?)?")
#: Names of a level that only hold the next one, and what the names of that are.
_HOLDERS = {
    **dict.fromkeys(("results", "scores", "metrics", "evaluation", "evaluations"), ""),
    **dict.fromkeys(("models", "systems", "methods", "runs"), "System"),
    **dict.fromkeys(("datasets", "tasks", "benchmarks", "collections"), "Collection"),
}
#: Names of a mean and its deviation, and of other statistics.
_MEAN = {"mean", "std", "stdev", "sd"}
_STATISTICS = _MEAN | {"median", "min", "max", "count", "sem", "var", "variance", "stderr"}
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
    is_text = isinstance(value, str) and len(value) < 40
    return is_result(value) or (is_text and _NUMBER.fullmatch(value.strip()) is not None)


def table_of_rows(path: object, objects: Sequence[dict[str, Any]]) -> SourceTable:
    """A row per object of names and numbers; without names, the file names its only row.

    MLflow prints a run as an object with its metrics within `data`; names that begin with `_` are
    those that Weights & Biases adds.
    """
    rows = [
        {"run_name": content["info"].get("run_name"), **content["data"]["metrics"]}
        if isinstance(content.get("data"), dict)
        else {name: value for name, value in content.items() if not name.startswith("_")}
        for content in objects
    ]
    names = [*dict.fromkeys(name for row in rows for name in row)]
    check_size(path, len(rows) + 1, len(names) + 1)
    left_out = Counter(
        name for row in rows for name, value in row.items() if isinstance(value, dict | list | bool)
    )
    values: dict[str, list[Any]] = {
        name: [row.get(name) for row in rows] for name in names if name not in left_out
    }
    filled = {
        name: contents
        for name, column in values.items()
        if (contents := [value for value in column if value not in (None, "")])
    }
    numbers = [
        name
        for name, contents in filled.items()
        if any(map(is_result, contents)) or all(map(_is_value, contents))
    ]
    if not any(map(_is_value, (value for name in numbers for value in filled[name]))):
        raise KeyError
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
    heading = [*texts, *numbers]
    table = [heading, *zip(*(values[name] for name in heading), strict=True)]
    cells = [[to_cell(value) for value in row] for row in table]
    notes = _note(left_out, "are lists, objects, true or false")
    notes += _note(
        Counter([name for name in values if name not in (*filled, "system")]), "are empty"
    )
    return SourceTable(cells, head=1, notes=notes)


def nested_tables(path: object, content: dict[str, Any]) -> list[SourceTable]:
    """A table per depth at which objects in objects have numbers; names above become keys.

    Single numbers beside a table, such as a seed, are left out.
    """
    content = {name: value for name, value in content.items() if not name.startswith("_")}
    if rows := _rows_of_frame(content):
        return [table_of_rows(path, rows)]
    rows_by_depth: dict[int, dict[tuple[str, ...], dict[str, Any]]] = {}
    left_out: Counter[str] = Counter()
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
    notes = _note(left_out, "are beside the values")
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
        if isinstance(value, dict) and value and value.keys() <= _STATISTICS:
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
    entries = f"{left_out.total()} {'entry' if left_out.total() == 1 else 'entries'}"
    return [f"Not imported, since they {reason}: {shorten(left_out)} ({entries})."]
