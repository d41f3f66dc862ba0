"""Where a work can be read and cited, and where its code and data lie: part of its `paper.yaml`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from everycell.engine.artefacts import read_card_file
from everycell.engine.cards import PaperFile
from everycell.engine.printed_cells import CardError
from everycell.engine.validation import describe_fault

Url = Annotated[str, Field(pattern=r"^https://[^\s\"'<>]+$")]
Doi = Annotated[str, Field(pattern=r"^10\.\d{4,9}/[^\s\"'<>]+$")]
ArXiv = Annotated[str, Field(pattern=r"^\d{4}\.\d{4,5}$")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Repository(_Part):
    """A repository of code or data that the work, or whoever read it, names."""

    url: Url
    holds: str = Field(min_length=3, description="What it holds, in words.")


class Origin(_Part):
    """The publication that a chapter of a thesis is made of."""

    published: str = Field(min_length=3, description="Where and when, with pages if known.")
    doi: Doi | None = None
    arxiv: ArXiv | None = None


class Publication(_Part):
    """What `paper.yaml` knows of a work's publication; what is unknown is left out."""

    doi: Doi | None = None
    arxiv: ArXiv | None = None
    isbn: Annotated[str, Field(pattern=r"^[0-9-]{13,17}$")] | None = None
    #: Page of the publisher, or of the library that hands the work out.
    url: Url | None = None
    #: Of a thesis.
    school: str | None = None
    #: Of a paper: title of the proceedings, and pages as 3-19.
    booktitle: str | None = None
    pages: Annotated[str, Field(pattern=r"^\d+(-\d+)?$")] | None = None
    #: Chapter -> what it was published as before.
    origins: dict[str, Origin] = {}
    code: list[Repository] = []
    data: list[Repository] = []


def read_publication(folder: Path | None) -> Publication:
    """What the `paper.yaml` of a work says of its publication.

    Parameters
    ----------
    folder
        The work's folder of ``published/``; None for a work without any artefact.

    Raises
    ------
    CardError
        A field that is unknown, or not what it must be; the message names file and field.

    Examples
    --------
    >>> read_publication(None).doi is None
    True
    """
    if folder is None:
        return Publication()
    path = folder / "paper.yaml"
    try:
        return Publication.model_validate(read_card_file(path, PaperFile).publication)
    except ValidationError as error:
        raise CardError(f"{path}: `publication`: {describe_fault(Publication, error)}") from None
