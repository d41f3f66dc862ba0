"""CSV, also of MLflow and Weights & Biases, and the output of trec_eval."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path

from everycell.base.errors import DataError
from everycell.cli.importing.grids import SourceTable, check_size, squeeze
from everycell.cli.importing.headings import is_collection_heading, is_measure_heading
from everycell.cli.importing.values import SourceCell
from everycell.records.cells import is_number

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

#: Ends of the names of files with runs and their evaluation.
_SUFFIXES = {
    ".run", ".trec", ".txt", ".tsv", ".res", ".out", ".eval", ".trec_eval", ".treceval", ".gz",
}  # fmt: skip
#: A line of trec_eval: measure, topic or "all", and value.
_TREC_EVAL = re.compile(r"[\w.@]+[ \t]+\S+[ \t]+\S.*")
#: Measures of which trec_eval prints at least one, unless it is told otherwise.
_OF_TREC_EVAL = re.compile(
    r"(num_(q|ret|rel|rel_ret)|runid|map|gm_map|ndcg|bpref|Rprec|recip_rank|infAP"
    r"|(map|ndcg)_cut_\d+|(P|recall|success)_\d+|iprec_at_recall_[\d.]+)[ \t]"
)


def is_trec_eval(text: str) -> bool:
    """Whether a text is the output of trec_eval."""
    lines = [line for line in text.splitlines() if line.strip()]
    return bool(lines) and all(
        _TREC_EVAL.fullmatch(line) and (number or _OF_TREC_EVAL.match(line))
        for number, line in enumerate(lines)
    )


def trec_eval_table(path: Path, text: str) -> SourceTable:
    """A row with the means over all topics; the system is the run's tag, or else the file."""
    rows = [line.split(maxsplit=2) for line in text.splitlines() if line.strip()]
    means = {measure: value for measure, topic, value in rows if topic == "all"}
    if not means:
        raise DataError(
            path,
            fault="has values of trec_eval per topic, without means",
            fix="run trec_eval without -n, so that it prints lines for `all` topics",
        )
    # Dots may be part of a name: bm25.rm3.run.eval is not bm25.
    name = path.name
    while Path(name).suffix in _SUFFIXES:
        name = Path(name).stem
    system = means.pop("runid", name)
    table = [["System", *means], [system, *means.values()]]
    return SourceTable([[_csv_cell(value) for value in row] for row in table], head=1, keys=1)


def csv_table(path: Path, text: str) -> SourceTable:
    """Read a CSV, whose separator its first line tells."""
    first = text.partition("\n")[0]
    separator = max("\t;,", key=first.count)
    try:
        rows = [
            row
            for row in csv.reader(io.StringIO(text), delimiter=separator, strict=True)
            if any(row)
        ]
    except csv.Error as error:
        raise DataError(path, fault=f"cannot be read as CSV ({error})", fix="correct it") from None
    width = len(rows[0]) if rows else 0
    check_size(path, len(rows), width)
    for number, row in enumerate(rows, 1):
        if len(row) != width:
            raise DataError(
                path, f"row {number}", fault=f"has {len(row)} fields", expected=f"{width}"
            )
    if rows and (columns := _columns_of_export(rows[0])):
        rows = [[*columns.values()], *([row[column] for column in columns] for row in rows[1:])]
    # Beside a column of measures, other columns may be settings.
    has_keys = bool(rows) and rows[0][-1].strip().lower() == "value"
    has_keys &= not any(map(is_measure_heading, rows[0] if rows else ()))
    cells = [[_csv_cell(value) for value in row] for row in rows]
    return SourceTable(cells, head=_count_pandas_head(rows), keys=(width - 1) * has_keys)


def _csv_cell(value: str) -> SourceCell:
    """Cell of a CSV file, in which bold may be written as in Markdown."""
    bold = re.fullmatch(r"\s*(\*\*|__)(.+)\1\s*", value)
    return SourceCell(squeeze(bold[2] if bold else value), bold=bold is not None, source=value)


def _count_pandas_head(rows: Sequence[Sequence[str]]) -> int:
    """Rows of the heading of a CSV: pandas writes a row per level, and then the names of rows."""
    for index, row in enumerate(rows[1:4], 1):
        corner = rows[index - 1][0]
        number = next((column for column, text in enumerate(row) if not text), len(row))
        if number and not any(row[number:]) and number < len(row):
            has_levels = index > 1 and len(set(rows[0][number:])) < len(rows[0][number:])
            is_name = not corner or is_measure_heading(corner) or is_collection_heading(corner)
            return index + 1 if has_levels and is_name else 1
        if any(is_number(text) for text in row[1:]):
            break
    return 1


def _columns_of_export(heading: Sequence[str]) -> dict[int, str] | None:
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
