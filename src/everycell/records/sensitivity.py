"""Sensitivity of reproduced values: the data with which each of them moves.

`everycell verify --perturb` measures it, and `published/sensitivity.csv` records it. A value that
moves with none of its data is *insensitive*: its verdict could not have been another one.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from everycell.base.files import write_atomically
from everycell.records.cells import RecordError

#: File of a project, in its folder `published`.
NAME = "sensitivity.csv"
COLUMNS = [
    *("tier", "artefact", "key"),
    *("moves_with", "not_with", "refused", "failed", "not_perturbed", "note"),
]
SEPARATOR = "; "
#: Key of a result without published values; it moves if any of its values does.
WHOLE = ""

State = Literal["moves", "insensitive", "refused", "failed", "not perturbed"]
#: Tier, artefact and key of a cell, as in `tests/expected_verdicts.csv`.
Cell = tuple[str, str, str]


class Sensitivity(NamedTuple):
    """Names of the inputs with which a value moves, and of those with which it does not."""

    moves_with: tuple[str, ...] = ()
    #: Inputs of which at least one perturbation ran, and none moves the value.
    not_with: tuple[str, ...] = ()
    #: Inputs of which no perturbation ran, as the rule refused each of them.
    refused: tuple[str, ...] = ()
    #: Inputs of which no perturbation ran, as the rule failed on at least one of them.
    failed: tuple[str, ...] = ()
    #: Inputs that were not perturbed, each with the reason.
    not_perturbed: tuple[str, ...] = ()
    #: Perturbations that did not run, with the class of the error; or why nothing is recorded.
    note: str = ""

    @property
    def state(self) -> State:
        """Whether the value moves with any of its data; unknown if some say nothing about it."""
        if self.moves_with:
            return "moves"
        if self.not_perturbed:
            return "not perturbed"
        if self.failed:
            return "failed"
        if self.refused:
            return "refused"
        return "insensitive" if self.not_with else "not perturbed"

    @property
    def text(self) -> str:
        """Sentence for the cell's panel; empty if nothing was perturbed."""
        moving, unmoving = _either(self.moves_with), _either(self.not_with)
        parts = [f"moves when {moving} change"] if moving else []
        if unmoving and moving:
            parts.append(f"not when {unmoving} change")
        elif unmoving:
            insensitive = "insensitive: " * (self.state == "insensitive")
            parts.append(f"{insensitive}does not move when {unmoving} change")
        if self.refused:
            parts.append(f"its rule refused all changes of {_either(self.refused)}")
        if self.failed:
            parts.append(f"its rule failed on changes of {_either(self.failed)}")
        return SEPARATOR.join(parts)


def _either(names: tuple[str, ...]) -> str:
    """Names as an enumeration with "or"."""
    return " or ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def read_sensitivity(path: Path) -> dict[Cell, Sensitivity]:
    """Read the sensitivity of all cells; empty if the file does not exist."""
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = [*csv.reader(file)] or [[]]
    if header != COLUMNS or any(len(row) != len(COLUMNS) for row in rows):
        raise RecordError(
            f"{path} does not have the columns {', '.join(COLUMNS)} in each row; write it again "
            "with `everycell verify --perturb --update`."
        )
    return {
        (row[0], row[1], row[2]): Sensitivity(*map(_names, row[3:-1]), note=row[-1]) for row in rows
    }


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(SEPARATOR)) if text else ()


def write_sensitivity(path: Path, cells: Mapping[Cell, Sensitivity]) -> None:
    """Write the sensitivity of all cells."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for cell, sensitivity in cells.items():
        *names, note = sensitivity
        writer.writerow([*cell, *map(SEPARATOR.join, names), note])
    write_atomically(path, stream.getvalue())


def sensitivity_of(published: Path) -> Mapping[Cell, Sensitivity]:
    """Sensitivity of the cells of a project, read again only if the file changed."""
    path = published / NAME
    return _read(path, path.stat().st_mtime_ns) if path.is_file() else {}


@cache
def _read(path: Path, _time: int) -> Mapping[Cell, Sensitivity]:
    return read_sensitivity(path)
