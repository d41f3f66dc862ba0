"""How long the jobs of each rule took in earlier runs, and how long the rest of a run will take."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

#: Where a run leaves what it measured, below the folder of the project.
FILE = Path(".snakemake/everycell_durations.tsv")
COLUMNS = ("rule", "jobs", "seconds", "threads")


class Duration(NamedTuple):
    """What the jobs of a rule took.

    Attributes
    ----------
    jobs
        Jobs that were measured.
    seconds
        Their mean, from the start to the end of the job.
    threads
        Cores of such a job.
    """

    jobs: int
    seconds: float
    threads: int

    def and_another(self, seconds: float, threads: int) -> Duration:
        """With one job more, which counts for a fifth at least: what is new says more.

        Examples
        --------
        >>> Duration(9, 10.0, 1).and_another(20.0, 2)
        Duration(jobs=10, seconds=12.0, threads=2)
        """
        share = max(1 / (self.jobs + 1), 0.2)
        return Duration(self.jobs + 1, self.seconds + share * (seconds - self.seconds), threads)


def read(path: Path) -> dict[str, Duration]:
    """Durations by rule; none where there is no such file, or it cannot be read."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return {
                row["rule"]: Duration(int(row["jobs"]), float(row["seconds"]), int(row["threads"]))
                for row in csv.DictReader(file, delimiter="\t")
            }
    except (OSError, ValueError, KeyError, TypeError):
        # It is only for an estimate, and the next run writes it again.
        return {}


def write(path: Path, durations: Mapping[str, Duration]) -> None:
    """Write durations, whole or not at all."""
    part = path.with_suffix(".part")
    with part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(COLUMNS)
        for rule, known in sorted(durations.items()):
            writer.writerow([rule, known.jobs, f"{known.seconds:.3f}", known.threads])
    part.replace(path)


class Estimate(NamedTuple):
    """Time that a run still takes.

    Attributes
    ----------
    seconds
        Of the jobs whose rule was measured.
    unknown
        Jobs whose rule was not.
    """

    seconds: float
    unknown: int


def estimate(
    waiting: Mapping[str, int],
    running: Iterable[tuple[str, float]],
    durations: Mapping[str, Duration],
    cores: int,
) -> Estimate:
    """Estimate the time that is left.

    Examples
    --------
    Four jobs of ten seconds on two cores, of which one has run for three:

    >>> known = {"train": Duration(1, 10.0, 1)}
    >>> estimate({"train": 3, "new": 2}, [("train", 3.0)], known, cores=2)
    Estimate(seconds=18.5, unknown=2)
    """
    work = longest = 0.0
    unknown = 0
    for rule, jobs in waiting.items():
        if rule not in durations:
            unknown += jobs
            continue
        known = durations[rule]
        work += jobs * known.seconds * min(known.threads, cores)
        longest = max(longest, known.seconds if jobs else 0)
    for rule, since in running:
        if rule not in durations:
            unknown += 1
            continue
        known = durations[rule]
        left = max(known.seconds - since, 0.0)
        work += left * min(known.threads, cores)
        longest = max(longest, left)
    return Estimate(max(work / cores, longest), unknown)


def in_words(seconds: float) -> str:
    """A time for readers.

    Examples
    --------
    >>> in_words(0.4), in_words(59.4), in_words(61), in_words(7300)
    ('0.4 s', '59 s', '1 min 1 s', '2 h 1 min')
    """
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
