"""The Python that rebuilds results in a copy of the project."""

import sys
from pathlib import Path

import pytest

from everycell.cli.rebuild_check import _python_in


@pytest.mark.parametrize("name", ["a b", "a'b", "a(b)", "ä;b"])
def test_python_in_path_with_blanks(tmp_path, monkeypatch, name):
    python = tmp_path / name / ".venv/bin/python3.11"
    python.parent.mkdir(parents=True)
    python.touch()
    monkeypatch.setattr(sys, "executable", str(python))
    (tmp_path / "copy").mkdir()
    path = Path(_python_in(tmp_path / "copy"))
    assert path.samefile(python) and name not in str(path)
    # The environment stays that of the link.
    assert path.parents[1].name == ".venv" and path.parents[2] == tmp_path / "copy"


def test_python_in_plain_path(tmp_path):
    assert _python_in(tmp_path) == sys.executable and not list(tmp_path.iterdir())
