"""Messages of Snakemake that the lines of this plugin replace."""

from __future__ import annotations

import re
from logging import INFO, LogRecord
from pathlib import Path

from snakemake_interface_logger_plugins.common import LogEvent

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
#: What Snakemake says at the end of a failed run.
ECHOES = (
    "Exiting because a job execution failed.",
    "WorkflowError:\nAt least one job did not complete successfully.",
    "At least one job did not complete successfully.",
)


def is_explained(record: LogRecord) -> bool:
    """Whether the line "Failed: ..." at the end says all of this message.

    The log of a failed script ends with a sentence, unless it has a traceback.
    """
    if getattr(record, "event", None) == LogEvent.JOB_ERROR:
        texts = [read_log(log) for log in vars(record).get("log") or []]
        has_traceback = any("Traceback (most recent call last)" in text for text in texts)
        return any(texts) and not has_traceback and not vars(record).get("shellcmd")
    text = str(record.msg)
    is_failed_script = text.startswith("RuleException:") and "/.snakemake/scripts/" in text
    return is_failed_script or text.startswith(ECHOES)


def is_chatter(record: LogRecord) -> bool:
    """Whether Snakemake says something that helps nobody who waits for results."""
    if is_about_caching(record):
        return True
    text = str(record.msg)
    if re.match(r"Failed to setup log file: \[Errno (13|30)\]", text):
        return True  # the rules refuse a folder that cannot be written
    has_event = getattr(record, "event", None) is not None
    return record.levelno <= INFO and not has_event and text.startswith(CHATTER)


def is_about_caching(record: LogRecord) -> bool:
    """Whether Snakemake offers its cache, as it does once for each rule that may use it."""
    return "is eligible for caching between workflows" in str(record.msg)


def is_about_dry_run(record: LogRecord) -> bool:
    """Whether Snakemake explains at its end what a dry run is, and why jobs would run."""
    text = str(record.msg).lstrip()
    return record.levelno <= INFO and text.startswith(
        (
            "This was a dry-run",
            "The order of jobs does not",
            "Reasons:",
            "Rules with ",
            "Some jobs were triggered by provenance information",
            "If you prefer that only modification time",
            "If you are sure that a change for a certain output",
        )
    )


def read_log(log: str) -> str:
    """Text of a job's log; empty if it cannot be read."""
    try:
        return Path(log).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
