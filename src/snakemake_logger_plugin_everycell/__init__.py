"""A line per job in the terminal, in place of its inputs and reasons; at the end, what failed.

Snakemake finds this package by its name, and the profile `default` asks for it. Errors and warnings
stand there as they always do; Snakemake's own log, with all that is left out here, is the file in
``.snakemake/log`` that the last lines name. A dry run looks as it does without, but for the offers
of a cache; with ``--quiet host reason``, which `everycell make -n` adds, it too has a line per job.
It also reads Snakemake's configuration files, without running code in them.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from logging import LogRecord
from pathlib import Path
from typing import Any

from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from everycell.base.untrusted import printable_line
from snakemake_logger_plugin_everycell.messages import (
    is_about_caching,
    is_about_dry_run,
    is_chatter,
    is_explained,
    read_log,
)

#: What Snakemake says on Ctrl-C.
STOPPING = "Terminating processes on user request"
#: The answer to Ctrl-C.
STOPPED = "Stopped; run the same command again to resume."
#: Events that the lines stand for.
REPLACED = {
    LogEvent.WORKFLOW_STARTED,
    LogEvent.RESOURCES_INFO,
    LogEvent.RUN_INFO,
    LogEvent.JOB_INFO,
    LogEvent.GROUP_INFO,
    LogEvent.JOB_STARTED,
    LogEvent.JOB_FINISHED,
    LogEvent.PROGRESS,
}


def read_settings_safely() -> None:
    """Let Snakemake read all configuration files with the reader of this project.

    Snakemake's own reader runs Python expressions in them (yte), also in those that a profile
    names and that it reads before the Snakefile, and it accepts duplicate keys.
    """
    from snakemake.common import configfile

    # Another version of Snakemake may read its settings elsewhere; a test covers the locked one.
    load = getattr(configfile, "_load_configfile", None)
    if load is None:
        return

    def load_safely(configpath_or_obj: Any, filetype: str = "Config") -> Any:
        if filetype != "Config" or not isinstance(configpath_or_obj, str | Path):
            return load(configpath_or_obj, filetype)
        from everycell.base.settings import ConfigError, read_settings

        try:
            return read_settings(Path(configpath_or_obj))
        except ConfigError as error:
            raise WorkflowError(str(error)) from None

    configfile._load_configfile = load_safely


def hide_interrupt() -> None:
    """Answer Ctrl-C with a line where Snakemake itself would show a traceback: in the rules."""
    show = sys.excepthook

    def show_unless_interrupted(kind: Any, error: Any, traceback: Any) -> None:
        if issubclass(kind, KeyboardInterrupt):
            print(STOPPED, file=sys.stderr, flush=True)
        else:
            show(kind, error, traceback)

    sys.excepthook = show_unless_interrupted


def require_executor_of_profile() -> None:
    """Let Snakemake name the missing plugin of a profile, instead of all its options."""
    from snakemake import profiles

    parser = getattr(profiles, "ProfileConfigFileParser", None)
    if parser is None:
        return
    parse = parser.parse

    def parse_profile(self: Any, stream: Any) -> Any:
        settings = parse(self, stream)
        executor = settings.get("executor")
        module = f"snakemake_executor_plugin_{str(executor).replace('-', '_')}"
        # Snakemake itself has these.
        is_included = executor in (None, "local", "dryrun", "touch")
        if not is_included and find_spec(module) is None:
            lines = Path(stream.name).read_text(encoding="utf-8").splitlines()
            row = next((row for row, text in enumerate(lines, 1) if text.startswith("executor")), 1)
            sys.exit(
                f"{stream.name}, line {row}: the plugin of the executor {executor} is not "
                f"installed; run `pip install snakemake-executor-plugin-{executor}`."
            )
        return settings

    parser.parse = parse_profile


# Snakemake imports this module in each run, whichever logger is chosen.
read_settings_safely()
hide_interrupt()
require_executor_of_profile()


class LogHandler(LogHandlerBase):
    """A line on standard error for each job that begins."""

    def __post_init__(self) -> None:
        """Prepare the handler that Snakemake itself would have."""
        # Snakemake imports its plugins while it is imported itself.
        from snakemake.logging import ColorizingTextHandler, DefaultFilter, DefaultFormatter

        settings: Any = self.common_settings
        self._usual = ColorizingTextHandler(
            nocolor=settings.nocolor, stream=sys.stdout if settings.stdout else sys.stderr
        )
        self._usual.setFormatter(DefaultFormatter(settings.quiet, settings.show_failed_logs))
        self._usual.addFilter(
            DefaultFilter(
                settings.quiet,
                settings.debug_dag,
                settings.verbose,
                settings.dryrun,
                settings.printshellcmds,
            )
        )
        self._verbose = settings.verbose
        quiet = {str(part) for part in settings.quiet or ()}
        self._is_plan = bool(settings.dryrun) and quiet == {"host", "reason"}
        is_shown = settings.dryrun or settings.verbose or bool(settings.quiet)
        self._as_usual = bool(is_shown) and not self._is_plan
        self._is_stopped = False
        if not self._as_usual:
            from snakemake.shell import shell

            # A script that is still being loaded would answer Ctrl-C with a traceback; `stop_jobs`
            # ends it. Once it is loaded, the class Job reacts to Ctrl-C again.
            shell.prefix("set -euo pipefail; trap '' INT; ")
            if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                signal.signal(signal.SIGINT, _interrupt)
            atexit.register(self._leave)
        self._began = time.time()
        self._begun = self._done = self._total = self._planned = 0
        #: Jobs that run, and jobs that failed: number -> what it is for; what it was for -> logs.
        self._running: dict[int, str] = {}
        self._failed: dict[str, list[str]] = {}
        #: Failed jobs that opened a log, and logs as they were before their jobs began.
        self._with_log: set[str] = set()
        self._old_logs: dict[str, tuple[int, ...] | None] = {}

    def emit(self, record: LogRecord) -> None:
        """Show an event as a line, as Snakemake does, or not at all."""
        try:
            if self._as_usual:
                # More than twenty lines at the head of each dry run, which help nobody.
                if self._verbose or not is_about_caching(record):
                    self._usual.handle(record)
                return
            if self._is_plan:
                self._note_plan(record)
                return
            if str(record.msg).startswith(STOPPING):
                self._is_stopped = True
                stop_jobs()
            self._note(record)
            if not (
                self._is_stopped
                or getattr(record, "event", None) in REPLACED
                or is_chatter(record)
                or is_explained(record)
            ):
                self._usual.handle(record)
        except Exception:
            self.handleError(record)

    def _leave(self) -> None:
        """Exit as a shell does after Ctrl-C; Snakemake's code is that of a failure."""
        if self._is_stopped:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(128 + signal.SIGINT)

    def _note(self, record: LogRecord) -> None:
        event, values = getattr(record, "event", None), vars(record)
        if event == LogEvent.RUN_INFO:
            stats = dict(values["stats"])
            self._total = stats.pop("total", sum(stats.values()))
        elif event == LogEvent.JOB_INFO:
            message = values["rule_msg"] or values["rule_name"]
            # A job that is tried again begins twice.
            self._begun = min(self._begun + 1, self._total)
            self._running[values["jobid"]] = message
            self._old_logs.update((log, _state_of(log)) for log in values.get("log") or [])
            print(f"[{self._begun}/{self._total}] {message}", file=sys.stderr, flush=True)
        elif event == LogEvent.JOB_ERROR:
            message = self._running.pop(values["jobid"], values["rule_name"])
            self._failed[message] = list(values.get("log") or [])
            # Afterwards, Snakemake itself creates the logs that are missing.
            if any(map(self._is_new, self._failed[message])):
                self._with_log.add(message)
        elif event == LogEvent.JOB_FINISHED:
            # A second try was a success.
            self._failed.pop(self._running.pop(values["job_id"], ""), None)
        elif event == LogEvent.PROGRESS:
            self._done, self._total = values["done"], values["total"]

    def _note_plan(self, record: LogRecord) -> None:
        """Show the message of a planned job; errors and warnings are shown as usual."""
        event, values = getattr(record, "event", None), vars(record)
        if event == LogEvent.JOB_INFO:
            if message := values["rule_msg"]:
                self._planned += 1
                print(message, flush=True)
        elif event is None and not is_chatter(record) and not is_about_dry_run(record):
            self._usual.handle(record)

    def close(self) -> None:
        """Say what the run took, and what failed."""
        if self._planned:
            jobs = "1 job" if self._planned == 1 else f"{self._planned} jobs"
            print(f"{jobs}; nothing was made.", flush=True)
            self._planned = 0
        if self._total:
            took = format_duration(time.time() - self._began)
            print(
                f"{self._done} of {self._total} jobs done in {took}.", file=sys.stderr, flush=True
            )
            if self._is_stopped:
                print(STOPPED, file=sys.stderr, flush=True)
                self._failed = {}
            for message, logs in self._failed.items():
                print(
                    f"Failed: {message}{self._last_words(message, logs)}",
                    file=sys.stderr,
                    flush=True,
                )
            self._total = 0
        super().close()

    def _is_new(self, log: str) -> bool:
        """Whether a job of this run opened a log, which may be left from an earlier run."""
        return _state_of(log) not in (None, self._old_logs.get(log))

    def _last_words(self, message: str, logs: Sequence[str]) -> str:
        """The last line of a job's log, where a job that fails says why."""
        if message not in self._with_log:
            return ": it ended before it opened its log; the lines above say why" if logs else ""
        for log in logs:
            if stripped := [line.strip() for line in read_log(log).split("\n") if line.strip()]:
                return f": {printable_line(stripped[-1][:1000])}"
        return ": it gave no reason, so it was probably killed, as when memory runs out"

    @property
    def writes_to_stream(self) -> bool:
        """It replaces Snakemake's own messages."""
        return True

    @property
    def writes_to_file(self) -> bool:
        """The log file stays Snakemake's."""
        return False

    @property
    def has_filter(self) -> bool:
        """What is left out is decided here."""
        return True

    @property
    def has_formatter(self) -> bool:
        """Messages are formatted here too."""
        return True

    @property
    def needs_rulegraph(self) -> bool:
        """No."""
        return False


