# Functions that the rules share.
import os
from pathlib import Path

from snakemake.exceptions import WorkflowError

from everycell.artefacts import CardError, RUNNABLE, TIERS, all_artefacts, load_papers
from everycell.config import ConfigError, parse_config, read_config
from everycell.receipts import code_sha256

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

LIBRARY = Path(workflow.basedir, "src", "everycell")


def code_of(*parts):
    """Hash of the parts of the library that a script uses, so that their change runs it again.

    The version is one of them: `everycell verify` trusts no result of another version.
    """
    files = [LIBRARY / "__init__.py"]
    for part in parts:
        found = LIBRARY / part
        files += sorted(found.rglob("*.py")) if found.is_dir() else [found]
    return code_sha256(files, LIBRARY)


def resource(key):
    """Path of a released file in the cache, where `fetch` brings it."""
    return f"{SETTINGS.cache}/{key}"


def shown(path, tier, name):
    """A result that the Snakemake report shows, with a caption that prints its parameters."""
    paper, _, artefact = name.rpartition("/")
    return report(
        path,
        caption="../report/result.rst",
        category=paper or "errata",
        labels={"artefact": artefact.replace("_", " "), "tier": tier},
    )


def table_files(tier, name):
    """Files of a table: full precision, three shown forms, and the receipt."""
    stem = f"results/{tier}/{name}"
    return {form: f"{stem}.{form}" for form in ("csv", "md", "tex")} | {
        "html": shown(f"{stem}.html", tier, name),
        "receipt": f"{stem}.receipt.json",
    }


def figure_files(tier, name):
    """Files of a figure: what it plots, three pictures, and the receipt."""
    stem = f"results/{tier}/{name}"
    return {form: f"{stem}.{form}" for form in ("csv", "pdf", "png")} | {
        "svg": shown(f"{stem}.svg", tier, name),
        "receipt": f"{stem}.receipt.json",
    }


def beside(tier, name, part, *, figure=False):
    """Files that stand beside an artefact's own, under output names that start with `part`."""
    files = (figure_files if figure else table_files)(tier, f"{name}.{part}")
    return {f"{part}_{form}": path for form, path in files.items() if form != "receipt"}


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
