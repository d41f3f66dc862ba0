"""JSON results: of lm-evaluation-harness, HELM, ranx and MTEB; others are in `json_rows`."""

from __future__ import annotations

import json
import re
from typing import Any

from everycell.base.errors import DataError
from everycell.base.untrusted import parse_json
from everycell.cli.importing.grids import SourceTable, check_size
from everycell.cli.importing.json_rows import is_result, nested_tables, table_of_rows, to_cell
from everycell.cli.importing.rows import shorten

#: Keys beside `results` that only files of lm-evaluation-harness and lighteval have, and the form
#: of their measures, such as "acc,none". Scripts write `config` too.
_HARNESS = {"config_general", "versions", "n-shot"}
_MEASURE_AND_FILTER = re.compile(r"[^\s,]++,[^\s,]++")
_FORMS = (
    "JSON of lm-evaluation-harness (`results` by task), of a group of HELM (tables with `header` "
    "and `rows`), of a report of ranx (`model_names`), of a task of MTEB (`scores`), objects of "
    "values by measure in an object by system or task, or a list of objects with a name and values"
)


def json_tables(path: object, text: str) -> list[SourceTable]:
    """Tables of JSON, or of an object per line (JSON Lines)."""
    content = _parse(path, text)
    try:
        if isinstance(content, dict):
            return _tables_of_object(path, content)
        if all("header" in table for table in content):
            return [_helm_table(path, table) for table in content]
        return [table_of_rows(path, content)]
    except (AttributeError, KeyError, TypeError):
        raise DataError(path, fault="has no results", expected=_FORMS) from None


def _tables_of_object(path: object, content: dict[str, Any]) -> list[SourceTable]:
    results = content.get("results")
    if isinstance(results, dict) and (
        _HARNESS & content.keys()
        or any(
            _MEASURE_AND_FILTER.fullmatch(name)
            for result in results.values()
            if isinstance(result, dict)
            for name in result
        )
    ):
        return [_harness_table(path, content)]
    if "model_names" in content:
        return [_ranx_table(content)]
    if "task_name" in content and isinstance(content.get("scores"), dict):
        return [_mteb_table(path, content)]
    if "header" in content:
        return [_helm_table(path, content)]
    if isinstance(content.get("data"), dict) and isinstance(content.get("info"), dict):
        return [table_of_rows(path, [content])]
    return nested_tables(path, content)


def _parse(path: object, text: str) -> Any:
    """Content of JSON, or the list of the objects of JSON Lines."""
    try:
        return parse_json(text)
    except json.JSONDecodeError as error:
        fault = f"is not JSON (line {error.lineno}, column {error.colno}: {_reason(error)})"
    except ValueError as error:
        raise DataError(path, fault=f"is not JSON ({error})", fix="replace the file") from None
    # Other characters than line feeds may be part of texts.
    objects: list[Any] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            objects.append(parse_json(line))
        except ValueError as error:
            if objects:
                raise DataError(
                    path,
                    number,
                    fault=f"is not JSON ({_reason(error)}), unlike the lines before",
                    fix="write one object per line",
                ) from None
            raise DataError(path, fault=fault, fix="replace the file") from None
    return objects


def _reason(error: ValueError) -> str:
    message = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    return "text behind its end" if message == "Extra data" else message


def _mteb_table(path: object, content: dict[str, Any]) -> SourceTable:
    """A row with the main score per split and subset of a task."""
    rows, names = [["Task", "Split", "Subset", "main_score"]], {}
    for split, entries in content["scores"].items():
        for entry in entries:
            subset = entry.get("hf_subset", "default")
            rows.append([content["task_name"], split, subset, entry["main_score"]])
            names |= dict.fromkeys(name for name in entry if is_result(entry[name]))
    names.pop("main_score", None)
    check_size(path, len(rows), 4)
    notes = [f"Not imported, beside main_score: {shorten(names)}."] if names else []
    cells = [[to_cell(value) for value in row] for row in rows]
    return SourceTable(cells, head=1, keys=3, notes=notes)


def _harness_table(path: object, content: dict[str, Any]) -> SourceTable:
    """A row per task, with standard errors behind values; sample sizes are left out."""
    config = content.get("config") or {}
    model = content.get("model_name") or config.get("model_args") or config.get("model")
    if isinstance(model, dict):
        model = ",".join(f"{name}={value}" for name, value in model.items())
    values: dict[str, dict[str, Any]] = {}
    for task, results in content["results"].items():
        values[task] = {}
        for name, value in results.items():
            metric, _, kind = name.partition(",")
            if not is_result(value) or metric == "sample_len" or metric.endswith("_stderr"):
                continue
            label = metric if kind in ("", "none") else f"{metric} ({kind})"
            error = results.get(name.replace(metric, f"{metric}_stderr", 1))
            text = f"{value} ± {error}" if is_result(error) else str(value)
            if values[task].setdefault(label, text) != text:
                raise DataError(
                    path,
                    column=f"{label} of {task}",
                    value=value,
                    fault=f"but also {values[task][label]}",
                    fix="remove one of the two",
                )
    metrics = list(dict.fromkeys(name for results in values.values() for name in results))
    check_size(path, len(values) + 1, len(metrics) + 2)
    rows = [["System", "Task", *metrics]]
    rows += [
        [model or "model", task, *map(results.get, metrics)]
        for task, results in values.items()
        if results
    ]
    return SourceTable([[to_cell(value) for value in row] for row in rows], head=1, keys=2)


def _ranx_table(content: dict[str, Any]) -> SourceTable:
    """A row per system of a report of ranx."""
    rows = [["System", *content["metrics"]]]
    for name in content["model_names"]:
        rows.append([name, *(content[name]["scores"][metric] for metric in content["metrics"])])
    return SourceTable([[to_cell(value) for value in row] for row in rows], head=1, keys=1)


def _helm_table(path: object, table: dict[str, Any]) -> SourceTable:
    heading = [to_cell(cell["value"]) for cell in table["header"]]
    rows = [
        [
            to_cell(cell.get("value"), bold=(cell.get("style") or {}).get("font-weight") == "bold")
            for cell in row
        ]
        for row in table["rows"]
    ]
    for number, row in enumerate(rows, 1):
        if len(row) != len(heading):
            raise DataError(
                path, f"row {number}", fault=f"has {len(row)} cells", expected=f"{len(heading)}"
            )
    return SourceTable([heading, *rows], head=1, caption=str(table.get("title", "")))
