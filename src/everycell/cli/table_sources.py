"""Sources of a table in a new paper: a CSV of values, or a script; runs are in `run_sources`."""

from __future__ import annotations

import atexit
import math
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from everycell.base.csv_files import csv_text
from everycell.base.errors import DataError
from everycell.base.files import sha256
from everycell.cli.importing.offers import emphasised_claims
from everycell.cli.importing.values import ROLES
from everycell.cli.measure_names import measure_of
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
from everycell.trec.runs import normalise_name
from everycell.workflow import FOLDER

#: Runs, qrels and a table for a first try without the user's own files.
EXAMPLE = FOLDER / "templates" / "example"
#: Endings of the second number of a cell, such as a deviation, which tools may lack.
SECOND_NUMBER = tuple(f" {role}" for role in ROLES)
#: Most columns of a table with two levels of headings.
MOST_COLUMNS = 12
#: File names that are safe in rules and in the registry; Snakemake reads braces as wildcards.
FILE_NAME = r"\w[\w .,+=@()-]*"
#: Ending of a script in another language -> template of the Python script that runs it.
RUNNERS = {".ipynb": "run_notebook.py.j2", ".R": "run_r.py.j2", ".r": "run_r.py.j2"}


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
    #: Script that computes the values, if any.
    script: Path | None = None
    #: Selectors of published cells that are not produced.
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
            **_layout(self.cells[keys]),
            "decimals": decimals,
            "precision": precision,
            "not_run": self.not_run,
            "empty": [selectors[row] for row, value in values.items() if is_missing(value)],
            "offers": offers,
            "is_example": self.is_example,
            "values": None,
            "script": None,
            **self.rule,
        }


def _layout(keys: pd.DataFrame) -> dict[str, list[str]]:
    """Key columns of the rows and of the columns of a table.

    The last key has columns. The one before has columns too, above them, if its names occur with
    most of the rows, as those of collections do, and if that makes few columns.
    """
    names = [*keys.columns]
    number = len(names) - 1
    if len(names) > 2:
        before, upper = names[:-2], names[-2]
        sizes = [len(keys[columns].drop_duplicates()) for columns in (before, [upper], names[:-1])]
        width = len(keys[names[-2:]].drop_duplicates())
        if 2 * sizes[2] > sizes[0] * sizes[1] and width <= MOST_COLUMNS:
            number -= 1
    return {"rows": names[:number] or names, "columns": names[number:] if number else []}


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


