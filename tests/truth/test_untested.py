"""Columns that untested claims need are in no released file."""

import csv
import gzip
import re
from functools import cache
from pathlib import Path

import pytest
from harness import NEEDS_DATA, find_mirror, published

from everycell.records.checks import matches_name
from everycell.records.registry import read_part

REPOSITORY = Path(__file__).resolve().parents[2]
PAPERS = published()
COLUMNS = [
    pytest.param(key, missing.name, id=f"{key} {missing.name}")
    for key, paper in PAPERS.items()
    for claims in paper.untested.values()
    for claim in claims
    for missing in claim.missing
    if missing.kind == "column"
]


def headings(path: Path) -> list[str]:
    """Headings of a table, or the keys at the beginning of a JSON file."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", errors="replace") as file:
        beginning = file.read(200_000)
    name = path.name.removesuffix(".gz")
    if name.endswith((".csv", ".tsv")):
        line = beginning.partition("\n")[0]
        return next(csv.reader([line], delimiter="\t" if name.endswith(".tsv") else ","), [])
    if ".json" in name:
        return re.findall(r'"([^"\n]{1,80})"\s*:', beginning)
    return []


@cache
def columns_of(paper: str, mirror: Path) -> frozenset[str]:
    """Headings of all released files of a paper that the mirror has."""
    registry = read_part(REPOSITORY / "published" / paper / "registry.yaml")
    paths = [mirror / entry.mirror.path for entry in registry.files.values() if entry.mirror]
    return frozenset(heading for path in paths if path.is_file() for heading in headings(path))


@pytest.mark.parametrize(("paper", "name"), COLUMNS)
def test_missing_columns_in_released_files(paper: str, name: str) -> None:
    mirror = find_mirror()
    if mirror is None:
        pytest.skip(NEEDS_DATA)
    columns = columns_of(paper, mirror)
    assert columns
    assert [column for column in columns if matches_name(name, column)] == []


@pytest.mark.parametrize("name", ["critical evaluation", "understanding constraints"])
def test_missing_columns_of_coded_comments(name: str) -> None:
    """The comments of chapter 7 of lajewska2025 have codes, so they must not count as missing."""
    mirror = find_mirror()
    if mirror is None:
        pytest.skip(NEEDS_DATA)
    assert any(matches_name(name, column) for column in columns_of("lajewska2025", mirror))
