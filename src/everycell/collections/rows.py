"""Read the lines or JSON objects of a collection's files; errors give file and line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from everycell.base.errors import CollectionError
from everycell.base.text_files import text_lines
from everycell.base.validation import describe_fault

_Row = TypeVar("_Row", bound=BaseModel)


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Read the lines of a file with their numbers, from 1."""
    try:
        yield from text_lines(path, CollectionError)
    except OSError as error:
        raise CollectionError(
            f"{path} cannot be read ({error.strerror}); download it again, or use another file."
        ) from None


def read_objects(path: Path, model: type[_Row]) -> Iterator[tuple[int, _Row]]:
    """Read the objects of a file of JSON lines with their line numbers; skip blank lines."""
    for number, line in read_lines(path):
        if not line.strip():
            continue
        try:
            row = model.model_validate_json(line)
        except ValidationError as error:
            fault = (
                "is not a JSON object"
                if error.errors()[0]["type"] in ("json_invalid", "model_type")
                else describe_fault(model, error).rstrip(".")
            )
            raise CollectionError(
                f"{path}, line {number}: {fault}; correct the line, or download the file again."
            ) from None
        yield number, row
