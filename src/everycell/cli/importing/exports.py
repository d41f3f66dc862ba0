"""Results that evaluation tools write: lm-evaluation-harness, HELM, MLflow, Weights & Biases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from everycell.base.errors import DataError
from everycell.base.untrusted import parse_json, with_single_keys
from everycell.cli.importing.grids import SourceTable, check_size
from everycell.cli.importing.values import SourceCell

#: Columns of exports that describe a run and are neither its name nor a result.
_DESCRIPTION = {
    "start time", "duration", "run id", "source type", "source name", "source version", "user",
    "status", "id", "state", "notes", "tags", "created", "updated", "end time", "runtime", "sweep",
    "hostname", "github", "gpu type", "gpu count",
}  # fmt: skip
#: Headings, in lower case, by which an export is recognised.
_EXPORTS = ({"run id", "name", "source type"}, {"name", "state", "created", "runtime"})
#: Beginning of the columns of values and column of the name in `mlflow.search_runs().to_csv()`.
_METRICS, _RUN_NAME = "metrics.", "tags.mlflow.runName"


def json_tables(path: object, text: str) -> list[SourceTable]:
    """Tables of HELM's groups, or the results of lm-evaluation-harness as one table."""
    try:
        content = parse_json(text, make_object=with_single_keys)
    except ValueError as error:
        raise DataError(path, fault=f"is not JSON ({error})", fix="replace the file") from None
    try:
        if isinstance(content, dict) and isinstance(content.get("results"), dict):
            return [_harness_table(path, content)]
        tables = content if isinstance(content, list) else [content]
        return [_helm_table(path, table) for table in tables]
    except (AttributeError, KeyError, TypeError):
        raise DataError(
            path,
            fault="has no results",
            expected="JSON of lm-evaluation-harness (`results` by task) or of a group of HELM "
            "(tables with `header` and `rows`)",
        ) from None


def _cell(value: Any, *, bold: bool = False) -> SourceCell:
    # Half a surrogate pair, which JSON can contain, cannot be written.
    text = "" if value is None else str(value)
    text = text.encode(errors="backslashreplace").decode()
    return SourceCell(text, bold=bold, source=text)


def _harness_table(path: object, content: dict[str, Any]) -> SourceTable:
    """A row per task; sample sizes and standard errors are left out, as tables have none."""
    config = content.get("config") or {}
    model = content.get("model_name") or config.get("model_args") or config.get("model")
    values: dict[str, dict[str, Any]] = {}
    for task, results in content["results"].items():
        values[task] = {}
        for name, value in results.items():
            metric, _, kind = name.partition(",")
            is_value = isinstance(value, int | float) and not isinstance(value, bool)
            if is_value and metric != "sample_len" and not metric.endswith("_stderr"):
                label = metric if kind in ("", "none") else f"{metric} ({kind})"
                if label in values[task] and values[task][label] != value:
                    raise DataError(
                        path,
                        column=f"{label} of {task}",
                        value=value,
                        fault=f"but also {values[task][label]}",
                        fix="remove one of the two",
                    )
                values[task][label] = value
    metrics = list(dict.fromkeys(name for results in values.values() for name in results))
    check_size(path, len(values) + 1, len(metrics) + 2)
    rows = [["System", "Task", *metrics]]
    rows += [
        [model or "model", task, *map(results.get, metrics)]
        for task, results in values.items()
        if results
    ]
    return SourceTable([[_cell(value) for value in row] for row in rows], head=1, keys=2)


def _helm_table(path: object, table: dict[str, Any]) -> SourceTable:
    heading = [_cell(cell["value"]) for cell in table["header"]]
    rows = [
        [
            _cell(cell.get("value"), bold=(cell.get("style") or {}).get("font-weight") == "bold")
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


def columns_of_export(heading: Sequence[str]) -> dict[int, str] | None:
    """Columns of names and results in a CSV of MLflow or W&B, with their headings; else None."""
    if _RUN_NAME in heading:
        columns = {heading.index(_RUN_NAME): "System"}
        return columns | {
            column: name.removeprefix(_METRICS)
            for column, name in enumerate(heading)
            if name.startswith(_METRICS)
        }
    names = [name.strip().lower() for name in heading]
    if not any(export <= set(names) for export in _EXPORTS):
        return None
    columns = {names.index("name"): "System"}
    return columns | {
        column: heading[column]
        for column, name in enumerate(names)
        if name not in _DESCRIPTION and name != "name" and not name.startswith("_")
    }
