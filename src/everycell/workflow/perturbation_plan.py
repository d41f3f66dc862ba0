"""Jobs and inputs of results that `everycell verify --perturb` perturbs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from everycell.receipts.receipts import read_receipt
from everycell.records.folders import Tier
from everycell.records.papers import Artefact
from everycell.workflow.perturbed_files import kind_of
from everycell.workflow.planned_jobs import (
    CACHE,
    PlannedJob,
    maker_of,
    makers,
    planned_jobs,
    source_of,
)

#: Why an input is not perturbed if the jobs that read it took long in the last run.
TOO_LONG = "takes over a minute"


class Target(NamedTuple):
    """An artefact in a tier."""

    artefact: Artefact
    tier: Tier

    @property
    def stem(self) -> str:
        """Path of its files without suffix."""
        return f"results/{self.tier}/{self.artefact.id}"

    @property
    def name(self) -> str:
        """``TIER/KEY/table_1``."""
        return f"{self.tier}/{self.artefact.id}"

    @property
    def result(self) -> tuple[str, str]:
        """Tier and artefact, as in `published/sensitivity.csv`."""
        return self.tier, self.artefact.id


@dataclass(frozen=True)
class Unit:
    """Input files that are perturbed together, and the results that depend on them, by name."""

    files: frozenset[str]
    targets: tuple[Target, ...]
    #: Name of the input in each result.
    labels: tuple[str, ...]


class Plan:
    """Jobs of the project, and the inputs of each result that can be perturbed."""

    def __init__(self, project: Path, cache: Path, targets: Iterable[Target], limit: float) -> None:
        self.project, self.cache, self.limit = project, cache, limit
        self.jobs = planned_jobs(project, "all")
        self.makers = makers(self.jobs)
        self.targets = [target for target in targets if f"{target.stem}.csv" in self.makers]
        self.seconds = {job.outputs[0]: _seconds_of(job, project) for job in self.jobs}

    def cone(self, target: Target) -> list[PlannedJob]:
        """Jobs that a result depends on, without downloads, in the order of the plan."""
        pending, visited = [f"{target.stem}.csv"], set()
        while pending:
            job = maker_of(pending.pop(), self.makers)
            if job is None or job.outputs[0] in visited or _is_download(job):
                continue
            visited.add(job.outputs[0])
            pending.extend(job.all_inputs)
        return [job for job in self.jobs if job.outputs[0] in visited]

    def inputs(self, target: Target) -> dict[str, frozenset[str]]:
        """Data files of a result by the name of the input; jobs further up have further inputs."""
        groups: dict[str, set[str]] = {}
        labels: dict[str, str] = {}
        for job in reversed(self.cone(target)):
            for name, paths in job.inputs.items():
                for path in paths:
                    if not _is_data(path):
                        continue
                    label = labels.setdefault(path, name or _short(path))
                    groups.setdefault(label, set()).add(path)
        return {label: frozenset(paths) for label, paths in sorted(groups.items())}

    def downstream(self, target: Target, files: Iterable[str]) -> list[PlannedJob]:
        """Jobs of a result that depend on any of some files."""
        changed, jobs = set(files), []
        for job in self.cone(target):
            if any(_is_below(path, changed) for path in job.all_inputs):
                jobs.append(job)
                changed.update(job.outputs)
        return jobs

    def known_seconds(self, jobs: Iterable[PlannedJob]) -> float:
        """Seconds that jobs took in the last run, as far as known."""
        return sum(self.seconds[job.outputs[0]] for job in jobs)

    def units(self) -> tuple[list[Unit], dict[str, list[str]]]:
        """Groups of files to perturb, and the inputs of each result that are not perturbed."""
        # Results share a unit if they also share the first job, so that it runs once.
        by_files: dict[tuple[frozenset[str], str], list[tuple[Target, str]]] = {}
        skipped: dict[str, list[str]] = {}

        @cache
        def has_kind(path: str) -> bool:
            source = source_of(path, self.project, self.cache)
            return source.exists() and kind_of(source) is not None

        for target in self.targets:
            for label, paths in self.inputs(target).items():
                files = frozenset(path for path in paths if has_kind(path))
                jobs = self.downstream(target, files)
                if not files:
                    suffixes = ", ".join(sorted({Path(path).suffix for path in paths}))
                    reason = f"no perturbation of {suffixes} files"
                    skipped.setdefault(target.name, []).append(f"{label}: {reason}")
                elif self.known_seconds(jobs) > self.limit:
                    skipped.setdefault(target.name, []).append(f"{label}: {TOO_LONG}")
                else:
                    by_files.setdefault((files, jobs[0].outputs[0]), []).append((target, label))
        units = [
            Unit(files, tuple(t for t, _ in pairs), tuple(label for _, label in pairs))
            for (files, _), pairs in by_files.items()
        ]
        return units, skipped


def _is_download(job: PlannedJob) -> bool:
    return all(Path(output).parts[0] == CACHE for output in job.outputs)


def _is_data(path: str) -> bool:
    """Whether a file is downloaded, or has published values or recorded answers."""
    first = Path(path).parts[0]
    return first in (CACHE, "recorded") or (first == "published" and path.endswith(".csv"))


def _is_below(path: str, names: set[str]) -> bool:
    return path in names or any(str(parent) in names for parent in Path(path).parents)


def _short(path: str) -> str:
    """Path of a data file without the folder of its data set."""
    return "/".join(Path(path).parts[2:])


def _seconds_of(job: PlannedJob, project: Path) -> float:
    """Seconds that a job took when its outputs were made; 0 if unknown."""
    for output in job.outputs:
        if output.endswith(".receipt.json") and (project / output).is_file():
            return float(read_receipt(project / output)["execution"]["seconds"])
        if output.startswith("work/"):
            benchmark = project / "benchmarks" / f"{Path(output).relative_to('work')}.tsv"
            if benchmark.is_file():
                return float(benchmark.read_text(encoding="utf-8").splitlines()[1].split("\t")[0])
    return 0.0
