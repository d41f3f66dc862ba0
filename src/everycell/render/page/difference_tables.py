"""Tables of a chapter's values that differ from the published ones, in Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from everycell.records.cells import without_spread
from everycell.render.tables.latex import escape_tex, latex_document, latex_table
from everycell.render.tables.markdown import escape_markdown, table_as_markdown
from everycell.verdicts.counting import describe_verdicts
from everycell.verdicts.reports import UNCOUNTED

_NONE = "No reproduced value of this chapter differs from the published one."


def difference_files(chapter: Mapping[str, Any]) -> dict[str, bytes]:
    """Paths and contents of the tables of differences, with tolerances and causes."""
    markdown, latex = [], []
    for title, label, table, notes in _tables(chapter):
        marks = table.map(lambda _: "")
        lines = [f"({number}) {text}" for text, number in notes.items()]
        markdown += [table_as_markdown(table, marks, title), *map(escape_markdown, lines)]
        latex.append(latex_table(table, marks, title, label))
        latex += [rf"\noindent {escape_tex(line)}\par" for line in lines]
    texts = {
        "md": "\n\n".join(part.strip() for part in markdown or [_NONE]) + "\n",
        "tex": latex_document("\n".join(latex or [escape_tex(_NONE)]) + "\n"),
    }
    return {f"pages/{chapter['name']}.{form}": text.encode() for form, text in texts.items()}


def _tables(
    chapter: Mapping[str, Any],
) -> Iterator[tuple[str, str, pd.DataFrame, dict[str, int]]]:
    """Title, label, table and notes of each artefact with differences."""
    for artefact in chapter["artefacts"]:
        record, counts = artefact["record"], artefact["counts"]
        # If several tiers reproduce an artefact, the deepest one counts.
        for table in artefact["tables"][-1:]:
            notes: dict[str, int] = {}
            rows = [
                {"cell": cell["name"], **_row(cell, notes)}
                for cell in table["cells"]
                if cell["is_different"] and cell["kind"] not in UNCOUNTED
            ]
            if rows:
                title = f"{artefact['label']}: {record.title} ({describe_verdicts(counts)})"
                label = f"tab:differences-{artefact['id']}".replace("_", "-")
                yield title, label, pd.DataFrame(rows, dtype=str).set_index("cell"), notes


def _row(cell: Mapping[str, Any], notes: dict[str, int]) -> dict[str, str]:
    judged = cell["judged"]
    # Each cause is listed once; the spread of each cell is in the table of seeds.
    cause = without_spread(judged.why or "")
    numbers = (judged.difference, judged.allowed)
    difference, tolerance = ("" if number is None else f"{number:.4g}" for number in numbers)
    note = f" ({notes.setdefault(cause, len(notes) + 1)})" if cause else ""
    return {
        "published": cell["published"],
        "reproduced": str(cell["reproduced"]),
        "verdict": judged.verdict,
        "difference": difference,
        "tolerance": tolerance,
        "cause": judged.cause + note,
    }
