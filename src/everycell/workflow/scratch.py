"""Run planned jobs again in a scratch folder, with perturbed copies of some input files.

The scratch folder links to the files of the project and to the results of the jobs that are not run
again. Nothing is written into the project: all outputs are files of the scratch folder, and the
receipts there say that their data were perturbed, so that no command accepts them.
"""

from __future__ import annotations

import logging
import os
import pickle
import signal
import sys
import time
from collections.abc import Collection, Iterable
from pathlib import Path

from everycell.workflow.planned_jobs import CACHE, PlannedJob

#: Folders with outputs of jobs, of which a scratch folder has its own.
MADE = ("work", "results", "logs", "benchmarks")
#: Folder of answers of language models, unless another one is configured.
RECORDS = "records"
#: Entries of a project that a scratch folder does not link to.
IGNORED = {*MADE, RECORDS, CACHE, ".git", ".snakemake", ".venv"}
#: Seconds between two looks at a running job.
PAUSE = 0.01


class Scratch:
    """A scratch folder of a project; `cache` is its folder of downloaded files."""

    def __init__(self, folder: Path, project: Path, cache: Path) -> None:
        self.folder = folder
        self.project = project.resolve()
        self.cache = cache.resolve()
        for entry in self.project.iterdir():
            if entry.name not in IGNORED:
                (folder / entry.name).symlink_to(entry)
        for name in MADE:
            (folder / name).mkdir()
        # Jobs lock the records of answers, so jobs that run at once need a folder each.
        (folder / RECORDS).mkdir()
        for path in self.project.glob(f"{RECORDS}/[!.]*"):
            (folder / RECORDS / path.name).symlink_to(path)

    def source(self, path: str) -> Path:
        """File of the project for a path of the plan."""
        relative = Path(path)
        if relative.parts[0] == CACHE:
            return self.cache.joinpath(*relative.parts[1:])
        return self.project / relative

    def own(self, path: str) -> Path:
        """Path in the scratch folder whose parents are folders of its own, not links."""
        target = self.folder
        for part in Path(path).parts[:-1]:
            target = target / part
            if target.is_symlink():
                linked = target.resolve()
                target.unlink()
                target.mkdir()
                for entry in linked.iterdir():
                    (target / entry.name).symlink_to(entry)
            target.mkdir(exist_ok=True)
        target = target / Path(path).name
        if target.is_symlink():
            target.unlink()
        return target

    def link_inputs(self, job: PlannedJob) -> None:
        """Link the inputs of a job that the scratch folder does not have."""
        for path in job.all_inputs:
            target = self.folder / path
            if not target.exists():
                self.own(path).symlink_to(self.source(path))

    def run(self, jobs: Iterable[PlannedJob], perturbed: Collection[str], limit: float) -> float:
        """Run jobs in their order; return the seconds, and raise an error at the first failure."""
        started = time.monotonic()
        for job in jobs:
            self.link_inputs(job)
            left = limit - (time.monotonic() - started)
            if left <= 0:
                raise LateError("takes too long")
            run_job(job, self, perturbed, left)
        return time.monotonic() - started


class JobError(Exception):
    """A job failed on perturbed data; the message is the last line of its log."""


class UnfinishedError(Exception):
    """A job took too long, or was killed: nothing is known about its data."""


class LateError(UnfinishedError):
    """A job took too long."""


def run_job(job: PlannedJob, scratch: Scratch, perturbed: Collection[str], limit: float) -> None:
    """Run the script of a job in a fork of this process."""
    context = pickle.loads(job.context)
    context.perturbed = tuple(sorted(perturbed))
    # A perturbed prompt is not sent: its answer would be recorded, and takes long or costs money.
    context.config = {
        **context.config,
        "language_models": {**context.config.get("language_models", {}), "ask": False},
    }
    for path in (*job.outputs, *context.log):
        scratch.own(path)
    process = os.fork()
    if process == 0:
        _run_script(job.script, context, scratch.folder)
    end = time.monotonic() + limit
    while True:
        finished, status = os.waitpid(process, os.WNOHANG)
        if finished:
            break
        if time.monotonic() > end:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            raise LateError("takes too long")
        time.sleep(PAUSE)
    if os.WIFSIGNALED(status):
        raise UnfinishedError(f"was killed by signal {os.WTERMSIG(status)}")
    if status:
        log = scratch.folder / context.log[0]
        lines = log.read_text(encoding="utf-8").strip().splitlines() if log.exists() else []
        raise JobError(lines[-1] if lines else f"exit status {status}")


def _run_script(script: str, context: object, folder: Path) -> None:
    """Run a script in a folder and end this process."""
    status = 1
    try:
        os.chdir(folder)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        logging.getLogger().handlers.clear()
        sys.path.append(str(Path(script).parent))
        code = compile(Path(script).read_text(encoding="utf-8"), script, "exec")
        exec(code, {"__name__": "__main__", "__file__": script, "snakemake": context})
        status = 0
    finally:
        os._exit(status)
