# Shared functions of the rules.
import os
import sys
from functools import cache
from pathlib import Path

from everycell.cli.project import faults_at_start
from everycell.config import parse_config
from everycell.config import read_config
from everycell.records.papers import all_artefacts
from everycell.records.papers import load_papers
from everycell.records.tables import RUNNABLE
from everycell.records.full_runs import minimal_settings
from everycell.records.full_runs import load_full_tier
from everycell.records.full_runs import split_by_settings, material_notes
from everycell.records.full_runs import runs_in_full
from everycell.records.full_runs import setting_value
from everycell.records.full_runs import format_keys
from everycell.records.cells import RecordError
from everycell.base.settings import ConfigError
from everycell.records.folders import TIERS
from everycell.receipts.checkout import read_checkout
from everycell.receipts.code import chapter_file, hash_of_sources, script_files, source_file
from everycell.base.files import reset_future_times

try:
    read_config(Path("config.yaml"))
except ConfigError as error:
    raise WorkflowError(str(error)) from None


configfile: "config.yaml"


try:
    SETTINGS = parse_config(config)
    PAPERS = load_papers(Path("published"))
    FULL_TIER = load_full_tier(Path("published"), PAPERS)
except (RecordError, ConfigError) as error:
    raise WorkflowError(str(error)) from None
config["cache"] = SETTINGS.cache
#: Folder of the repository.
ROOT = Path(workflow.basedir)
# For receipts; each job would otherwise run Git. A setting may not replace it.
config["checkout"] = read_checkout(ROOT)


onstart:
    if faults := faults_at_start():
        refuse("\neverycell: ".join(faults))
    remove_start_limit()
    folders = map(Path, ("results", "work", "published", "recorded", config["cache"]))
    if number := reset_future_times(folders):
        logger.warning(
            f"{number} files had modification times in the future, such as after a clock change; "
            "they were set to the present."
        )


def refuse(sentence):
    """End Snakemake with a sentence; exceptions in input functions would show a traceback."""
    print(f"everycell: {sentence}", file=sys.stderr)
    raise SystemExit(2)


def environment(name):
    """Conda file of a group of packages; None if the repository does not have it."""
    file = ROOT / "envs" / f"{name}.yaml"
    return str(file) if file.exists() else None


#: The script from the parameters of `runs`.
SCRIPT = ScriptOfParameter("{params.script}")


def runs(script):
    """Parameters for running a function of a chapter, ``KEY/chN:function``, with its code.

    ``KEY/NAME.py`` is a script of the authors, which is called with the file to write its values
    to. Other names are scripts of the package or below ``workflow/scripts``; those of the package
    take precedence.
    """
    chapter, _, function = script.partition(":")
    if function and f"\ndef {function}(" not in code_of_chapter(chapter):
        raise WorkflowError(
            f"{chapter_file(chapter, Path())} has no function `{function}`, which a rule runs; "
            "write it, or correct `runs` in the rule."
        )
    if script.endswith(".py") and not script_files(script, ROOT)[-1].is_file():
        raise WorkflowError(
            f"{script_files(script, Path())[-1]} not found, which a rule runs; add it, or correct "
            "`runs` in the rule."
        )
    return {"script": script, "code": code_of(script)}


@cache
def code_of_chapter(chapter):
    """Text of a module of a paper; empty if there is none."""
    file = chapter_file(chapter, ROOT)
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def code_of(script):
    """Parameter function: hash of the code that a script runs; any change causes a new run.

    It is computed lazily, since each job on a cluster parses all rules again.
    """

    def code(wildcards):
        return hash_of_code(script)

    return code


@cache
def hash_of_code(script, *modules):
    """Hash of a script or function, of modules, and of what they import in project and package."""
    files = [source_file(module, ROOT) for module in modules]
    return hash_of_sources([*script_files(script, ROOT), *files], ROOT)


#: Memory in MB of Snakemake itself in a cluster job, where two nested processes run the script.
SNAKEMAKE_MEMORY = 500


def memory(megabytes):
    """Memory of a rule, from that of its script in MB; retries request a multiple of it.

    A script may use more memory than measured on another machine, and clusters kill jobs that
    exceed their request.
    """

    def for_attempt(wildcards, attempt):
        return (megabytes + SNAKEMAKE_MEMORY) * attempt

    return for_attempt


def needs(megabytes, minutes=5):
    """Resources of a rule: memory of its script, and time limit on a cluster."""
    return {"mem_mb": memory(megabytes), "runtime": minutes}


#: Resources of a rule that needs a GPU; `--resources gpu=1` runs such jobs one by one.
ON_GPU = needs(24000, 2880) | {"gpu": 1}


def where(condition, large, small):
    """Resources of a rule whose jobs differ in size; `large` if `condition(wildcards)` is true."""

    def resource_of(name):
        def value_for_job(wildcards, attempt):
            value = (large if condition(wildcards) else small).get(name, 0)
            return value(wildcards, attempt) if callable(value) else value

        return value_for_job

    return {name: resource_of(name) for name in large | small}


def resource(key):
    """Path of a released file in the cache."""
    return f"{SETTINGS.cache}/{key}"


def fetched_corpus(path):
    """Path of a downloaded corpus or one of its files."""
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


#: Files that one job fetches (`data.smk`), by the name of the job. Starting a job takes longer than
#: fetching a file.
FETCHED_TOGETHER = {}


def of_tier(table):
    """Parameter function: the entry of the job's tier in a dictionary."""
    return lambda wildcards: table[wildcards.tier]


def verdict_file(artefact, tier):
    """Path of the verdicts of an artefact in a tier."""
    return f"results/{tier}/{artefact.id}.verdicts.json"


def runnable(tier, *, paper=None, chapter=None):
    """Verdict files of the artefacts that a tier reproduces or runs on surrogate data."""
    return [
        verdict_file(artefact, tier)
        for artefact in all_artefacts(PAPERS)
        if (paper is None or artefact.paper == paper)
        and (chapter is None or artefact.chapter == chapter)
        and tier in artefact.record.tiers
        and artefact.record.tiers[tier].state in RUNNABLE
    ]


def runnable_in_minutes(**selection):
    """Verdict files in the embedded and released tiers, which need neither a GPU nor hours."""
    return runnable("embedded", **selection) + runnable("released", **selection)


def declared_inputs(tier, paper, *names):
    """Selectors of the published cells that a tier may read, by id of the artefact.

    As a parameter, they rerun a job when they change; other changes of a record do not.
    """
    artefacts = [PAPERS[paper].artefacts[name] for name in names]
    return {artefact.id: artefact.declared_inputs(tier) for artefact in artefacts}


def files_below(folder, *suffixes):
    """Files below a folder, optionally only those with one of the suffixes."""
    paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    return [
        str(path)
        for path in paths
        if path.name.endswith(suffixes or "") and "__pycache__" not in path.parts
    ]


def published():
    """All records and files of published cells."""
    return [
        file
        for file in files_below("published", ".csv", ".yaml")
        if Path(file).name not in ("registry.yaml", "sets.yaml", "sensitivity.csv")
    ]
