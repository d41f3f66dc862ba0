"""The fault suite: tests that do damage on purpose, and the table that a run of them writes.

A test belongs to it by `@pytest.mark.fault(KIND)`. It counts as one fault, or as many as it records
under "times". `make test-faults` runs them and puts the table into docs/reliability.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

#: Kind of fault -> what is done, and what must be true afterwards.
FAULTS = {
    "killed_run": (
        "SIGKILL of Snakemake or of all its jobs at moments that a seed draws",
        "after an unlock the run goes on and ends with the bytes of an undisturbed one",
    ),
    "interrupted_run": (
        "Ctrl-C, or a kill as soon as the first file of a result is there",
        "no command treats unfinished files as results; a rerun makes the same bytes",
    ),
    "orphan": (
        "the Snakemake of a running job killed",
        "the job ends by itself and writes nothing",
    ),
    "edited_input": (
        "an input edited, replaced or removed while a job reads it",
        "the job fails and names the input; no receipt is written",
    ),
    "killed_training": (
        "a training killed at a step, or between the files of a checkpoint",
        "it resumes from the last complete checkpoint and reaches the same weights",
    ),
    "damaged_checkpoint": (
        "a checkpoint truncated, edited or of another training",
        "it is left out or refused by name, and never read as weights",
    ),
    "full_disk": (
        "no space left, a folder that cannot be written",
        "one sentence; nothing half-written under a final name; the next run succeeds",
    ),
    "mirror": (
        "a mirror with a changed byte, unreadable, incomplete or not there",
        "the file and both hashes are named; nothing goes into the cache",
    ),
    "cache": (
        "a cached file changed, read-only, a folder in its place, two processes at once",
        "the change is found before a job reads it; one of the processes fetches",
    ),
    "download": (
        "a server with wrong, endless, cut, slow or no answers",
        "tried again where that helps, else named; nothing is kept",
    ),
    "archive": (
        "archives that lead outside, hold links or devices, or are damaged",
        "nothing is written outside the cache; the archive is named",
    ),
    "bomb": (
        "Parquet files of some kilobytes that unpack to gigabytes",
        "refused by what they say of themselves, or read row by row in bounded memory",
    ),
    "endpoint": (
        "a language model's server that fails, hangs, breaks off or answers nonsense",
        "tried again where that helps, else named; no answer is asked for, or paid, twice",
    ),
    "receipt": (
        "receipts and results edited, moved, copied, deleted or linked",
        "`verify` names the file; no command counts a result whose table or verdicts changed",
    ),
    "users_file": (
        "damaged files of users: wrong types, encodings, columns, values, bombs",
        "one sentence that names the file and the row; no traceback",
    ),
    "configuration": (
        "settings and cards with wrong keys, values or syntax",
        "the run does not start; the key and what is allowed are named",
    ),
    "clock": (
        "a clock that jumps by a day between two runs",
        "results made since hold; a rerun ends and then has nothing to do",
    ),
    "cluster": (
        "on Slurm: a job cancelled, a node drained, the controller restarted, memory exceeded",
        "the run ends with the bytes of a local one, or names the job",
    ),
}


def table(outcomes: Iterable[tuple[str, int, bool]]) -> str:
    """Write faults as a Markdown table.

    Parameters
    ----------
    outcomes
        Kind, how many faults, and whether what must hold did, of each test.

    Examples
    --------
    >>> print(table([("orphan", 2, True), ("orphan", 1, False)]))
    | What was done | Times | Survived | What must hold |
    | --- | ---: | ---: | --- |
    | the Snakemake of a running job killed | 3 | 2 | the job ends by itself and writes nothing |
    """
    done, survived = Counter[str](), Counter[str]()
    for kind, times, passed in outcomes:
        done[kind] += times
        survived[kind] += times * passed
    lines = ["| What was done | Times | Survived | What must hold |", "| --- | ---: | ---: | --- |"]
    lines += [
        f"| {what} | {done[kind]} | {survived[kind]} | {holds} |"
        for kind, (what, holds) in FAULTS.items()
        if done[kind]
    ]
    return "\n".join(lines)


def mark(items: Iterable[pytest.Item]) -> None:
    """Note the kind of fault of each test for its report."""
    for item in items:
        marker = item.get_closest_marker("fault")
        if marker is None:
            continue
        (kind,) = marker.args
        if kind not in FAULTS:
            raise pytest.UsageError(f"{item.nodeid}: {kind!r} is no kind of fault; add it.")
        item.user_properties.append(("fault", kind))


def outcomes(reporter: pytest.TerminalReporter) -> list[tuple[str, int, bool]]:
    """Kind, number of faults and success of each test that ran."""
    found = []
    for outcome in ("passed", "failed", "error"):
        for report in reporter.getreports(outcome):
            noted = dict(report.user_properties)
            if "fault" in noted and (report.when == "call" or outcome == "error"):
                found.append((noted["fault"], int(noted.get("times", 1)), outcome == "passed"))
    return found


BEGIN, END = "<!-- begin: written by make test-faults -->", "<!-- end -->"


def write_into(page: Path, text: str) -> None:
    """Put a text between the two marks of a page."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise pytest.UsageError(f"{page} lacks the line {BEGIN!r} or {END!r}: put it back.")
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")
