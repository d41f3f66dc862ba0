"""Model of the field `publication` of `paper.yaml`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from everycell.base.validation import describe_fault
from everycell.records.artefacts import read_records_file
from everycell.records.published_cells import RecordError
from everycell.records.tables import PaperFile

Url = Annotated[str, Field(pattern=r"^https://[^\s\"'<>]+$")]
Doi = Annotated[str, Field(pattern=r"^10\.\d{4,9}/[^\s\"'<>]+$")]
ArXiv = Annotated[str, Field(pattern=r"^\d{4}\.\d{4,5}$")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Repository(_Part):
    """A repository with code or data of the paper."""

    url: Url = Field(description="Address.")
    holds: str = Field(min_length=3, description="Description of its content.")


class Origin(_Part):
    """The publication that a chapter of a thesis is based on."""

    published: str = Field(min_length=3, description="Venue and year, with pages if known.")
    doi: Doi | None = Field(None, description="DOI without `https://doi.org/`.")
    arxiv: ArXiv | None = Field(None, description="arXiv identifier, in quotation marks.")


class Publication(_Part):
    """Identifiers and addresses of a paper, its code and its data."""

    doi: Doi | None = Field(None, description="DOI without `https://doi.org/`.")
    arxiv: ArXiv | None = Field(
        None, description='arXiv identifier, in quotation marks, such as "2403.05975".'
    )
    isbn: Annotated[str, Field(pattern=r"^[0-9-]{13,17}$")] | None = Field(
        None, description="ISBN of a book or thesis."
    )
    url: Url | None = Field(None, description="Page of the publisher or library.")
    school: str | None = Field(None, description="University of a thesis.")
    booktitle: str | None = Field(None, description="Title of the proceedings.")
    pages: Annotated[str, Field(pattern=r"^\d+(-\d+)?$")] | None = Field(
        None, description="Pages, such as 3-19."
    )
    origins: dict[str, Origin] = Field({}, description="Chapter -> its earlier publication.")
    code: list[Repository] = Field([], description="Repositories of code.")
    data: list[Repository] = Field([], description="Repositories of data.")


def read_publication(folder: Path | None) -> Publication:
    """Read and validate the field `publication` of a paper's `paper.yaml`."""
    if folder is None:
        return Publication()
    path = folder / "paper.yaml"
    try:
        return Publication.model_validate(read_records_file(path, PaperFile).publication)
    except ValidationError as error:
        raise RecordError(f"{path}: `publication`: {describe_fault(Publication, error)}") from None
