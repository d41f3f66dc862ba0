"""What mkdocs adds to the pages of this folder, as a hook of mkdocs.yml.

The README is the first page, a page of a work ends with what its tables and figures came to, and
the configuration, the rule graphs and the library's reference have pages of their own.
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

from everycell.engine.artefacts import Paper, load_papers
from everycell.engine.render.site import configuration, escape_cell, paper_results
from everycell.engine.results import collect
from everycell.public import public_modules

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
#: Pictures of the rules, made by the rule `rulegraph`.
GRAPHS = RESULTS / "rulegraphs"
CONFIGURATION = """\
# Configuration

`config.yaml` holds every setting with its default. A file of your own goes on top
(`snakemake --configfile mine.yaml`), a single key too (`snakemake --config seed=7`). A wrong key or
value ends the run before the first job, with a sentence. This page is made from the schema that
checks it, `workflow/schemas/config.schema.json`.

"""
RULES = """\
# Rules

Which rule takes its files from which: of the whole workflow, then of each chapter that can be
rebuilt. A box is a rule, whatever number of jobs it has; an arrow points from the rule that makes
a file to the one that reads it. "The whole workflow" is what `snakemake all` runs: rules that only
the full tier has are in no picture where it needs folders or models that you name yourself.
"""
#: Where a file outside this folder stands on the site.
OUTSIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "docs/index.md": "contents.md",
    "config.yaml": "configuration.md",
    "LICENSE": "LICENSE",
    "CITATION.cff": "CITATION.cff",
}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add to the navigation: the reference, and works for which nobody wrote a page."""
    packages: dict[str, list[dict[str, str]]] = defaultdict(list)
    for name in public_modules():
        _, *within, module = name.split(".")
        packages[" ".join(within) or "everycell"].append({module: reference_page(name)})
    works = next(entry["Papers"] for entry in config.nav if "Papers" in entry)
    for key in load_papers(ROOT / "published"):
        if work_page(key) not in works:
            works.insert(works.index("errata.md"), work_page(key))
    config.nav.append({"API reference": [{name: pages} for name, pages in packages.items()]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made."""

    def add(path: str, content: str | bytes) -> None:
        existing = files.get_file_from_path(path)
        if existing is not None:
            files.remove(existing)
        files.append(File.generated(config, path, content=content))

    for source in ("README.md", "CONTRIBUTING.md", "docs/index.md"):
        page = OUTSIDE[source]
        add(page, relinked(read(source), source, page))
    for source in ("LICENSE", "CITATION.cff"):
        add(source, read(source))
    schema = json.loads(read("workflow/schemas/config.schema.json"))
    add("configuration.md", CONFIGURATION + configuration(schema))
    papers = load_papers(ROOT / "published")
    found = collect(papers, RESULTS, ROOT, audits=None)
    for key, paper in papers.items():
        page = work_page(key)
        written = ROOT / "docs" / page
        about = read(f"docs/{page}") if written.exists() else work_heading(paper)
        add(page, about + "\n" + paper_results(paper, found, RESULTS, "../results"))
    for entry in found:
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
    """Mend links of the pages of this folder to files outside it."""
    path = page.file.src_uri
    return markdown if page.file.generated_by else relinked(markdown, f"docs/{path}", path)


def read(path: str) -> str:
    """Text of a file of the project."""
    return (ROOT / path).read_text(encoding="utf-8")


def work_page(key: str) -> str:
    """Path of a work's page."""
    return f"papers/{key}.md"


def work_heading(paper: Paper) -> str:
    """Start of the page of a work for which nobody wrote one yet: what its card says."""
    about = f"{paper.authors}, {paper.title}, {paper.reference}, {paper.year}."
    return f"# {paper.key}\n\n{escape_cell(about)}\n"


def reference_page(module: str) -> str:
    """Path of a module's page."""
    return f"reference/{module.removeprefix('everycell.').replace('.', '/')}.md"


def relinked(text: str, source: str, page: str) -> str:
    """Markdown of a file with the links that its page on the site has.

    Parameters
    ----------
    text, source
        The Markdown, and the path of its file in the project.
    page
        Path of its page on the site.

    Returns
    -------
    str
        A link to a file of the project that the site lacks is its text alone; pictures that HTML
        shows are found as well.
    """

    def link(match: re.Match[str]) -> str:
        address, _, anchor = match["address"].partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), address))
        if not address:
            return match[0]
        if path not in OUTSIDE and not path.startswith("docs/"):
            return match["text"]
        target = OUTSIDE.get(path, path.removeprefix("docs/"))
        target = posixpath.relpath(target, posixpath.dirname(page) or ".")
        return f"[{match['text']}]({target}{'#' + anchor if anchor else ''})"

    def shown(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), match["address"]))
        target = path.removeprefix("docs/")
        return f'{match["name"]}="{posixpath.relpath(target, posixpath.dirname(page) or ".")}"'

    text = re.sub(r'\b(?P<name>src|srcset)="(?P<address>docs/[^"]+)"', shown, text)
    return re.sub(r"\[(?P<text>[^]]*)\]\((?!https?:)(?P<address>[^)\s]+)\)", link, text)


def graph_sections(graphs: list[Path]) -> str:
    """A heading and a picture for each graph of rules."""
    if not graphs:
        return "\nThe pictures are made by `make docs`; this site was built without them.\n"
    # The whole workflow first, then the chapters.
    order = sorted(graphs, key=lambda graph: (graph.stem != "all", graph.stem))
    return "\n".join(
        f"\n## {graph.stem}\n\n[![Rules of {graph.stem}](rulegraphs/{graph.name})]"
        f"(rulegraphs/{graph.name})\n"
        for graph in order
    )
