"""Settings for fetching released files and corpora."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from everycell.base.settings import (
    NetworkUse,
    PlainPath,
    Settings,
    environment_folder,
    plain_path,
)


class FetchSettings(Settings):
    """Where released files are looked up, and where fetched ones are stored."""

    mirror: str | None = Field(
        None,
        description="Folder with a copy of the released data; EVERYCELL_MIRROR overrides it.",
    )
    cache: PlainPath = Field("resources", min_length=1, description="Folder for fetched files.")
    network: NetworkUse = True

    def mirror_folder(self) -> Path | None:
        """Mirror set in the environment, else the configured one, else None."""
        folder = environment_folder("EVERYCELL_MIRROR") or self.mirror
        return Path(plain_path(folder)) if folder else None


class CorpusSettings(Settings):
    """Where corpora are downloaded from, and where they are stored."""

    folder: PlainPath = Field("work/corpora", min_length=1, description="Folder of the corpora.")
    downloads: PlainPath | None = Field(
        None,
        min_length=1,
        description="JSON file of URLs that override those of ir_datasets, in the same format.",
    )
