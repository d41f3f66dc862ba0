"""Files of the reproduction page: an overview, one page per chapter, and all cells."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

from jinja2 import Environment, PackageLoader

from everycell.base.files import write_atomically
from everycell.records.folders import TIERS
from everycell.records.papers import Paper, load_papers
from everycell.records.tables import RUNNABLE
from everycell.render.page.data_files import data_files
from everycell.render.page.differences import deviation_plot, difference_files
from everycell.render.page.overview import Page, build_page, links_of
from everycell.render.table_files import html_environment
from everycell.render.vocabulary import GROUPS, OUTCOMES, VERDICTS, section_and_page
from everycell.verdicts.counting import HEADLINES, headline
from everycell.verdicts.reports import CAUSE_NAMES, STATES
from everycell.verdicts.results import Result

INDEX = "index.html"
#: Longer lists of differences are collapsed.
_MAX_UNFOLDED = 12
#: Search library, as published by its authors; its licence is in the same folder.
_SEARCH_LIBRARY = "minisearch-7.2.0.js"


def write_page(
    path: Path, results: Sequence[Result], papers: Mapping[str, Paper] | None = None
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
    folder: Path, results: Sequence[Result], papers: Mapping[str, Paper]
) -> dict[str, bytes]:
    """Files of the reproduction page of a results folder, as `write_page` writes them."""
    page = build_page(papers, results, folder)
    pages: dict[str, bytes] = {}
    for paper in page.papers:
        for before, chapter, after in zip(
            [None, *paper.chapters], paper.chapters, [*paper.chapters[1:], None], strict=False
        ):
            pages[chapter.page] = _render(
                "chapter.html.j2",
                ["cells.js", "page.js"],
                paper=paper,
                chapter=chapter,
                deviations=deviation_plot(chapter),
                previous=before,
                next=after,
            )
            pages |= difference_files(chapter)
    pages["badge.svg"] = _badge(page)
    index = _render("index.html.j2", ["page.js", _SEARCH_LIBRARY, "search.js"], page=page)
    return pages | data_files(papers, results, folder) | {INDEX: index}


def outdated_pages(folder: Path, pages: Mapping[str, bytes]) -> list[Path]:
    """Files of the page that are missing from a results folder, or differ in content."""
    return [
        folder / name
        for name, content in pages.items()
        if not (folder / name).is_file() or (folder / name).read_bytes() != content
    ]


@cache
def _environment() -> Environment:
    """Templates of the page, with the words and filters that they use."""
    environment = html_environment("everycell.render.page")
    environment.filters |= {"links": links_of, "section_and_page": section_and_page}
    cast(dict[str, Any], environment.globals).update(
        headline=headline,
        meaning={
            "verdicts": VERDICTS,
            "groups": GROUPS,
            "states": STATES,
            "runnable": RUNNABLE,
            "outcomes": OUTCOMES,
            "places": CAUSE_NAMES,
            "tiers": TIERS,
            "max_unfolded": _MAX_UNFOLDED,
        },
    )
    return environment


def _render(template: str, scripts: Sequence[str], **variables: Any) -> bytes:
    environment, loader = _environment(), PackageLoader("everycell.render.page")
    texts = [
        # The source map is not included.
        loader.get_source(environment, name)[0].partition("//# sourceMappingURL")[0]
        for name in scripts
    ]
    page = environment.get_template(template)
    return page.render(variables, scripts=texts, policy=policy_of(texts)).encode()


def _badge(page: Page) -> bytes:
    """Badge for a README: how many numbers equal the published ones, and how many were not run."""
    verdicts = page.headlines.get(next(iter(HEADLINES)), Counter())
    not_run = page.numbers_not_run
    label = "everycell"
    message = f"{verdicts['equal']} of {verdicts.total() + not_run} numbers reproduced"
    message += f"; {not_run} not run" * bool(not_run)
    if verdicts["too noisy to judge"]:
        message += f"; {verdicts['too noisy to judge']} too noisy to judge"
    left, right = (12 + 7 * len(text) for text in (label, message))
    badge = _environment().get_template("badge.svg.j2")
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
