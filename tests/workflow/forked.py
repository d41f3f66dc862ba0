"""Commands of the project started by fork, from a process that has imported what they import.

A command that starts anew imports Snakemake and pandas first: more than a second of a dry run's
three, some hundred times in the suite. The library is imported by each command itself, from the
copy that it is run in.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from tempfile import TemporaryFile

#: Commands that can be forked: each is a script in Python.
COMMANDS = ("everycell", "snakemake")
#: What they import of others.
PRELOADED = ["snakemake.cli", "pandas", "pydantic", "rich.console", "rich.table", "typer", "yaml"]

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(PRELOADED)


def run(command: list[str], folder: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """Run ``snakemake`` or ``everycell`` in a folder.

    Returns
    -------
    int, str
        Exit status, and what it printed on both streams.
    """
    with TemporaryFile() as printed:
        path = f"/proc/{os.getpid()}/fd/{printed.fileno()}"
        process = _context.Process(target=_command, args=(command, folder, dict(environment), path))
        process.start()
        process.join()
        printed.seek(0)
        return process.exitcode, printed.read().decode()


def _command(command: list[str], folder: Path, environment: dict[str, str], printed: str) -> None:
    """Be the command, as in a process of its own."""
    with Path(printed).open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    # The streams still belong to the process that forked.
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    own = [path for path in sys.path if Path(path).is_relative_to(sys.base_prefix)]
    own += [path for path in sys.path if path not in own and Path(path).is_relative_to(sys.prefix)]
    sys.path[:] = [environment["PYTHONPATH"], *own]
    for name in [name for name in sys.modules if name.partition(".")[0] == "workflow"]:
        del sys.modules[name]
    sys.argv = command
    [script] = entry_points(group="console_scripts", name=command[0])
    try:
        import_module(script.module)
        script.load()()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                stream.flush()
