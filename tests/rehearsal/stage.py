"""Where a rehearsal takes place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from corpus_server import CorpusServer
from language_model_server import Server
from workflow.endpoint_runs import KEY

from everycell.config import read_config
from everycell.engine.full_runs import Material, filled, setting
from everycell.engine.identity import facts_of

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
        """Settings that have corpora fetched from the server, which has the toy ones."""
        self.hub.add_toy_corpora()
        downloads = self.hub.write_downloads(self.folder / "downloads.json")
        return {"corpora": {"downloads": str(downloads)}}

    def believe(self) -> None:
        """Have the small material pass for the paper's: state its facts in place of the real ones.

        What comes from the server is identified by nothing.
        """
        path = self.folder / "published/full.yaml"
        declared = yaml.safe_load(path.read_text(encoding="utf-8"))
        whole = read_config(self.folder / "config.yaml", self.folder / "mine.yaml")
        for material in declared["materials"].values():
            stated = Material.model_validate(material).facts
            if not stated:
                continue
            named = setting(whole, material["settings"][0])
            facts = {}
            for pattern, expected in stated.items() if named and named != "fetch" else ():
                file = self.folder / named
                file = file / filled(whole, pattern) if file.is_dir() else file
                facts[pattern] = facts_of(file, expected)
            material["facts"] = facts
        path.write_text(yaml.safe_dump(declared), encoding="utf-8")

    def put_on_hub(self, name: str, write: Callable[[Path], None]) -> str:
        """Serve a model under its name on the hub."""
        folder = self.folder / "made" / name.replace("/", "--")
        folder.mkdir(parents=True)
        write(folder)
        self.hub.add_repository(name, folder)
        return name
