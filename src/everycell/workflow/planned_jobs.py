"""Jobs of the workflow as Snakemake plans them, so that they can be run again without it."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

#: Folder of the cache in a plan, whatever the configured one is.
CACHE = "resources"


class PlanError(Exception):
    """Snakemake cannot plan the jobs of the project; its messages say why."""


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
    # Snakemake changes the logging and the working folder of its process.
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        jobs = pool.submit(_plan, project, target).result()
    return _in_order(jobs)


def _plan(project: Path, target: str) -> list[PlannedJob]:
    from snakemake.api import SnakemakeApi
    from snakemake.iocontainers import Snakemake
    from snakemake.settings.types import (
        ConfigSettings,
        DAGSettings,
        OutputSettings,
        Quietness,
        ResourceSettings,
    )

    jobs = []
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        workflow_api = api.workflow(
            resource_settings=ResourceSettings(cores=1),
            config_settings=ConfigSettings(config={"cache": CACHE}),
            snakefile=project / "Snakefile",
            workdir=project,
        )
        dag_api = workflow_api.dag(DAGSettings(targets={target}, forceall=True))
        dag_api.execute_workflow(executor="dryrun")
        # There is no public way to read the parameters of planned jobs.
        workflow: Any = workflow_api._workflow
        for job in workflow.dag.jobs:
            if job.rule.script is None:
                continue
            context = Snakemake(
                job.input,
                job.output,
                job.params,
                job.wildcards,
                job.threads,
                job.resources,
                job.log,
                workflow.config,
                job.rule.name,
                None,
            )
            jobs.append(
                PlannedJob(
                    job.rule.name,
                    str(job.rule.script),
                    _by_name(context.input),
                    tuple(map(str, context.output)),
                    pickle.dumps(context),
                )
            )
    return jobs


def _by_name(paths: Any) -> dict[str, tuple[str, ...]]:
    """Inputs of a job by name."""
    groups = {
        name: (value,) if isinstance(value, str) else tuple(value) for name, value in paths.items()
    }
    unnamed = set(map(str, paths)) - {path for group in groups.values() for path in group}
    return {
        **{name: group for name, group in groups.items() if group},
        **({"": tuple(sorted(unnamed))} if unnamed else {}),
    }


def makers(jobs: Iterable[PlannedJob]) -> dict[str, PlannedJob]:
    """Job that makes each output."""
    return {output: job for job in jobs for output in job.outputs}


def maker_of(path: str, jobs_by_output: Mapping[str, PlannedJob]) -> PlannedJob | None:
    """Job that makes a file, or one of its parent folders; None if no job does."""
    paths = (path, *map(str, PurePosixPath(path).parents))
    return next((jobs_by_output[name] for name in paths if name in jobs_by_output), None)


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
