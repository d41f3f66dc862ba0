"""Executable checks of the consistency of published numbers.

An audit is a small pure function from the published cells of a paper to a `Finding`. It needs
neither data nor reproduced tables. The prefix of its name gives its kind:

- ``audit_PAPER_TOPIC`` holds if two published numbers, or a number and a sentence, contradict each
  other. An erratum refers to its audit by name.
- ``check_PAPER_TOPIC`` holds if a table agrees with another or with itself. These checks detect
  transcription errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from inspect import isfunction
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pandas as pd

from everycell.base.arrays import BoolArray
from everycell.records.cells import RecordError, as_number, read_cells
from everycell.records.folders import papers_module, papers_modules
from everycell.records.papers import Artefact
from everycell.records.tables import Erratum

#: Returns the cells of a table by name (``table_4_2``, or ``KEY/table_4_2`` of another paper).
Cells = Callable[[str], pd.DataFrame]

INCONSISTENCY, CONSISTENCY = "audit_", "check_"


class Finding(NamedTuple):
    """Result of an audit: whether it holds, and a line with the numbers."""

    holds: bool
    detail: str


Audit = Callable[..., Finding]
#: Returns the audits of a chapter by name, for the key of a paper and the chapter.
FindAudits = Callable[[str, str], Mapping[str, Audit]]


def audits_in(module: ModuleType) -> dict[str, Audit]:
    """Audits of a module by name: its functions with one of the two prefixes."""
    return {
        name: function
        for name, function in vars(module).items()
        if isfunction(function) and name.startswith((INCONSISTENCY, CONSISTENCY))
    }


@cache
def audits_of(paper: str, chapter: str) -> Mapping[str, Audit]:
    """Audits of a chapter by name: those of ``workflow/papers/KEY/chN_audits.py``, if it exists."""
    name = f"papers.{paper}.ch{chapter}_audits"
    return audits_in(papers_module(name)) if name in papers_modules("*_audits.py") else {}


def cells_of(paper: str, folder: Path) -> Cells:
    """Return a function that reads the published cells of a paper's tables."""

    def cells(name: str) -> pd.DataFrame:
        key, _, table = name.rpartition("/")
        return read_cells(folder / (key or paper) / f"{table}.csv")

    return cells


@cache
def run_audit(audit: Audit, paper: str, folder: Path) -> Finding:
    """Run an audit on the published cells of its paper; cached, as each tier needs the result."""
    return audit(cells_of(paper, folder))


def finding_of(erratum: Erratum, artefact: Artefact, audits: Mapping[str, Audit]) -> Finding | None:
    """Finding of an erratum's audit; None if it has no audit."""
    if erratum.audit is None:
        return None
    if erratum.audit not in audits:
        raise RecordError(
            f"{artefact.records_path}: erratum {erratum.id} of {artefact.name} refers to the audit "
            f"{erratum.audit!r}, which chapter {artefact.chapter} does not have; correct the name "
            "or write the audit."
        )
    return run_audit(audits[erratum.audit], artefact.paper, artefact.folder.parent)


# Building blocks of audits


def rows_where(table: pd.DataFrame, **key: str | list[str]) -> pd.DataFrame:
    """Rows of a table whose key columns have these values; may be empty."""
    return table[_matches(table, key)]


def _matches(table: pd.DataFrame, key: Mapping[str, str | list[str]]) -> BoolArray:
    """Whether each row of a table has the values of a key."""
    mask = np.ones(len(table), dtype=bool)
    for column, values in key.items():
        mask &= table[column].isin([values] if isinstance(values, str) else values).to_numpy()
    return mask


def published_text(table: pd.DataFrame, **key: str) -> str:
    """Published value of a key, which must match exactly one row."""
    # Faster than selecting the complete row: audits read thousands of cells.
    return str(table["value"][_matches(table, key)].item())


def published_number(table: pd.DataFrame, **key: str) -> float:
    """Published value of a key as a number."""
    text = published_text(table, **key)
    number = as_number(text)
    if number is None:
        raise ValueError(f"{text!r} is not a number")
    return number


def concatenate_tables(cells: Cells, *names: str) -> pd.DataFrame:
    """Cells of several tables, concatenated."""
    return pd.concat([cells(name) for name in names], ignore_index=True)


def holds_if_any(contradictions: Iterable[str], none: str) -> Finding:
    """Finding that holds if there is any contradiction; otherwise its detail is `none`."""
    sentences = list(contradictions)
    return Finding(bool(sentences), "; ".join(sentences) if sentences else none)


def holds_if_none(faults: Iterable[str], detail: str) -> Finding:
    """Finding that holds, with `detail`, if there are no faults."""
    sentences = list(faults)
    return Finding(not sentences, "; ".join(sentences) if sentences else detail)


def is_multiple(value: float, step: float) -> bool:
    """Whether a published value is an integer multiple of a step."""
    return abs(value / step - round(value / step)) < 1e-6
