# Files of a result, and what its card and the report say of it.
from snakemake.io import apply_wildcards

from everycell.engine.verification import FIGURE_FORMS, TABLE_FORMS
from everycell.workflow import FOLDER


def faces_of(outputs):
    """What the cards say of the artefacts of a job: titles, layouts, decimals, by their names.

    The title of a result on surrogate data says so, so that no copy of the table can hide it.

    A parameter, so that a change of them shows the table again, and a change of the rest of the card
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
    """Record of an artefact as displayed in a tier."""
    look = card.model_dump(include={"title", "layout", "decimals", "beside", "names"})
    declared = card.tiers[tier]
    if declared.state == "stand_in":
        look["title"] = f"Surrogate data, not the paper's ({declared.name}): {card.title}"
    return look


def place_of(path):
    """Tier, paper and artefact of a result's file; no paper if it belongs to all papers."""
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

    caption = str(FOLDER / "report" / "result.rst")
    return report(path, caption=caption, category=category, labels=labels)


def table_files(result="<result>", *, tables=(), figures=()):
    """Files of a table by output name: full precision, three shown forms, the receipt.

    `result` is TIER/PAPER/ARTEFACT: the rule's own, or a further one, whose output names begin with
    its name. `tables` and `figures` are the supplementary ones, whose names follow theirs.
    """
    return result_files(TABLE_FORMS, result, tables, figures)


def figure_files(result="<result>", *, tables=(), figures=()):
    """Files of a figure by output name: what it plots, three pictures, the receipt."""
    return result_files(FIGURE_FORMS, result, tables, figures)


def result_files(forms, result, tables, figures):
    """Files of a result and of its supplementary tables and figures."""
    stem = f"results/{result}"
    start = "" if result == "<result>" else f"{result.rpartition('/')[2]}_"
    files = {**forms_of(forms, stem, start), f"{start}receipt": f"{stem}.receipt.json"}
    for shape, names in ((TABLE_FORMS, tables), (FIGURE_FORMS, figures)):
        for name in names:
            files |= forms_of(shape, f"{stem}.{name}", f"{start}{name}_")
    return files


def forms_of(forms, stem, start):
    """The forms of one table or figure by output name; the report shows the last one."""
    *files, shown = forms
    return {f"{start}{form}": f"{stem}.{form}" for form in files} | {
        f"{start}{shown}": in_report(f"{stem}.{shown}", f"{start}{shown}")
    }
