"""Context of all scripts of the workflow, which logs messages and checks inputs."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, get_type_hints

import pandas as pd
import psutil

import everycell
from everycell.base.files import (
    CANNOT_WRITE,
    NOT_REGULAR,
    STORAGE,
    describe_os_error,
    fingerprint,
    is_out_of_memory,
    naming,
    sha256,
)
from everycell.jobs.processes import allow_processes
from everycell.receipts.code import (
    LIBRARY,
    code_sha256,
    files_of_sources,
    roots_of_code,
    script_files,
    source_file,
    undeclared_file,
)
from everycell.receipts.intermediate import (
    expected_hash,
    is_intermediate,
    remove_record,
    write_record,
)
from everycell.receipts.uncovered import uncovered_code
from everycell.records.folders import papers_module
from everycell.records.registry import check

#: Parameters that are not settings of a result.
NO_SETTINGS = ("code", "modules", "script")


class UndeclaredInputError(Exception):
    """The code of a job names a file that is not an input of its rule."""


class InputChangedError(Exception):
    """An input or the code of a job changed during the run."""


def is_user_error(error: BaseException) -> bool:
    """Whether an error's message is for users and needs no traceback.

    This applies to errors that the library defines, and to a ValueError that it raises.
    """
    if type(error).__module__.startswith("everycell."):
        return True
    frames = traceback.extract_tb(error.__traceback__)
    library = Path(everycell.__file__).parent
    return type(error) is ValueError and Path(frames[-1].filename).is_relative_to(library)


def parameter_texts(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Parameters as in records of jobs, which have values of any type."""
    return {name: repr(value) for name, value in parameters.items()}


