"""LaTeX table of published values with verdicts, for a reproducibility paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pandas as pd

from everycell.records.papers import Artefact
from everycell.render.page.tables import verdict_table
from everycell.render.page.vocabulary import VERDICTS, label
from everycell.render.tables.latex import escape_tex, latex_document, latex_table
from everycell.verdicts.reports import Report, Verdict

#: Light colours of cells, readable and easy to photocopy; all verdicts except `equal` have a sign.
_COLOURS: dict[Verdict, str] = {
    "equal": "D9EFE3", "within tolerance": "FFF0C2", "too noisy to judge": "E3DFC9",
    "different": "F9C4BB",
    "explained": "EAD2F2", "consistent": "CDEBF0", "inconsistent": "ECD6B4", "quoted": "D8E6F7",
    "not run": "E8EAED",
}  # fmt: skip


def verdict_table_as_tex(artefact: Artefact, report: Report) -> str:
    """Published values in colours, with reproduced ones after a slash where they differ."""
    table = verdict_table(artefact, {"report": report, "name": report.tier})
    cells = _frame(table)
    fills = cells.map(
        lambda cell: _colour(cell["verdict"]) if cell and cell["kind"] != "empty" else ""
    )
    title = (
        f"{label(artefact.name)} of {artefact.paper}: {artefact.record.title}. Published values, "
        "with the reproduced ones after a slash where they are not equal"
    )
    body = latex_table(
        cells.map(_text),
        cells.map(lambda cell: cell["marker"] if cell else ""),
        title,
        f"tab:verdicts-{artefact.paper}-{artefact.name}".replace("_", "-"),
        fills=fills,
        note=_legend(
            Counter(cell["verdict"] for cell in table["cells"] if cell["kind"] != "empty")
        ),
    )
    colours = [
        rf"\providecolor{{{_colour(verdict)}}}{{HTML}}{{{code}}}"
        for verdict, code in _COLOURS.items()
        if report.verdicts.get(verdict)
    ]
    packages = r"\usepackage[table]{xcolor}"
    return latex_document("\n".join([*colours, body]), packages)


def _colour(verdict: str) -> str:
    return f"everycell-{verdict.replace(' ', '-')}"


def _text(cell: Mapping[str, Any] | None) -> str:
    if not cell:
        return ""
    if cell["kind"] == "empty":
        return str(cell["published"])
    values = [cell["published"], *([str(cell["reproduced"])] if cell["is_different"] else [])]
    return f"{'/'.join(values)} {_sign(cell['verdict'])}".rstrip()


def _legend(counts: Mapping[Verdict, int]) -> str:
    """Legend of the verdicts in the table: colour, sign and number of cells."""
    return r"\quad ".join(
        rf"\colorbox{{{_colour(verdict)}}}{{{escape_tex(_sign(verdict))}\strut}}"
        rf"~{verdict} ({counts[verdict]})"
        for verdict in VERDICTS
        if counts[verdict]
    )


def _sign(verdict: Verdict) -> str:
    return "" if verdict == "equal" else VERDICTS[verdict][0]


def _frame(table: Mapping[str, Any]) -> pd.DataFrame:
    """Convert a table of the page to a frame with the same headings."""
    head = [[cell.label for cell in row for _ in range(cell.span)] for row in table["head"]]
    row_labels = [""] * len(table["names"])
    labels = []
    for row in table["body"]:
        # A row lacks the labels that it shares with the row above.
        new_labels = [cell.label for cell in row["labels"]]
        row_labels = [*row_labels[: len(row_labels) - len(new_labels)], *new_labels]
        labels.append(row_labels)
    return pd.DataFrame(
        [row["values"] for row in table["body"]],
        index=pd.MultiIndex.from_tuples(map(tuple, labels), names=table["names"]),
        columns=pd.MultiIndex.from_arrays(head) if head else [""],
        dtype=object,
    )
