"""Pilot data of NTCIR-17 FairWeb-1: judged pages, group memberships, targets and three runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

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


def read_gains(path: Path | str, gains: Mapping[str, float]) -> dict[tuple[str, str], float]:
    """Read relevance judgements of pages, as gains by topic and page."""
    return {(topic, page): gains[level] for topic, page, level in _lines(path)}


def read_memberships(path: Path | str) -> dict[tuple[str, str], list[float]]:
    """Read the group memberships of pages, by topic and page."""
    return {(topic, page): _shares(fields) for topic, page, *fields in _lines(path)}


def read_target(path: Path | str) -> tuple[float, ...]:
    """Read the target share of each group, one per line."""
    return tuple(_shares([field for fields in _lines(path) for field in fields]))


def ranked_pages(run: pd.DataFrame, topic: str) -> list[str]:
    """Pages of a topic, best first, from a run in `everycell.trec.runs.trec_order`."""
    return run.loc[run["query"] == topic, "document"].tolist()


def _lines(path: Path | str) -> list[list[str]]:
    return [line.split() for line in Path(path).read_text(encoding="utf-8").splitlines()]


def _shares(fields: Sequence[str]) -> list[float]:
    """Shares, which are rounded to about six digits in the files, normalised to a sum of 1."""
    shares = np.array([float(field) for field in fields])
    return (shares / shares.sum()).tolist()
