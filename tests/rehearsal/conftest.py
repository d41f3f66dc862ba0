"""Copies of the project and servers that a rehearsal takes place with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from corpus_server import CorpusServer
from language_model_server import Server
from rehearsal.stage import Stage
from workflow.conftest import server, tree  # noqa: F401
from workflow.project import Project


@pytest.fixture
def stage(tree: Project, server: Server, mirror: Path, tmp_path: Path) -> Iterator[Stage]:  # noqa: F811
    """Return a copy of the project, and servers with all that its full tiers request."""
    project = tree.copy_to(tmp_path / "project")
    with CorpusServer() as hub:
        yield Stage(project.folder, hub, server, mirror)
