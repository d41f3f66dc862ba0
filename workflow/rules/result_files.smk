# Files of a result, and what its card and the report say of it.
from snakemake.io import apply_wildcards

from everycell.engine.verification import FIGURE_FORMS, TABLE_FORMS


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
    look = card.model_dump(include={"title", "layout", "decimals", "beside", "names"})
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
    *forms, shown = TABLE_FORMS
    return result_files(f"results/{result}", forms, shown, start)


def figure_files(result, start=""):
    """Files of a figure: what it plots, three pictures, and the receipt."""
    *forms, shown = FIGURE_FORMS
    return result_files(f"results/{result}", forms, shown, start)


def another(files, result):
    """Files of a further artefact of a job, under output names that begin with its own."""
    return files(result, f"{result.rpartition('/')[2]}_")


def companion(files, result, part, start=""):
    """Files that stand beside an artefact's own, under output names that begin with `part`.

    Of a further artefact of a job they begin with its own names (`start`) before that.
    """
    found = files(f"{result}.{part}", f"{start}{part}_")
    found.pop(f"{start}{part}_receipt")
    return found
