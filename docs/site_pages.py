"""Generated pages of the site, a hook of mkdocs.yml.

The README is the first page, the page of a paper ends with its results, and the configuration, the
rule graphs and the API reference have their own pages.
"""

from __future__ import annotations

import base64
import json
import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from everycell.public import public_modules
from everycell.records.papers import Paper, load_papers
from everycell.records.tables import RUNNABLE
from everycell.render.table_files import escape_cell
from everycell.render.vocabulary import label
from everycell.verdicts.reports import (
    CAUSE_NAMES,
    Outcome,
    Result,
    explained_by_source,
    format_counts,
)
from everycell.verdicts.results import collect

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
#: Rule graphs, created by the rule `rulegraph`.
GRAPHS = RESULTS / "rulegraphs"
CONFIGURATION = """\
# Configuration

`config.yaml` contains all settings with their defaults. Override them with your own file
(`snakemake --configfile mine.yaml`) or single keys (`snakemake --config seed=7`). A wrong key or
value stops the run with a message before the first job. This page is generated from the schema of
the settings, `workflow/schemas/config.schema.json`.

"""
RULES = """\
# Rules

Dependencies between rules, for the complete workflow and for each chapter that can be reproduced. A
box is a rule, with any number of jobs. An arrow points from the rule that writes a file to the rule
that reads it. The complete workflow is that of `snakemake all`. The graphs omit rules of the full
tier that need folders or models which you have to configure.
"""
#: Pages on the site of files outside this folder.
OUTSIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "docs/index.md": "contents.md",
    "config.yaml": "configuration.md",
    "LICENSE": "LICENSE",
    "CITATION.cff": "CITATION.cff",
}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the API reference, and papers without a handwritten page, to the navigation."""
    packages: dict[str, list[dict[str, str]]] = defaultdict(list)
    for name in public_modules():
        _, *within, module = name.split(".")
        packages[" ".join(within) or "everycell"].append({module: reference_page(name)})
    papers = next(entry["Papers"] for entry in config.nav if "Papers" in entry)
    for key in load_papers(ROOT / "published"):
        if paper_page(key) not in papers:
            papers.insert(papers.index("errata.md"), paper_page(key))
    config.nav.append({"API reference": [{name: pages} for name, pages in packages.items()]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""

    def add(path: str, content: str | bytes) -> None:
        existing = files.get_file_from_path(path)
        if existing is not None:
            files.remove(existing)
        files.append(File.generated(config, path, content=content))

    for source in ("README.md", "CONTRIBUTING.md", "docs/index.md"):
        page = OUTSIDE[source]
        add(page, replace_links(read(source), source, page))
    for source in ("LICENSE", "CITATION.cff"):
        add(source, read(source))
    schema = json.loads(read("workflow/schemas/config.schema.json"))
    add("configuration.md", CONFIGURATION + configuration(schema))
    papers = load_papers(ROOT / "published")
    results = collect(papers, RESULTS, ROOT, audits=None)
    for key, paper in papers.items():
        page = paper_page(key)
        has_page = (ROOT / "docs" / page).exists()
        about = read(f"docs/{page}") if has_page else paper_heading(paper)
        add(page, about + "\n" + paper_results(paper, results, RESULTS, "../results"))
    for entry in results:
        for name in entry.report.files:
            if name.endswith(".svg"):
                path = f"{entry.tier}/{entry.artefact.paper}/{name}"
                add(f"results/{path}", (RESULTS / path).read_bytes())
    graphs = sorted(GRAPHS.glob("*.svg"))
    add("workflow.md", RULES + graph_sections(graphs))
    for graph in graphs:
        add(f"rulegraphs/{graph.name}", graph.read_bytes())
    for notebook in sorted((ROOT / "docs/notebooks").glob("*.ipynb")):
        for name, content in notebook_files(notebook).items():
            add(f"notebooks/{name}", content)
    for name in public_modules():
        add(reference_page(name), f"# {name.removeprefix('everycell.')}\n\n::: {name}\n")
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Replace links from the pages of this folder to files outside it."""
    path = page.file.src_uri
    return markdown if page.file.generated_by else replace_links(markdown, f"docs/{path}", path)


