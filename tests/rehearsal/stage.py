"""Where a rehearsal takes place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus_server import CorpusServer
from language_model_server import Server
from workflow.endpoint_runs import KEY
from workflow.identified import pass_for_the_papers

Settings = dict[str, Any]


@dataclass
class Stage:
    """Where a rehearsal takes place: a project's folder, its servers, and the released data."""

    folder: Path
    hub: CorpusServer
    endpoint: Server
    mirror: Path

    def endpoints(self, *names: str, **more: Any) -> Settings:
        """Settings that name the endpoint."""
        settings = self.endpoint.settings(workers=2, key=KEY, **more).model_dump(mode="json")
        return {"endpoints": dict.fromkeys(names, settings)}

    def fetched(self) -> Settings:
        """Settings to fetch toy corpora from the server."""
        self.hub.add_toy_corpora()
        downloads = self.hub.write_downloads(self.folder / "downloads.json")
        return {"corpora": {"downloads": str(downloads)}}

    def believe(self) -> None:
        """Have the small material pass for the paper's: state its facts in place of the real ones.

        What comes from the server is identified by nothing.
        """
        pass_for_the_papers(self.folder, "config.yaml", "mine.yaml")

    def put_on_hub(self, name: str, write: Callable[[Path], None]) -> str:
        """Serve a model under its name on the hub."""
        folder = self.folder / "made" / name.replace("/", "--")
        folder.mkdir(parents=True)
        write(folder)
        self.hub.add_repository(name, folder)
        return name
