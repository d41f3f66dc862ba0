"""What sources of a table in a new paper have in common, and the source from a script."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from everycell.base.errors import DataError
from everycell.base.file_kinds import recognise_file
from everycell.base.text_files import read_text_file
from everycell.cli.importing.offers import emphasised_claims
from everycell.cli.importing.values import ROLES, is_mark
from everycell.records.cells import (
    RecordError,
    cell_lines,
    count_decimals,
    is_number,
    key_columns,
    read_cells,
)
from everycell.records.spellings import is_missing, is_no_value, is_not_significant, split_bound
from everycell.workflow import FOLDER

#: Runs, qrels and a table for a first try without the user's own files.
EXAMPLE = FOLDER / "templates" / "example"
#: Endings of the second number of a cell, such as a deviation, which tools may lack.
SECOND_NUMBER = tuple(f" {role}" for role in ROLES)
#: Between the names of a system that several columns name.
SEVERAL = " / "
#: Most columns of a table with two levels of headings.
MOST_COLUMNS = 12
#: Most lines on cells that are not produced.
_MOST_NOTES = 3
#: File names that are safe in rules and in the registry; Snakemake reads braces as wildcards.
FILE_NAME = r"\w[\w .,+=@()-]*"
#: Endings of files that `everycell import` reads, and that are no CSV.
_IMPORTED = {".md", ".markdown", ".html", ".htm", ".tex", ".json"}
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
    #: Files of the user: that of the table, and those from which it is reproduced.
    table: Path | None = None
    originals: list[Path] = field(default_factory=list)
    #: What was changed in the values, for the registry: renames and means.
    changes: list[str] = field(default_factory=list)

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
            "mean_over": None,
            **self.rule,
        }


def _layout(keys: pd.DataFrame) -> dict[str, list[str]]:
    """Key columns of the rows and of the columns of a table.

    The last key has columns. The one before has columns too, above them, if its names occur with
    most of the rows, as those of collections do, and if that makes few columns. Check marks of an
    ablation name rows.
    """
    names = [*keys.columns]
    number = len(names) - 1
    if len(names) > 2:
        before, upper = names[:-2], names[-2]
        sizes = [len(keys[columns].drop_duplicates()) for columns in (before, [upper], names[:-1])]
        width = len(keys[names[-2:]].drop_duplicates())
        is_dense = 2 * sizes[2] > sizes[0] * sizes[1]
        if is_dense and width <= MOST_COLUMNS and not all(map(is_mark, keys[upper])):
            number -= 1
    return {"rows": names[:number] or names, "columns": names[number:] if number else []}


def read_values(path: Path) -> pd.DataFrame:
    """Read a table of cells; a value is a number, a bound, or a word or dash without a number."""
    if path.suffix.lower() in _IMPORTED or not _has_value_column(path):
        out = "cells.csv" if path.name == "table.csv" else "table.csv"
        raise DataError(
            path,
            fault="is not a CSV with a row per value",
            fix=f"run `everycell import {shlex.quote(str(path))} {out}` first, and give {out}",
        )
    cells = read_cells(path)
    # As `everycell import` writes it.
    cells["value"] = cells["value"].mask(cells["value"].map(is_no_value), "–")
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


def _has_value_column(path: Path) -> bool:
    """Whether the first line of a CSV has the column of values, maybe misspelt."""
    if recognise_file(path) == "values":
        return True
    columns = read_text_file(path).partition("\n")[0].split(",")
    return bool(get_close_matches("value", [name.strip(' "').lower() for name in columns]))


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
        table=table,
        originals=[script],
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


def notes_on_not_run(not_run: Sequence[Mapping[str, str]]) -> list[str]:
    """Lines on published cells that are not produced: one each, or one for more than a few."""
    names = [", ".join(entry.values()) for entry in not_run]
    if len(names) <= _MOST_NOTES:
        return [f"Not run: {name}." for name in names]
    examples = "; ".join(names[:_MOST_NOTES])
    return [
        f"Not run: {len(names)} groups of cells, such as {examples}; `not_run` in ch1.yaml has all."
    ]


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