def source_from_values(paths: Sequence[Path], table: Path) -> TableSource:
    """Source of a table whose reproduced values are in CSV files with the same key columns."""
    for path in paths:
        if path.is_file() and table.is_file() and sha256(path) == sha256(table):
            raise RecordError(
                f"{path} is the same file as {table}, so that every value would equal itself; give "
                "the values that you computed as --values."
            )
    cells = read_values(table)
    keys = key_columns(cells)
    parts = [read_values(path) for path in paths]
    reproduced = pd.concat(parts, ignore_index=True).fillna("")
    adapted, notes = _adapt(reproduced, cells, keys)
    for path, part in zip(paths, parts, strict=True):
        # Columns that only another file has are blank here.
        columns = [key for key in key_columns(adapted) if key in part or key not in reproduced]
        if set(columns) != set(keys):
            raise RecordError(
                f"{path}: the key columns are {', '.join(key_columns(part))}, but those of "
                f"{table} are {', '.join(keys)}; use the same columns in both files."
            )
    published = cells.set_index(keys).index
    produced = adapted.set_index(keys).index
    lines = [f"{path}, line {line}" for path in paths for line in cell_lines(path)]
    rows = [lines[index] for index in adapted.index]
    if surplus := [
        f"{row} ({' / '.join(key if len(keys) > 1 else [key])})"
        for row, key in zip(rows, produced, strict=True)
        if key not in published
    ]:
        absent = {
            key: [name for name in cells[key].unique() if name not in set(adapted[key])]
            for key in keys
        }
        names = "; ".join(f"{key}: {_list(names)}" for key, names in absent.items() if names)
        one = len(surplus) == 1
        raise RecordError(
            f"{pluralise(len(surplus), 'value')} of --values {'is' if one else 'are'} not in "
            f"{table}: {_list(surplus)}; use the published names"
            f"{f' (still without a value are {names})' * bool(names)}, or remove "
            f"{'this row' if one else 'these rows'}."
        )
    first = dict(zip(reversed(produced), reversed(rows), strict=True))
    if repeated := [
        f"{rows[index]} is also {first[produced[index]]}"
        for index in np.flatnonzero(produced.duplicated())
    ]:
        raise RecordError(f"--values has cells twice: {_list(repeated)}; remove one of the two.")
    # A dash or a word is no value to reproduce.
    not_run = missing_cells(
        cells, keys, [*(published.isin(produced) | cells["value"].map(is_missing))]
    )
    name, (values, *more_paths) = "values.csv", paths
    if notes or more_paths:
        adapted = adapted[[*keys, *(name for name in adapted if name not in keys)]]
        folder = Path(tempfile.mkdtemp(prefix="everycell-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        values = folder / name
        values.write_text(csv_text(adapted), encoding="utf-8", newline="")
    return TableSource(
        cells,
        {name: values},
        "Published values",
        "reproduced values",
        {"values": name},
        not_run=not_run,
        notes=[*notes, *(f"Not run: {', '.join(entry.values())}." for entry in not_run)],
    )


def _adapt(
    reproduced: pd.DataFrame, cells: pd.DataFrame, keys: Sequence[str]
) -> tuple[pd.DataFrame, list[str]]:
    """Reproduced values as the table has them, and notes on what was changed.

    Tools name their only system, which a table of one system does not, have names and measures of
    their own, and write shares where papers print percentages.
    """
    # At once, since each change of the columns of a frame copies all others.
    own = key_columns(reproduced)
    left_out = [name for name in own if name not in {*keys} and reproduced[name].nunique() == 1]
    added = [name for name in keys if name not in {*own} and cells[name].nunique() == 1]
    notes = [
        f"Left out: the column {name}, which is always {reproduced[name][0]}." for name in left_out
    ] + [f"Added: the column {name}, which is always {cells[name][0]}." for name in added]
    constants = {name: cells[name][0] for name in reversed(added)}
    adapted = pd.concat(
        [pd.DataFrame(constants, reproduced.index), reproduced.drop(columns=left_out)], axis=1
    )
    if set(key_columns(adapted)) != set(keys):
        return reproduced, []
    adapted, comments = _match_names(adapted, cells, keys)
    notes += comments
    pairs = adapted.merge(cells, on=list(keys), suffixes=("", "_published"))
    # Without any pair, pandas keeps both columns as texts.
    published, reproduced_values = (
        pairs[name].map(as_number).astype(float) for name in ("value_published", "value")
    )
    measures, measures_of_pairs = (
        frame["metric"] if "metric" in keys else pd.Series("all values", frame.index)
        for frame in (adapted, pairs)
    )
    quotients = published / reproduced_values
    medians = quotients[quotients < math.inf].groupby(measures_of_pairs).median()
    numbers = adapted["value"].map(as_number)
    for measure, rows in adapted.groupby(measures, sort=False).groups.items():
        shares = numbers[rows].dropna()
        if 50 < medians.get(measure, 0.0) < 200 and shares.between(0, 1).all():
            scaled = adapted["value"][shares.index].map(lambda text: f"{100 * Decimal(text):f}")
            adapted.loc[shares.index, "value"] = scaled
            notes.append(
                f"{measure}: multiplied by 100, since the published values are percentages."
            )
    return adapted, notes


def _match_names(
    reproduced: pd.DataFrame, cells: pd.DataFrame, keys: Sequence[str]
) -> tuple[pd.DataFrame, list[str]]:
    """Reproduced values under the published names, and notes on what was changed.

    If a column has all published names, none of its other names can mean one of these, so their
    rows are left out.
    """
    notes: list[str] = []
    for key in keys:
        meaning = _meaning_of_measure if key == "metric" else normalise_name
        own, known = set(reproduced[key]), set(cells[key])
        meanings = {name: meaning(name) for name in dict.fromkeys([*cells[key], *reproduced[key]])}
        published: dict[str, list[str]] = {}
        surplus: dict[str, list[str]] = {}
        for name, meant in meanings.items():
            if name not in own:
                published.setdefault(meant, []).append(name)
            elif name not in known:
                surplus.setdefault(meant, []).append(name)
        renamed = {
            surplus[meant][0]: names[0]
            for meant, names in published.items()
            if meant and len(names) == len(surplus.get(meant, ())) == 1
        }
        reproduced = reproduced.assign(**{key: reproduced[key].replace(renamed)})
        if renamed:
            pairs = [f"{name} as {published_name}" for name, published_name in renamed.items()]
            notes.append(f"Read: {_list(pairs, 12)}.")
        expected = {name for name in cells[key] if not name.endswith(SECOND_NUMBER)}
        is_cell = reproduced[key].isin(cells[key])
        if expected <= set(reproduced[key]) and not is_cell.all():
            names = _list(reproduced.loc[~is_cell, key].unique())
            number = pluralise(int((~is_cell).sum()), "value")
            notes.append(f"Left out: {number} of {names}, which the published table lacks.")
            reproduced = reproduced[is_cell]
    return reproduced, notes


def _meaning_of_measure(name: str) -> str:
    """Measure of a name in one spelling; the name itself if it is none."""
    from everycell.retrieval.any_measure import parse_measure

    measure = measure_of(name)
    return str(parse_measure(measure)) if measure else normalise_name(name)


def _list(names: Sequence[str], limit: int = 5) -> str:
    """List the first names, and count the others."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def source_from_script(script: Path, table: Path) -> TableSource:
    """Source of a table whose values a script or notebook writes to the file that it is given."""
    # `__init__.py` would replace that of the paper, which every job runs.
    is_valid = re.fullmatch(FILE_NAME, script.name) and not script.name.startswith("__")
    if script.suffix not in (".py", *RUNNERS) or not is_valid:
        raise RecordError(
            f"{script}: expected a script in Python or R or a Jupyter notebook, with a name such "
            "as table_1.py, table_1.R or table_1.ipynb; rename it."
        )
    return TableSource(
        read_values(table),
        {},
        "Published values",
        "the data that the script reads",
        {"script": f"run_{script.stem}.py" if script.suffix in RUNNERS else script.name},
        script=script,
    )


def files_by_name(paths: Sequence[Path]) -> dict[str, Path]:
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


def missing_cells(
    cells: pd.DataFrame, keys: Sequence[str], is_produced: Sequence[bool]
) -> list[dict[str, str]]:
    """Selectors of the published cells that are not produced, as short as possible."""
    left = cells.loc[[not produced for produced in is_produced], list(keys)]
    selectors: list[dict[str, str]] = []
    for size in range(1, len(keys) + 1):
        for columns in combinations(keys, size):
            totals = cells.groupby(list(columns), sort=False).size()
            for names, rows in left.groupby(list(columns), sort=False):
                if len(rows) == totals[names if size > 1 else names[0]]:
                    selectors.append(dict(zip(columns, names, strict=True)))
                    left = left.drop(rows.index)
    return selectors
