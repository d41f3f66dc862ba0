"""Rules of a project, and the jobs that Snakemake plans for a target, without running them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

from snakemake.api import SnakemakeApi, WorkflowApi
from snakemake.exceptions import MissingRuleException
from snakemake.iocontainers import Snakemake, Wildcards
from snakemake.settings.types import (
    ConfigSettings,
    DAGSettings,
    OutputSettings,
    Quietness,
    ResourceSettings,
)

from everycell.workflow.planned_jobs import NO_RULE, PlanError

#: Rule, script, inputs by name, outputs, and the pickled object `snakemake` of the script.
Job = tuple[str, str, Mapping[str, tuple[str, ...]], tuple[str, ...], bytes]


@contextmanager
def _workflow_of(
    project: Path, config: Mapping[str, Any], config_files: Sequence[Path] = ()
) -> Iterator[WorkflowApi]:
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        yield api.workflow(
            resource_settings=ResourceSettings(cores=1),
            config_settings=ConfigSettings(config=dict(config), configfiles=config_files),
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


def parameters(
    project: Path, files: Mapping[str, str | None], overrides: Path | None
) -> Iterator[tuple[str, dict[str, Any] | str]]:
    """Parameters with which the project would make files, or why it cannot.

    `files` has the rule of each file, if known. Only the project's own configuration counts, and
    the file `overrides`.
    """
    with _workflow_of(project, {}, [overrides] if overrides else []) as workflow_api:
        # There is no public way to read the parameters of a rule.
        workflow: Any = workflow_api._workflow
        rules = {rule.name: rule for rule in workflow.rules}
        for path, name in files.items():
            own_rule = rules.get(name)
            makers = [own_rule] if own_rule is not None else rules.values()
            maker = next((rule for rule in makers if rule.is_producer(path)), None)
            if maker is None:
                yield path, NO_RULE
                continue
            messages = StringIO()
            try:
                with redirect_stderr(messages):
                    wildcards = Wildcards(fromdict=maker.get_wildcards(path))
                    inputs = maker.expand_input(wildcards)[0]
                    outputs = maker.expand_output(wildcards)[0]
                    params = maker.expand_params(wildcards, inputs, outputs, None)[0]
                yield path, dict(params.items())
            # Input functions of the full tier end Snakemake if a setting is missing.
            except (Exception, SystemExit) as error:
                lines = [*messages.getvalue().splitlines(), *str(error).splitlines()]
                lines.append(type(error).__name__)  # an exception may have no text
                yield path, lines[0].removeprefix("everycell: ").rstrip(".")


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
