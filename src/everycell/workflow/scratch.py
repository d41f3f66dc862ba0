"""Run planned jobs again in a scratch folder, with perturbed copies of some input files.

The scratch folder links to the files of the project and to the results of the jobs that are not run
again. Nothing is written into the project: all outputs are files of the scratch folder. Receipts of
perturbed runs say so, and no command accepts them.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import pickle
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

import everycell
from everycell.jobs.job import end_with_snakemake
from everycell.records.folders import PAPERS
from everycell.workflow.planned_jobs import CACHE, PlannedJob, source_of

#: Folders with outputs of jobs, of which a scratch folder has its own.
MADE = ("work", "results", "logs", "benchmarks")
#: Folder of the copied answers of language models, in a scratch folder.
RECORDS = "records"
#: Entries of a project that a scratch folder does not link to.
IGNORED = {*MADE, RECORDS, CACHE, ".git", ".snakemake", ".venv"}
#: Seconds between two looks at a running job.
PAUSE = 0.01
#: Start of the names of the folders with scratch folders, and the file in them that is locked while
#: a process works there.
PREFIX, LOCK = "everycell-perturbed-", "lock"
#: Parts of this package whose errors say nothing about the data of a job.
ENGINE = ("everycell.jobs.", "everycell.receipts.", "everycell.workflow.")
#: Parts of this package that read data; here, as in modules of a paper whose names end with `data`,
#: a wrong number is an error of the data.
READERS = ("base", "collections", "records")


@contextmanager
def run_folder() -> Iterator[Path]:
    """Make a folder for scratch folders, and remove it, and those of processes that have ended."""
    remove_abandoned_folders()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        with (folder / "new").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # From now on, other runs look at the lock.
            (folder / "new").rename(folder / LOCK)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned_folders() -> None:
    """Remove the folders of killed runs: those whose lock no process holds."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{LOCK}"):
        with suppress(OSError):
            if path.is_symlink() or path.parent.is_symlink() or path.stat().st_uid != os.getuid():
                continue
            with path.open("r+") as lock:
                # The processes of a run share its lock.
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path.parent)


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

    def copy_records(self, configured: str) -> None:
        """Copy the recorded answers of the configured folder.

        Jobs lock the records, and repair and append to them.
        """
        if (self.folder / RECORDS).exists():
            return
        (self.folder / RECORDS).mkdir()
        for path in (self.project / configured).glob("[!.]*"):
            if path.is_file():
                shutil.copy(path, self.folder / RECORDS / path.name)

    def source(self, path: str) -> Path:
        """File of the project for a path of the plan."""
        return source_of(path, self.project, self.cache)

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
    """A job did not run on perturbed data; the message is the last line of its log."""

    def __init__(self, message: str, cause: str, *, is_refusal: bool) -> None:
        super().__init__(message)
        #: Class of the error.
        self.cause = cause
        #: Whether the job rejected its data, and did not crash.
        self.is_refusal = is_refusal


class UnfinishedError(Exception):
    """A job took too long, or was killed: nothing is known about its data."""


class LateError(UnfinishedError):
    """A job took too long."""


def prepare_context(job: PlannedJob, scratch: Scratch) -> Any:
    """Object `snakemake` of a job whose outputs and recorded answers are in a scratch folder."""
    context = pickle.loads(job.context)
    settings = context.config.get("language_models", {})
    scratch.copy_records(settings.get("records", RECORDS))
    context.config = {**context.config, "language_models": {**settings, "records": RECORDS}}
    for path in (*job.outputs, *context.log):
        scratch.own(path)
    return context


def execute_script(script: str, context: object) -> None:
    """Run a script in this process, with its object `snakemake`."""
    sys.path.append(str(Path(script).parent))
    code = compile(Path(script).read_text(encoding="utf-8"), script, "exec")
    exec(code, {"__name__": "__main__", "__file__": script, "snakemake": context})


def run_job(job: PlannedJob, scratch: Scratch, perturbed: Collection[str], limit: float) -> None:
    """Run the script of a job in a fork of this process."""
    context = prepare_context(job, scratch)
    context.perturbed = tuple(sorted(perturbed))
    # A perturbed prompt is not sent: its answer would be recorded, and takes long or costs money.
    context.config["language_models"]["ask"] = False
    readable, writable = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(readable)
        _run_script(job.script, context, scratch.folder, writable)
    os.close(writable)
    try:
        _wait(process, limit)
    except JobError as error:
        log = scratch.folder / context.log[0]
        lines = log.read_text(encoding="utf-8").strip().splitlines() if log.exists() else []
        os.set_blocking(readable, False)
        with suppress(BlockingIOError):
            if report := os.read(readable, 1000):
                error.cause, error.is_refusal = json.loads(report)
        if lines:
            error.args = (lines[-1],)
        raise
    finally:
        os.close(readable)


def _wait(process: int, limit: float) -> None:
    """Wait for the process of a job; raise an error if it fails, is killed or takes too long."""
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
        code = os.waitstatus_to_exitcode(status)
        raise JobError(f"exit status {code}", f"exit status {code}", is_refusal=False)


def _run_script(script: str, context: object, folder: Path, report: int) -> None:
    """Run a script in a folder and end this process; write the class of an error to `report`."""
    status = 1
    try:
        end_with_snakemake([psutil.Process(os.getppid())])
        os.chdir(folder)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        logging.getLogger().handlers.clear()
        execute_script(script, context)
        status = 0
    except BaseException as error:
        os.write(report, json.dumps([type(error).__name__, is_refusal(error)]).encode())
    finally:
        os._exit(status)


def is_refusal(error: BaseException) -> bool:
    """Whether an error says that data are wrong; other errors are crashes.

    Errors that this package or a chapter defines, or that they raise as a ValueError, say so.
    """
    module = type(error).__module__
    if module.startswith(("everycell.", "papers.")):
        return not module.startswith(ENGINE)
    if type(error) is not ValueError:
        return False
    frame = traceback.extract_tb(error.__traceback__)[-1]
    file = Path(frame.filename).resolve()
    for folder in (Path(everycell.__file__).parent, Path(PAPERS).resolve()):
        if file.is_relative_to(folder):
            is_reader = file.relative_to(folder).parts[0] in READERS or file.stem.endswith("data")
            return is_reader or (frame.line or "").startswith("raise ")
    return False
