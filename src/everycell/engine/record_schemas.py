"""JSON schemas of a paper's YAML files, by which editors complete and check them."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import BaseModel, create_model

from everycell.engine.cards import ChapterFile, PaperFile
from everycell.engine.full_runs import FullTier
from everycell.engine.publications import Publication
from everycell.engine.registry import Registry

#: Name of a file -> its model. The page alone reads a publication, so results do not depend on it.
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
    """Model of a YAML file of a paper; None if it has none."""
    return MODELS.get("chapter" if path.stem.startswith("ch") else path.stem)


def json_schemas() -> dict[str, str]:
    """Text of each schema by the name of its file."""
    draft = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {
        f"{name}.schema.json": json.dumps(draft | model.model_json_schema(), indent=2) + "\n"
        for name, model in MODELS.items()
    }


def write_schemas(folder: Path) -> None:
    """Write each schema into a folder, which is made if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in json_schemas().items():
        (folder / name).write_text(text, encoding="utf-8")
