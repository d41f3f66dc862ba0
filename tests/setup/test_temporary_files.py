"""What a run of the tests leaves on the disk."""

import os
import shutil
import subprocess
import sys

import pytest
from workflow.project import Project

TESTS = """
import subprocess, sys, tempfile
from pathlib import Path

def test_writes(tmp_path):
    (tmp_path / "large").write_text("large")
    for folder in (tempfile.mkdtemp(), subprocess.check_output(
        [sys.executable, "-c", "import tempfile; print(tempfile.mkdtemp(), end='')"], text=True
    )):
        (Path(folder) / "large").write_text("large")
    assert Path("OUTCOME").read_text() == "passes"
"""


@pytest.mark.parametrize("outcome", ["passes", "fails"])
def test_only_of_a_failed_test_files_are_kept(tmp_path, repository, outcome):
    checkout, temporary = tmp_path / "checkout", tmp_path / "temporary"
    for folder in (checkout / "tests", temporary):
        folder.mkdir(parents=True)
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy2(repository / name, checkout)
    (checkout / "tests" / "test_some.py").write_text(TESTS)
    (checkout / "OUTCOME").write_text(outcome)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=checkout,
        env=os.environ | {"TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == (outcome == "fails"), done.stdout
    left = [path for path in temporary.rglob("large") if path.is_file()]
    assert bool(left) == (outcome == "fails")
    # All in pytest's own folder, which a later run removes.
    assert {path.name.partition("-")[0] for path in temporary.iterdir()} <= {"pytest"}


def test_a_copy_shares_large_files_until_they_are_made_again(tmp_path):
    one = Project(tmp_path / "one")
    for name in ("work/deep/model", "results/table.csv"):
        (one.folder / name).parent.mkdir(parents=True)
        (one.folder / name).write_text("made")
    before = one.written()
    other = one.copy_to(tmp_path / "two")
    model, table = other.folder / "work/deep/model", other.folder / "results/table.csv"
    assert model.samefile(one.folder / "work/deep/model")
    table.write_text("changed")
    model.unlink()
    model.write_text("made again")
    assert (one.folder / "results/table.csv").read_text() == "made"
    assert one.written() == before == {"work/deep/model": before["work/deep/model"]}
    # What the fixture `built` looks at sees a write in place.
    os.link(one.folder / "work/deep/model", other.folder / "linked")
    (other.folder / "linked").write_text("written in place")
    assert one.written() != before
