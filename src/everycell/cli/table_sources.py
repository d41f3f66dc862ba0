"""Sources of a table in a new paper: TREC runs and qrels, or a CSV of values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from everycell.base.errors import DataError
from everycell.base.files import sha256
from everycell.cli.importing.offers import emphasised_claims
from everycell.cli.named_files import path_and_name
from everycell.cli.printing import pluralise
from everycell.records.cells import (
    RecordError,
    as_number,
    cell_lines,
    count_decimals,
    is_number,
    key_columns,
    read_cells,
)
from everycell.records.spellings import is_missing, is_not_significant, split_bound
from everycell.trec.runs import normalise_name, read_tag, system_name
from everycell.workflow import FOLDER

#: Runs, qrels and a table for a first try without the user's own files.
EXAMPLE = FOLDER / "templates" / "example"
#: File names that are safe in rules and in the registry; Snakemake reads braces as wildcards.
FILE_NAME = r"\w[\w .,+=@()-]*"


@dataclass
class TableSource:
    """A published table, the files it is reproduced from, and the parameters of its rule."""

    cells: pd.DataFrame
    #: Name in the data set -> file.
    files: dict[str, Path]
    title: str
    needs: str
    #: Parameters of the rule.
    rule: dict[str, Any] = field(default_factory=dict)
    #: Keys of systems without a run.
    not_run: list[dict[str, str]] = field(default_factory=list)
    #: Notes for the user.
    notes: list[str] = field(default_factory=list)
    is_example: bool = False

    def context(self) -> dict[str, Any]:
        """Variables of the templates."""
        keys = key_columns(self.cells)
        values = self.cells["value"]
        numbers = values.map(lambda value: split_bound(value)[1])
        digits = numbers[numbers.map(is_number)].map(count_decimals)
        metrics = self.cells["metric"] if "metric" in keys else pd.Series("all", values.index)
        decimals: dict[str, int | str] = dict.fromkeys(metrics, "text")
        decimals |= digits.groupby(metrics[digits.index], sort=False).max().to_dict()
        selectors = self.cells[keys].to_dict("index")
        precision = [
            # Other values of the measure have decimals: an integer is a rounded value, not a count.
            {"cells": selectors[row], "decimals": number} | ({} if number else {"measured": True})
            for row, number in digits.items()
            if number < decimals[metrics[row]]
        ]
        precision += [
            {"cells": selectors[row], "decimals": "text"}
            for row, value in values.items()
            if is_not_significant(value) and decimals[metrics[row]] != "text"
        ]
        if len(set(decimals.values())) == 1:
            decimals = {"all": next(iter(decimals.values()))}
        offers, _ = emphasised_claims(self.cells)
        return {
            "title": self.title,
            "needs": self.needs,
            "rows": keys[:-1] or keys,
            "columns": keys[1:][-1:],
            "decimals": decimals,
            "precision": precision,
            "not_run": self.not_run,
            "empty": [selectors[row] for row, value in values.items() if is_missing(value)],
            "offers": offers,
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
    """Source given by the options of a command, or the example if there are none."""
    if not (runs or qrels or table or values or measures):
        example = [f"{name}={EXAMPLE / name.lower()}.run" for name in ("First", "Second")]
        source = source_from_runs(example, EXAMPLE / "qrels.txt", EXAMPLE / "table_1.csv", ())
        source.title, source.is_example = "Ranking quality of two systems", True
        return source
    if table and values and not (runs or qrels or measures):
        return source_from_values(values, table)
    if table and runs and qrels and not values:
        return source_from_runs(runs, qrels, table, measures or ())
    raise RecordError(
        "The options do not describe a table; give either --runs, --qrels and --table, or --values "
        "and --table."
    )


def read_values(path: Path) -> pd.DataFrame:
    """Read a table of cells; a value is a number, a bound, or a word or dash without a number."""
    cells = read_cells(path)
    for line, value in zip(cell_lines(path), cells["value"], strict=True):
        if not (is_number(split_bound(value)[1]) or is_missing(value) or is_not_significant(value)):
            raise DataError(
                path,
                line,
                "value",
                value,
                expected="digits with a decimal point, such as 55216 or 0.58, a bound such as "
                "< .001, or n.s., – or OOM",
                fix="put units and marks into the columns `unit` and `marker`, or read the table "
                "with `everycell import`",
            )
    return cells


def source_from_values(values: Path, table: Path) -> TableSource:
    """Source of a table whose reproduced values are in a CSV with the same key columns."""
    if values.is_file() and table.is_file() and sha256(values) == sha256(table):
        raise RecordError(
            f"{values} is the same file as {table}, so that every value would equal itself; give "
            "the values that you computed as --values."
        )
    cells, reproduced = read_values(table), read_values(values)
    keys = key_columns(cells)
    if set(key_columns(reproduced)) != set(keys):
        raise RecordError(
            f"{values}: the key columns are {', '.join(key_columns(reproduced))}, but those of "
            f"{table} are {', '.join(keys)}; use the same columns in both files."
        )
    for frame, path, other_frame, other_path in (
        (cells, table, reproduced, values),
        (reproduced, values, cells, table),
    ):
        other_keys = other_frame.set_index(keys).index
        for key, line in zip(frame.set_index(keys).index, cell_lines(path), strict=True):
            if key not in other_keys:
                raise RecordError(
                    f"{path}, line {line}: this cell is missing from {other_path}; add it there, "
                    "or remove this row."
                )
    name = "values.csv"
    return TableSource(
        cells, {name: values}, "Published values", "reproduced values", {"values": name}
    )


def source_from_runs(
    runs: Sequence[str], qrels: Path, table: Path, measures: Sequence[str]
) -> TableSource:
    """Source of a table whose values are measures of runs over all queries."""
    cells = read_values(table)
    keys = key_columns(cells)
    if len(keys) != 2:
        raise RecordError(
            f"{table} has the key columns {', '.join(keys)}, expected two: one of systems and one "
            "of measures. Give one table per collection."
        )
    paths = dict(map(path_and_name, runs))
    if len(paths) < len(runs):
        raise RecordError("--runs lists the same run twice; list each run once.")
    column, systems = _match_systems(cells, keys, paths, table)
    (measure_column,) = [key for key in keys if key != column]
    measures_by_name = _parse_measures(cells, measure_column, measures, table)
    _require_all_cells(cells, column, measure_column, table)
    notes = _notes_on_queries(list(paths), qrels)
    cells = cells.rename(columns={measure_column: "metric"})[
        [{measure_column: "metric"}.get(name, name) for name in cells.columns]
    ]
    files = _files_by_name([*paths, qrels])
    *run_names, qrels_name = files
    percent = [
        name
        for name, rows in cells.groupby("metric", sort=False)
        if rows["value"].map(as_number).max() > 1 and not _is_sum(measures_by_name[name])
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
            "measures": measures_by_name,
            # The script writes its rows by system, then by measure.
            "key_columns": [column, "metric"],
            "in_percent": percent,
        },
        not_run=[{column: name} for name in not_run],
        notes=notes,
    )


def _files_by_name(paths: Sequence[Path]) -> dict[str, Path]:
    """Files by unique names for the data set."""
    files: dict[str, Path] = {}
    for number, path in enumerate(paths, 1):
        name = path.name.removesuffix(".gz")
        if not re.fullmatch(FILE_NAME, name):
            raise RecordError(
                f"{path}: the name must start with a letter, a digit or _ and contain only these, "
                "spaces and . , + = @ ( ) -; rename the file."
            )
        while name in files:
            name = f"{number}-{name}"
        files[name] = path
    return files


def _match_systems(
    cells: pd.DataFrame, keys: Sequence[str], paths: dict[Path, str | None], table: Path
) -> tuple[str, list[str]]:
    """Find the column of systems, and the published name of each run by its file name.

    If no system has the name of the file, the tag counts; if both name systems, they must agree.
    """
    names_of = {
        path: [path.name, system_name(path)] if name is None else [name]
        for path, name in paths.items()
    }
    tags = {path: [read_tag(path)] for path, name in paths.items() if name is None}

    def systems_of(path: Path, names: Sequence[str], key: str) -> list[str]:
        return _matching(names, cells[key].unique(), only_exact=paths[path] is not None)

    matches = {
        key: {
            path: systems_of(path, names, key) or systems_of(path, tags.get(path, []), key)
            for path, names in names_of.items()
        }
        for key in keys
    }
    column = max(keys, key=lambda key: sum(map(bool, matches[key].values())))
    for path, file_names in names_of.items():
        matching_systems = matches[column][path]
        tag = tags.get(path, [])
        systems_of_tag = systems_of(path, tag, column)
        if systems_of_tag and not set(systems_of_tag) & set(matching_systems):
            raise RecordError(
                f"{path}: its name means the system {matching_systems[0]}, but its tag {tag[0]} "
                f"means {systems_of_tag[0]}; check that it is the right file, and write the "
                f"published name before it, as in --runs '{matching_systems[0]}={path}'."
            )
        names = [*file_names, *tag]
        if len(matching_systems) > 1:
            raise RecordError(
                f"{path}: {' or '.join(dict.fromkeys(names))} may mean "
                f"{' or '.join(matching_systems)}; write the published name before the file, as in "
                f"--runs '{matching_systems[0]}={path}'."
            )
        if not matching_systems:
            values = "; ".join(f"{key}: {', '.join(cells[key].unique()[:12])}" for key in keys)
            raise RecordError(
                f"{path}: {' or '.join(dict.fromkeys(names))} is not a system of {table} "
                f"({values}); write the published name before the file, as in --runs NAME={path}."
            )
    systems = [matches[column][path][0] for path in paths]
    for name, number in Counter(systems).items():
        if number > 1:
            raise RecordError(
                f"{number} runs match the system {name}; write the published name before each "
                "file, as in --runs NAME=a.run."
            )
    return column, systems


def _matching(names: Sequence[str], published: Iterable[str], *, only_exact: bool) -> list[str]:
    """Published names that match those of a run, exactly or ignoring case and punctuation."""
    ambiguous_matches: list[str] = []
    for name in names:
        normalised = "" if only_exact else normalise_name(name)
        matches = [system for system in published if system == name] or [
            system for system in published if normalised and normalise_name(system) == normalised
        ]
        if len(matches) == 1:
            return matches
        ambiguous_matches = ambiguous_matches or matches
    return ambiguous_matches


def _is_sum(measure: str) -> bool:
    """Whether a measure is summed over queries, as counts are, not averaged."""
    import ir_measures

    from everycell.retrieval.any_measure import parse_measure

    return isinstance(parse_measure(measure).aggregator(), ir_measures.SumAgg)


def _parse_measures(
    cells: pd.DataFrame, column: str, measures: Sequence[str], table: Path
) -> dict[str, str]:
    """Published name of each measure -> its name in ir_measures."""
    from everycell.retrieval.any_measure import parse_measure

    published: list[str] = cells[column].unique().tolist()
    names: dict[str, str] = {}
    for measure in measures:
        prefixes = [name for name in published if measure.startswith(f"{name}=")]
        name = max(prefixes, key=len, default=None)
        if name is None or name in names:
            raise RecordError(
                f"--measures {measure!r}: expected PUBLISHED=MEASURE for a measure of {table} "
                f"({', '.join(published[:12])}), and each measure at most once."
            )
        names[name] = measure[len(name) + 1 :]
    measures_by_name = {}
    for name in published:
        try:
            parse_measure(names.get(name, name))
        except ValueError:
            raise RecordError(
                f"{table}: {name!r} in the column `{column}` is not a measure of ir_measures such "
                "as AP, nDCG@10, RR or P@5; specify the measure, as in "
                f"--measures '{name}=nDCG@10'."
            ) from None
        measures_by_name[name] = names.get(name, name)
    return measures_by_name


def _require_all_cells(cells: pd.DataFrame, column: str, measure_column: str, table: Path) -> None:
    """Raise an error if a system lacks a measure that another system has."""
    counts = cells.groupby(column, sort=False)[measure_column].nunique()
    number = cells[measure_column].nunique()
    for system in counts.index[counts < number]:
        raise RecordError(
            f"{table}: {system} has {counts[system]} of {number} measures, expected all; add the "
            "missing values, or write one table per group of measures."
        )


def _notes_on_queries(runs: Sequence[Path], qrels: Path) -> list[str]:
    """Notes on runs that lack some judged queries; an error if a run lacks all of them."""
    from everycell.trec.runs import read_qrels, read_run

    judged = read_qrels(qrels)["query"].unique()
    notes = []
    for path in runs:
        queries = read_run(path)["query"].unique()
        missing_queries = set(judged) - set(queries)
        if len(missing_queries) == len(judged):
            raise RecordError(
                f"{path} contains none of the {len(judged)} queries of {qrels}; its first queries "
                f"are {', '.join(queries[:3])}; those of the qrels are {', '.join(judged[:3])}."
            )
        if missing_queries:
            notes.append(
                f"{path} contains {len(judged) - len(missing_queries)} of {len(judged)} judged "
                "queries; the others score 0."
            )
    return notes
