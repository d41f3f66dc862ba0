# All that uses attributes of Snakemake which its documentation does not have. Included first;
# `finish.smk` calls `finish_rules` last. `tests/workflow/test_plan.py` checks what is used here.
import os
import re
import sys
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.version import Version
from snakemake import __version__ as snakemake_version
from snakemake.exceptions import WorkflowError
from snakemake.sourcecache import LocalSourceFile

KNOWN_VERSIONS = ">=9.20,<10"
if Version(snakemake_version) not in SpecifierSet(KNOWN_VERSIONS):
    INSTALLATION = (
        "make setup" if Path("Makefile").exists() else "pip install 'everycell[workflow]'"
    )
    raise WorkflowError(
        f"Snakemake {snakemake_version} is installed, and the rules use attributes that are known of "
        f"{KNOWN_VERSIONS}; install it with `{INSTALLATION}`."
    )


# Snakemake writes the path of Python unquoted into the command of a script. From the folder of the
# repository it may have no blanks.
SPECIAL = re.compile(r"[^\w@%+=:,./-]")
if SPECIAL.search(sys.executable):
    sys.executable, absolute = os.path.relpath(sys.executable), sys.executable
    if SPECIAL.search(sys.executable):
        raise WorkflowError(
            f"Snakemake cannot start scripts with {absolute}, whose path has blanks or other special "
            "characters; install everycell in an environment with another path."
        )


class ScriptOfParameter(LocalSourceFile):
    """The script that the parameter `script` of a rule names, of the repository or the package."""

    def format(self, params, **_):
        return LocalSourceFile(str(script_file(params.script, ROOT)))


def finish_rules():
    """Complete the rules that inherit from `parents.smk`, and describe targets."""
    for current in workflow.rules:
        # Snakemake puts the constraints of wildcards into file names before the path variables.
        current.update_wildcard_constraints()
        # The report shows the code of a rule only if its script is named without a parameter.
        if current.script == SCRIPT:
            current.script = str(script_file(current.params.script, ROOT))
        # `snakemake --list` says what a target makes, and what a rule is for, with its wildcards and
        # parameters as in a command line: TIER, MODEL.
        if current.docstring is None:
            about = about_target(current.name) or str(current.message or "")
            current.docstring = re.sub(
                r"\{(?:\w+\.)?(\w+)(?:\[(\w+)\])?\}",
                lambda name: (name[2] or name[1]).upper(),
                about.replace("{rule}", ""),
            )
        # What the cards say of a rule's results, whose names only the finished rule has.
        if "receipt" in current.output.keys():
            current.set_params(faces=faces_of(list(current.output)))


def overwriting_configfiles():
    """Files of --configfile."""
    return workflow.overwrite_configfiles


def requested_targets():
    """Targets of this run."""
    return workflow.dag_settings.targets


def rules_have_environments():
    """Whether each rule has its own environment."""
    return bool(workflow.deployment_settings.deployment_method)


def remove_start_limit():
    """Remove Snakemake's own limit of 100 started jobs per second; one that a user set stays.

    While it stands, Snakemake looks at all ready jobs again a second after each look, and each job
    that has ended adds one more such chain (JobScheduler._schedule_reevalutation; snakemake pull
    request 3744 is about this loop): a third of a core in the released tier. No option removes the
    limit, and a longer timespan keeps Snakemake, and each job of a cluster, that much longer from
    ending.
    """
    limit = workflow.scheduling_settings.max_jobs_per_timespan
    if limit is not None and (limit.max_jobs, limit.timespan) == (100, 1):
        if hasattr(workflow.scheduler, "job_rate_limiter"):
            workflow.scheduler.job_rate_limiter = None
        else:
            logger.warning(
                f"Snakemake {snakemake_version} limits jobs in another way; the run takes a little "
                "longer, and its results are the same. See snakemake_internals.smk."
            )
