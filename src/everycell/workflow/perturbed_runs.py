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
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import psutil

from everycell.jobs.job import end_with_snakemake
from everycell.verdicts.results import read_result
from everycell.workflow.cell_sensitivity import ComparedCells, Outcome, ResultSensitivity, Trial
from everycell.workflow.perturbation import PERTURBATIONS
from everycell.workflow.perturbation_plan import TOO_LONG, Plan, Target, Unit
from everycell.workflow.perturbed_files import PerturbationError, perturb
from everycell.workflow.planned_jobs import PlannedJob
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
    "everycell.render.table_files",
)
#: What the receipts of a run without a perturbation say instead of the inputs.
CONTROL = "none, to see what varies"
#: A run on perturbed data may take so many times longer than the limit for the last one.
TIMES_LONGER = 5
#: Why an input is not perturbed if all perturbations give the same file.
UNCHANGED = "no perturbation changes the file"


def _perturb_unit(plan: Plan, unit: Unit, baselines: Mapping[str, ComparedCells]) -> Outcome:
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
                moved = baselines[target.name].changed_cells(table)
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
    cells = ComparedCells(target, read_result(plan.project / f"{target.stem}.csv"))
    with tempfile.TemporaryDirectory(dir=_work["folder"], ignore_cleanup_errors=True) as folder:
        scratch = Scratch(Path(folder), plan.project, plan.cache)
        scratch.run(plan.downstream(target, files), (CONTROL,), _seconds_left(plan))
        return cells.changed_cells(read_result(scratch.folder / f"{target.stem}.csv"))


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
) -> Generator[ResultSensitivity]:
    """Measure each result, and yield it as soon as all its inputs were perturbed.

    Inputs are perturbed one after the other, until `end`, a value of `time.monotonic`.
    """
    for module in PRELOADED:
        import_module(module)
    units, skipped = plan.units()
    # The fastest results come first, so that many are finished when the time is over.
    targets = sorted(plan.targets, key=lambda target: plan.known_seconds(plan.cone(target)))
    results = {
        target.name: ResultSensitivity(
            target,
            ComparedCells(target, read_result(plan.project / f"{target.stem}.csv")),
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


def _add_outcome(result: ResultSensitivity, task: Future[Outcome], unit: Unit | None) -> None:
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


def _describe(files: Collection[str]) -> str:
    """First of some files, and how many there are."""
    first = min(files)
    return first if len(files) == 1 else f"{first} and {len(files) - 1} more"
