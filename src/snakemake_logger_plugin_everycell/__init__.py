"""Progress of a run in the terminal, in place of the inputs and reasons of each job.

Snakemake finds this package by its name, and the profile `default` asks for it. Errors and warnings
stand there as they always do; Snakemake's own log, with all that is left out here, is the file in
``.snakemake/log`` that the last lines name. A dry run looks as it does without, but for the offers
of a cache.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from logging import INFO, LogRecord
from pathlib import Path
from typing import Any

from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_everycell import durations
from snakemake_logger_plugin_everycell.durations import Duration, in_words

#: What Snakemake says to itself.
CHATTER = (
    "Assuming unrestricted shared filesystem",
    "Building DAG of jobs",
    "Using shell: ",
    "Group jobs: inactive",
    "Conda environments: ignored",
    "Singularity containers: ignored",
    "Select jobs to execute",
    "Execute ",
    "Removing temporary output ",
    "Touching output file ",
    "Elapsed time: ",
)
#: Events that progress stands for.
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


@dataclass
class Running:
    """A job that runs: its rule, what it is for, its cores and when it began."""

    rule: str
    message: str
    threads: int
    since: float


class Run:
    """What is known of a run so far."""

    def __init__(self, known: dict[str, Duration]) -> None:
        self.known = known
        self.began = time.time()
        self.cores = 1
        self.done = self.total = 0
        #: Jobs that have not begun, by rule.
        self.waiting: dict[str, int] = {}
        self.running: dict[int, Running] = {}
        #: What jobs that failed are for -> their logs.
        self.failed: dict[str, list[str]] = {}

    def note(self, record: LogRecord) -> Running | None:
        """Take up what an event says; return the job that has ended, if it is one's end."""
        event, said = getattr(record, "event", None), vars(record)
        if event == LogEvent.RESOURCES_INFO:
            self.cores = said.get("cores") or said.get("nodes") or self.cores
        elif event == LogEvent.RUN_INFO:
            self.waiting = dict(said["stats"])
            self.total = self.waiting.pop("total", sum(self.waiting.values()))
        elif event == LogEvent.JOB_INFO:
            rule = said["rule_name"]
            # What is tried again was taken off when it began first.
            self.waiting[rule] = max(self.waiting.get(rule, 0) - 1, 0)
            self.running[said["jobid"]] = Running(
                rule, said["rule_msg"] or rule, said["threads"] or 1, record.created
            )
        elif event == LogEvent.JOB_ERROR:
            failed = self.running.pop(said["jobid"], None)
            message = said["rule_name"] if failed is None else failed.message
            self.failed[message] = list(said.get("log") or [])
        elif event == LogEvent.JOB_FINISHED:
            ended = self.running.pop(said["job_id"], None)
            if ended is not None:
                self._measure(ended, record.created - ended.since)
            return ended
        elif event == LogEvent.PROGRESS:
            self.done, self.total = said["done"], said["total"]
        return None

    def _measure(self, job: Running, seconds: float) -> None:
        known = self.known.get(job.rule, Duration(0, seconds, job.threads))
        self.known[job.rule] = known.and_another(seconds, job.threads)

    def left(self) -> str:
        """Time that is left, in words; empty where nothing is known of it."""
        now = time.time()
        # Copies: the bar asks from a thread of its own, while jobs begin and end.
        running = [(job.rule, now - job.since) for job in list(self.running.values())]
        found = durations.estimate(dict(self.waiting), running, self.known, self.cores)
        if found.seconds < 1:
            return ""
        about = "at least" if found.unknown else "about"
        return f"{about} {in_words(found.seconds)} left"


def config_files(arguments: Sequence[str]) -> list[Path]:
    """Files that ``--configfile`` names among Snakemake's arguments, in any of its spellings."""
    if not any(argument.startswith("--c") for argument in arguments):
        return []
    from snakemake.cli import get_argument_parser

    return get_argument_parser().parse_known_args(list(arguments))[0].configfile


