# Functions that the rules share.
import os
import sys
from functools import cache
from pathlib import Path

from everycell.config import parse_config
from everycell.config import read_config
from everycell.config import refuse_templates
from everycell.engine.artefacts import all_artefacts
from everycell.engine.artefacts import load_papers
from everycell.engine.cards import RUNNABLE
from everycell.engine.full_runs import easiest
from everycell.engine.full_runs import load_full_tier
from everycell.engine.full_runs import configured_and_waiting, notes_on
from everycell.engine.full_runs import runs_in_full
from everycell.engine.full_runs import setting
from everycell.engine.full_runs import to_set
from everycell.engine.published_cells import CardError
from everycell.engine.settings import ConfigError
from everycell.engine.tiers import TIERS
from everycell.engine.code import hash_of_sources, script_file, source_file
from everycell.engine.files import end_future_times

try:
    # Snakemake takes the last of two equal keys, and of a broken file it does not name the line.
    read_config(Path("config.yaml"))
    for file in overwriting_configfiles():
        refuse_templates(Path(file))
except ConfigError as error:
    raise WorkflowError(str(error)) from None


configfile: "config.yaml"


try:
    SETTINGS = parse_config(config)
    PAPERS = load_papers(Path("published"))
    FULL_TIER = load_full_tier(Path("published"), PAPERS)
except (CardError, ConfigError) as error:
    raise WorkflowError(str(error)) from None
config["cache"] = SETTINGS.cache
#: Folder of the repository.
ROOT = Path(workflow.basedir)


onstart:
    remove_start_limit()
    folders = map(Path, ("results", "work", "published", "recorded", config["cache"]))
    if number := end_future_times(folders):
        logger.warning(
            f"The times of {number} files lay in the future, as after a clock was set back; they "
            "are now those of the present."
        )


def refuse(sentence):
    """End Snakemake with one sentence: an error of an input function is shown with its traceback."""
    print(f"everycell: {sentence}", file=sys.stderr)
    raise SystemExit(2)


def environment(name):
    """Conda file of a group of packages; none where the repository has no such file."""
    file = ROOT / "envs" / f"{name}.yaml"
    return str(file) if file.exists() else None


#: The script that `runs` names, inherited from `parents.smk`.
SCRIPT = ScriptOfParameter("{params.script}")


def runs(script):
    """Parameters for running a script: its name below ``workflow/scripts``, and its code.

    The folder is that of the package, or that of the repository if the package has no such script.
    """
    return {"script": script, "code": code_of(script)}


def code_of(script):
    """Hash of the code that a script runs; any change causes a new run.

    The version is part of it: `everycell verify` trusts no result of another version. Only the
    scripts of jobs that are looked at are hashed: each job of a cluster reads all rules again.
    """

    def code(wildcards):
        return hash_of_code(script)

    return code


@cache
def hash_of_code(script):
    """Hash of a script and of the project's modules that it imports."""
    return hash_of_sources([script_file(script, ROOT)], ROOT)


#: MB that Snakemake itself takes in a job of a cluster, where it runs twice around the script.
AROUND_A_JOB = 500


def memory(megabytes):
    """Memory of a rule whose script takes so many megabytes; each retry gets as much again.

    What was measured on one machine may be short on another one, and a cluster kills a job that
    takes more than it asked for.
    """

    def for_attempt(wildcards, attempt):
        return (megabytes + AROUND_A_JOB) * attempt

    return for_attempt


def needs(megabytes, minutes=5):
    """Resources of a rule: memory of its script, and the time after which a cluster ends it."""
    return {"mem_mb": memory(megabytes), "runtime": minutes}


#: Rules for a GPU say so: `--resources gpu=1` keeps them from running side by side.
ON_GPU = needs(24000, 2880) | {"gpu": 1}


def where(condition, large, small):
    """Resources for large and small jobs of one rule; `large` where the condition holds."""

    def either(name):
        def needed(wildcards, attempt):
            value = (large if condition(wildcards) else small).get(name, 0)
            return value(wildcards, attempt) if callable(value) else value

        return needed

    return {name: either(name) for name in large | small}


def resource(key):
    """Path of a released file in the cache."""
    return f"{SETTINGS.cache}/{key}"


def fetched_corpus(path):
    """Path of a corpus that is downloaded, or of a file of one."""
    return f"{SETTINGS.corpora.folder}/{path}"


def registered_encoder(encoder):
    """Weights, configuration and tokenizer of an encoder from a package."""
    parts = (
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    )
    return [resource(f"{encoder}/{part}") for part in parts]


#: Files of the registry that a run needs together, by the name of their job (`data.smk`): to start
#: a job costs more than to fetch a file.
FETCHED_TOGETHER = {}


def of_tier(table):
    """An entry of a table by tier, as a parameter."""
    return lambda wildcards: table[wildcards.tier]


def verdict_file(artefact, tier):
    """Verdicts of an artefact in a tier."""
    return f"results/{tier}/{artefact.id}.verdicts.json"


def runnable(tier, *, paper=None, chapter=None):
    """Artefacts that a tier reproduces or runs on surrogate data, as a list of verdict files."""
    return [
        verdict_file(artefact, tier)
        for artefact in all_artefacts(PAPERS)
        if (paper is None or artefact.paper == paper)
        and (chapter is None or artefact.chapter == chapter)
        and tier in artefact.card.tiers
        and artefact.card.tiers[tier].state in RUNNABLE
    ]


def runnable_in_minutes(**selection):
    """As `runnable`, for the tiers that need neither a GPU nor hours."""
    return runnable("embedded", **selection) + runnable("released", **selection)


def declared_inputs(tier, paper, *names):
    """Published cells that a tier may read of a paper's artefacts: id -> selectors of their cells.

    A parameter, so that a change of what a card declares runs a job again, and a change of the rest
    of the card does not.
    """
    artefacts = [PAPERS[paper].artefacts[name] for name in names]
    return {artefact.id: artefact.declared_inputs(tier) for artefact in artefacts}


def files_below(folder, *suffixes):
    """Files below a folder whose names end so; all, where no ending is given."""
    paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    return [
        str(path)
        for path in paths
        if path.name.endswith(suffixes or "") and "__pycache__" not in path.parts
    ]


def published():
    """Every record and every file of published cells."""
    return [
        file
        for file in files_below("published", ".csv", ".yaml")
        if Path(file).name not in ("registry.yaml", "sets.yaml")
    ]
