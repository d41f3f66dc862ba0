# All uses of undocumented attributes of Snakemake. Included first; `finish.smk` calls
# `finish_rules` at the end. `tests/workflow/test_plan.py` checks these attributes.
import os
import re
import site
import sys
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

from packaging.specifiers import SpecifierSet
from packaging.version import Version
from snakemake import __version__ as snakemake_version
from snakemake.exceptions import WorkflowError
from snakemake.iocontainers import Wildcards
from snakemake.rules import Rule
from snakemake.script import PythonScript
from snakemake.sourcecache import LocalSourceFile

from everycell.base.installation import DISTRIBUTION, requirement
from everycell.workflow import UNQUOTED, first_statements
from everycell.workflow.planned_jobs import CACHE

KNOWN_VERSIONS = ">=9.20,<10"
if Version(snakemake_version) not in SpecifierSet(KNOWN_VERSIONS):
    INSTALLATION = "make setup" if Path("Makefile").exists() else f"pip install '{requirement()}'"
    raise WorkflowError(
        f"Snakemake {snakemake_version} is installed, but the rules require {KNOWN_VERSIONS}; "
        f"install a supported version with `{INSTALLATION}`."
    )


# Snakemake cannot even plan a run without this folder, but it can list rules.
OWN_FOLDER = Path(".snakemake") if Path(".snakemake").exists() else Path()
IS_LISTING = {"--list", "-l", "--list-target-rules", "--lt", "--lint"}.intersection(sys.argv)
if not IS_LISTING and not os.access(OWN_FOLDER, os.W_OK | os.X_OK):
    raise WorkflowError(
        f"{OWN_FOLDER.absolute()} cannot be written, and Snakemake keeps its records there; run it "
        "in a copy of the project, or correct the permissions."
    )


# Snakemake does not quote the path of Python in the command of a script. The path relative to the
# repository might not have special characters.
if UNQUOTED.search(sys.executable):
    sys.executable, absolute = os.path.relpath(sys.executable), sys.executable
    if UNQUOTED.search(sys.executable):
        raise WorkflowError(
            f"Snakemake cannot run scripts with {absolute}, whose path contains spaces or other "
            "special characters; install everycell in an environment without them."
        )


# Byte code and compiled loops of this process's jobs. A new folder, since nobody can tell whether
# files in an old one, or beside the source, come from the present source.
COMPILED = TemporaryDirectory(prefix="everycell-compiled-")
os.environ.update(NUMBA_CACHE_DIR=f"{COMPILED.name}/numba")
# With a folder of byte code of the user's, anything could replace that of installed packages.
os.environ.pop("PYTHONPYCACHEPREFIX", None)
# Figures are files, whatever backend the user has chosen for windows or notebooks.
os.environ.update(MPLBACKEND="agg")
# With `pip install --user`, also of a checkout, jobs need the folder of the user's packages.
if not any(distributions(name=DISTRIBUTION, path=[site.getusersitepackages()])):
    os.environ.update(PYTHONNOUSERSITE="1")
#: What each job runs first; see the file.
JOB_START = first_statements(Path(COMPILED.name), Path(workflow.basedir))
PREAMBLE = getattr(PythonScript.generate_preamble, "unchanged", PythonScript.generate_preamble)


def isolated_preamble(*arguments, **options):
    """First lines of the script of a job."""
    return JOB_START + PREAMBLE(*arguments, **options)


isolated_preamble.unchanged = PREAMBLE
PythonScript.generate_preamble = staticmethod(isolated_preamble)


PARAMS_OF_SNAKEMAKE = getattr(Rule.expand_params, "unchanged", Rule.expand_params)


def expand_params_with_files(rule, wildcards, input, output, *arguments, **options):
    """Parameters of a job, with the parameter `files`: paths by the names of its inputs and outputs.

    Snakemake compares the set of a job's inputs with that of the last run, but neither their names
    nor their order. Jobs whose code does not matter (`data.smk`) have no such parameter.
    """
    params, compared = PARAMS_OF_SNAKEMAKE(rule, wildcards, input, output, *arguments, **options)
    if params.get("code"):
        files = {"input": paths_by_name(input), "output": paths_by_name(output)}
        params.append(files)
        params._set_name("files", len(params) - 1)
        compared.append(files)
    return params, compared


expand_params_with_files.unchanged = PARAMS_OF_SNAKEMAKE
Rule.expand_params = expand_params_with_files


def paths_by_name(files):
    """Paths of inputs or outputs by name, "" if they have none, wherever the cache is."""
    cache, by_name = f"{SETTINGS.cache}/", {}
    for name, paths in files._allitems():
        by_name.setdefault(name or "", []).extend(
            f"{CACHE}/{path.removeprefix(cache)}" if path.startswith(cache) else path
            for path in map(str, [paths] if isinstance(paths, str) else paths)
        )
    return dict(sorted(by_name.items()))


