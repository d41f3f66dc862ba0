"""Which numbers move when their data are perturbed: `everycell verify --perturb`."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import tempfile
import threading
import time
from collections.abc import (
    Callable,
    Collection,
    Container,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import psutil

from everycell.jobs.orphans import end_with_snakemake
from everycell.receipts.perturbation import PERTURBATIONS, PerturbationError, kind_of, perturb
from everycell.receipts.receipts import read_receipt
from everycell.records.cells import as_number
from everycell.records.folders import Tier
from everycell.records.papers import Artefact
from everycell.records.sensitivity import SEPARATOR, WHOLE, Sensitivity
from everycell.render.tables.layout import VALUE_COLUMNS
from everycell.verdicts.claims import no_table
from everycell.verdicts.readings import select_reading
from everycell.verdicts.results import read_result
from everycell.workflow.planned_jobs import CACHE, PlannedJob, maker_of, makers, planned_jobs
from everycell.workflow.scratch import (
    JobError,
    LateError,
    Scratch,
    UnfinishedError,
    run_folder,
)

#: Modules that most scripts import; forks of this process share them.
PRELOADED = (
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "pyarrow.parquet",
    "scipy.stats",
    "sklearn.linear_model",
    "statsmodels.formula.api",
    "statsmodels.stats.anova",
    "everycell.render.figure_files",
    "everycell.render.tables.table_files",
)
#: What the receipts of a run without a perturbation say instead of the inputs.
CONTROL = "none, to see what varies"
#: A run on perturbed data may take so many times longer than the limit for the last one.
TIMES_LONGER = 5
#: Why an input is not perturbed if the jobs that read it took long in the last run.
TOO_LONG = "takes over a minute"
#: Why an input is not perturbed if all perturbations give the same file.
UNCHANGED = "no perturbation changes the file"
#: Note of a value that moves without any perturbation.
VARIES = "varies from run to run"
#: Relative difference that counts as a difference.
EPSILON = 1e-9


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


@dataclass
class Trial:
    """What the perturbations of an input did to a result."""

    #: Names of the moved cells; None if no perturbation ran.
    moved: set[str] | None = None
    #: Perturbations that the rule refused, with the class of the error.
    refused: dict[str, str] = field(default_factory=dict)
    #: Perturbations on which a job crashed, with the class of the error.
    failed: dict[str, str] = field(default_factory=dict)
    #: Why the input was not perturbed in each way.
    skipped: str = ""

    @property
    def notes(self) -> list[str]:
        """Perturbations that did not run, by the class of the error."""
        by_cause: dict[str, list[str]] = {}
        for verb, causes in (("refused", self.refused), ("failed", self.failed)):
            for name, cause in causes.items():
                by_cause.setdefault(f"{verb} ({cause})", []).append(name)
        return [f"{', '.join(names)} {cause}" for cause, names in by_cause.items()]


@dataclass
class Outcome:
    """What the perturbations of a unit, or a run without one, did to each result, by its name."""

    trials: dict[str, Trial] = field(default_factory=dict)
    #: Messages of the perturbations that did not run.
    failures: list[str] = field(default_factory=list)
    #: Why nothing is known about a result.
    unfinished: dict[str, str] = field(default_factory=dict)
    #: Whether nothing is known because of an error, and not for lack of time.
    is_faulty: bool = False


@dataclass
class Measurement:
    """How the cells of a result depend on its data."""

    target: Target
    baseline: Cells
    #: Why inputs are not perturbed.
    skipped: Sequence[str]
    tasks: set[Future[Outcome]] = field(default_factory=set)
    #: What was tried with each input.
    trials: dict[str, Trial] = field(default_factory=dict)
    varying: set[str] = field(default_factory=set)
    #: Why nothing is known.
    unfinished: str = ""
    #: Whether the result cannot be made again from unchanged data.
    is_unrepeatable: bool = False
    #: Whether nothing is known because of an error, and not for lack of time.
    is_faulty: bool = False

    @property
    def sensitivity(self) -> dict[str, Sensitivity]:
        """Sensitivity of each cell."""
        return {
            cell: _sensitivity(cell, self.trials, self.skipped, self.varying)
            for cell in dict.fromkeys(self.baseline.names.values())
        }


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
        scratch = _Sources(self.project, self.cache)
        for target in self.targets:
            for label, paths in self.inputs(target).items():
                files = frozenset(path for path in paths if scratch.has_kind(path))
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


class _Sources:
    """Files of the project by their paths in the plan."""

    def __init__(self, project: Path, cache: Path) -> None:
        self.project, self.cache = project, cache
        self._kinds: dict[str, bool] = {}

    def path(self, path: str) -> Path:
        relative = Path(path)
        if relative.parts[0] == CACHE:
            return self.cache.joinpath(*relative.parts[1:])
        return self.project / relative

    def has_kind(self, path: str) -> bool:
        if path not in self._kinds:
            source = self.path(path)
            self._kinds[path] = source.exists() and kind_of(source) is not None
        return self._kinds[path]


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


class Cells:
    """Values of a result by the name of the cell, as they are compared."""

    def __init__(self, target: Target, table: pd.DataFrame) -> None:
        """Choose the rows that are compared with published values, or all rows without those."""
        artefact = target.artefact
        self.keys = [column for column in table.columns if column not in VALUE_COLUMNS]
        is_compared = (
            artefact.record.tiers[target.tier].state == "reproduced" and not artefact.cells.empty
        )
        if not is_compared:
            self.names = {key: WHOLE for key in self._values(table)}
        else:
            selected, _, _ = select_reading(artefact, target.tier, table, no_table, surrogate=False)
            names = zip(*(selected[column] for column in artefact.key_columns), strict=True)
            keys = zip(*(table.loc[selected.index, column] for column in self.keys), strict=True)
            self.names = {key: " / ".join(name) for key, name in zip(keys, names, strict=True)}
        self.digits = {}
        if is_compared:
            published = zip(
                artefact.cells[artefact.key_columns].itertuples(index=False, name=None),
                artefact.precisions,
                strict=True,
            )
            self.digits = {" / ".join(key): precision.decimals for key, precision in published}
        self.values = self._values(table)

    def _values(self, table: pd.DataFrame) -> dict[tuple[str, ...], str]:
        keys = zip(*(table[column] for column in self.keys), strict=True)
        return dict(zip(keys, table["value"], strict=True)) if "value" in table else {}

    def moved(self, table: pd.DataFrame) -> set[str]:
        """Names of the cells whose values differ in another table, as published, or are missing."""
        has_keys = {*self.keys} <= {*table.columns}
        other_values = self._values(table) if has_keys else {}
        names = {
            name
            for key, name in self.names.items()
            if key not in other_values
            or _differ(self.values[key], other_values[key], self.digits.get(name))
        }
        is_longer = not other_values.keys() <= self.values.keys()
        return names | ({WHOLE} if is_longer and WHOLE in self.names.values() else set())


def _differ(first: str, second: str, decimals: Any) -> bool:
    """Whether two values differ after rounding to the published decimals, if there are any."""
    numbers = as_number(first), as_number(second)
    if numbers[0] is None or numbers[1] is None:
        return first.strip() != second.strip()
    if math.isclose(numbers[0], numbers[1], rel_tol=EPSILON, abs_tol=EPSILON):
        return False
    if not isinstance(decimals, int):
        return True
    return f"{numbers[0]:.{decimals}f}" != f"{numbers[1]:.{decimals}f}"


def _perturb_unit(plan: Plan, unit: Unit, baselines: Mapping[str, Cells]) -> Outcome:
    """Perturb the files of a unit in each way, until all cells have moved.

    Cells that have not moved were tried with all perturbations, so the result does not depend on
    their order.
    """
    trials = {target.name: Trial(skipped=UNCHANGED) for target in unit.targets}
    outcome = Outcome(trials)
    pending = {target.name: set(baselines[target.name].names.values()) for target in unit.targets}
    for name in PERTURBATIONS:
        targets = [target for target in unit.targets if pending[target.name]]
        if not targets:
            break
        with tempfile.TemporaryDirectory(dir=_work["folder"], ignore_cleanup_errors=True) as folder:
            scratch = Scratch(Path(folder), plan.project, plan.cache)
            changed = [
                path
                for path in sorted(unit.files)
                if perturb(scratch.source(path), scratch.own(path), name, path)
            ]
            if not changed:
                continue
            done: set[str] = set()
            errors: dict[str, Exception] = {}
            for target in targets:
                trial = trials[target.name]
                trial.skipped = ""
                jobs = [
                    job for job in plan.downstream(target, changed) if job.outputs[0] not in done
                ]
                # Results often share jobs, which are not run again after they failed.
                error = next(
                    (errors[job.outputs[0]] for job in jobs if job.outputs[0] in errors), None
                )
                if error is None:
                    error = _run_jobs(scratch, jobs, changed, plan, done, errors)
                    if error is not None:
                        outcome.failures.append(f"{target.name}: {name} {_describe_error(error)}")
                if isinstance(error, JobError):
                    causes = trial.refused if error.is_refusal else trial.failed
                    causes[name] = error.cause
                    continue
                if isinstance(error, LateError) and time.monotonic() < _work["end"]:
                    trial.skipped = TOO_LONG
                    pending[target.name] = set()
                    continue
                if error is not None:
                    outcome.unfinished[target.name] = f"{name} {_describe_error(error)}"
                    pending[target.name] = set()
                    continue
                table = read_result(scratch.folder / f"{target.stem}.csv")
                moved = baselines[target.name].moved(table)
                trial.moved = (trial.moved or set()) | moved
                pending[target.name] -= moved
    return outcome


def _describe_error(error: Exception) -> str:
    if isinstance(error, JobError):
        return f"{'refused' if error.is_refusal else 'failed'} ({error.cause}): {error}"
    return str(error)


def _run_jobs(
    scratch: Scratch,
    jobs: Iterable[PlannedJob],
    changed: Collection[str],
    plan: Plan,
    done: set[str],
    errors: dict[str, Exception],
) -> Exception | None:
    """Run jobs until one fails; note its error, or that it is done, by its first output."""
    end = time.monotonic() + _seconds_left(plan)
    for job in jobs:
        try:
            scratch.run([job], changed, end - time.monotonic())
        except (JobError, UnfinishedError) as error:
            errors[job.outputs[0]] = error
            return error
        done.add(job.outputs[0])
    return None


def _control(plan: Plan, target: Target, files: Iterable[str]) -> set[str]:
    """Cells that move without any perturbation, so that nothing can be said about them."""
    cells = Cells(target, read_result(plan.project / f"{target.stem}.csv"))
    with tempfile.TemporaryDirectory(dir=_work["folder"], ignore_cleanup_errors=True) as folder:
        scratch = Scratch(Path(folder), plan.project, plan.cache)
        scratch.run(plan.downstream(target, files), (CONTROL,), _seconds_left(plan))
        return cells.moved(read_result(scratch.folder / f"{target.stem}.csv"))


#: What the processes of a pool work on; they inherit it when they are forked.
_work: dict[str, Any] = {}


def _seconds_left(plan: Plan) -> float:
    """Seconds that the jobs of a result may take."""
    return min(TIMES_LONGER * plan.limit, _work["end"] - time.monotonic())


def _run_control(target: Target, files: frozenset[str]) -> Outcome:
    """Run a result without a perturbation; the cells that move vary from run to run."""
    if _seconds_left(_work["plan"]) <= 0:
        return Outcome(unfinished={target.name: "no time is left"})
    try:
        return Outcome({target.name: Trial(_control(_work["plan"], target, files))})
    except UnfinishedError as error:
        return Outcome(unfinished={target.name: f"without a perturbation: {error}"})
    except JobError as error:
        return Outcome(failures=[f"it cannot be made again: {error}"])


def _run_unit(unit: Unit) -> Outcome:
    if _seconds_left(_work["plan"]) <= 0:
        return Outcome(unfinished={target.name: "no time is left" for target in unit.targets})
    try:
        return _perturb_unit(_work["plan"], unit, _work["baselines"])
    except PerturbationError as error:
        unfinished = {target.name: str(error) for target in unit.targets}
        return Outcome(unfinished=unfinished, is_faulty=True)


def _start_worker(parent: int) -> None:
    """Put a process of the pool, and its jobs, into a group, which ends with its parent."""
    os.setpgid(0, 0)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    end_with_snakemake([psutil.Process(parent)])


def _kill_workers() -> None:
    """End the processes of the pool with their jobs."""
    for child in multiprocessing.active_children():
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid or 0, signal.SIGKILL)
        child.kill()


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Leave the block at SIGTERM, as at SIGINT, so that scratch folders are removed."""

    def leave(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def measure_sensitivity(
    plan: Plan,
    cores: int,
    *,
    end: float = math.inf,
    notify: Callable[[str], None] = lambda line: None,
) -> Generator[Measurement]:
    """Measure each result, and yield it as soon as all its inputs were perturbed.

    Inputs are perturbed one after the other, until `end`, a value of `time.monotonic`.
    """
    for module in PRELOADED:
        import_module(module)
    units, skipped = plan.units()
    # The fastest results come first, so that many are finished when the time is over.
    targets = sorted(plan.targets, key=lambda target: plan.known_seconds(plan.cone(target)))
    results = {
        target.name: Measurement(
            target,
            Cells(target, read_result(plan.project / f"{target.stem}.csv")),
            skipped.get(target.name, []),
        )
        for target in targets
    }
    baselines = {name: result.baseline for name, result in results.items()}
    units_by_task: dict[Future[Outcome], Unit] = {}
    with run_folder() as folder, _ended_by_sigterm():
        _work.update(plan=plan, baselines=baselines, end=end, folder=folder)
        pool = ProcessPoolExecutor(
            cores, multiprocessing.get_context("fork"), _start_worker, (os.getpid(),)
        )
        try:
            pending = list(units)
            for target in targets:
                if files := _files_of(target, units):
                    results[target.name].tasks.add(pool.submit(_run_control, target, files))
                for unit in [unit for unit in pending if target in unit.targets]:
                    task = pool.submit(_run_unit, unit)
                    units_by_task[task] = unit
                    for other in unit.targets:
                        results[other.name].tasks.add(task)
                    pending.remove(unit)
            yield from (result for result in results.values() if not result.tasks)
            for task in as_completed(set().union(*(r.tasks for r in results.values()))):
                unit = units_by_task.get(task)
                for result in [result for result in results.values() if task in result.tasks]:
                    _add_outcome(result, task, unit)
                    result.tasks.remove(task)
                    if not result.tasks:
                        yield result
                if unit and not task.exception():
                    for failure in task.result().failures:
                        notify(f"    {_describe(unit.files)}: {failure}")
        except BaseException:
            _kill_workers()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def _add_outcome(result: Measurement, task: Future[Outcome], unit: Unit | None) -> None:
    """Add the outcome of a unit, or of the control run, to a result."""
    name = result.target.name
    if error := task.exception():
        result.unfinished, result.is_faulty = f"{type(error).__name__}: {error}", True
        return
    outcome = task.result()
    if name in outcome.unfinished:
        result.unfinished = outcome.unfinished[name]
        result.is_faulty |= outcome.is_faulty
    if unit is None:
        if name in outcome.trials:
            result.varying |= outcome.trials[name].moved or set()
        if outcome.failures:
            result.unfinished, result.is_unrepeatable = outcome.failures[0], True
        return
    for target, label in zip(unit.targets, unit.labels, strict=True):
        if target.name == name and name in outcome.trials:
            result.trials[label] = outcome.trials[name]


def _files_of(target: Target, units: Iterable[Unit]) -> frozenset[str]:
    """Files that are perturbed for a result."""
    return frozenset(path for unit in units if target in unit.targets for path in unit.files)


def _sensitivity(
    cell: str, trials: Mapping[str, Trial], skipped: Sequence[str], varying: Container[str]
) -> Sensitivity:
    """Sensitivity of a cell; it is only insensitive to inputs that were perturbed in each way."""
    if cell in varying:
        return Sensitivity(note=VARIES)
    moving: list[str] = []
    unmoving: list[str] = []
    refused: list[str] = []
    failed: list[str] = []
    reasons, notes = list(skipped), []
    for label, trial in sorted(trials.items()):
        if cell in (trial.moved or ()):
            moving.append(label)
            continue
        notes += [f"{label}: {note}" for note in trial.notes]
        if trial.skipped:
            reasons.append(f"{label}: {trial.skipped}")
        elif trial.moved is not None:
            unmoving.append(label)
        else:
            (failed if trial.failed else refused).append(label)
    return Sensitivity(
        tuple(moving),
        tuple(unmoving),
        tuple(refused),
        tuple(failed),
        tuple(sorted(reasons)),
        SEPARATOR.join(notes) if trials or skipped else "reads no data",
    )


def slow_inputs(sensitivity: Sensitivity) -> set[str]:
    """Inputs whose jobs took too long to be perturbed, which depends on the machine."""
    ending = f": {TOO_LONG}"
    reasons = sensitivity.not_perturbed
    return {reason.removesuffix(ending) for reason in reasons if reason.endswith(ending)}


def without_inputs(sensitivity: Sensitivity, inputs: Collection[str]) -> Sensitivity:
    """Sensitivity to the other inputs."""

    def select_others(texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(text for text in texts if text.partition(": ")[0] not in inputs)

    return Sensitivity(
        select_others(sensitivity.moves_with),
        select_others(sensitivity.not_with),
        select_others(sensitivity.refused),
        select_others(sensitivity.failed),
        select_others(sensitivity.not_perturbed),
        SEPARATOR.join(select_others(sensitivity.note.split(SEPARATOR))),
    )


def _describe(files: Collection[str]) -> str:
    """First of some files, and how many there are."""
    first = min(files)
    return first if len(files) == 1 else f"{first} and {len(files) - 1} more"
