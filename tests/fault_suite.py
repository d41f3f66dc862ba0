"""The fault suite: tests that inject faults, and the table that a run of them writes.

A test belongs to it by `@pytest.mark.fault(KIND)`. It counts as one fault, or as many as it records
under "times". `make test-faults` runs them and puts the table into docs/reliability.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

#: Kind of fault -> the injection, and the condition afterwards.
FAULTS = {
    "killed_run": (
        "SIGKILL of Snakemake or of all its jobs at random moments",
        "after an unlock the run resumes and ends with the same bytes as an undisturbed run",
    ),
    "killed_job": (
        "SIGKILL of one job, as by the kernel when memory runs out",
        "the run fails and names the job; no receipt is written; a rerun gives the same bytes",
    ),
    "interrupted_run": (
        "Ctrl-C, or a kill as soon as the first file of a result exists",
        "no command treats unfinished files as results; a rerun gives the same bytes",
    ),
    "orphan": (
        "Snakemake killed while a job runs",
        "the job ends on its own and writes nothing",
    ),
    "edited_input": (
        "an input edited, replaced or removed while a job reads it",
        "the job fails and names the input; no receipt is written",
    ),
    "killed_training": (
        "training killed at a step, or between the files of a checkpoint",
        "it resumes from the last complete checkpoint and reaches the same weights",
    ),
    "damaged_checkpoint": (
        "a checkpoint truncated, edited, or from another training job",
        "it is skipped or rejected by name, and never loaded",
    ),
    "full_disk": (
        "a full disk, a folder without write permission",
        "one error message; no partial file under a final name; the next run succeeds",
    ),
    "memory": (
        "a job over its limit of memory, or killed as the kernel does when memory runs out",
        "one sentence that names memory; the next run succeeds",
    ),
    "storage": (
        "a stale handle, an error or a timeout of a network file system at any open of a file",
        "one sentence with file and reason; no receipt is written",
    ),
    "mirror": (
        "a mirror that is changed by a byte, unreadable, incomplete or missing",
        "the error names the file and both hashes; nothing enters the cache",
    ),
    "cache": (
        "a cached file changed, read-only or replaced by a folder; two processes at once",
        "the change is detected before a job reads the file; one of the processes downloads",
    ),
    "download": (
        "a server whose responses are wrong, endless, truncated, slow or missing",
        "retried where that helps, otherwise reported; nothing is kept",
    ),
    "archive": (
        "archives that write outside their folder, contain links or devices, or are damaged",
        "nothing is written outside the cache; the error names the archive",
    ),
    "bomb": (
        "Parquet files of a few kilobytes that unpack to gigabytes",
        "rejected from their metadata, or read row by row in bounded memory",
    ),
    "endpoint": (
        "a language model server that fails, hangs, disconnects or returns nonsense",
        "retried where that helps, otherwise reported; no answer is requested, or paid for, twice",
    ),
    "receipt": (
        "receipts and results edited, moved, copied, deleted or linked",
        "`verify` names the file; no command counts a result whose table or verdicts changed",
    ),
    "users_file": (
        "damaged user files: wrong types, encodings, columns or values, bombs",
        "the error names the file and the row; no traceback",
    ),
    "configuration": (
        "settings and records with wrong keys, values or syntax",
        "the run does not start; the error names the key and the allowed values",
    ),
    "clock": (
        "a clock that jumps by a day between two runs or two jobs",
        "results stay valid, a rerun completes, a further run has nothing to do; hashes decide",
    ),
    "cluster": (
        "on Slurm: a job cancelled, a node drained, the controller restarted, memory exceeded",
        "the run gives the same bytes as a local one, or names the failed job",
    ),
}


def table(outcomes: Iterable[tuple[str, int, bool]]) -> str:
    """Write faults as a Markdown table.

    Parameters
    ----------
    outcomes
        Kind of fault, number of faults and success of each test.

    Examples
    --------
    >>> print(table([("orphan", 2, True), ("orphan", 1, False)]))
    | Fault | Injected | Passed | Condition |
    | --- | ---: | ---: | --- |
    | Snakemake killed while a job runs | 3 | 2 | the job ends on its own and writes nothing |
    """
    injected, survived = Counter[str](), Counter[str]()
    for kind, times, passed in outcomes:
        injected[kind] += times
        survived[kind] += times * passed
    lines = ["| Fault | Injected | Passed | Condition |", "| --- | ---: | ---: | --- |"]
    lines += [
        f"| {what} | {injected[kind]} | {survived[kind]} | {holds} |"
        for kind, (what, holds) in FAULTS.items()
        if injected[kind]
    ]
    return "\n".join(lines)


def mark(items: Iterable[pytest.Item]) -> None:
    """Record each test's kind of fault in its report."""
    for item in items:
        marker = item.get_closest_marker("fault")
        if marker is None:
            continue
        (kind,) = marker.args
        if kind not in FAULTS:
            raise pytest.UsageError(f"{item.nodeid}: {kind!r} is not a kind of fault; add it.")
        item.user_properties.append(("fault", kind))


def outcomes(reporter: pytest.TerminalReporter) -> list[tuple[str, int, bool]]:
    """Kind, number of faults and success of each test that ran."""
    counts = []
    for outcome in ("passed", "failed", "error"):
        for report in reporter.getreports(outcome):
            properties = dict(report.user_properties)
            if "fault" in properties and (report.when == "call" or outcome == "error"):
                counts.append(
                    (properties["fault"], int(properties.get("times", 1)), outcome == "passed")
                )
    return counts


BEGIN, END = "<!-- begin: written by make test-faults -->", "<!-- end -->"


def write_into(page: Path, text: str) -> None:
    """Put a text between the two marks of a page."""
    before, begin, remaining = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = remaining.partition(END)
    if not begin or not end:
        raise pytest.UsageError(f"{page} lacks the line {BEGIN!r} or {END!r}: put it back.")
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")
