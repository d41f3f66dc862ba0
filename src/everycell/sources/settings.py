"""Settings for fetching released files and corpora."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from everycell.base.settings import NetworkUse, PlainPath, Settings, plain_path


class FetchSettings(Settings):
    """Where released files are looked up, and where fetched ones are stored."""

    mirror: str | None = Field(
        None,
        description="Folder with a copy of the released data; EVERYCELL_MIRROR overrides it.",
    )
    cache: PlainPath = Field("resources", min_length=1, description="Folder for fetched files.")
    network: NetworkUse = True

    def mirror_folder(self, environment: Mapping[str, str] | None = None) -> Path | None:
        """Mirror set in the environment, else the configured one, else None."""
        environment = os.environ if environment is None else environment
        folder = environment.get("EVERYCELL_MIRROR") or self.mirror
        return Path(plain_path(folder)) if folder else None


class CorpusSettings(Settings):
    """Where corpora are downloaded from, and where they are stored."""

    folder: PlainPath = Field("work/corpora", min_length=1, description="Folder of the corpora.")
    downloads: PlainPath | None = Field(
        None,
        min_length=1,
        description="JSON file of URLs that override those of ir_datasets, in the same format.",
    )