def _refuse_templates(arguments: Sequence[str]) -> None:
    """Refuse settings that Snakemake would run as code; it reads them after it makes this log."""
    files = config_files(arguments)
    if not files:
        return
    # The library takes half a second to import.
    from everycell.config import refuse_templates
    from everycell.engine.settings import ConfigError

    try:
        for path in files:
            refuse_templates(path)
    except ConfigError as error:
        raise WorkflowError(str(error)) from None


class LogHandler(LogHandlerBase):
    """Progress on standard error: a bar that moves on a terminal, elsewhere a line per job."""

    def __post_init__(self) -> None:
        """Prepare the handler that Snakemake itself would have."""
        _refuse_templates(sys.argv[1:])
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
        self._as_usual = settings.dryrun or settings.verbose or bool(settings.quiet)
        self._run = Run({} if self._as_usual else durations.read(durations.FILE))
        self._bar: Any = None

    def emit(self, record: LogRecord) -> None:
        """Show an event as progress, or as Snakemake does."""
        try:
            event = getattr(record, "event", None)
            ended = None if self._as_usual else self._run.note(record)
            if self._as_usual:
                # More than twenty lines at the head of each dry run, which help nobody.
                if self._verbose or not is_about_caching(record):
                    self._say(record)
            elif not (event in REPLACED or is_chatter(record)):
                self._say(record)
            elif sys.stderr.isatty():
                self._move_bar()
            elif ended is not None:
                self._write_line(ended, record.created - ended.since)
        except Exception:
            self.handleError(record)

    def _say(self, record: LogRecord) -> None:
        """Say it as Snakemake does, above the bar."""
        if self._bar is not None:
            self._bar.stop()
        self._usual.handle(record)
        if self._bar is not None:
            self._bar.start()

    def _write_line(self, ended: Running, seconds: float) -> None:
        run = self._run
        # Snakemake counts a job only after it has said that it ended.
        done = run.done + 1
        left = f", {run.left()}" if done < run.total and run.left() else ""
        print(
            f"[{done}/{run.total}] {ended.message} ({in_words(seconds)}{left})",
            file=sys.stderr,
            flush=True,
        )

    def _move_bar(self) -> None:
        if not self._run.total:
            return
        if self._bar is None:
            from snakemake_logger_plugin_everycell.bar import Bar

            self._bar = Bar(self._run)
            self._bar.start()

    def close(self) -> None:
        """Take the bar away, say what the run took, and keep it for the next one's estimate."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        run = self._run
        if run.total:
            took = in_words(time.time() - run.began)
            print(f"{run.done} of {run.total} jobs done in {took}.", file=sys.stderr, flush=True)
            # Snakemake says it too, twenty lines for each job, above much else.
            for message, logs in run.failed.items():
                print(f"Failed: {message}{_last_words(logs)}", file=sys.stderr, flush=True)
            run.total = 0
            # An estimate is worth no error: the disk may be full, or the folder read-only.
            with suppress(OSError):
                durations.write(durations.FILE, run.known)
        super().close()

    @property
    def writes_to_stream(self) -> bool:
        """It stands in for Snakemake's own messages."""
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
        """How it is said, too."""
        return True

    @property
    def needs_rulegraph(self) -> bool:
        """No."""
        return False


def _last_words(logs: Sequence[str]) -> str:
    """The last line of a job's log, where a job that fails says why."""
    for log in logs:
        with suppress(OSError):
            lines = Path(log).read_text(encoding="utf-8", errors="replace").split("\n")
            if said := [line.strip() for line in lines if line.strip()]:
                return f": {said[-1][:1000]}"
    return ""


def is_chatter(record: LogRecord) -> bool:
    """Whether Snakemake says something that helps nobody who waits for results."""
    if is_about_caching(record):
        return True
    said = str(record.msg)
    has_event = getattr(record, "event", None) is not None
    return record.levelno <= INFO and not has_event and said.startswith(CHATTER)


def is_about_caching(record: LogRecord) -> bool:
    """Whether Snakemake offers its cache, as it does once for each rule that may use it."""
    return "is eligible for caching between workflows" in str(record.msg)
