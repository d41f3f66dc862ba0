"""Pilot data of NTCIR-17 FairWeb-1: judged pages, group memberships, targets and three runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from everycell.base.errors import CollectionError
from everycell.base.untrusted import in_quotes
from everycell.collections.rows import read_lines

_FOLDER = "ntcir-fairweb1/pilot"
#: Attribute sets of each topic.
ATTRIBUTE_SETS: Mapping[str, Sequence[str]] = {
    "P001": ["R-HINDEX", "R-GENDER"],
    "P002": ["M-RATINGS", "M-ORIGIN"],
    "P003": ["T-FOLLOWERS"],
    "P004": ["Y-SUBSCS"],
}
_NAMES = [name for names in ATTRIBUTE_SETS.values() for name in names]
#: Registry keys of the judgements, and of the memberships and targets of each attribute set.
QRELS = f"{_FOLDER}/fairweb1pilot.qrels"
MEMBERSHIPS = {name: f"{_FOLDER}/fairweb1pilot.{name}.gmemb" for name in _NAMES}
TARGETS = {name: f"{_FOLDER}/{name}.golddistr" for name in _NAMES}
#: Registry keys of the runs, by ranker.
RUNS = {
    "BM25": f"{_FOLDER}/run.bm25-depThre6.bm25-depThre6",
    "LM, Dirichlet": f"{_FOLDER}/run.qld-depThre6.qld-depThre6",
    "LM, Jelinek-Mercer": f"{_FOLDER}/run.qljm-depThre6",
}


def read_levels(path: Path | str, gains: Mapping[str, float]) -> dict[tuple[str, str], float]:
    """Read relevance judgements of pages, as gains by topic and page."""
    levels: dict[tuple[str, str], float] = {}
    for number, fields in _lines(path):
        if len(fields) != 3 or fields[2] not in gains or (fields[0], fields[1]) in levels:
            raise CollectionError(
                f"{path}, line {number} is {in_quotes(' '.join(fields))}; expected a topic, a page "
                f"that occurs once, and one of {', '.join(gains)}: fetch the file again (delete it "
                "first)."
            )
        levels[fields[0], fields[1]] = gains[fields[2]]
    return levels


def read_memberships(path: Path | str) -> dict[tuple[str, str], list[float]]:
    """Read the group memberships of pages, by topic and page."""
    memberships: dict[tuple[str, str], list[float]] = {}
    for number, fields in _lines(path):
        shares = _shares(fields[2:], f"{path}, line {number}")
        groups = len(next(iter(memberships.values()), shares))
        if len(shares) != groups:
            raise CollectionError(
                f"{path}, line {number} has {len(shares)} groups, but the first line has {groups}: "
                "fetch the file again (delete it first)."
            )
        memberships[fields[0], fields[1]] = shares
    return memberships


def read_target(path: Path | str) -> tuple[float, ...]:
    """Read the target share of each group, one per line."""
    return tuple(_shares([field for _, fields in _lines(path) for field in fields], str(path)))


def ranked_pages(run: pd.DataFrame, topic: str) -> list[str]:
    """Pages of a topic, best first, from a run in `everycell.trec.runs.trec_order`."""
    return run.loc[run["query"] == topic, "document"].tolist()


def _lines(path: Path | str) -> list[tuple[int, list[str]]]:
    rows = [(number, line.split()) for number, line in read_lines(Path(path))]
    if not rows:
        raise CollectionError(f"{path} is empty; fetch it again (delete it first).")
    return rows


def _shares(fields: Sequence[str], location: str) -> list[float]:
    try:
        shares = np.array([float(field) for field in fields])
    except ValueError:
        shares = np.array([])
    # Shares in the files are rounded to about six digits.
    if not len(shares) or not (shares >= 0).all() or abs(shares.sum() - 1) > 1e-4:
        raise CollectionError(
            f"{location}: the shares are {in_quotes(' '.join(fields))}; expected non-negative "
            "numbers that sum to 1: fetch the file again (delete it first)."
        )
    return (shares / shares.sum()).tolist()
