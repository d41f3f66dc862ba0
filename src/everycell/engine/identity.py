"""Whether a corpus of the full tier is the published one: counts and hashes of its files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from everycell.engine.claims import CardFileModel
from everycell.engine.files import sha256


class FileFacts(CardFileModel):
    """Facts that identify a file; only the stated ones are checked."""

    lines: int | None = Field(None, description="Number of lines.")
    values: dict[int, int] = Field(
        {},
        description="Column, from 1, of lines split at blanks (a CSV file: at commas, without its "
        "header) -> number of its different values.",
    )
    ids: dict[int, str] = Field(
        {},
        description="Column -> sha256 of its different values, sorted, each followed by a line "
        "feed.",
    )
    keys: dict[str, int] = Field(
        {}, description='Key of a JSON object -> number of keys of its value; `""`: of the file.'
    )
    sha256: str | None = Field(None, description="Hash of the file.")

    @model_validator(mode="after")
    def _has_fact(self) -> FileFacts:
        if not self.model_dump(exclude_defaults=True):
            raise ValueError("no fact; state one, or leave the file out")
        return self


def facts_of(path: Path, stated: FileFacts) -> dict[str, Any]:
    """Compute the facts of a file that `stated` has for the published one."""
    facts: dict[str, Any] = {}
    if stated.lines is not None or stated.values or stated.ids:
        columns = sorted(stated.values.keys() | stated.ids.keys())
        lines, values = _lines_and_values(path, columns)
        if stated.lines is not None:
            facts["lines"] = lines
        facts["values"] = {column: len(values[column]) for column in stated.values}
        facts["ids"] = {column: _hash(values[column]) for column in stated.ids}
    if stated.keys:
        facts["keys"] = _number_of_keys(path, stated.keys)
    if stated.sha256 is not None:
        facts["sha256"] = sha256(path)
    return {name: value for name, value in facts.items() if value != {}}


def _lines_and_values(path: Path, columns: list[int]) -> tuple[int, dict[int, set[bytes]]]:
    values: dict[int, set[bytes]] = {column: set() for column in columns}
    lines, is_csv = 0, path.suffix == ".csv"
    with path.open("rb") as file:
        for line in file:
            lines += 1
            if is_csv and lines == 1:
                continue
            parts = line.split(b"," if is_csv else None, columns[-1]) if columns else []
            for column in columns:
                if column <= len(parts):
                    values[column].add(parts[column - 1])
    return lines, values


def _hash(values: set[bytes]) -> str:
    digest = hashlib.sha256()
    for value in sorted(values):
        digest.update(value + b"\n")
    return digest.hexdigest()


def _number_of_keys(path: Path, stated: Mapping[str, int]) -> dict[str, int]:
    """Numbers of keys; 0 where there is no such object."""
    try:
        content = json.loads(path.read_bytes())
    except ValueError:
        content = None
    numbers = {}
    for key in stated:
        part = content.get(key) if key and isinstance(content, dict) else content
        numbers[key] = len(part) if isinstance(part, dict) else 0
    return numbers


def difference(title: str, stated: Mapping[str, FileFacts], taken_facts: Mapping[str, Any]) -> str:
    """First difference between stated and computed facts of a corpus; "" if none."""
    for file, facts in stated.items():
        for name, value in facts.model_dump(exclude_defaults=True).items():
            other = taken_facts.get(file, {}).get(name)
            if other == value:
                continue
            return f"other data than {title} ({file}: {name} {other}, expected {value})"
    return ""
