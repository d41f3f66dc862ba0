"""Generated pages of the site, a hook of mkdocs.yml.

The README is the first page, the page of a paper ends with its results, and the configuration, the
rule graphs and the API reference have their own pages.
"""

import json
import posixpath
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from everycell.public import public_modules
from everycell.records.papers import Paper, load_papers
from everycell.render.site import configuration, escape_cell, paper_results
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
    for name in public_modules():
        add(reference_page(name), f"# {name.removeprefix('everycell.')}\n\n::: {name}\n")
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Replace links from the pages of this folder to files outside it."""
    path = page.file.src_uri
    return markdown if page.file.generated_by else replace_links(markdown, f"docs/{path}", path)


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
        target = OUTSIDE.get(path, path.removeprefix("docs/"))
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
