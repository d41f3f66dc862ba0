"""Rules of a project, and the jobs that Snakemake plans for a target, without running them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from snakemake.api import SnakemakeApi, WorkflowApi
from snakemake.exceptions import MissingRuleException
from snakemake.iocontainers import Snakemake
from snakemake.settings.types import (
    ConfigSettings,
    DAGSettings,
    OutputSettings,
    Quietness,
    ResourceSettings,
)

from everycell.workflow.planned_jobs import PlanError

#: Rule, script, inputs by name, outputs, and the pickled object `snakemake` of the script.
Job = tuple[str, str, Mapping[str, tuple[str, ...]], tuple[str, ...], bytes]


@contextmanager
def _workflow_of(project: Path, config: Mapping[str, Any]) -> Iterator[WorkflowApi]:
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        yield api.workflow(
            resource_settings=ResourceSettings(cores=1),
            config_settings=ConfigSettings(config=dict(config)),
            snakefile=project / "Snakefile",
            workdir=project,
        )


def rules(project: Path, config: Mapping[str, Any]) -> dict[str, str]:
    """First output of each rule that runs a script, with its wildcards."""
    with _workflow_of(project, config) as workflow_api:
        # There is no public way to read the rules.
        workflow: Any = workflow_api._workflow
        return {
            rule.name: str(rule.output[0])
            for rule in workflow.rules
            if rule.script is not None and rule.output
        }


def plan(project: Path, target: str, config: Mapping[str, Any]) -> Iterator[Job]:
    """Plan all jobs of a target, whether or not their outputs exist; run nothing."""
    with _workflow_of(project, config) as workflow_api:
        dag_api = workflow_api.dag(DAGSettings(targets={target}, forceall=True))
        try:
            dag_api.execute_workflow(executor="dryrun")
        except MissingRuleException:
            raise PlanError(f"No rule makes {target}; correct the path.") from None
        # There is no public way to read the parameters of planned jobs.
        workflow: Any = workflow_api._workflow
        for job in workflow.dag.jobs:
            if job.rule.script is not None:
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
                yield (
                    job.rule.name,
                    str(job.rule.script),
                    _by_name(context.input),
                    tuple(map(str, context.output)),
                    pickle.dumps(context),
                )


def _by_name(paths: Any) -> dict[str, tuple[str, ...]]:
    """Inputs of a job by name; those without a name have the name ""."""
    groups = {
        name: (value,) if isinstance(value, str) else tuple(value) for name, value in paths.items()
    }
    unnamed = set(map(str, paths)) - {path for group in groups.values() for path in group}
    return {
        **{name: group for name, group in groups.items() if group},
        **({"": tuple(sorted(unnamed))} if unnamed else {}),
    }