def notebook_files(path: Path) -> dict[str, str | bytes]:
    """Page of a notebook with its stored outputs, and its pictures."""
    parts, files = [], {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", []):
            data = output["data"]
            if "image/png" in data:
                picture = f"{path.stem}-{len(files) + 1}.png"
                files[picture] = base64.b64decode(data["image/png"])
                parts.append(f"![Output of the code above]({picture})")
            else:
                parts.append(f"```text\n{data['text/plain']}\n```")
    parts.append(f"[The notebook]({path.name}), to run it yourself.\n")
    return {f"{path.stem}.md": "\n\n".join(parts), **files}


def read(path: str) -> str:
    """Text of a file of the project."""
    return (ROOT / path).read_text(encoding="utf-8")


def paper_page(key: str) -> str:
    """Path of a paper's page."""
    return f"papers/{key}.md"


def paper_heading(paper: Paper) -> str:
    """Start of the page of a paper without a handwritten page, from its record."""
    about = f"{paper.authors}, {paper.title}, {paper.reference}, {paper.year}."
    return f"# {paper.key}\n\n{escape_cell(about)}\n"


def reference_page(module: str) -> str:
    """Path of a module's page."""
    return f"reference/{module.removeprefix('everycell.').replace('.', '/')}.md"


def replace_links(text: str, source: str, page: str) -> str:
    """Replace the links in a Markdown file with those of its page on the site.

    Links to project files that are not on the site become plain text. Images in HTML are included.
    `source` is the path of the file in the project, `page` that of its page on the site.
    """

    def replace_link(match: re.Match[str]) -> str:
        address, _, anchor = match["address"].partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), address))
        if not address:
            return match[0]
        if path not in OUTSIDE and not path.startswith("docs/"):
            return match["text"]
        # Notebooks are pages, too.
        target = OUTSIDE.get(path, path.removeprefix("docs/").replace(".ipynb", ".md"))
        target = posixpath.relpath(target, posixpath.dirname(page) or ".")
        return f"[{match['text']}]({target}{'#' + anchor if anchor else ''})"

    def replace_image(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), match["address"]))
        target = path.removeprefix("docs/")
        return f'{match["name"]}="{posixpath.relpath(target, posixpath.dirname(page) or ".")}"'

    text = re.sub(r'\b(?P<name>src|srcset)="(?P<address>docs/[^"]+)"', replace_image, text)
    return re.sub(r"\[(?P<text>[^]]*)\]\((?!https?:)(?P<address>[^)\s]+)\)", replace_link, text)


def graph_sections(graphs: list[Path]) -> str:
    """A heading and an image for each rule graph."""
    if not graphs:
        return "\n`make docs` creates the graphs; this site was built without them.\n"
    # The complete workflow first, then the chapters.
    order = sorted(graphs, key=lambda graph: (graph.stem != "all", graph.stem))
    return "\n".join(
        f"\n## {graph.stem}\n\n[![Rules of {graph.stem}](rulegraphs/{graph.name})]"
        f"(rulegraphs/{graph.name})\n"
        for graph in order
    )


#: An escaped character, and the special characters in cells and in paragraphs.
_ESCAPE = r"\\[!-/:-@\[-`{-~]"
_IN_CELL = re.compile(rf"{_ESCAPE}|[\\`*_<>{{}}\[\]&!#]")
_IN_TEXT = re.compile(rf"{_ESCAPE}|[!-/:-@\[-`{{-~]")
#: Marker at the end of a cell whose text was escaped, so that each bar separates two cells.
_MARKER = re.compile(r"\^([^^|]+)\^(?=\s*\|)")


def embed_table(text: str) -> str:
    r"""Convert a Markdown table of `write_table` for a page of the site.

    The file is escaped for CommonMark, where ``\<`` is not markup. Python-Markdown reads it as
    markup, and reads ``{ onclick=... }`` in a cell as attributes. All special characters except for
    the bars of the table are therefore replaced by character references. A marker, ``^b^`` at the
    end of a cell, becomes a superscript.
    """
    lines = (line.strip() for line in text.strip().splitlines())
    return "\n".join(
        line
        if re.fullmatch(r"\|[-:|]+\|", line)
        else _MARKER.sub(r"<sup>\1</sup>", _IN_CELL.sub(_as_reference, line))
        if line.startswith("|")
        else _IN_TEXT.sub(_as_reference, line)
        for line in lines
    )


