"""JSON without a format of its own: objects in objects, and lists of objects."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
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
_SETTINGS = {
    *("config", "configs", "args", "arguments", "params", "parameters", "settings"),
    *("hparams", "hyperparameters"),
}
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
    rows = _with_inner_measures(rows)
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


def _without_internal(content: Any) -> tuple[Any, list[str]]:
    """Content without names that begin with `_`, and a note on those that only scripts write."""
    internal: Counter[str] = Counter()

    def clean(value: Any) -> Any:
        if isinstance(value, list):
            return [clean(item) for item in value]
        if not isinstance(value, dict) or _is_file(value):
            return value
        internal.update(name for name in value if name.startswith("_"))
        return {name: clean(inner) for name, inner in value.items() if not name.startswith("_")}

    content = clean(content)
    of_scripts = Counter({name: n for name, n in internal.items() if name not in _OF_WANDB})
    return content, _note(of_scripts, "begin with _")


def _is_file(content: dict[str, Any]) -> bool:
    # Weights & Biases describes files by objects with a type.
    return "_type" in content


def _is_mean(value: Any) -> bool:
    return isinstance(value, dict) and "mean" in value and value.keys() <= _MEAN


def _has_measures(value: Any) -> bool:
    """Whether a value is an object of numbers, or of means with deviations."""
    if not isinstance(value, dict) or not value or _is_file(value):
        return False
    return all(_is_value(inner) or _is_mean(inner) for inner in value.values())


def _with_inner_measures(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with the measures of objects in them, such as `metrics`, that most rows have.

    A measure keeps its name if the object only holds it, or is the only one; otherwise, or if
    another field has that name, the name of the object is written before it.
    """
    fields: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row.items():
            if not _is_missing(value):
                fields.setdefault(name, []).append(value)
    inner = {
        name: dict.fromkeys(field for value in values for field in value)
        for name, values in fields.items()
        if name.lower() not in _SETTINGS and all(map(_has_measures, values))
        if 2 * len(values) > len(rows)
    }
    uses = Counter([*fields, *(field for names in inner.values() for field in names)])
    labels = {
        (name, field): field
        if uses[field] == 1 and (_HOLDERS.get(name.lower()) == "" or is_only)
        else f"{name} {field}"
        for name, names in inner.items()
        for is_only in [len(inner) == 1 and not names.keys() <= STATISTICS]
        for field in names
    }
    flat = []
    for row in rows:
        flat.append({name: value for name, value in row.items() if name not in inner})
        for name in inner:
            for field, value in (row.get(name) or {}).items():
                number = _with_deviation(**value) if _is_mean(value) else value
                flat[-1][labels[name, field]] = number
    return flat


def nested_tables(path: object, content: dict[str, Any]) -> list[SourceTable]:
    """A table per depth at which objects in objects have numbers; names above become keys.

    Single numbers beside a table, such as a seed, are left out. Beside `results`, each other block
    is a table of its own.
    """
    if rows := _rows_of_frame(content):
        return [table_of_rows(path, rows)]
    content, notes = _without_internal(content)
    has_holder = any(name.lower() in _HOLDERS for name in content)
    has_results = any(_HOLDERS.get(name.lower()) == "" for name in content)
    left_out = Counter(name for name in content if has_holder and name.lower() in _SETTINGS)
    content = {name: value for name, value in content.items() if name not in left_out}
    #: Block and depth -> names above the values -> values by measure.
    blocks: dict[tuple[str, int], dict[tuple[str, ...], dict[str, Any]]] = {}
    lists: dict[str, list[Any]] = {}
    for (*keys, name), value in _entries(path, content, ()):
        if _is_value(value):
            block = keys[0] if has_results and keys else ""
            rows_of_block = blocks.setdefault((block, len(keys)), {})
            # The name of a block that is a table of its own is no key.
            is_title = block and len(keys) > 1 and block.lower() not in _HOLDERS
            rows_of_block.setdefault(tuple(keys[1:] if is_title else keys), {})[name] = value
        elif not keys and _is_list_of_results(value):
            lists[name] = value
        else:
            left_out[name] += 1
    has_table = any(
        max(Counter(name for row in rows.values() for name in row).values()) > 1
        for (_, depth), rows in blocks.items()
        if depth
    )
    results = [name for name in lists if _HOLDERS.get(name.lower()) == ""]
    if has_table or results:
        left_out.update([*blocks.pop(("", 0), {(): {}})[()]])
    if has_table:
        left_out.update({name: len(rows) for name, rows in lists.items() if name not in results})
        lists = {name: lists[name] for name in results}
    notes += _note(left_out, "are beside the values")
    # Of equal depth, the blocks are in the order of the file.
    tables = [
        (name, _nested_table(path, rows, notes))
        for (name, _), rows in sorted(blocks.items(), key=lambda block: block[0][1])
    ]
    for name, rows in lists.items():
        table = table_of_rows(path, rows)
        tables.append((name, replace(table, notes=[*table.notes, *notes])))
    if not tables:
        raise KeyError
    tables.sort(key=lambda table: _HOLDERS.get(table[0].lower()) != "")
    return [
        replace(table, caption=f"{name}: {' | '.join(cell.text for cell in table.rows[0])}")
        if name
        else table
        for name, table in tables
    ]


def _is_list_of_results(value: Any) -> bool:
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, dict) and any(
        _is_value(field) or _has_measures(field) for field in first.values()
    )


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
        if _is_mean(value):
            yield (*keys, name), _with_deviation(**value)
            continue
        if isinstance(value, dict) and value and value.keys() <= STATISTICS:
            raise KeyError
        if isinstance(value, dict) and not _is_file(value):
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
