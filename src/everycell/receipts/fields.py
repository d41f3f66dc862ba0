"""Fields of a receipt that verification requires."""

from __future__ import annotations

import os
from collections import Counter
from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictInt

from everycell.base.untrusted import in_quotes
from everycell.records.folders import Tier
from everycell.records.registry import RelativePath

#: Path that a system can have; for others, it has no answer but an error.
_Path = Annotated[str, Field(pattern=r"^/?[^/\x00]{1,255}(/[^/\x00]{1,255})*$", max_length=4096)]


class _File(BaseModel):
    path: _Path
    sha256: str


class _Output(BaseModel):
    # A foreign receipt must not refer to files outside its folder.
    path: RelativePath
    sha256: str


def _check_names(files: list[Any]) -> list[Any]:
    """Refuse a file that is listed twice, of which two hashes could be true or only one checked."""
    names = Counter(os.path.normpath(file.path) for file in files)
    if repeated := [name for name, number in names.items() if number > 1]:
        raise ValueError(f"it lists {in_quotes(repeated[0])} {names[repeated[0]]} times")
    return files


def _check_time(text: str) -> str:
    """Refuse a time in any format but that of `write_receipt`, since the crate copies it."""
    time = datetime.fromisoformat(text)
    if time.tzinfo is None or time.isoformat() != text:
        raise ValueError(f"{text!r} does not have the form 2026-01-31T12:00:00+00:00")
    return text


class _Execution(BaseModel):
    model_config = ConfigDict(extra="allow")

    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    host: str | None = None
    finished: Annotated[str, AfterValidator(_check_time)] | None = None


class _Code(BaseModel):
    model_config = ConfigDict(extra="allow")

    version: str
    #: Not the name of a branch, which may become that of any other commit.
    commit: Annotated[str, Field(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$")] | None = None
    script: str = ""
    sha256: str


class Receipt(BaseModel):
    """Fields that verification requires; other fields are kept."""

    model_config = ConfigDict(extra="allow")

    artefact: str
    tier: Tier
    inputs: Annotated[list[_File], AfterValidator(_check_names)]
    outputs: Annotated[list[_Output], Field(min_length=1), AfterValidator(_check_names)]
    parameters: dict[str, Any]
    seed: StrictInt | None = None
    code: _Code
    packages: dict[str, str] = {}
    execution: _Execution
    content_sha256: str
    #: Inputs that were perturbed; such a receipt certifies nothing.
    perturbed: list[str] = []
    #: Files with code that ran although neither `code` nor a package version covers it.
    uncovered_code: dict[_Path, str] = {}
