"""A script of the authors in a process of its own, which imports only what a receipt covers."""

from __future__ import annotations

import atexit
import os
import runpy
import site
import subprocess
import sys
import sysconfig
from collections.abc import Collection
from pathlib import Path
from typing import Any

from everycell.base.files import sha256, write_json
from everycell.base.untrusted import read_json
from everycell.jobs.processes import allow_processes
from everycell.receipts.code import LIBRARY
from everycell.receipts.uncovered import uncovered_code
from everycell.workflow import first_statements

#: What the process reads: the script, its argument, and the files that it may run.
TASK = "task.json"
#: What it writes at its end: hashes of other files whose code it ran, or that it read.
REPORT = "uncovered.json"
#: What it, and processes that it forks, write for each such file: its hash and path.
READ = "read.txt"
#: Its output, which may be long, and may come from processes that do not end.
OUTPUT, ERRORS = "output.txt", "errors.txt"


def run_script(
    script: Path, argument: Path, covered: Collection[Path], folder: Path
) -> tuple[int, dict[str, str]]:
    """Run a script; also return the hashes of files that no hash or version covers.

    These are files with code that ran, and files of the project that Python opened. The process may
    start no Python but `covered` files; `folder` is for temporary files.
    """
    task = {"script": str(script), "argument": str(argument), "covered": [*map(str, covered)]}
    write_json(folder / TASK, task)
    start = first_statements(folder / "compiled", Path().absolute())
    call = f"from {__name__} import run_task; run_task({str(folder)!r})"
    # This process checks itself.
    allow_processes(())
    command = [sys.executable, "-P", "-c", start + call]
    with (folder / OUTPUT).open("wb") as output, (folder / ERRORS).open("wb") as errors:
        # A script that asks for input would wait for an answer that nobody can give.
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
    allow_processes(covered)
    report = folder / REPORT
    return done.returncode, read_json(report) if report.exists() else {}


def run_task(folder: str) -> None:
    """Run the script that a task names, in the process that `run_script` starts."""
    task = read_json(Path(folder, TASK))
    root, covered = Path().absolute(), [*map(Path, task["covered"])]

    def report() -> None:
        hashes = uncovered_code(covered, root) | _files_read(Path(folder, READ), root)
        # The version covers the package, of which a script may use any part.
        own = {name for name in hashes if (LIBRARY / name.removeprefix("src/")).is_file()}
        write_json(Path(folder, REPORT), {name: hashes[name] for name in hashes if name not in own})

    # After threads and whatever else the script leaves for the end.
    atexit.register(report)
    allow_processes(covered)
    _watch_files({str(path.absolute()) for path in covered}, root, Path(folder, READ))
    sys.argv = [task["script"], task["argument"]]
    sys.path.insert(0, str(Path(task["script"]).absolute().parent))
    runpy.run_path(task["script"], run_name="__main__")


def _watch_files(covered: Collection[str], root: Path, report: Path) -> None:
    """Report files that this process, or one that it forks, runs as code, or reads in the project.

    A module may remove itself from `sys.modules`, and `runpy` and IPython run files that are never
    there.
    """
    standard = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
    paths = (*standard, *site.getsitepackages(), LIBRARY / "everycell", *covered)
    # A covered folder covers its files.
    excluded = tuple(f"{os.path.abspath(path)}/" for path in paths)
    project = f"{root}/"
    known_paths = {*covered, str(report.absolute())}

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "exec":
            file = arguments[0].co_filename
        elif event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
            file = os.fsdecode(arguments[0])
        elif event == "sqlite3.connect":
            file = os.fsdecode(arguments[0])
        else:
            return
        path = os.path.abspath(file)
        if path in known_paths or (event == "exec" and file.startswith("<")):
            return
        is_own = path.startswith(project) and "/." not in path and "/__pycache__/" not in path
        if path.startswith(excluded) or not (is_own or event == "exec"):
            return
        known_paths.add(path)
        if event == "open" and not _is_reading(*arguments[1:]):
            return  # a file of the script's own, which it may read later
        if os.path.isfile(path):
            with report.open("a", encoding="utf-8", errors="surrogateescape") as lines:
                lines.write(f"{sha256(Path(path))} {path}\n")

    sys.addaudithook(watch)


def _is_reading(mode: str | None, flags: int) -> bool:
    return "r" in mode if mode is not None else flags & os.O_ACCMODE == os.O_RDONLY


def _files_read(report: Path, root: Path) -> dict[str, str]:
    """Hashes of the files in the report of `_watch_files`, by their names."""
    if not report.is_file():
        return {}
    lines = report.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    hashes = {Path(line.partition(" ")[2]): line.partition(" ")[0] for line in lines}
    return {
        path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix(): digest
        for path, digest in hashes.items()
    }