class Job:
    """Context of a script, ``with Job(snakemake) as job: ...``, or of a function of a chapter.

    On entry, it redirects messages to the rule's log, checks fetched files against the registry,
    hashes all inputs, and checks that these are what the jobs that made them recorded. On a clean
    exit, it checks that the inputs are unchanged, records the hashes of intermediate files, and
    writes the parameters to the log. Errors go to the log and not to the terminal. The script also
    ends when its Snakemake process ends, since a later run may write the same files.
    """

    def __init__(self, snakemake: Any) -> None:
        self.snakemake = snakemake
        #: Facts about the run, such as the commit of a model or the number of skipped lines. They
        #: are logged with the parameters, and so become part of the lineage of results.
        self.facts: dict[str, Any] = {}
        #: Inputs that `everycell verify --perturb` changed; Snakemake never sets this attribute.
        self.perturbed: tuple[str, ...] = getattr(snakemake, "perturbed", ())
        #: Hashes of outputs when they were written.
        self._written: dict[Path, str] = {}
        #: Hashes of files with code that ran here although no hash or version covers it.
        self.uncovered_code: dict[str, str] = {}

    def __enter__(self) -> Self:
        """Open the log and check the fetched inputs."""
        self.started = time.monotonic()
        try:
            self.log = Path(self.snakemake.log[0]).open("w", buffering=1, encoding="utf-8")
        except OSError as error:
            sys.exit(describe_os_error(error))
        logging.basicConfig(stream=self.log, level=logging.INFO, format="%(message)s")
        # This package logs every request to a language model.
        logging.getLogger("httpx2").setLevel(logging.WARNING)
        logging.captureWarnings(True)
        sys.excepthook = lambda *error: None
        end_with_snakemake()
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            # The logger plugin ignores Ctrl-C while a script is being loaded.
            signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            self._check_inputs()
            #: Hash of each input before the job.
            self.input_hashes = {
                path: fingerprint(path) for path in map(Path, self.snakemake.input)
            }
            self._check_made_inputs()
            for output in self._intermediate_outputs():
                remove_record(output)
            self._check_library()
            self._code = self._check_code()
            allow_processes(self.covered)
        except BaseException as error:
            with self.log:
                self._log_error(error)
            raise
        return self

    def _check_inputs(self) -> None:
        cache = Path(self.snakemake.config["cache"])
        for source in map(Path, self.snakemake.input):
            if source.is_relative_to(cache) and str(source) not in self.perturbed:
                check(source, source.relative_to(cache).as_posix())

    def _check_made_inputs(self) -> None:
        """Refuse inputs that were edited after other jobs made them."""
        for path, digest in self.input_hashes.items():
            expected = None if str(path) in self.perturbed else expected_hash(path)
            if expected is not None and expected[0] != digest:
                raise InputChangedError(
                    f"{path} differs from its hash in {expected[1]}, which the job that made it "
                    "wrote; remove both files, and run the same command again."
                )

    def _intermediate_outputs(self) -> list[Path]:
        return [path for path in map(Path, self.snakemake.output) if is_intermediate(path)]

    def _check_library(self) -> None:
        """Refuse a library from elsewhere that differs from the project's own copy."""
        [expected, *_] = roots_of_code(Path().absolute())
        if expected.resolve() == LIBRARY.resolve():
            return
        for path in sorted(expected.glob("everycell/**/*")):
            if not path.is_file() or "__pycache__" in path.parts:
                continue
            running = LIBRARY / path.relative_to(expected)
            if not running.is_file() or sha256(running) != sha256(path):
                raise InputChangedError(
                    f"Jobs import everycell from {LIBRARY}, where {running.relative_to(LIBRARY)} "
                    f"differs from that of this project; run with PYTHONPATH={expected}."
                )

    def _check_code(self) -> dict[Path, str]:
        """Hash the job's code; refuse code that changed after the run began."""
        params, root = self.snakemake.params, Path()
        expected: dict[tuple[Path, ...], str] = {
            (source_file(module, root),): digest
            for module, digest in (params.get("audits") or {}).items()
        }
        if params.get("code"):
            modules = [source_file(module, root) for module in params.get("modules", ())]
            # The error message names the first file.
            scripts = reversed(script_files(params["script"], root))
            expected[(*scripts, *modules)] = params["code"]
        files: set[Path] = set()
        for paths, digest in expected.items():
            existing = {path for path in paths if path.is_file()}
            code = files_of_sources(existing, root)
            if existing != set(paths) or code_sha256(code, root) != digest:
                raise InputChangedError(
                    f"{paths[0]}, or code that it imports, changed after this run began; run the "
                    "same command again."
                )
            files |= code
        if fault := undeclared_file(files, self.input_hashes, root):
            raise UndeclaredInputError(fault)
        return {path: fingerprint(path) for path in files}

    @property
    def covered(self) -> set[Path]:
        """Files that the receipt names: code and inputs."""
        return {*self._code, *self.input_hashes}

    @property
    def tier(self) -> str:
        """First folder below ``results``."""
        return Path(self.snakemake.output[0]).parts[1]

    @property
    def input(self) -> Any:
        """Named input files of the rule."""
        return self.snakemake.input

    @property
    def output(self) -> Any:
        """Named output files of the rule."""
        return self.snakemake.output

    @property
    def params(self) -> Any:
        """Parameters of the rule."""
        return self.snakemake.params

    @property
    def wildcards(self) -> Any:
        """Wildcards of the job."""
        return self.snakemake.wildcards

    @property
    def seed(self) -> int | None:
        """Seed from the parameters, if the rule has one."""
        return self.snakemake.params.get("seed")

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters that change the result."""
        params = self.snakemake.params.items()
        return {name: value for name, value in params if name not in NO_SETTINGS}

    def folder_of(self, name: str) -> Path:
        """Folder of a model: the input of this name, or the folder of its files."""
        files = self.snakemake.input[name]
        first = Path(files if isinstance(files, str) else files[0])
        return first if first.is_dir() else first.parent

    def write_frame(self, frame: pd.DataFrame, output: str) -> None:
        """Write an intermediate frame as Parquet to a named output."""
        path = Path(self.snakemake.output[output])
        with naming(path):
            frame.to_parquet(path, index=False)
        self.note_written(path)

    def note_written(self, *outputs: Path) -> None:
        """Note the hashes of outputs, so that no other program can change them until the end."""
        self._written |= {path: sha256(path) for path in outputs}

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Finish the job, or log its error."""
        allow_processes(())
        with self.log:
            try:
                if error is None:
                    self._finish()
                    parameters = parameter_texts(dict(self.snakemake.params.items()) | self.facts)
                    for output in self._intermediate_outputs():
                        write_record(output, self.input_hashes, parameters, self.uncovered_code)
                    # The last line of the log of a successful job.
                    line = json.dumps({"parameters": parameters}, ensure_ascii=False)
                    self.log.write(f"{line}\n")
            except BaseException as fault:
                self._log_error(fault)
                raise
            if error is not None:
                self._log_error(error)

    def _finish(self) -> None:
        """Check that inputs, code and what it wrote did not change while the job ran."""
        for path, digest in (self.input_hashes | self._code | self._written).items():
            if not path.exists() or fingerprint(path) != digest:
                raise InputChangedError(
                    f"{path} was {'changed' if path.exists() else 'removed'} while this job ran, "
                    "so its outputs were discarded; run the same command again."
                )
        self.uncovered_code |= uncovered_code(self._code, Path())

    def _log_error(self, error: BaseException) -> None:
        text = self._describe_error(error)
        try:
            self.log.write(text)
        except OSError:  # a full disk has no space for the log either
            sys.stderr.write(text)
            with suppress(OSError):
                self.log.close()

    def _describe_error(self, error: BaseException) -> str:
        """Text for the log: a sentence, or a traceback of an unexpected error."""
        if is_user_error(error):
            return f"{error}\n"
        if isinstance(error, KeyboardInterrupt):
            return "The job was stopped.\n"
        if is_out_of_memory(error):
            reason = f" ({' '.join(str(error).split())})" if str(error) else ""
            return (
                f"The job ran out of memory{reason}; free some memory, or raise its limit "
                "(ulimit -v, `mem_mb` of the rule on a cluster). Then run the same command again.\n"
            )
        if isinstance(error, OSError) and (error.errno in STORAGE or error.strerror == NOT_REGULAR):
            return f"{describe_os_error(error)} Then run the same command again.\n"
        if isinstance(error, OSError) and error.errno in CANNOT_WRITE:
            if error.filename is None and self.snakemake.output:
                error.filename = f"{self.snakemake.output[0]}, or another output of this job"
            return f"{describe_os_error(error)} Then run the same command again.\n"
        return "".join(traceback.format_exception(error))


