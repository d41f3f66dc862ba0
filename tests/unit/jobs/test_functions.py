"""Functions of chapters as jobs of rules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

#: Attributes of `snakemake` in the script of a rule.
CALL = """
from types import SimpleNamespace as Names
from everycell.jobs.job import call_function
call_function(Names(
    input=[], output=["out"], params={{"script": {name!r}}}, log=["job.log"],
    config={{"cache": "resources"}},
))
"""
CHAPTER = """
from pathlib import Path
from everycell.jobs.job import Job
def write(job: Job) -> None:
    Path(job.output[0]).write_text("written")
"""


def call(folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    """Run a function of the repository in a folder, as a job does."""
    command = [sys.executable, "-c", CALL.format(name=name)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A repository with a chapter that has a function."""
    chapter = tmp_path / "workflow/papers/toy2026/ch1.py"
    chapter.parent.mkdir(parents=True)
    chapter.write_text(CHAPTER)
    for folder in (chapter.parent, chapter.parents[1]):
        (folder / "__init__.py").touch()
    return tmp_path


def test_call_function_declared_context(toy):
    done = call(toy, "toy2026/ch1:write")
    assert done.returncode == 0, done.stderr
    assert (toy / "out").read_text() == "written" and "parameters" in (toy / "job.log").read_text()


def test_call_function_prefers_the_repository_to_an_installed_package(toy, monkeypatch):
    (toy / "site/papers").mkdir(parents=True)
    (toy / "site/papers/__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(toy / "site"))
    assert call(toy, "toy2026/ch1:write").returncode == 0


def test_call_function_without_the_function(toy):
    done = call(toy, "toy2026/ch1:other")
    assert done.returncode != 0 and "'other'" in done.stderr and not (toy / "out").exists()
