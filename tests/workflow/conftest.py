"""Copies of the project: without results, and with all embedded ones."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import call
from filelock import FileLock
from harness import find_mirror
from language_model_server import Server
from rehearsal.stage import Stage
from workflow.project import Project, copy_tree


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """Return a folder that all workers of a parallel test run see."""
    base = factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Call tests slow that need all embedded results, which take a minute to make."""
    for item in items:
        if "built" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a copy without results, to be looked at but not changed."""
    folder = shared_folder(tmp_path_factory) / "tree"
    # The first worker copies, the others wait for it: all look at the same state of the files.
    with FileLock(folder.with_suffix(".lock")):
        return Project(folder, target=("embedded",)) if folder.exists() else copy_tree(folder)


@pytest.fixture(scope="session")
def built(tree: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """Return a copy after one run of `snakemake`; it must not be changed."""
    folder = shared_folder(tmp_path_factory) / "built"
    with FileLock(folder.with_suffix(".lock")):
        project = Project(folder, target=tree.target)
        if not folder.exists():
            tree.copy_to(folder).build()
    before = project.hashes(), project.written()
    yield project
    assert (project.hashes(), project.written()) == before, "a test changed the shared results"


@pytest.fixture
def clean(tree: Project, tmp_path: Path) -> Project:
    """Return a copy without results that a test may change."""
    return tree.copy_to(tmp_path / "project")


@pytest.fixture
def rebuilt(built: Project, tmp_path: Path) -> Project:
    """Return a copy with all embedded results that a test may change."""
    return built.copy_to(tmp_path / "project")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Return a new project with results, whose data lie in `data/` and in the cache."""
    monkeypatch.chdir(tmp_path)
    code, _, err = call("init", "smith2026")
    assert (code, err) == (0, "")
    project = Project(tmp_path / "smith2026")
    project.build()
    return project


@pytest.fixture
def server() -> Iterator[Server]:
    """Return a server that answers as a language model does."""
    server = Server()
    yield server
    server.close()


class LocalStage(Stage):
    """A stage without a hub: models lie in the project's folder."""

    def put_on_hub(self, name: str, write: Callable[[Path], None]) -> str:
        folder = self.folder / name
        folder.mkdir(parents=True)
        write(folder)
        return name


@pytest.fixture
def stage(clean: Project, server: Server) -> LocalStage:
    """Return where the material of a rehearsal goes, for a test of a part of its path."""
    return LocalStage(clean.folder, None, server, find_mirror())
