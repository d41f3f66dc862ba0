"""Everything printed for readers has its control characters escaped."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import everycell.cli
from everycell.cli.printing import difference_lines
from everycell.receipts.diff import Cause, Change, Difference

HOSTILE = "a\x1b[2J\u200f\u202e"


@pytest.mark.parametrize("path", sorted(Path(everycell.cli.__file__).parent.rglob("*.py")), ids=str)
def test_commands_print_with_echo(path):
    """`typer.echo` and `print` would print names of somebody else's file unchanged."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    calls = [
        line for line in lines if re.match(r"(typer\.s?echo|print|traceback\.print\w*)\(", line)
    ]
    if path.name == "printing.py":  # for programs, and `echo` itself
        assert len(calls) == 5
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


@pytest.mark.parametrize("mark", ["\n", " \n ", "\r\n", "\u2028", "\x85", "\v"])
def test_difference_lines_name_with_line_break(mark):
    """A name cannot begin a line of its own, such as "all verified"."""
    forged = f"a{mark}all verified"
    change = Change(key=forged, old=forged, new=forged)
    cause = Cause(kind="parameter", name=forged, old="1", new=forged)
    result = Difference(name=forged, cells=(change,), claims=(change,), causes=(cause,))
    lines = difference_lines(result, Path("a"), Path("b"), 10)
    assert len(lines) == 4 and all("a all verified" in line for line in lines)
    assert [line for line in lines if len(line.splitlines()) != 1] == []
