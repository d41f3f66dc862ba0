"""What a table of one's own is reproduced from: TREC runs and qrels, or a CSV of values."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from everycell.cli.printing import pluralise
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
#: Names of files that rules and the registry can have: Snakemake reads braces as wildcards.
NAME = r"\w[\w .,+=@()-]*"


@dataclass
class TableSource:
    """A published table, the files that it is reproduced from, and how."""

    cells: pd.DataFrame
    #: Files by their names in the data set.
    files: dict[str, Path]
    title: str
    needs: str
    #: What the rule states.
    rule: dict[str, Any] = field(default_factory=dict)
    #: Cells of systems without a run.
    not_run: list[dict[str, str]] = field(default_factory=list)
    #: Sentences on what a user should know.
    notes: list[str] = field(default_factory=list)
    is_example: bool = False

    def context(self) -> dict[str, Any]:
        """Names and values of the templates."""
        keys = key_columns(self.cells)
        digits = self.cells["value"].map(decimals_shown)
        metrics = self.cells["metric"] if "metric" in keys else pd.Series("all", digits.index)
        decimals = {metric: max(part) for metric, part in digits.groupby(metrics, sort=False)}
        precision = [
            # Other values of the measure have decimals, so one without is rounded and no count.
            {"cells": cells, "decimals": number} | ({} if number else {"measured": True})
            for cells, metric, number in zip(
                self.cells[keys].to_dict("records"), metrics, digits, strict=True
            )
            if number < decimals[metric]
        ]
        if len(set(decimals.values())) == 1:
            decimals = {"all": max(decimals.values())}
        return {
            "title": self.title,
            "needs": self.needs,
            "rows": keys[:-1] or keys,
            "columns": keys[1:][-1:],
            "decimals": decimals,
            "precision": precision,
            "not_run": self.not_run,
            "is_example": self.is_example,
            **self.rule,
        }


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
    parsed = _measures(cells, measured, measures, table)
    _require_all_cells(cells, column, measured, table)
    notes = _notes_on_queries(list(paths), qrels)
    cells = cells.rename(columns={measured: "metric"})[
        [{measured: "metric"}.get(name, name) for name in cells.columns]
    ]
    files = _stored([*paths, qrels])
    *run_names, qrels_name = files
    percent = [
        name
        for name, part in cells.groupby("metric", sort=False)
        if part["value"].astype(float).max() > 1 and not _is_sum(parsed[name])
    ]
    not_run = [name for name in cells[column].unique() if name not in systems]
    notes += [f"No run of {name}; its values will be listed as not run." for name in not_run]
    return TableSource(
        cells,
        files,
        f"Ranking quality of {pluralise(len(systems), 'system')}",
        "the runs of the systems and the relevance judgements",
        {
            "values": None,
            "runs": run_names,
            "qrels": qrels_name,
            "systems": systems,
            "measures": parsed,
            # The script makes its rows by system, then by measure.
            "key_columns": [column, "metric"],
            "in_percent": percent,
        },
        not_run=[{column: name} for name in not_run],
        notes=notes,
    )


def _path_and_name(run: str) -> tuple[Path, str | None]:
    """Path of a run, and its published name if it is given as NAME=FILE; both may have a `=`."""
    pairs = [(Path(run[sign.end() :]), run[: sign.start()]) for sign in re.finditer("=", run)]
    if not pairs or Path(run).is_file():
        return Path(run), None
    return next((pair for pair in pairs if pair[0].is_file()), pairs[0])


def _stored(paths: Sequence[Path]) -> dict[str, Path]:
    """Files by the names that they get in the data set."""
    files: dict[str, Path] = {}
    for number, path in enumerate(paths, 1):
        name = path.name.removesuffix(".gz")
        if not re.fullmatch(NAME, name):
            raise CardError(
                f"{path}: the name of a file begins with a letter or a digit, and has only these, "
                "blanks and . , + = @ ( ) - _ in it; rename the file."
            )
        while name in files:
            name = f"{number}-{name}"
        files[name] = path
    return files


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
    candidates = {}
    for path, name in paths.items():
        if not path.is_file():
            raise CardError(f"There is no file {path}; name a run, or write NAME=FILE.")
        stem = Path(path.name.removesuffix(".gz")).stem
        candidates[path] = [path.name, stem, _tag(path)] if name is None else [name]
    matches = {
        key: {
            path: _matching(names, cells[key].unique(), only_exact=paths[path] is not None)
            for path, names in candidates.items()
        }
        for key in keys
    }
    column = max(keys, key=lambda key: sum(map(bool, matches[key].values())))
    for path, names in candidates.items():
        matching = matches[column][path]
        if len(matching) > 1:
            raise CardError(
                f"{path}: {' or '.join(dict.fromkeys(names))} may be {' or '.join(matching)}; "
                f"write the published name before the file, as in --runs '{matching[0]}={path}'."
            )
        if not matching:
            values = "; ".join(f"{key}: {', '.join(cells[key].unique()[:12])}" for key in keys)
            raise CardError(
                f"{path}: {' or '.join(dict.fromkeys(names))} is not a system of {table} "
                f"({values}); write the published name before the file, as in --runs NAME={path}."
            )
    systems = [matches[column][path][0] for path in paths]
    for name, number in Counter(systems).items():
        if number > 1:
            raise CardError(
                f"{number} runs have the name {name}; write the published name before each file, "
                "as in --runs NAME=a.run."
            )
    return column, systems


def _matching(names: Sequence[str], published: Iterable[str], *, only_exact: bool) -> list[str]:
    """Published names that match those of a run: exactly, or without case and punctuation."""
    unclear: list[str] = []
    for name in names:
        plain = "" if only_exact else _plain(name)
        matching = [other for other in published if other == name] or [
            other for other in published if plain and _plain(other) == plain
        ]
        if len(matching) == 1:
            return matching
        unclear = unclear or matching
    return unclear


def _is_sum(measure: str) -> bool:
    """Whether the values of queries are added up, as counts are."""
    import ir_measures

    from everycell.retrieval.measures import parse_measure

    return isinstance(parse_measure(measure).aggregator(), ir_measures.SumAgg)


def _measures(
    cells: pd.DataFrame, column: str, measures: Sequence[str], table: Path
) -> dict[str, str]:
    """Published name of each measure -> its name in ir_measures."""
    from everycell.retrieval.measures import parse_measure

    published: list[str] = cells[column].unique().tolist()
    names: dict[str, str] = {}
    for measure in measures:
        starts = [name for name in published if measure.startswith(f"{name}=")]
        name = max(starts, key=len, default=None)
        if name is None or name in names:
            raise CardError(
                f"--measures {measure!r}: is not PUBLISHED=MEASURE for a measure of {table} "
                f"({', '.join(published[:12])}); name each of them at most once."
            )
        names[name] = measure[len(name) + 1 :]
    parsed = {}
    for name in published:
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


def _notes_on_queries(runs: Sequence[Path], qrels: Path) -> list[str]:
    """Sentences on runs that lack judged queries; a run that answers none is refused."""
    from everycell.trec.qrels import read_qrels
    from everycell.trec.runs import read_run

    if not qrels.is_file():
        raise CardError(f"There is no file {qrels}; name the qrels by --qrels.")
    judged = read_qrels(qrels)["query"].unique()
    notes = []
    for path in runs:
        queries = read_run(path)["query"].unique()
        missing = set(judged) - set(queries)
        if len(missing) == len(judged):
            raise CardError(
                f"{path}: answers none of the {len(judged)} queries of {qrels}; the run begins "
                f"with {', '.join(queries[:3])}, the qrels with {', '.join(judged[:3])}."
            )
        if missing:
            notes.append(
                f"{path}: answers {len(judged) - len(missing)} of {len(judged)} judged queries; "
                "the others score 0."
            )
    return notes
