"""What a table of one's own is reproduced from: TREC runs and qrels, or a CSV of values."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from everycell.engine.published_cells import (
    CardError,
    cell_lines,
    decimals_shown,
    is_number,
    key_columns,
    read_cells,
)
from everycell.workflow import FOLDER

#: Runs, qrels and a table to begin with, until a user's own files replace them.
EXAMPLE = FOLDER / "templates" / "example"
#: Measures that are no share of something, so that a value above 1 is not in percent.
COUNTS = ("NumRet", "NumRel", "NumQ")


@dataclass
class TableSource:
    """A published table, the files that it is reproduced from, and how."""

    cells: pd.DataFrame
    #: Files by their names in the data set.
    files: dict[str, Path]
    title: str
    needs: str
    #: What the rule states, as text.
    rule: dict[str, Any] = field(default_factory=dict)
    #: Cells of systems without a run.
    not_run: list[dict[str, str]] = field(default_factory=list)
    is_example: bool = False

    def context(self) -> dict[str, Any]:
        """Names and values of the templates."""
        keys = key_columns(self.cells)
        by_metric = self.cells.groupby("metric" if "metric" in keys else "value", sort=False)
        decimals = {key: max(map(decimals_shown, part["value"])) for key, part in by_metric}
        if "metric" not in keys or len(set(decimals.values())) == 1:
            decimals = {"all": max(decimals.values())}
        return {
            "title": self.title,
            "needs": self.needs,
            "rows": as_text(keys[:-1] or keys),
            "columns": as_text(keys[1:][-1:]),
            "decimals": as_text(decimals),
            "not_run": [as_text(cells) for cells in self.not_run],
            "is_example": self.is_example,
            **self.rule,
        }


def as_text(value: Any) -> str:
    """Lists and mappings of texts and numbers, as YAML and Python read them."""
    return json.dumps(value, ensure_ascii=False)


def table_source(
    runs: Sequence[str] | None,
    qrels: Path | None,
    table: Path | None,
    values: Path | None,
    measures: Sequence[str] | None,
) -> TableSource:
    """Table and files that the options of a command name; without any, those of the example."""
    if not (runs or qrels or table or values or measures):
        example = [f"{name}={EXAMPLE / name.lower()}.run" for name in ("First", "Second")]
        source = of_runs(example, EXAMPLE / "qrels.txt", EXAMPLE / "table_1.csv", ())
        source.title, source.is_example = "Ranking quality of two systems", True
        return source
    if table and values and not (runs or qrels or measures):
        return of_values(values, table)
    if table and runs and qrels and not values:
        return of_runs(runs, qrels, table, measures or ())
    raise CardError(
        "The options name no complete table; give --runs, --qrels and --table, or --values and "
        "--table."
    )


def read_numbers(path: Path) -> pd.DataFrame:
    """Read a table of cells whose values are numbers."""
    cells = read_cells(path)
    for line, value in zip(cell_lines(path), cells["value"], strict=True):
        if not is_number(value):
            raise CardError(
                f"{path}, line {line}: the value {value!r} is not a number; write it as published, "
                "without units and marks, or leave the row out."
            )
    return cells


def of_values(values: Path, table: Path) -> TableSource:
    """Source of a table whose reproduced values are in a CSV with the same key columns."""
    cells, reproduced = read_numbers(table), read_numbers(values)
    keys = key_columns(cells)
    if set(key_columns(reproduced)) != set(keys):
        raise CardError(
            f"{values}: the key columns are {', '.join(key_columns(reproduced))}, and those of "
            f"{table} are {', '.join(keys)}; give both the same."
        )
    for one, other, of_one, of_other in (
        (cells, reproduced, table, values),
        (reproduced, cells, values, table),
    ):
        rows = other.set_index(keys).index
        for key, line in zip(one.set_index(keys).index, cell_lines(of_one), strict=True):
            if key not in rows:
                raise CardError(
                    f"{of_one}, line {line}: {of_other} has no such cell; add it there, or leave "
                    "this row out."
                )
    name = "values.csv"
    return TableSource(
        cells, {name: values}, "Published values", "reproduced values", {"values": name}
    )


def of_runs(runs: Sequence[str], qrels: Path, table: Path, measures: Sequence[str]) -> TableSource:
    """Source of a table whose values are means of measures of runs."""
    cells = read_numbers(table)
    keys = key_columns(cells)
    if len(keys) != 2:
        raise CardError(
            f"{table}: has the key columns {', '.join(keys)}; a table of runs has one of systems "
            "and one of measures, so give one table per collection."
        )
    paths = dict(map(_path_and_name, runs))
    if len(paths) < len(runs):
        raise CardError("The same run is named twice by --runs; name each once.")
    column, systems = _systems(cells, keys, paths, table)
    (measured,) = [key for key in keys if key != column]
    pairs = (measure.partition("=") for measure in measures)
    names = {name: measure for name, _, measure in pairs}
    parsed = _measures(cells, measured, names, table)
    _require_all_cells(cells, column, measured, table)
    _require_common_queries(list(paths), qrels)
    cells = cells.rename(columns={measured: "metric"})[
        [{measured: "metric"}.get(name, name) for name in cells.columns]
    ]
    files = {path.name.removesuffix(".gz"): path for path in paths}
    qrels_name = qrels.name.removesuffix(".gz")
    if len(files) < len(paths) or qrels_name in files:
        twice = Counter(path.name for path in [*paths, qrels]).most_common(1)[0][0]
        raise CardError(f"Two files are called {twice}; rename one of them.")
    percent = [
        name
        for name, part in cells.groupby("metric", sort=False)
        if part["value"].astype(float).max() > 1 and not parsed[name].startswith(COUNTS)
    ]
    return TableSource(
        cells,
        files | {qrels_name: qrels},
        f"Ranking quality of {len(systems)} systems",
        "the runs of the systems and the relevance judgements",
        {
            "values": None,
            "runs": list(files),
            "qrels": qrels_name,
            "systems": as_text(systems),
            "measures": as_text(parsed),
            # The script makes its rows by system, then by measure.
            "key_columns": as_text([column, "metric"]),
            "in_percent": as_text(percent),
        },
        not_run=[{column: name} for name in cells[column].unique() if name not in systems],
    )


def _path_and_name(run: str) -> tuple[Path, str | None]:
    """Path of a run, and its published name if it is given as NAME=FILE."""
    name, sign, path = run.partition("=")
    return (Path(path), name) if sign and not Path(run).is_file() else (Path(run), None)


def _tag(run: Path) -> str:
    """Tag in the first line of a run; empty where there is none."""
    with (gzip.open if run.suffix == ".gz" else open)(run, "rt", errors="replace") as file:
        fields = file.readline().split()
    return fields[-1] if fields else ""


def _plain(name: str) -> str:
    """Name without case, blanks and punctuation."""
    return "".join(filter(str.isalnum, name.lower()))


def _systems(
    cells: pd.DataFrame, keys: Sequence[str], paths: dict[Path, str | None], table: Path
) -> tuple[str, list[str]]:
    """Column of the systems, and the published name of each run: by file name, or by tag."""
    candidates = {path: [name] if name else [path.name, path.stem] for path, name in paths.items()}
    for path, name in paths.items():
        if not path.is_file():
            raise CardError(f"There is no file {path}; name a run, or write NAME=FILE.")
        if name is None:
            candidates[path].append(_tag(path))
    matches: dict[str, dict[Path, str]] = {}
    for key in keys:
        published = {_plain(name): name for name in cells[key].unique()}
        matches[key] = {
            path: published[_plain(name)]
            for path, names in candidates.items()
            for name in reversed(names)
            if _plain(name) in published
        }
    column = max(keys, key=lambda key: len(matches[key]))
    for path, names in candidates.items():
        if path not in matches[column]:
            values = "; ".join(f"{key}: {', '.join(cells[key].unique()[:12])}" for key in keys)
            raise CardError(
                f"{path}: {' or '.join(dict.fromkeys(names))} is not a system of {table} "
                f"({values}); write the published name before the file, as in --runs NAME={path}."
            )
    systems = [matches[column][path] for path in paths]
    for name, number in Counter(systems).items():
        if number > 1:
            raise CardError(
                f"{number} runs have the name {name}; write the published name before each file, "
                "as in --runs NAME=a.run."
            )
    return column, systems


def _measures(
    cells: pd.DataFrame, column: str, names: dict[str, str], table: Path
) -> dict[str, str]:
    """Published name of each measure -> its name in ir_measures."""
    from everycell.retrieval.measures import parse_measure

    parsed = {}
    for name in cells[column].unique():
        try:
            parse_measure(names.get(name, name))
        except ValueError:
            raise CardError(
                f"{table}: {name!r} in the column `{column}` is not a measure of ir_measures, such "
                f"as AP, nDCG@10, RR or P@5; say which it is, as in --measures '{name}=nDCG@10'."
            ) from None
        parsed[name] = names.get(name, name)
    return parsed


def _require_all_cells(cells: pd.DataFrame, column: str, measured: str, table: Path) -> None:
    """Refuse a table in which a system lacks a measure that another one has."""
    counts = cells.groupby(column, sort=False)[measured].nunique()
    number = cells[measured].nunique()
    for system in counts.index[counts < number]:
        raise CardError(
            f"{table}: {system} has {counts[system]} of {number} measures, and a run gives all; "
            "add the missing values, or write a table for each group of measures."
        )


def _require_common_queries(runs: Sequence[Path], qrels: Path) -> None:
    """Refuse runs that answer none of the judged queries."""
    from everycell.trec.qrels import read_qrels
    from everycell.trec.runs import read_run

    if not qrels.is_file():
        raise CardError(f"There is no file {qrels}; name the qrels by --qrels.")
    judged = read_qrels(qrels)["query"].unique()
    for path in runs:
        queries = read_run(path)["query"].unique()
        if not set(queries) & set(judged):
            raise CardError(
                f"{path}: answers none of the {len(judged)} queries of {qrels}; the run begins "
                f"with {', '.join(queries[:3])}, the qrels with {', '.join(judged[:3])}."
            )
