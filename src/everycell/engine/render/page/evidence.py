"""Citations of the papers, and links to them."""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import urlsplit

from everycell.engine.publications import Origin, Publication


def links_of(publication: Publication | Origin) -> list[tuple[str, str]]:
    """Text and URL of links to a paper, or to the paper behind a chapter.

    Examples
    --------
    >>> links_of(Origin(published="Findings of ACL 2024", arxiv="2403.19056"))
    [('arXiv 2403.19056', 'https://arxiv.org/abs/2403.19056')]
    """
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
    """Remove line numbers, which refer to our plain-text copy, from a source.

    Examples
    --------
    >>> section_and_page("§ 2.6 from p. 27, L733"), section_and_page("§ 5 (L39), L43; § 3, L12-L14")
    ('§ 2.6, p. 27 ff.', '§ 5; § 3')
    """
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
    r"""BibTeX or biber entry of a paper, in UTF-8.

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
