"""Executable checks that published numbers agree with each other.

An audit is a small pure function from the published cells of a paper to a `Finding`. It needs no
data and no reproduced table, so it can be read, run and disputed on its own. There are two kinds,
distinguished by name:

- an inconsistency (``audit_PAPER_TOPIC``): the finding holds if two published numbers, or a number
  and a sentence, contradict each other. An erratum on a card names its audit.
- a consistency (``check_PAPER_TOPIC``): the finding holds if a whole table agrees with another, or
  with itself. These checks guard our copy of the cells.
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

from everycell.engine.arrays import BoolArray
from everycell.engine.artefacts import Artefact
from everycell.engine.cards import Erratum
from everycell.engine.published_cells import CardError, as_number, read_cells

#: From the name of a table (``table_4_2``, or ``KEY/table_4_2`` of another paper) to its cells.
Cells = Callable[[str], pd.DataFrame]

INCONSISTENCY, CONSISTENCY = "audit_", "check_"


class Finding(NamedTuple):
    """Result of an audit: whether it holds, and the numbers in a line."""

    holds: bool
    detail: str


Audit = Callable[..., Finding]
#: From paper and chapter to the chapter's audits by name.
FindAudits = Callable[[str, str], Mapping[str, Audit]]


def audits_in(module: ModuleType) -> dict[str, Audit]:
    """Audits that a module defines, by name: its functions named as one of the two kinds.

    Examples
    --------
    >>> toy = ModuleType("toy")
    >>> toy.audit_toy2026_sum = toy.share = lambda cells: Finding(True, "")
    >>> list(audits_in(toy))
    ['audit_toy2026_sum']
    """
    return {
        name: function
        for name, function in vars(module).items()
        if isfunction(function) and name.startswith((INCONSISTENCY, CONSISTENCY))
    }


def cells_of(paper: str, folder: Path) -> Cells:
    r"""Access to the published cells of a paper."""

    def cells(name: str) -> pd.DataFrame:
        key, _, table = name.rpartition("/")
        return read_cells(folder / (key or paper) / f"{table}.csv")

    return cells


@cache
def run_audit(audit: Audit, paper: str, folder: Path) -> Finding:
    """Run an audit on the published cells of its paper in the folder ``published``.

    It runs once per process, since an erratum is reported for each tier of its artefact.
    """
    return audit(cells_of(paper, folder))


def finding_of(erratum: Erratum, artefact: Artefact, audits: Mapping[str, Audit]) -> Finding | None:
    """Finding of an erratum's audit; None if the erratum names none."""
    if erratum.audit is None:
        return None
    if erratum.audit not in audits:
        raise CardError(
            f"{artefact.card_path}: erratum {erratum.id} of {artefact.name} names the audit "
            f"{erratum.audit!r}, which chapter {artefact.chapter} does not have; correct the name, "
            "or write the audit."
        )
    return run_audit(audits[erratum.audit], artefact.paper, artefact.folder.parent)


# Building blocks of audits


def rows_where(table: pd.DataFrame, **key: str | list[str]) -> pd.DataFrame:
    """Rows of a table whose key columns have these values; empty if no row has them.

    Examples
    --------
    >>> table = pd.DataFrame({"row": ["a", "a", "b"], "metric": ["P", "R", "P"]})
    >>> rows_where(table, row=["a", "b"], metric="P").index.to_list()
    [0, 2]
    """
    return table[_have(table, key)]


def _have(table: pd.DataFrame, key: Mapping[str, str | list[str]]) -> BoolArray:
    """Whether each row of a table has the values of a key."""
    mask = np.ones(len(table), dtype=bool)
    for column, values in key.items():
        mask &= table[column].isin([values] if isinstance(values, str) else values).to_numpy()
    return mask


def published_text(table: pd.DataFrame, **key: str) -> str:
    """The single published value of a key.

    Examples
    --------
    >>> published_text(pd.DataFrame({"row": ["a", "b"], "value": ["0.30", "S"]}), row="a")
    '0.30'
    """
    # Thousands of cells are read: the other columns of the row are left where they are.
    return str(table["value"][_have(table, key)].item())


def published_number(table: pd.DataFrame, **key: str) -> float:
    """The single published value of a key, as a number."""
    text = published_text(table, **key)
    number = as_number(text)
    if number is None:
        raise ValueError(f"{text!r} is not a number")
    return number


def joined(cells: Cells, *names: str) -> pd.DataFrame:
    """Cells of several tables, one below the other.

    Examples
    --------
    >>> cells = {name: pd.DataFrame({"value": [name[-1]]}) for name in ("table_1", "table_2")}
    >>> joined(cells.__getitem__, "table_1", "table_2")["value"].to_list()
    ['1', '2']
    """
    return pd.concat([cells(name) for name in names], ignore_index=True)


def holds_if_any(sentences_found: Iterable[str], none: str) -> Finding:
    """Finding that holds if there is at least one sentence; otherwise its detail is `none`.

    Examples
    --------
    >>> holds_if_any(["a: 3 above 2", "b: 5 above 4"], "no value is above its bound")
    Finding(holds=True, detail='a: 3 above 2; b: 5 above 4')
    >>> holds_if_any([], "no value is above its bound")
    Finding(holds=False, detail='no value is above its bound')
    """
    sentences = list(sentences_found)
    return Finding(bool(sentences), "; ".join(sentences) if sentences else none)


def holds_if_none(faults: Iterable[str], detail: str) -> Finding:
    """Finding that holds if there is no fault; its detail is then `detail`.

    Examples
    --------
    >>> holds_if_none([], "4 totals are sums")
    Finding(holds=True, detail='4 totals are sums')
    >>> holds_if_none(["SGD: parts sum to 7"], "4 totals are sums")
    Finding(holds=False, detail='SGD: parts sum to 7')
    """
    sentences = list(faults)
    return Finding(not sentences, "; ".join(sentences) if sentences else detail)


def is_multiple(value: float, step: float) -> bool:
    """Whether a published value is a whole number of steps.

    Examples
    --------
    >>> is_multiple(0.6, 0.2), is_multiple(0.7, 0.2)
    (True, False)
    """
    return abs(value / step - round(value / step)) < 1e-6
