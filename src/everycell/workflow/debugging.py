"""Run the job of one rule in this process, so that a debugger can stop in its function."""

from __future__ import annotations

import os
import re
import sys
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

from everycell.records.folders import PAPERS, import_papers
from everycell.workflow.planned_jobs import (
    PlanError,
    PlannedJob,
    maker_of,
    makers,
    planned_jobs,
    planned_rules,
    source_of,
)
from everycell.workflow.scratch import Scratch, execute_script, prepare_context

#: Largest number of names in an error message.
MAX_NAMES = 4


def find_job(project: Path, name: str) -> PlannedJob:
    """Job of a rule, or the one that makes a file."""
    if "/" in name:
        job = maker_of(name, makers(planned_jobs(project, name)))
        if job is None:
            raise PlanError(f"{name} is made by no rule with a script; name the output of one.")
        return job
    outputs = planned_rules(project)
    if name not in outputs:
        names = get_close_matches(name, outputs, n=MAX_NAMES)
        hint = f"Did you mean {' or '.join(names)}?" if names else "`snakemake --list` has them."
        raise PlanError(f"Unknown rule {name!r}. {hint}")
    # A rule with wildcards is no target.
    target = "all" if "{" in outputs[name] else name
    jobs = [job for job in planned_jobs(project, target) if job.rule == name]
    if len(jobs) == 1:
        return jobs[0]
    # Without the constraints of the wildcards.
    files = [job.outputs[0] for job in jobs[:MAX_NAMES]] or [re.sub(",[^{}]*}", "}", outputs[name])]
    raise PlanError(
        f"The rule {name} has {len(jobs) or 'no'} jobs in `all`; instead of the rule, name an "
        f"output, such as {' or '.join(files)}."
    )


def check_inputs(job: PlannedJob, project: Path, cache: Path) -> None:
    """Refuse a job whose inputs do not exist, and say what makes them."""
    paths = [source_of(path, project, cache) for path in job.all_inputs]
    missing = [os.path.relpath(path, project) for path in paths if not path.exists()]
    if missing:
        more = f" and {len(missing) - 1} more inputs, which do" if missing[1:] else ", which does"
        raise PlanError(
            f"The rule {job.rule} needs {missing[0]}{more} not exist; first run "
            f"`everycell make {' '.join(missing[:MAX_NAMES])}`"
            f"{' and so on' * (len(missing) > MAX_NAMES)}."
        )


def run_here(job: PlannedJob, scratch: Scratch) -> None:
    """Run a job in this process, with outputs in a scratch folder."""
    scratch.link_inputs(job)
    context = prepare_context(job, scratch)
    import_papers()
    if Path(PAPERS).is_dir():
        # From the project, where an editor has its breakpoints, and not through a link.
        import_module("papers")
    before, hook = Path.cwd(), sys.excepthook
    os.chdir(scratch.folder)
    try:
        execute_script(job.script, context)
    finally:
        os.chdir(before)
        sys.excepthook = hook
