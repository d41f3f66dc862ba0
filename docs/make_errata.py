"""Write docs/errata.md from the cards: `python docs/make_errata.py`, in the project folder."""

from collections.abc import Mapping
from pathlib import Path

from everycell.engine.artefacts import Artefact, Paper, load_papers
from everycell.engine.audits import finding_of
from everycell.engine.cards import Erratum, Where
from everycell.engine.render.site import escaped
from everycell.studies.discovery import audits_of

TARGET = Path("docs/errata.md")
PUBLISHED = Path("published")
#: Only the first is worded as an error of the paper.
WHERE: dict[Where, str] = {
    "print": "Error in the print",
    "copy": "Error in our copy of the text",
    "method": "Criticism of the method",
    "undecided": "Undecided",
}
HEAD = """\
# Errata

The printed numbers and sentences of all five works that do not stand. Made from the cards in
`published/` by `python docs/make_errata.py`; a test fails when this file and the cards differ.

Each erratum says where the error is. *Error in the print* needs internal evidence that a bad copy
of the text cannot explain: sums, impossible counts, two places that disagree. *Error in our copy*
is about the text that this project worked from, not about the paper. *Criticism of the method*
means that the printed number is what the software gives, and that the analysis itself is open to
criticism. It is not a misprint. Everything else is *undecided*: print, copy, or a rule of counting
that the paper does not name. Where printed numbers alone show it, an audit checks it in each run
(`audits.py` of the chapter, below `src/everycell/studies/`), and its numbers are given here. A
line such as L1110 is a line of our copy of the text.
"""


def render(papers: Mapping[str, Paper]) -> str:
    """Text of the file: a section a paper, a heading an artefact, a paragraph an erratum."""
    parts = [HEAD]
    for paper in papers.values():
        faulty = [artefact for artefact in paper.artefacts.values() if artefact.card.errata]
        count = sum(len(artefact.card.errata) for artefact in faulty)
        parts.append(
            f"## {paper.key}\n\n{_line(f'{paper.authors}: {paper.title}')} ({paper.year})."
        )
        parts[-1] += f" Errata: {count}.\n"
        for artefact in faulty:
            parts.append(f"### {artefact.name}: {_line(artefact.card.title)}\n")
            parts += [_entry(artefact, erratum) for erratum in artefact.card.errata]
    return "\n".join(parts)


def _entry(artefact: Artefact, erratum: Erratum) -> str:
    lines = [
        f"**{WHERE[erratum.where]}** ({_line(erratum.id)}, "
        f"{_line(erratum.source or artefact.card.source)}): "
        f"{_line(erratum.finding)}\n",
        f"Evidence: {_line(erratum.evidence)}\n",
    ]
    found = finding_of(erratum, artefact, audits_of(artefact.paper, artefact.chapter))
    if found is not None:
        outcome = "holds" if found.holds else "does not hold"
        lines.append(f"`{erratum.audit}` {outcome}: {_line(found.detail).rstrip('.')}.\n")
    return "\n".join(lines)


def _line(text: str) -> str:
    """Text of a card on one line, in which nothing is markup, a link or an element of HTML."""
    return escaped(" ".join(text.split()))


if __name__ == "__main__":
    TARGET.write_text(render(load_papers(PUBLISHED)), encoding="utf-8")
