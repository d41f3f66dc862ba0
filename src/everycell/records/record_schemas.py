"""JSON schemas of a paper's YAML files, for completion and checks in editors."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import BaseModel, create_model

from everycell.records.full_runs import FullTier
from everycell.records.publications import Publication
from everycell.records.registry import Registry
from everycell.records.tables import ChapterFile, PaperFile

#: Models of the files by name. Only here does `PaperFile` include the model of a publication, since
#: results must not depend on it.
MODELS: dict[str, type[BaseModel]] = {
    "paper": create_model(
        "PaperFile",
        __base__=PaperFile,
        __doc__=PaperFile.__doc__,
        publication=(Publication, PaperFile.model_fields["publication"]),
    ),
    "chapter": ChapterFile,
    "registry": Registry,
    "full": FullTier,
}


def model_of(path: Path) -> type[BaseModel] | None:
    """Model of a YAML file of a paper; None for other files."""
    return MODELS.get("chapter" if path.stem.startswith("ch") else path.stem)


def json_schemas() -> dict[str, str]:
    """Schemas as text, by file name."""
    draft = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {
        f"{name}.schema.json": json.dumps(draft | model.model_json_schema(), indent=2) + "\n"
        for name, model in MODELS.items()
    }


def write_schemas(folder: Path) -> None:
    """Write the schemas to a folder, which is created if necessary."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in json_schemas().items():
        (folder / name).write_text(text, encoding="utf-8")
