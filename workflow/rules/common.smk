# Functions that the rules share.
import os
from pathlib import Path

from snakemake.exceptions import WorkflowError

from everycell.artefacts import CardError, RUNNABLE, TIERS, all_artefacts, load_papers
from everycell.config import ConfigError, parse_config, read_config
from everycell.receipts import code_sha256, imported_files
from everycell.text.tokenise import VOCABULARIES

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


def code_of(script):
    """Hash of the code that a script runs, so that a change of any of it runs it again.

    The version is part of it: `everycell verify` trusts no result of another version.
    """
    root = Path(workflow.basedir)
    roots = [root / "src", root / "workflow" / "scripts"]
    return code_sha256(imported_files(roots[1] / script, roots), root)


def face_of(tier, name):
    """What a card says of a shown table: title, layout, decimals, titles of what stands beside.

    The title of a stand-in says that it is one, so that no copy of the table can hide it.

    `name` may hold wildcards. As a parameter, so that a change of them shows the table anew, and
    a change of the rest of the card (conclusions, errata) does not.
    """

    def face(wildcards):
        paper, artefact = name.format(**wildcards).split("/")
        card = PAPERS[paper].artefacts[artefact].card
        look = card.model_dump(include={"title", "layout", "decimals", "beside"})
        if card.tiers[tier].state == "stand_in":
            look["title"] = (
                f"STAND-IN, not the paper's data ({card.tiers[tier].name}): {card.title}"
            )
        return look

    return face


def resource(key):
    """Path of a released file in the cache, where `fetch` brings it."""
    return f"{SETTINGS.cache}/{key}"


def vocabulary_of(wildcards):
    """Vocabulary of a tokenisation into word pieces; none for the others.

    The embedded tier takes BERT's from the wheel of a model, since it can fetch nothing.
    """
    name = tokenisation_of(wildcards)
    if name not in VOCABULARIES:
        return []
    if wildcards.collection == "pydocs":
        return resource("splade-tiny/vocab.txt")
    return resource(VOCABULARIES[name])


def tokenisation_of(wildcards):
    """Name of the tokenisation, whether or not documents are cut."""
    return wildcards.tokens.removesuffix("-cut")


def first_terms_of(wildcards):
    """Terms after which a text is cut: what an encoder sees of it, or None for all."""
    # Without the two special pieces.
    return (
        SETTINGS.query_by_example.lengths.text - 2
        if wildcards.tokens.endswith("-cut")
        else None
    )


def shown(path, tier, name):
    """A result that the Snakemake report shows, with a caption that prints its parameters."""
    paper, _, artefact = name.rpartition("/")
    kind, _, number = artefact.partition("_")
    return report(
        path,
        caption="../report/result.rst",
        category=paper or "all papers",
        labels={
            "artefact": f"{kind.capitalize()} {number.replace('_', '.')}",
            "tier": tier,
        },
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


def published():
    """Every card and every file of printed cells."""
    paths = sorted(Path("published").rglob("*"))
    return [str(path) for path in paths if path.suffix in (".csv", ".yaml")]


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
