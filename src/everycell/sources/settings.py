"""Settings of the places that released files come from and are kept in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from everycell.engine.settings import NetworkUse, PlainPath, Settings, plain_path


class FetchSettings(Settings):
    """Where a fetch looks for a file, and where it puts it."""

    mirror: str | None = Field(
        None,
        description="Folder with a copy of the released data; EVERYCELL_MIRROR overrides it.",
    )
    cache: PlainPath = Field("resources", min_length=1, description="Folder for fetched files.")
    network: NetworkUse = True

    def mirror_folder(self, environment: Mapping[str, str] | None = None) -> Path | None:
        """Mirror to use: the environment's, else the configured one, else none."""
        environment = os.environ if environment is None else environment
        folder = environment.get("EVERYCELL_MIRROR") or self.mirror
        return Path(plain_path(folder)) if folder else None


class CorpusSettings(Settings):
    """Where corpora that config.yaml asks to fetch come from, and where they are kept."""

    folder: PlainPath = Field("work/corpora", min_length=1, description="Folder of the corpora.")
    downloads: PlainPath | None = Field(
        None,
        min_length=1,
        description="JSON file of addresses, in the form of ir_datasets, that replace its own.",
    )
