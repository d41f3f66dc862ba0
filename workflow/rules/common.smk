# Functions that the rules share.
import hashlib
import os
from functools import cache
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.io import apply_wildcards

from everycell.config import parse_config
from everycell.config import read_config
from everycell.engine.artefacts import all_artefacts
from everycell.engine.artefacts import load_papers
from everycell.engine.cards import RUNNABLE
from everycell.engine.cards import TIERS
from everycell.engine.printed_cells import CardError
from everycell.engine.settings import ConfigError
from everycell.engine.code import code_sha256, imported_files

try:
    # Snakemake takes the last of two equal keys, and of a broken file it does not name the line.
    read_config(Path("config.yaml"))
except ConfigError as error:
    raise WorkflowError(str(error)) from None


configfile: "config.yaml"


try:
    SETTINGS = parse_config(config)
    PAPERS = load_papers(Path("published"))
except (CardError, ConfigError) as error:
    raise WorkflowError(str(error)) from None
config["cache"] = SETTINGS.cache


# Snakemake starts at most 100 jobs a second unless told otherwise. While that limit stands, its loop
# looks at all ready jobs again a second after each look, and each job that has ended adds one more
# such chain (JobScheduler._schedule_reevalutation; snakemake pull request 3744 is about this loop):
# a third of a core in the released tier. No option takes the limit away, and a longer timespan
# keeps Snakemake, and each job of a cluster, that much longer from ending. So it goes where nobody
# chose another one.
onstart:
    limit = workflow.scheduling_settings.max_jobs_per_timespan
    if limit is not None and (limit.max_jobs, limit.timespan) == (100, 1):
        workflow.scheduler.job_rate_limiter = None


def environment(name):
    """Conda file of a group of packages, from whichever folder a rule asks for it."""
    return f"{workflow.basedir}/envs/{name}.yaml"


#: The script that `runs` names, inherited from `parents.smk`.
SCRIPT = f"{workflow.basedir}/workflow/scripts/{{params.script}}.py"


def runs(script):
    """Parameters for running a script: its name below ``workflow/scripts``, and its code."""
    return {"script": script, "code": code_of(script)}


def code_of(script):
    """Hash of the code that a script runs, so that a change of any of it runs it again.

    The version is part of it: `everycell verify` trusts no result of another version. Only the
    scripts of jobs that are looked at are hashed: each job of a cluster reads all rules again.
    """

    def code(wildcards):
        return hash_of_code(script)

    return code


@cache
def hash_of_code(script):
    """Hash of a script and of all that it imports here."""
    root = Path(workflow.basedir)
    path = root / "workflow" / "scripts" / f"{script}.py"
    return code_sha256(imported_files(path, [root / "src"]), root)


def code_of_audits(wildcards):
    """Hash of the audits of an artefact's chapter, which judge it; None where it has none."""
    artefact = PAPERS[wildcards.paper].artefacts[wildcards.artefact]
    return hash_of_audits(
        f"src/everycell/studies/{artefact.paper}/ch{artefact.chapter}/audits.py"
    )


def code_of_all_audits(wildcards):
    """Hash of the audits of every chapter."""
    return hash_of_audits("src/everycell/studies/*/ch*/audits.py")


@cache
def hash_of_audits(pattern):
    """Hash of modules of audits and of all that they import here."""
    root = Path(workflow.basedir)
    files = {
        file
        for path in root.glob(pattern)
        for file in imported_files(path, [root / "src"])
    }
    return code_sha256(files, root) if files else None


def faces_of(outputs):
    """What the cards say of the artefacts of a job: titles, layouts, decimals, by their names.

    The title of a stand-in says that it is one, so that no copy of the table can hide it.

    A parameter, so that a change of them shows the table anew, and a change of the rest of the card
    (conclusions, errata) does not. It takes wildcards alone: Snakemake does not look whether a
    parameter has changed that it computes from outputs.
    """

    def faces(wildcards):
        paths = [apply_wildcards(path, dict(wildcards.items())) for path in outputs]
        return {
            artefact: face(tier, PAPERS[paper].artefacts[artefact].card)
            for tier, paper, artefact in map(place_of, paths)
            if paper in PAPERS and artefact in PAPERS[paper].artefacts
        }

    return faces


