"""Citations of the papers, and links to them."""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import urlsplit

from everycell.records.papers import Origin, Publication


def links_of(publication: Publication | Origin) -> list[tuple[str, str]]:
    """Text and URL of links to a paper, or to the paper behind a chapter."""
    links = []
    if publication.doi:
        links.append((f"doi {publication.doi}", f"https://doi.org/{publication.doi}"))
    if publication.arxiv:
        links.append((f"arXiv {publication.arxiv}", f"https://arxiv.org/abs/{publication.arxiv}"))
    if isinstance(publication, Publication) and publication.url:
        # Only the host is shown, because the full text may be on another page of that site.
        links.append((urlsplit(publication.url).netloc, publication.url))
    return links


def section_and_page(text: str) -> str:
    """Remove line numbers, which refer to our plain-text copy, from a source."""
    text = re.sub(r"(, )?(?<![\w-])L\d+(-L\d+)?", "", text).replace(" ()", "")
    return re.sub(r" from (p\. \d+)(?! to)\b", r", \1 ff.", text)


def bibtex(
    key: str,
    *,
    title: str,
    authors: str,
    year: int,
    kind: Literal["thesis", "paper"],
    publication: Publication,
) -> str:
    """BibTeX or biber entry of a paper, in UTF-8."""
    fields = {
        "title": f"{{{_escape(title)}}}",
        "author": _escape(" and ".join(name.strip() for name in authors.split(","))),
        "year": str(year),
        "school" if kind == "thesis" else "booktitle": _escape(
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


#: Characters that a backslash does not escape.
_COMMANDS = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def _escape(text: str) -> str:
    return re.sub(r"[&%$#_{}\\~^]", lambda match: _COMMANDS.get(match[0], f"\\{match[0]}"), text)