#: Seconds between two checks whether the ancestors of a job still run.
PAUSE = 0.5


def snakemake_ancestors() -> list[psutil.Process]:
    """Ancestors of this process, up to the outermost Snakemake; empty without Snakemake.

    On a cluster, this is the Snakemake process on the job's node, which may outlive the process
    that submitted the job.
    """
    ancestors = psutil.Process().parents()
    while ancestors and not _is_snakemake(ancestors[-1]):
        ancestors.pop()
    return ancestors


def _is_snakemake(process: psutil.Process) -> bool:
    try:
        return any(part.endswith("snakemake") for part in process.cmdline()[:3])
    except psutil.Error:
        return False


def _is_alive(process: psutil.Process) -> bool:
    try:
        # `is_running` detects that another process reuses the id.
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def end_with_snakemake(ancestors: Sequence[psutil.Process] | None = None) -> None:
    """End this process silently as soon as one of its ancestors ends.

    If Snakemake is killed, its jobs continue. Such an orphan could overwrite files that a later run
    made with different settings.
    """
    watched = snakemake_ancestors() if ancestors is None else list(ancestors)
    if not watched:
        return

    def watch() -> None:
        pause = threading.Event()
        while all(map(_is_alive, watched)):
            pause.wait(PAUSE)
        os._exit(1)

    threading.Thread(target=watch, name="end_with_snakemake", daemon=True).start()


def call_function(snakemake: Any) -> None:
    """Call the function of the parameter `script` in the context that it declares.

    ``def means(job: ResultJob)`` makes a result with a receipt, ``def train(job: Job)`` an
    intermediate file. The declaration decides, since an intermediate job must not depend on the
    code that writes results.
    """
    module, _, name = snakemake.params["script"].partition(":")
    function = getattr(papers_module(f"papers.{module.replace('/', '.')}"), name)
    with get_type_hints(function)["job"](snakemake) as job:
        function(job)