def face(tier, card):
    """What a card says of its artefact as a tier shows it."""
    look = card.model_dump(include={"title", "layout", "decimals", "beside"})
    declared = card.tiers[tier]
    if declared.state == "stand_in":
        look["title"] = (
            f"STAND-IN, not the paper's data ({declared.name}): {card.title}"
        )
    return look


def place_of(path):
    """Tier, paper and artefact of a result's file; no paper where it belongs to all."""
    _, tier, *paper, name = path.split("/")
    return tier, "".join(paper), name.partition(".")[0]


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


def on_gpu_where(is_full, megabytes, minutes):
    """What several tiers ask for in one place: a GPU and more where `is_full` says so."""

    def either(name, small):
        def needed(wildcards, attempt):
            value = ON_GPU[name] if is_full(wildcards) else small
            return value(wildcards, attempt) if callable(value) else value

        return needed

    small = needs(megabytes, minutes) | {"gpu": 0}
    return {name: either(name, value) for name, value in small.items()}


def resource(key):
    """Path of a released file in the cache, where `fetch` brings it."""
    return f"{SETTINGS.cache}/{key}"


def registered_encoder(encoder):
    """Weights, configuration and tokenizer of an encoder that comes inside a package."""
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


def is_language_model(name):
    """Whether config.yaml has a language model of this name."""
    models = SETTINGS.language_models
    return name in models.local or name in models.endpoints


#: Kinds of what only the user can name -> how a sentence asks for it, whether a name is one.
NAMED = {
    "folder": ("its folder", os.path.isdir),
    "file": ("its file", os.path.isfile),
    # The library looks for a name on the hub in its own cache.
    "model": ("its folder or its name on the hub", lambda name: True),
    "language model": ("one of `language_models`", is_language_model),
    "language models": (
        "some of `language_models`",
        lambda names: all(map(is_language_model, names)),
    ),
}


def named_by_user(key, content, page, *, kind="folder"):
    """What only the user can name, by its key in config.yaml; folders and files as paths.

    `content` says what is needed there, `page` which page of docs/ tells more.
    """
    named = SETTINGS
    for part in key.split("."):
        named = getattr(named, part)
    what, is_one = NAMED[kind]
    if not named or not is_one(named):
        found = (
            f"{named!r}, which is no {kind}"
            if named
            else "null" if named is None else "empty"
        )
        raise WorkflowError(
            f"config.yaml: `{key}` is {found}; this tier needs {content} there, so name {what} "
            f"(docs/{page} says more), or ask for another tier."
        )
    return Path(named) if kind in ("folder", "file") else named


def encoder_files_in(folder, key, what="a BERT in safetensors and its tokenizer"):
    """Files of the encoder in a folder, which stands under this key of the configuration."""
    found = [
        file
        for pattern in (
            "config.json",
            "model*.safetensors*",
            "*token*.json",
            "vocab.txt",
        )
        for file in sorted(folder.glob(pattern))
    ]
    for needed in ("config.json", "model*.safetensors"):
        if not any(file.match(needed) for file in found):
            raise WorkflowError(
                f"config.yaml: `{key}` is {str(folder)!r}, which has no {needed}; name a folder "
                f"with {what}."
            )
    return [str(file) for file in found]


def of_tier(table):
    """An entry of a table by tier, as a parameter."""
    return lambda wildcards: table[wildcards.tier]


def in_report(path, output_name):
    """A result that the Snakemake report shows, with a caption that prints its parameters."""

    def category(wildcards, output):
        _, paper, _ = place_of(output[output_name])
        return paper or "all papers"

    def labels(wildcards, output):
        tier, _, artefact = place_of(output[output_name])
        kind, _, number = artefact.partition("_")
        name = f"{kind.capitalize()} {number.replace('_', '.')}"
        return {"artefact": name, "tier": tier}

    caption = f"{workflow.basedir}/workflow/report/result.rst"
    return report(path, caption=caption, category=category, labels=labels)


