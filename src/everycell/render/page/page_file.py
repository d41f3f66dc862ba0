"""Files of the reproduction page: an overview, one page per chapter, and all cells."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import PackageLoader

from everycell.base.files import write_atomically
from everycell.records.papers import Paper, load_papers
from everycell.render.html_templates import html_environment
from everycell.render.page.cells_file import data_files
from everycell.render.page.deviations import deviation_plot
from everycell.render.page.difference_tables import difference_files
from everycell.render.page.model import build_model
from everycell.render.page.vocabulary import PageEntry
from everycell.verdicts.counting import HEADLINES

INDEX = "index.html"
#: Search library, as published by its authors; its licence is in the same folder.
_SEARCH_LIBRARY = "minisearch-7.2.0.js"


def write_page(
    path: Path, results: Sequence[PageEntry], papers: Mapping[str, Paper] | None = None
) -> Path:
    """Write the overview, the pages of the chapters, and their data files."""
    if papers is None:
        papers = load_papers(results[0].artefact.folder.parent)
    pages = pages_of(path.parent, results, papers)
    for name, content in pages.items():
        if name != INDEX:
            write_atomically(path.parent / name, content)
    return write_atomically(path, pages[INDEX])


def pages_of(
    folder: Path, results: Sequence[PageEntry], papers: Mapping[str, Paper]
) -> dict[str, bytes]:
    """Files of the reproduction page of a results folder, as `write_page` writes them."""
    model = build_model(papers, results, folder)
    pages = {
        chapter["page"]: _render(
            "chapter.html.j2",
            ["cells.js", "page.js"],
            {
                "meaning": model["meaning"],
                "paper": paper,
                "chapter": chapter,
                "deviations": deviation_plot(chapter),
                "previous": previous_chapter,
                "next": next_chapter,
            },
        )
        for paper in model["papers"]
        for previous_chapter, chapter, next_chapter in zip(
            [None, *paper["chapters"]],
            paper["chapters"],
            [*paper["chapters"][1:], None],
            strict=False,
        )
    }
    for paper in model["papers"]:
        for chapter in paper["chapters"]:
            pages |= difference_files(chapter)
    pages["badge.svg"] = _badge(model)
    index = _render("index.html.j2", ["page.js", _SEARCH_LIBRARY, "search.js"], model)
    return pages | data_files(papers, results, folder) | {INDEX: index}


def outdated_pages(folder: Path, pages: Mapping[str, bytes]) -> list[Path]:
    """Files of the page that are missing from a results folder, or differ in content."""
    return [
        folder / name
        for name, content in pages.items()
        if not (folder / name).is_file() or (folder / name).read_bytes() != content
    ]


def _render(template: str, scripts: Sequence[str], model: Mapping[str, Any]) -> bytes:
    package = "everycell.render.page"
    environment, loader = html_environment(package), PackageLoader(package)
    texts = [
        # The source map is not included.
        loader.get_source(environment, name)[0].partition("//# sourceMappingURL")[0]
        for name in scripts
    ]
    page = {**model, "scripts": texts, "policy": policy_of(texts)}
    return environment.get_template(template).render(page).encode()


def _badge(model: Mapping[str, Any]) -> bytes:
    """Badge for a README: how many numbers equal the published ones, and how many were not run."""
    verdicts = model["headlines"].get(next(iter(HEADLINES)), Counter())
    not_run = model["numbers_not_run"]
    label = "everycell"
    message = f"{verdicts['equal']} of {verdicts.total() + not_run} numbers reproduced"
    message += f"; {not_run} not run" * bool(not_run)
    if verdicts["too noisy to judge"]:
        message += f"; {verdicts['too noisy to judge']} too noisy to judge"
    left, right = (12 + 7 * len(text) for text in (label, message))
    badge = html_environment("everycell.render.page").get_template("badge.svg.j2")
    return badge.render(label=label, message=message, left=left, right=right).encode()


def policy_of(scripts: Sequence[str]) -> str:
    """Content security policy of a page: only its own scripts run, and nothing else is loaded.

    Images in the results folder are allowed, from a disk or a server. Inline styles are allowed
    because they set the widths of bars.
    """
    hashes = [
        f"'sha256-{b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    ]
    return (
        f"default-src 'none'; script-src {' '.join(hashes)}; style-src 'unsafe-inline'; "
        "img-src 'self' file: data:; base-uri 'none'; form-action 'none'"
    )
