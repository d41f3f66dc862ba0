"""LaTeX tables of an artefact, for `everycell show --format tex`."""

from __future__ import annotations

from collections.abc import Sequence

from everycell.cli import project
from everycell.records.cells import RecordError
from everycell.records.papers import Artefact
from everycell.render.latex import latex_document, latex_table
from everycell.render.verdict_tables import published_grid, verdict_table_as_tex
from everycell.verdicts.reports import Result
from everycell.verdicts.results import stem_of


def is_reproduced(result: Result) -> bool:
    """Whether any cell has a reproduced value."""
    return any(cell.reproduced is not None for cell in result.report.cells)


def verdicts_as_tex(artefact: Artefact, results: Sequence[Result]) -> str:
    """LaTeX table of the deepest tier with reproduced values."""
    reports = [result.report for result in results if is_reproduced(result)]
    if not reports:
        raise RecordError(
            f"{artefact.id} has no reproduced values and thus no verdicts; "
            f"`everycell show {artefact.id}` explains how to reproduce it."
        )
    return verdict_table_as_tex(artefact, reports[-1])


def table_as_tex(artefact: Artefact, results: Sequence[Result]) -> str:
    """LaTeX table as published: of the deepest tier with reproduced values, else published ones."""
    for result in reversed(results):
        if is_reproduced(result):
            return stem_of(artefact, result.tier, project.RESULTS).with_suffix(".tex").read_text()
    if artefact.cells.empty:
        raise RecordError(f"{artefact.id} has no published values, and none were reproduced.")
    name = f"{artefact.paper}-{artefact.name}".replace("_", "-")
    title = f"Published values: {artefact.record.title}"
    return latex_document(latex_table(published_grid(artefact), title, f"tab:published-{name}"))
