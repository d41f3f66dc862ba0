"""Write the table of docs/run-in-full.md from the requirements that the papers declare.

Run ``python docs/make_run_in_full.py`` in the project folder.
"""

from __future__ import annotations

from pathlib import Path

from everycell.language_models.requirements import FACTS
from everycell.records.full_runs import (
    NOTHING_KNOWN,
    FullRun,
    FullTier,
    Material,
    format_number,
    load_full_tier,
    runs_in_full,
    tokens,
)
from everycell.records.papers import all_artefacts, load_papers

TARGET, PUBLISHED = Path("docs/run-in-full.md"), Path("published")
BEGIN, END = "full.yaml. -->\n", "<!-- End of the generated part. -->"


def table(tier: FullTier, chapters: dict[str, list[str]]) -> str:
    """Markdown tables of runs, and of the corpora and models that they use."""
    lines = [
        "Disk space includes inputs and outputs. Requests (million tokens of prompts, of answers)",
        "and hours are per language model, with the batch sizes stated below.",
        "",
        "| run | chapters | GPU | hours | requests | memory | disk |",
        "|---|---|---|---|---|---|---|",
    ]
    for run in tier.runs.values():
        users = [name for name, ids in chapters.items() if set(ids) & set(run.artefacts)]
        lines.append(f"| {run.title} | {', '.join(users)} | {_row(tier, run)} |")
    lines += ["", "Sources of these figures:", ""]
    for run in tier.runs.values():
        lines.append(f"- *{run.title}*: {' '.join(run.known_from.split())}")
    lines += [
        "",
        "| corpus or model | GB | licence | setting | obtained | identified by |",
        "|---|---|---|---|---|---|",
    ]
    for material in tier.materials.values():
        settings = "<br>".join(f"`{key}`" for key in material.settings)
        source = "with `fetch`" if material.corpus else "by you"
        obtained = "automatically" if material.hosts else source
        obtained += ", if configured" * material.optional
        lines.append(
            f"| [{material.title}]({material.page}) | {format_number(material.gb)} | "
            f"{material.licence} | "
            f"{settings} | {obtained} | {_identified(material)} |"
        )
    for name, facts in FACTS.items():
        gb = format_number(facts.parameters * (facts.bits or 16) / 8e9)
        licence = facts.licence + ", to be accepted on the hub" * facts.gated
        lines.append(f"| {name} | {gb} | {licence} | `language_models.local` | automatically | |")
    return "\n".join(lines) + "\n"


def _identified(material: Material) -> str:
    """Facts that identify a corpus or runs; none are known for models and indexes."""
    if material.nothing_known:
        fetched = "a download: its hash; your own folder: " * bool(material.corpus)
        return fetched + NOTHING_KNOWN
    names = {"lines": "lines", "values": "different ids", "keys": "entries"}
    files = []
    for file, facts in material.facts.items():
        stated = facts.model_dump(exclude_defaults=True)
        numbers = [
            f"{number:,} {names[name]}"
            for name, value in stated.items()
            if name in names
            for number in (value.values() if isinstance(value, dict) else [value])
        ]
        numbers += ["a hash of the ids"] * ("ids" in stated) + ["its sha256"] * ("sha256" in stated)
        files.append(f"`{file}`: {', '.join(numbers)}")
    return "<br>".join(files)


def _row(tier: FullTier, run: FullRun) -> str:
    hours = run.gpu_hours + run.requests * run.seconds_per_request / 3600
    times = [f"{format_number(hours)} on the GPU"] * (hours > 0)
    times += [f"{format_number(run.cpu_hours)} on a core"] * (run.cpu_hours > 0)
    gpu = f"{format_number(run.gpu_gb)} GB" if run.gpu_gb else "none"
    requests = "none"
    if run.requests:
        gpu += ", or an endpoint"
        sizes = [format_number(tokens([run], kind) / 1e6) for kind in ("prompt", "answer")]
        requests = f"{run.requests:,} ({', '.join(sizes)})"
    materials = [tier.materials[name] for name in run.materials]
    disk = run.work_gb + sum(material.disk_gb for material in materials if not material.optional)
    memory = f"{format_number(run.memory_gb)} GB"
    return " | ".join([gpu, ", ".join(times), requests, memory, f"{format_number(disk)} GB"])


def render(text: str) -> str:
    """Update the tables of the page."""
    papers = load_papers(PUBLISHED)
    chapters: dict[str, list[str]] = {}
    for artefact in filter(runs_in_full, all_artefacts(papers)):
        chapters.setdefault(f"{artefact.paper} {artefact.chapter}", []).append(artefact.id)
    before, begin, remainder = text.partition(BEGIN)
    _, end, after = remainder.partition(END)
    return f"{before}{begin}\n{table(load_full_tier(PUBLISHED, papers), chapters)}\n{end}{after}"


if __name__ == "__main__":
    TARGET.write_text(render(TARGET.read_text(encoding="utf-8")), encoding="utf-8")
