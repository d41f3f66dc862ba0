"""Jobs of the workflow as Snakemake plans them, so that they can be run again without it."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

#: Folder of the cache in a plan, whatever the configured one is.
CACHE = "resources"


#: Why a file has no parameters.
NO_RULE = "no rule of this project makes it"


class PlanError(Exception):
    """The workflow has no job of this name, or more than one."""


@dataclass(frozen=True)
class PlannedJob:
    """A job with its script and the object `snakemake` of that script, pickled."""

    rule: str
    script: str
    #: Inputs by name; those without a name have the name "".
    inputs: Mapping[str, tuple[str, ...]]
    outputs: tuple[str, ...]
    context: bytes

    @property
    def all_inputs(self) -> tuple[str, ...]:
        """All inputs, in the order of the rule."""
        return tuple(path for paths in self.inputs.values() for path in paths)


def planned_jobs(project: Path, target: str) -> list[PlannedJob]:
    """Jobs that make a target from downloaded files, each after the jobs whose outputs it reads."""
    return _in_order(_in_process(_plan, project, target))


def planned_rules(project: Path) -> dict[str, str]:
    """First output of each rule, with its wildcards."""
    return _in_process(_rules, project)


def planned_parameters(
    project: Path, files: Mapping[str, str | None], overrides: Path | None = None
) -> dict[str, dict[str, Any] | str]:
    """Parameters of the jobs that make files, by the project's own configuration, or why not.

    `files` has the rule of each file, if known; settings in the file `overrides` take precedence.
    """
    return _in_process(_parameters, project, files, overrides)


def _in_process(function: Callable[..., Any], *arguments: object) -> Any:
    # Snakemake changes the logging and the working folder of its process.
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        try:
            return pool.submit(function, *arguments).result()
        except PlanError:
            raise
        except BrokenProcessPool as error:
            raise PlanError(
                "The process that reads the rules of this project was killed, as when memory runs "
                "out; free some memory, and run the same command again."
            ) from error
        except Exception as error:  # rules are code, which may fail in any way
            reason = next(iter(str(error).splitlines()), "") or type(error).__name__
            raise PlanError(
                f"The rules of this project cannot be read ({reason.rstrip('.')}); run `snakemake "
                "--list` to see where, and correct them."
            ) from None


# The module `planning` imports Snakemake, which the basic installation lacks.


def _plan(project: Path, target: str) -> list[PlannedJob]:
    from snakemake_logger_plugin_everycell.planning import plan

    return [PlannedJob(*job) for job in plan(project, target, {"cache": CACHE})]


def _rules(project: Path) -> dict[str, str]:
    from snakemake_logger_plugin_everycell.planning import rules

    return rules(project, {"cache": CACHE})


def _parameters(
    project: Path, files: Mapping[str, str | None], overrides: Path | None
) -> dict[str, dict[str, Any] | str]:
    from snakemake_logger_plugin_everycell.planning import parameters

    return dict(parameters(project, files, overrides))


def makers(jobs: Iterable[PlannedJob]) -> dict[str, PlannedJob]:
    """Job that makes each output."""
    return {output: job for job in jobs for output in job.outputs}


def maker_of(path: str, jobs_by_output: Mapping[str, PlannedJob]) -> PlannedJob | None:
    """Job that makes a file, or one of its parent folders; None if no job does."""
    paths = (path, *map(str, PurePosixPath(path).parents))
    return next((jobs_by_output[name] for name in paths if name in jobs_by_output), None)


def source_of(path: str, project: Path, cache: Path) -> Path:
    """File of the project for a path of the plan; `cache` is its folder of downloaded files."""
    relative = Path(path)
    if relative.parts[0] == CACHE:
        return cache.joinpath(*relative.parts[1:])
    return project / relative


def _in_order(jobs: list[PlannedJob]) -> list[PlannedJob]:
    from graphlib import TopologicalSorter

    jobs_by_output = makers(jobs)
    # A job is known by its first output.
    graph = {
        job.outputs[0]: [
            maker.outputs[0]
            for path in job.all_inputs
            if (maker := maker_of(path, jobs_by_output)) is not None
        ]
        for job in jobs
    }
    return [jobs_by_output[name] for name in TopologicalSorter(graph).static_order()]
