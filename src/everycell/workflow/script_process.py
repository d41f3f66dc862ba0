"""A script of the authors in a process of its own, which imports only what a receipt covers."""

from __future__ import annotations

import atexit
import runpy
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

from everycell.base.files import write_json
from everycell.base.untrusted import read_json
from everycell.jobs.processes import allow_processes
from everycell.receipts.code import LIBRARY
from everycell.receipts.uncovered import uncovered_code
from everycell.workflow import first_statements

#: What the process reads: the script, its argument, and the files that it may run.
TASK = "task.json"
#: What it writes at its end: hashes of other files whose code it ran.
REPORT = "uncovered.json"


def run_script(
    script: Path, argument: Path, covered: Collection[Path], folder: Path
) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """Run a script; also return the hashes of files with code that no hash or version covers.

    The process may start no Python but `covered` files; `folder` is for temporary files.
    """
    task = {"script": str(script), "argument": str(argument), "covered": [*map(str, covered)]}
    write_json(folder / TASK, task)
    start = first_statements(folder / "compiled", Path().absolute())
    call = f"from {__name__} import run_task; run_task({str(folder)!r})"
    # This process checks itself.
    allow_processes(())
    command = [sys.executable, "-P", "-c", start + call]
    done = subprocess.run(command, capture_output=True, text=True)
    allow_processes(covered)
    report = folder / REPORT
    return done, read_json(report) if report.exists() else {}


def run_task(folder: str) -> None:
    """Run the script that a task names, in the process that `run_script` starts."""
    task = read_json(Path(folder, TASK))
    root, covered = Path().absolute(), [*map(Path, task["covered"])]

    def report() -> None:
        hashes = uncovered_code(covered, root)
        # The version covers the package, of which a script may use any part.
        own = {name for name in hashes if (LIBRARY / name.removeprefix("src/")).is_file()}
        write_json(Path(folder, REPORT), {name: hashes[name] for name in hashes if name not in own})

    # After threads and whatever else the script leaves for the end.
    atexit.register(report)
    allow_processes(covered)
    sys.argv = [task["script"], task["argument"]]
    sys.path.insert(0, str(Path(task["script"]).absolute().parent))
    runpy.run_path(task["script"], run_name="__main__")
