"""How what the page says can be followed: citations of the works, places in their print."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from everycell.engine.publications import Origin, Publication

#: Table of sections beside `paper.yaml`.
SECTIONS = "sections.csv"
#: "L12", "L12-L15", "L12-15" in the source of a claim.
_LINE = re.compile(r"\bL(\d+)")


def links_of(publication: Publication | Origin) -> list[tuple[str, str]]:
    """Text and address of each place where a work, or what a chapter was before, can be read.

    Examples
    --------
    >>> links_of(Origin(published="Findings of ACL 2024", arxiv="2403.19056"))
    [('arXiv 2403.19056', 'https://arxiv.org/abs/2403.19056')]
    """
    found = []
    if publication.doi:
        found.append((f"doi {publication.doi}", f"https://doi.org/{publication.doi}"))
    if publication.arxiv:
        found.append((f"arXiv {publication.arxiv}", f"https://arxiv.org/abs/{publication.arxiv}"))
    if isinstance(publication, Publication) and publication.url:
        # Its host and no word more: a library may hand out the text on another page of that host.
        found.append((urlsplit(publication.url).netloc, publication.url))
    return found


def bibtex(
    key: str,
    *,
    title: str,
    authors: str,
    year: int,
    kind: Literal["thesis", "paper"],
    publication: Publication,
) -> str:
    r"""Entry of a work for BibTeX or biber, in UTF-8.

    Examples
    --------
    >>> print(bibtex("toy2026", title="R&D ^ 2", authors="A. Low, B. Høj", year=2026, kind="thesis",
    ...              publication=Publication(school="A University")))
    @phdthesis{toy2026,
      title = {{R\&D \textasciicircum{} 2}},
      author = {A. Low and B. Høj},
      year = {2026},
      school = {A University},
    }
    """
    fields = {
        "title": f"{{{_escaped(title)}}}",
        "author": _escaped(" and ".join(name.strip() for name in authors.split(","))),
        "year": str(year),
        "school" if kind == "thesis" else "booktitle": _escaped(
            publication.school or publication.booktitle or ""
        ),
        "pages": (publication.pages or "").replace("-", "--"),
        "isbn": publication.isbn or "",
        "doi": publication.doi or "",
        "url": publication.url or "",
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    entry = "phdthesis" if kind == "thesis" else "inproceedings"
    return "\n".join([f"@{entry}{{{key},", *lines, "}"])


#: What a backslash before it does not escape.
_COMMANDS = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def _escaped(text: str) -> str:
    return re.sub(r"[&%$#_{}\\~^]", lambda found: _COMMANDS.get(found[0], f"\\{found[0]}"), text)


class Section(NamedTuple):
    """Where a section begins: line of our copy of the text, number, page of the print if known."""

    line: int
    number: str
    page: int | None


def read_sections(folder: Path | None) -> list[Section]:
    """Sections of a work in the order of the text, from the table beside its `paper.yaml`."""
    if folder is None or not (folder / SECTIONS).exists():
        return []
    path = folder / SECTIONS
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Section(int(row["line"]), row["section"], int(row["page"]) if row["page"] else None)
            for row in csv.DictReader(file)
        ]


def cited_lines(text: str) -> list[int]:
    """Lines of our copy of a work that a text cites.

    Examples
    --------
    >>> cited_lines("L12, L40-L44"), cited_lines("p. 1, BL3")
    ([12, 40, 44], [])
    """
    return [int(line) for line in _LINE.findall(text)]


def place_in_print(source: str, sections: Sequence[Section]) -> str | None:
    """Sections and pages of the print for the line numbers that the source of a claim cites.

    Examples
    --------
    >>> sections = [Section(10, "2", 5), Section(20, "2.1", 6), Section(30, "", None)]
    >>> place_in_print("L12-L25", sections)
    '§ 2 (begins on p. 5), § 2.1 (begins on p. 6)'
    >>> print(place_in_print("Section 2.1", sections), place_in_print("L31", sections))
    None None
    """
    found = []
    for line in cited_lines(source):
        before = [section for section in sections if section.line <= line]
        if before and before[-1].number:
            _, number, page = before[-1]
            where = f"§ {number}"
            if page is not None:
                where += f" (begins on p. {page})"
            found.append(where)
    return ", ".join(dict.fromkeys(found)) or None