def _as_reference(mark: re.Match[str]) -> str:
    return f"&#{ord(mark[0][-1])};"


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table of cells that are already escaped."""
    header = list(header)
    lines = [header, ["---"] * len(header), *map(list, rows)]
    return "\n".join(
        "|" + "|".join(line) + "|" if line[0] == "---" else "| " + " | ".join(line) + " |"
        for line in lines
    )


def paper_results(paper: Paper, reports: Iterable[Result], results: Path, assets: str) -> str:
    """Results of a paper by chapter, artefact and tier, and its errata."""
    entries = [entry for entry in reports if entry.artefact.paper == paper.key]
    parts = [
        "## Results\n\nEvery table, figure and passage with numbers, in each tier of its record.\n"
    ]
    for chapter, group in groupby(entries, key=lambda entry: entry.artefact.chapter):
        chapter_entries = list(group)
        rows = [_row(entry) for entry in _deepest_results(chapter_entries)]
        kind = "chapter" if chapter[0].isdigit() else "appendix"
        parts.append(f"### Results of {kind} {chapter}: {escape_cell(paper.chapters[chapter])}\n")
        parts.append(
            table(
                ["artefact", "title", "tier", "state", "verdicts", "claims, or requirements"],
                rows,
            )
            + "\n"
        )
        for entry in chapter_entries:
            parts += _folded_result(entry, results, assets)
    errata = [
        (artefact, erratum)
        for artefact in paper.artefacts.values()
        for erratum in artefact.record.errata
    ]
    if errata:
        parts.append("## Errata\n")
        parts.append("The page [Errata](../errata.md) gives the evidence.\n")
        rows = [
            [
                escape_cell(label(artefact.name)),
                CAUSE_NAMES[erratum.cause],
                escape_cell(erratum.finding),
            ]
            for artefact, erratum in errata
        ]
        parts.append(table(["artefact", "cause", "finding"], rows) + "\n")
    return "\n".join(parts)


def _deepest_results(entries: list[Result]) -> Iterator[Result]:
    """Entries with a result; for an artefact without any, the entry of its deepest tier."""
    for _, group in groupby(entries, key=lambda entry: entry.artefact.name):
        tiers = list(group)
        yield from [entry for entry in tiers if entry.report.state in RUNNABLE] or tiers[-1:]


def _row(entry: Result) -> list[str]:
    outcomes = Counter(claim.on_reproduced for claim in entry.report.claims)
    return [
        escape_cell(label(entry.artefact.name)),
        escape_cell(entry.artefact.record.title),
        entry.tier,
        entry.report.state,
        format_counts(entry.report.verdicts, explained_by_source(entry.report.cells)).replace(
            "_", " "
        ),
        _format_outcomes(outcomes)
        if entry.report.state in RUNNABLE
        else escape_cell(entry.artefact.record.tiers[entry.tier].needs or ""),
    ]


def _format_outcomes(counts: Mapping[Outcome, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)


def _folded_result(entry: Result, results: Path, assets: str) -> Iterator[str]:
    """Collapsible block with the figure or the table of a result."""
    if entry.report.state not in RUNNABLE:
        return
    artefact, folder = entry.artefact, results / entry.tier / entry.artefact.paper
    if artefact.record.kind == "figure":
        figure = folder / f"{artefact.name}.svg"
        text = (
            f"![{escape_cell(artefact.record.title)}]({assets}/{figure.relative_to(results).as_posix()})"
            if figure.exists()
            else None
        )
    else:
        table_file = folder / f"{artefact.name}.md"
        text = embed_table(table_file.read_text(encoding="utf-8")) if table_file.is_file() else None
    if text is not None:
        title = f"{label(artefact.name)} ({entry.tier}, {entry.report.state})"
        yield f'??? example "{title}"\n\n' + _indent(text) + "\n"


def _indent(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.strip().splitlines())


def configuration(schema: Mapping[str, Any]) -> str:
    """Every key of `config.yaml` with its type, bounds, default and meaning."""
    keys = [*_keys("", schema, schema)]
    top_level = [row for row in keys if "." not in row[0]]
    header = ["key", "type", "default", "meaning"]
    parts = [table(header, top_level)] if top_level else []
    for block, rows in groupby(
        (row for row in keys if "." in row[0]), key=lambda row: row[0].strip("`").split(".")[0]
    ):
        about = _resolve(schema["properties"][block], schema).get("description", "")
        parts.append(f"\n## {block}\n\n{escape_cell(about)}\n\n{table(header, rows)}")
    return "\n".join(parts)


def _resolve(node: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Merge a node with the target of its `$ref`; the node's own entries take precedence."""
    reference = node.get("$ref")
    if reference is None:
        return node
    return {**schema["$defs"][reference.rpartition("/")[2]], **node}


def _keys(prefix: str, node: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[list[str]]:
    for name, value in node["properties"].items():
        entry = _resolve(value, schema)
        if "properties" in entry:
            yield from _keys(f"{prefix}{name}.", entry, schema)
        else:
            default = f"`{json.dumps(entry['default'])}`" if "default" in entry else "required"
            about = escape_cell(entry.get("description", ""))
            yield [f"`{prefix}{name}`", _type(entry, schema), default.replace("|", "\\|"), about]


#: Keyword of a JSON schema -> its description.
BOUNDS = {
    "minimum": "at least",
    "exclusiveMinimum": "above",
    "maximum": "at most",
    "exclusiveMaximum": "below",
    "minLength": "length at least",
    "minItems": "items at least",
    "maxItems": "items at most",
}


def _type(node: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    node = _resolve(node, schema)
    if "anyOf" in node:
        return " or ".join(_type(option, schema) for option in node["anyOf"])
    if "enum" in node:
        return "one of " + ", ".join(f"`{value}`" for value in node["enum"])
    if "const" in node:
        return f"`{node['const']}`"
    kind = str(node.get("type", "any"))
    if kind == "array" and isinstance(node.get("items"), Mapping):
        kind = f"list of {_type(node['items'], schema)}"
    elif kind == "object" and "properties" in node:
        kind = "block of " + ", ".join(f"`{name}`" for name in node["properties"])
    elif kind == "object" and isinstance(node.get("additionalProperties"), Mapping):
        kind = f"mapping of names to {_type(node['additionalProperties'], schema)}"
    bounds = [f"{phrase} {node[key]}" for key, phrase in BOUNDS.items() if key in node]
    return ", ".join([kind, *bounds])