def _interrupt(number: int, frame: Any) -> None:
    """Stop Snakemake, which then ends its jobs and removes their outputs."""
    signal.signal(number, _kill_jobs)
    raise KeyboardInterrupt


def _kill_jobs(number: int, frame: Any) -> None:
    """End jobs without their clean-up on a second Ctrl-C; a third ends Snakemake itself.

    Snakemake then removes their outputs and its lock, without which no run could resume.
    """
    import psutil

    signal.signal(number, signal.SIG_DFL)
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            process.kill()


def stop_jobs() -> None:
    """End the processes of running jobs: as by Ctrl-C if they react to it, otherwise at once."""
    import psutil

    processes = psutil.Process().children(recursive=True)
    # In a terminal, they have the signal already, and a second one would disturb their clean-up.
    for number in (None, signal.SIGINT, signal.SIGTERM):
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                if number is not None:
                    process.send_signal(number)
        _, processes = psutil.wait_procs(processes, timeout=2)


def _state_of(log: str) -> tuple[int, ...] | None:
    """Facts that change when a file is written again; None if it does not exist."""
    try:
        facts = os.stat(log)
    except OSError:
        return None
    return facts.st_ino, facts.st_mtime_ns, facts.st_size


def format_duration(seconds: float) -> str:
    """A time for readers.

    Examples
    --------
    >>> format_duration(0.4), format_duration(61), format_duration(7300)
    ('0.4 s', '1 min 1 s', '2 h 1 min')
    """
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, seconds_left = divmod(round(seconds), 60)
    if not minutes:
        return f"{seconds_left} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds_left} s"
