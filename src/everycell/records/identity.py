"""Identification of the corpora of the full tier by counts and hashes of their files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from everycell.base.files import sha256
from everycell.base.untrusted import read_json
from everycell.base.validation import Strict


class FileFacts(Strict):
    """Facts that identify a file; those without a value are not checked."""

    lines: int | None = Field(None, description="Number of lines.")
    values: dict[int, int] = Field(
        {},
        description="Column (from 1) -> number of distinct values. Lines are split at whitespace; "
        "those of a CSV file at commas, without the header.",
    )
    ids: dict[int, str] = Field(
        {},
        description="Column -> sha256 of its sorted distinct values, each followed by a line feed.",
    )
    keys: dict[str, int] = Field(
        {},
        description='Key of a JSON object -> number of entries of its value; `""` is the object, '
        "or list, itself.",
    )
    sha256: str | None = Field(None, description="Hash of the file.")

    @model_validator(mode="after")
    def _has_fact(self) -> FileFacts:
        if not self.model_dump(exclude_defaults=True):
            raise ValueError("there are no facts; add one or remove the file")
        return self


def facts_of(path: Path, stated: FileFacts) -> dict[str, Any]:
    """Compute, for a file, the facts that are stated for the published file."""
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
    """Number of entries of each object or list; 0 if it is missing."""
    try:
        content = read_json(path)
    except ValueError:
        content = None
    numbers = {}
    for key in stated:
        part = content.get(key) if key and isinstance(content, dict) else content
        numbers[key] = len(part) if isinstance(part, dict | list) else 0
    return numbers


def difference(title: str, stated: Mapping[str, FileFacts], computed: Mapping[str, Any]) -> str:
    """Describe the first difference between stated and computed facts; "" if there is none."""
    for file, facts in stated.items():
        for name, value in facts.model_dump(exclude_defaults=True).items():
            actual = computed.get(file, {}).get(name)
            if actual == value:
                continue
            return f"data other than {title} ({file}: {name} {actual}, expected {value})"
    return ""
