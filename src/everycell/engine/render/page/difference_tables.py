"""Values of a chapter that are not equal to the published ones, in Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from everycell.engine.counting import describe_verdicts
from everycell.engine.render.page.failures import common_cause
from everycell.engine.render.tables.latex import escape_tex, latex_document, latex_table
from everycell.engine.render.tables.markdown import escape_markdown, table_as_markdown
from everycell.engine.reports import VERDICT_NAMES

_NONE = "No reproduced value of this chapter differs from the published one."


def difference_files(chapter: Mapping[str, Any]) -> dict[str, bytes]:
    r"""Tables of the differences, with tolerances and causes: path -> content.

    Examples
    --------
    >>> files = difference_files({"name": "toy2026_ch1", "artefacts": []})
    >>> files["pages/toy2026_ch1.md"].decode()
    'No reproduced value of this chapter differs from the published one.\n'
    """
    markdown, latex = [], []
    for title, label, laid, notes in _tables(chapter):
        marks = laid.map(lambda _: "")
        lines = [f"({number}) {text}" for text, number in notes.items()]
        markdown += [table_as_markdown(laid, marks, title), *map(escape_markdown, lines)]
        latex.append(latex_table(laid, marks, title, label))
        latex += [rf"\noindent {escape_tex(line)}\par" for line in lines]
    texts = {
        "md": "\n\n".join(part.strip() for part in markdown or [_NONE]) + "\n",
        "tex": latex_document("\n".join(latex or [escape_tex(_NONE)]) + "\n"),
    }
    return {f"pages/{chapter['name']}.{form}": text.encode() for form, text in texts.items()}


def _tables(
    chapter: Mapping[str, Any],
) -> Iterator[tuple[str, str, pd.DataFrame, dict[str, int]]]:
    """Title, label, table and notes of each artefact whose values are not all equal."""
    for one in chapter["artefacts"]:
        # Of two tiers that reproduce an artefact the deeper one counts, as everywhere.
        for table in one["tables"][-1:]:
            notes: dict[str, int] = {}
            rows = [
                {"cell": cell["name"], **_row(cell, one["card"].tolerances, notes)}
                for cell in table["cells"]
                if cell["apart"] and cell["kind"] != "check"
            ]
            if rows:
                title = f"{one['label']}: {one['card'].title} ({describe_verdicts(one['counts'])})"
                label = f"tab:differences-{one['id']}".replace("_", "-")
                yield title, label, pd.DataFrame(rows, dtype=str).set_index("cell"), notes


def _row(cell: Mapping[str, Any], tolerances: Any, notes: dict[str, int]) -> dict[str, str]:
    judged = cell["judged"]
    # The spread of each cell stands in the table of seeds; here its cause is given once.
    cause = common_cause(judged.why, tolerances)
    numbers = (judged.difference, judged.tolerance)
    difference, tolerance = ("" if number is None else f"{number:.4g}" for number in numbers)
    note = f" ({notes.setdefault(cause, len(notes) + 1)})" if cause else ""
    return {
        "published": cell["printed"],
        "reproduced": str(cell["rebuilt"]),
        "verdict": VERDICT_NAMES[judged.verdict],
        "difference": difference,
        "tolerance": tolerance,
        "cause": judged.cause + note,
    }
