# Files of a result, its display settings, and its entry in the Snakemake report.
from snakemake.io import apply_wildcards

from everycell.receipts.receipts import FIGURE_FORMS, TABLE_FORMS
from everycell.workflow import FOLDER


def faces_of(outputs):
    """Parameter function: display settings of the artefacts of a job, by their names.

    As a parameter, they rerun a job when they change; other changes of a record do not. The only
    argument of the function is the wildcards, since Snakemake does not detect changes of parameters
    that depend on outputs.
    """

    def faces(wildcards):
        paths = [apply_wildcards(path, dict(wildcards.items())) for path in outputs]
        return {
            artefact: face(tier, PAPERS[paper].artefacts[artefact].record)
            for tier, paper, artefact in map(parse_result_path, paths)
            if paper in PAPERS and artefact in PAPERS[paper].artefacts
        }

    return faces


def face(tier, record):
    """Display settings from a record; the title of a result on surrogate data says so."""
    settings = record.model_dump(include={"title", "layout", "decimals", "supplements", "names"})
    declared = record.tiers[tier]
    if declared.state == "surrogate":
        settings["title"] = f"Surrogate data, not the paper's ({declared.name}): {record.title}"
    return settings


def parse_result_path(path):
    """Tier, paper and artefact of a result's file; the paper is empty for shared results."""
    _, tier, *paper, name = path.split("/")
    return tier, "".join(paper), name.partition(".")[0]


def in_report(path, output_name):
    """Add a result to the Snakemake report."""

    def category(wildcards, output):
        _, paper, _ = parse_result_path(output[output_name])
        return paper or "all papers"

    def labels(wildcards, output):
        tier, _, artefact = parse_result_path(output[output_name])
        kind, _, number = artefact.partition("_")
        name = f"{kind.capitalize()} {number.replace('_', '.')}"
        return {"artefact": name, "tier": tier}

    caption = str(FOLDER / "report" / "result.rst")
    return report(path, caption=caption, category=category, labels=labels)


def table_files(result="<result>", *, tables=(), figures=()):
    """Files of a table by output name: data at full precision, three displayed formats, receipt.

    `result` is TIER/PAPER/ARTEFACT of an additional artefact, whose name is then a prefix of the
    output names; by default, it is the rule's own. `tables` and `figures` are names of
    supplementary ones.
    """
    return result_files(TABLE_FORMS, result, tables, figures)


def figure_files(result="<result>", *, tables=(), figures=()):
    """Files of a figure by output name: plotted data, three image formats, receipt."""
    return result_files(FIGURE_FORMS, result, tables, figures)


def result_files(forms, result, tables, figures):
    """Files of a result and of its supplementary tables and figures."""
    stem = f"results/{result}"
    prefix = "" if result == "<result>" else f"{result.rpartition('/')[2]}_"
    files = {**format_files(forms, stem, prefix), f"{prefix}receipt": f"{stem}.receipt.json"}
    for supplement_forms, names in ((TABLE_FORMS, tables), (FIGURE_FORMS, figures)):
        for name in names:
            files |= format_files(supplement_forms, f"{stem}.{name}", f"{prefix}{name}_")
    return files


def format_files(forms, stem, prefix):
    """Files of a table or figure in all formats, by output name; the last is in the report."""
    *data_forms, displayed = forms
    return {f"{prefix}{form}": f"{stem}.{form}" for form in data_forms} | {
        f"{prefix}{displayed}": in_report(f"{stem}.{displayed}", f"{prefix}{displayed}")
    }
