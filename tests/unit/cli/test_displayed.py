"""Everything printed for readers has its control characters escaped."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import everycell.cli

HOSTILE = "a\x1b[2J\u200f\u202e"


@pytest.mark.parametrize("path", sorted(Path(everycell.cli.__file__).parent.rglob("*.py")), ids=str)
def test_commands_print_with_echo(path):
    """`typer.echo` and `print` would print names of somebody else's file unchanged."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    calls = [line for line in lines if re.match(r"(typer\.echo|print|traceback\.print\w*)\(", line)]
    if path.name == "printing.py":  # for programs, and `echo` itself
        assert len(calls) == 4
    elif path.name == "showing.py":  # LaTeX
        assert len(calls) <= 1
    elif path.name != "entry.py":
        assert calls == [line for line in calls if "__version__" in line]


@pytest.mark.parametrize(
    "statement",
    ["raise KeyError(NAME)", "import warnings; warnings.warn(NAME)", "raise NameError(NAME)"],
)
def test_main_unexpected_error(statement):
    code = f"""
import everycell.cli
from everycell.cli import entry
NAME = {HOSTILE!r}
def app():
    {statement}
everycell.cli.app = app
entry.main()
"""
    command = [sys.executable, "-c", code, "list"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "\\x1b[2J" in done.stderr and not set(HOSTILE) & set("\x1b\u200f\u202e") & set(
        done.stderr
    )