def result_files(stem, forms, shown, start=""):
    """Files of a result by output name: its forms, the one that the report shows, the receipt."""
    files = {f"{start}{form}": f"{stem}.{form}" for form in forms}
    files[f"{start}{shown}"] = in_report(f"{stem}.{shown}", f"{start}{shown}")
    return files | {f"{start}receipt": f"{stem}.receipt.json"}


def table_files(result, start=""):
    """Files of a table: full precision, three shown forms, and the receipt.

    `result` is TIER/PAPER/ARTEFACT; output names begin with `start`.
    """
    return result_files(f"results/{result}", ("csv", "md", "tex"), "html", start)


def figure_files(result, start=""):
    """Files of a figure: what it plots, three pictures, and the receipt."""
    return result_files(f"results/{result}", ("csv", "pdf", "png"), "svg", start)


def another(files, result):
    """Files of a further artefact of a job, under output names that begin with its own."""
    return files(result, f"{result.rpartition('/')[2]}_")


def companion(files, result, part):
    """Files that stand beside an artefact's own, under output names that begin with `part`."""
    found = files(f"{result}.{part}", f"{part}_")
    found.pop(f"{part}_receipt")
    return found


def verdict_file(artefact, tier):
    """Verdicts of an artefact in a tier."""
    return f"results/{tier}/{artefact.id}.verdicts.json"


def runnable(tier, *, paper=None, chapter=None):
    """Artefacts that a tier can rebuild or stand in for, as a list of verdict files."""
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


def files_below(folder, *suffixes):
    """Files below a folder whose names end so; all, where no ending is given."""
    paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    return [
        str(path)
        for path in paths
        if path.name.endswith(suffixes or "") and "__pycache__" not in path.parts
    ]


def published():
    """Every card and every file of printed cells."""
    return [
        file
        for file in files_below("published", ".csv", ".yaml")
        if Path(file).name not in ("registry.yaml", "sets.yaml")
    ]


def printed_cells(wildcards):
    """Printed cells of an artefact, where there are any."""
    cells = f"published/{wildcards.paper}/{wildcards.artefact}.csv"
    return cells if os.path.exists(cells) else []


def card_file(wildcards):
    """File with the artefact's card."""
    return str(PAPERS[wildcards.paper].artefacts[wildcards.artefact].card_path)


def requested_verdicts(wildcards):
    """Verdict files of the targets of this run: what the page must wait for.

    Results of other tiers that lie on disk are shown too, but are not made for it.
    """
    asked = [target for target in workflow.dag_settings.targets if target in TARGETS]
    return sorted(
        {file for target in asked or ["embedded"] for file in TARGETS[target]}
    )


def hash_of_shown_results(wildcards):
    """Hash of what the site shows of the results that lie on disk."""
    found = hashlib.sha256()
    for tier in TIERS:
        for path in files_below(f"results/{tier}", ".verdicts.json", ".md", ".svg"):
            content = hashlib.sha256(Path(path).read_bytes()).hexdigest()
            found.update(f"{content} {path}\n".encode())
    return found.hexdigest()


#: Name -> GGUF file of the language models that come so: a path, or a file of the registry.
GGUF_FILES = {
    name: model.source if os.path.exists(model.source) else resource(model.source)
    for name, model in SETTINGS.language_models.local.items()
    if model.source.endswith(".gguf")
}


def language_model_files(name):
    """What a job needs that asks a language model: its folder, or nothing for an endpoint.

    A name on the hub is no file here: the library looks for it in its own cache.
    """
    if name in GGUF_FILES:
        return f"work/language-models/{name}"
    model = SETTINGS.language_models.local.get(name)
    return model.source if model is not None and os.path.isdir(model.source) else []