class ScriptOfParameter(LocalSourceFile):
    """The file that Snakemake runs for the parameter `script` of a rule."""

    def format(self, params, **_):
        return LocalSourceFile(str(script_files(params.script, ROOT)[0]))


def finish_rules():
    """Complete the rules that inherit from `parents.smk`, and describe rules and targets."""
    for current in workflow.rules:
        # Snakemake applied wildcard constraints before it filled in path variables.
        current.update_wildcard_constraints()
        # The report shows the code of a rule only if its script does not depend on a parameter.
        if current.script == SCRIPT:
            current.script = str(script_files(current.params.script, ROOT)[0])
        # The description in `snakemake --list` has wildcards and parameters in capitals, such as
        # TIER.
        if current.docstring is None:
            about = about_target(current.name) or str(current.message or "")
            current.docstring = re.sub(
                r"\{(?:\w+\.)?(\w+)(?:\[(\w+)\])?\}",
                lambda name: (name[2] or name[1]).upper(),
                about.replace("{rule}", ""),
            )
        # Only a complete rule has the names of its results, for their display settings.
        if "receipt" in current.output.keys():
            current.set_params(faces=faces_of(list(current.output)))


def requested_targets():
    """Targets of this run."""
    return workflow.dag_settings.targets


def is_default_target():
    """Whether this run makes the default target; the process of a job makes no target."""
    targets = requested_targets()
    return workflow.is_main_process and (not targets or "default" in targets)


def rules_have_environments():
    """Whether each rule has its own environment."""
    return bool(workflow.deployment_settings.deployment_method)


def rules_before(targets):
    """Parameter function: rules that make files, with message, script and the rules before each.

    `targets` maps the name of a part to a file of the embedded or released tier. Downloads are left
    out.
    """

    def rules_by_part(wildcards):
        return {name: rules_of_target(target) for name, target in targets.items()}

    return rules_by_part


@cache
def job_of(path):
    """Rule that makes a file, with its wildcards and inputs; None if no rule does."""
    maker = next((known for known in workflow.rules if known.is_producer(path)), None)
    if maker is None:
        return None
    wildcards = maker.get_wildcards(path)
    files = maker.expand_input(Wildcards(fromdict=wildcards))[0]
    return maker, wildcards, [str(file) for file in files]


def released_files_of(target):
    """Keys of the released files behind a file."""
    cache_folder, keys, seen, pending = Path(SETTINGS.cache), [], set(), [target]
    while pending:
        path = pending.pop()
        if path in seen:
            continue
        seen.add(path)
        if Path(path).is_relative_to(cache_folder):
            keys.append(str(Path(path).relative_to(cache_folder)))
        elif job := job_of(path):
            pending.extend(job[2])
    return sorted(keys)


def rules_of_target(target):
    """Rules that make a file, by name."""
    values, makers, inputs, pending = {}, {}, {}, [target]
    while pending:
        path = pending.pop()
        if path in makers or Path(path).is_relative_to(SETTINGS.cache):
            continue
        job = job_of(path)
        if job is None:
            continue
        maker, wildcards, files = job
        makers[path] = maker
        values.setdefault(maker.name, []).append(wildcards)
        inputs.setdefault(maker.name, []).extend(files)
        pending.extend(files)
    return {
        maker.name: {
            "message": message_of_jobs(maker, values[maker.name]),
            "script": maker.params.script,
            "after": sorted({makers[file].name for file in inputs[maker.name] if file in makers}),
        }
        for maker in sorted(set(makers.values()), key=lambda maker: maker.name)
    }


def message_of_jobs(maker, wildcards_of_jobs):
    """Message of a rule for several jobs, with at most three values per wildcard."""
    values = {}
    for name in wildcards_of_jobs[0]:
        names = sorted({wildcards[name] for wildcards in wildcards_of_jobs})
        more = f" and {len(names) - 3} more" * (len(names) > 3)
        values[name] = ", ".join(names[:3]) + more
    return str(maker.message).format(wildcards=SimpleNamespace(**values), params=maker.params)


def remove_start_limit():
    """Remove Snakemake's default limit of 100 started jobs per second, but not a user's limit.

    With the limit, Snakemake evaluates all ready jobs again every second, and each finished job
    adds another such loop (JobScheduler._schedule_reevalutation; see snakemake pull request 3744).
    In the released tier this uses a third of a core. No option removes the limit, and a longer
    timespan delays the end of Snakemake and of each cluster job.
    """
    limit = workflow.scheduling_settings.max_jobs_per_timespan
    if limit is not None and (limit.max_jobs, limit.timespan) == (100, 1):
        if hasattr(workflow.scheduler, "job_rate_limiter"):
            workflow.scheduler.job_rate_limiter = None
        else:
            logger.warning(
                f"Snakemake {snakemake_version} limits jobs in a different way, so the run takes "
                "a little longer; results do not change. See snakemake_internals.smk."
            )
