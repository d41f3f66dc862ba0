# Functions that the rules share. No rule stands here.
import os
from pathlib import Path

from snakemake.exceptions import WorkflowError

from everycell.artefacts import CardError, RUNNABLE, TIERS, all_artefacts, load_papers
from everycell.config import ConfigError, parse_config
from everycell.receipts import code_sha256

try:
    SETTINGS = parse_config(config)
    PAPERS = load_papers(Path("published"))
except (CardError, ConfigError) as error:
    raise WorkflowError(str(error)) from None
config["cache"] = SETTINGS.cache

LIBRARY = Path(workflow.basedir, "src", "everycell")


def code_of(*parts):
    """Hash of the library's parts that a rule uses: a change of them runs the rule again."""
    files = []
    for part in parts:
        found = LIBRARY / part
        files += sorted(found.rglob("*.py")) if found.is_dir() else [found]
    return code_sha256(files, LIBRARY)


def resource(key):
    """Path of a released file in the cache; the rule `fetch` brings it."""
    return f"{SETTINGS.cache}/{key}"


def table_files(tier, artefact):
    """Files of a table: full precision, three shown forms, and the receipt."""
    stem = f"results/{tier}/{artefact}"
    return {form: f"{stem}.{form}" for form in ("csv", "md", "tex", "html")} | {
        "receipt": f"{stem}.receipt.json"
    }


def figure_files(tier, artefact):
    """Files of a figure: what it plots, three pictures, and the receipt."""
    stem = f"results/{tier}/{artefact}"
    return {form: f"{stem}.{form}" for form in ("csv", "svg", "pdf", "png")} | {
        "receipt": f"{stem}.receipt.json"
    }


def beside(tier, artefact, name, *, figure=False):
    """Files that stand beside an artefact's own, under names that start with `name`."""
    stem = f"results/{tier}/{artefact}.{name}"
    forms = ("csv", "svg", "pdf", "png") if figure else ("csv", "md", "tex", "html")
    return {f"{name}_{form}": f"{stem}.{form}" for form in forms}


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


def here(**selection):
    """As `runnable`, for the tiers that need neither a GPU nor hours."""
    return runnable("embedded", **selection) + runnable("released", **selection)
