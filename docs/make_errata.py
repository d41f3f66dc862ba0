"""Write docs/errata.md from the records.

Run ``python docs/make_errata.py`` in the project folder.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from everycell.records.papers import Artefact, Paper, load_papers
from everycell.records.tables import Cause, Erratum
from everycell.render.table_files import escape_cell
from everycell.verdicts.audits import audits_of, finding_of

TARGET = Path("docs/errata.md")
PUBLISHED = Path("published")
#: Headings of errata; only the first blames the paper.
WHERE: dict[Cause, str] = {
    "published": "Error in print",
    "copy": "Transcription error of ours",
    "method": "Method",
    "unknown": "Cause unknown",
}
HEAD = """\
# Errata

Findings about published numbers and sentences, from errors to open questions:
{counts}.
A finding that two publications share is counted once. `python docs/make_errata.py` generates this
file from the records in `published/`; a test fails if they differ.

Each erratum states its cause. An *error in print* requires internal evidence that a bad copy of the
text cannot explain: sums, impossible counts, or passages that contradict each other. A
*transcription error* is ours: the paper is correct, and our copy of its text is wrong. *Method*
means that the published number results from the computation: from another rule or other data than
stated, or from software applied to a design that cannot be tested. This is not an error in print.
In all other cases the *cause is unknown*: an error in print, a transcription error, or an unstated
counting rule. These are questions, not errors. For each paper, errors in print come first. If
published numbers alone show a finding, an audit in `chN_audits.py` of its chapter (below
`workflow/papers/`) confirms it in each run, with the numbers given here. A reference such as
L1110 is a line in our copy of the text.
"""


def render(papers: Mapping[str, Paper]) -> str:
    """Text of the file: sections per paper, headings per artefact, paragraphs per erratum."""
    errata = [e for p in papers.values() for a in p.artefacts.values() for e in a.record.errata]
    distinct = Counter(erratum.cause for erratum in errata if erratum.same_as is None)
    counts = ", ".join(f"{WHERE[where].lower()} {distinct[where]}" for where in WHERE)
    parts = [HEAD.format(counts=counts)]
    for paper in papers.values():
        faulty = [artefact for artefact in paper.artefacts.values() if artefact.record.errata]
        count = sum(len(artefact.record.errata) for artefact in faulty)
        parts.append(
            f"## {paper.key}\n\n{_line(f'{paper.authors}: {paper.title}')} ({paper.year})."
        )
        parts[-1] += f" Errata: {count}.\n"
        for is_print in (True, False):
            for artefact in faulty:
                own = [e for e in artefact.record.errata if (e.cause == "published") == is_print]
                if own:
                    parts.append(f"### {artefact.name}: {_line(artefact.record.title)}\n")
                parts += [_entry(artefact, erratum) for erratum in own]
    return "\n".join(parts)


def _entry(artefact: Artefact, erratum: Erratum) -> str:
    same = f"The same finding as in {_line(erratum.same_as)}. " if erratum.same_as else ""
    lines = [
        f"**{WHERE[erratum.cause]}** ({_line(erratum.id)}, "
        f"{_line(erratum.source or artefact.record.source)}): "
        f"{same}{_line(erratum.finding)}\n",
        f"Evidence: {_line(erratum.evidence)}\n",
    ]
    finding = finding_of(erratum, artefact, audits_of(artefact.paper, artefact.chapter))
    if finding is not None:
        outcome = "confirms this" if finding.holds else "does not confirm this"
        lines.append(f"`{erratum.audit}` {outcome}: {_line(finding.detail).rstrip('.')}.\n")
    return "\n".join(lines)


def _line(text: str) -> str:
    """Text of a record on one line, with markup, links and HTML escaped."""
    return escape_cell(" ".join(text.split()))


if __name__ == "__main__":
    TARGET.write_text(render(load_papers(PUBLISHED)), encoding="utf-8")
