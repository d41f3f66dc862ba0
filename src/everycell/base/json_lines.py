"""Reading and checking of users' JSON lines files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from everycell.base.text_files import text_lines
from everycell.base.untrusted import parse_json

Line = TypeVar("Line", bound=BaseModel)


def read_json_lines(path: Path, model: type[Line], guide: str) -> Iterator[tuple[int, Line]]:
    """Read the objects of a file with their line numbers; skip empty lines."""
    count = 0
    for number, line in text_lines(path):
        if not line.strip():
            continue
        try:
            value = parse_json(line)
        except ValueError:
            raise ValueError(
                f"{path}, line {number} is not JSON: write one JSON object per line."
            ) from None
        try:
            yield number, model.model_validate(value)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the line"
            raise ValueError(
                f"{path}, line {number}: {where}: {first['msg']}; expected the fields "
                f"{', '.join(model.model_fields)} (see {guide})."
            ) from None
        count += 1
    if not count:
        raise ValueError(f"{path} is empty: write one JSON object per line.")
