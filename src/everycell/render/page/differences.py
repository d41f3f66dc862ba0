"""Differences of a chapter from the published values: a plot of deviations, and tables."""

from __future__ import annotations

import io
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape, unescape
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from everycell.base.untrusted import escape_controls
from everycell.records.cells import count_decimals, without_spread
from everycell.render.figure_files import METADATA, style
from everycell.render.grid import Cell, Grid
from everycell.render.latex import escape_tex, latex_document, latex_table
from everycell.render.page.overview import ChapterOnPage, PaperOnPage
from everycell.render.palette import GRID_LINES, INK
from everycell.render.table_files import escape_markdown, table_as_markdown
from everycell.render.verdict_tables import VerdictCell
from everycell.render.vocabulary import css_class
from everycell.verdicts.headlines import describe_verdicts
from everycell.verdicts.reports import UNCOUNTED, JudgedCell, Verdict

#: Marker of each verdict, in addition to its colour.
_MARKERS: dict[Verdict, str] = {
    "equal": "o", "within tolerance": "s", "too noisy to judge": "P", "different": "X",
    "explained": "D", "consistent": "^", "inconsistent": "v",
}  # fmt: skip
#: Colours in the plot -> variables for the colours of the page, light or dark.
_PLACEHOLDERS = {
    f"#00000{number}": f"var(--bar-{css_class(verdict)})"
    for number, verdict in enumerate(_MARKERS, 1)
}
_PAGE_COLOURS = {
    **_PLACEHOLDERS,
    INK: "currentColor",
    "#000000": "currentColor",
    GRID_LINES: "var(--line)",
    "#000008": "var(--soft)",
}
#: Vertical step between successive points, modulo 1, so that nearby points do not overlap.
_GOLDEN_RATIO = (math.sqrt(5) - 1) / 2


class Deviation(NamedTuple):
    """Point of a plot: its row, the link to its cell, and the tooltip of the link."""

    row: str
    artefact: str
    verdict: Verdict
    deviation: float
    link: str
    text: str


def deviation(cell: JudgedCell) -> float | None:
    """Reproduced minus published number, in units of the last published digit.

    If the cell is within a tolerance that is larger than this unit, it is used as the unit.
    """
    if cell.difference is None or not math.isfinite(cell.difference):
        return None
    tolerance = (cell.verdict == "within tolerance" and cell.tolerance) or 0
    unit = max(tolerance, 10.0 ** -count_decimals(cell.published))
    return round(cell.difference / unit, 9)


def deviations(chapter: ChapterOnPage) -> list[Deviation]:
    """Points of all compared numbers of a chapter, each in the deepest tier that reproduces it."""
    return [
        Deviation(
            artefact.label,
            artefact.label,
            cell.verdict,
            value,
            f"#{cell.id}",
            f"{artefact.label}: {cell.name}: published {cell.published}, reproduced {cell.exact}",
        )
        for artefact in chapter.artefacts
        for cell in artefact.counted_cells
        if cell.judged.kind not in UNCOUNTED and (value := deviation(cell.judged)) is not None
    ]


def deviation_plot(chapter: ChapterOnPage) -> dict[str, str] | None:
    """Deviation plot of a chapter (SVG) and a summary of it; None if there are no numbers."""
    return _plot(deviations(chapter), _count_compared(chapter))


def overview_plot(papers: Sequence[PaperOnPage]) -> dict[str, str] | None:
    """Deviation plot of all papers, with a row per chapter."""
    return _plot(
        [
            point._replace(
                row=f"{paper.about.key}, {chapter.short}"
                if len(paper.chapters) > 1
                else paper.about.key,
                artefact=f"{point.artefact} of {paper.about.key}",
                link=f"{chapter.page}{point.link}",
            )
            for paper in papers
            for chapter in paper.chapters
            for point in deviations(chapter)
        ],
        sum(_count_compared(chapter) for paper in papers for chapter in paper.chapters),
    )


def _count_compared(chapter: ChapterOnPage) -> int:
    """Number of compared numbers of a chapter, including those without a difference."""
    return sum(
        cell.judged.kind == "number" and cell.verdict in _MARKERS
        for artefact in chapter.artefacts
        for cell in artefact.counted_cells
    )


def _plot(points: list[Deviation], compared: int) -> dict[str, str] | None:
    if not points:
        return None
    farthest = max(points, key=lambda point: abs(point.deviation))
    verdicts = describe_verdicts(Counter(point.verdict for point in points))
    numbers = "1 number" if compared == 1 else f"{compared:,} numbers"
    summary = f"{numbers} compared"
    if missing := compared - len(points):
        summary += f", {missing} of them without a difference that can be drawn; the others"
    summary += f": {verdicts}"
    if abs(farthest.deviation) > 1:
        form = "+,.0f" if abs(farthest.deviation) >= 1000 else "+.3g"
        size = f"{farthest.deviation:{form}}".replace("-", "\u2212")
        summary += f"; the largest deviation is {size} units ({farthest.artefact})"
    return {"svg": _svg(_draw(points), points), "summary": f"{summary}."}


def _draw(points: list[Deviation]) -> Figure:
    rows = list(dict.fromkeys(point.row for point in points))
    colours = dict(zip(_MARKERS, _PLACEHOLDERS, strict=True))
    with style():
        figure = Figure(figsize=(5.4, 0.95 + 0.34 * len(rows)), layout="constrained")
        axes = figure.subplots()
        axes.axvspan(-1, 1, color="#000008", linewidth=0)
        axes.axvline(0, color=INK, linewidth=0.8, zorder=0.5)
        for verdict, marker in _MARKERS.items():
            numbers = [number for number, point in enumerate(points) if point.verdict == verdict]
            if not numbers:
                continue
            markers = axes.scatter(
                [points[number].deviation for number in numbers],
                [
                    rows.index(points[number].row) + 0.7 * ((number * _GOLDEN_RATIO) % 1 - 0.5)
                    for number in numbers
                ],
                s=22,
                marker=marker,
                color=colours[verdict],
                alpha=0.85,
                linewidths=0,
                label=f"{verdict} ({len(numbers)})",
                gid=f"deviations-{css_class(verdict)}",
            )
            markers.set_urls([points[number].link for number in numbers])
        counts = [sum(point.row == row for point in points) for row in rows]
        labels = [f"{row} ({count})" for row, count in zip(rows, counts, strict=True)]
        axes.set_yticks(range(len(rows)), labels)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.tick_params(labelsize=10)
        axes.grid(visible=False)
        _scale(axes, max(abs(point.deviation) for point in points))
        figure.legend(
            loc="outside lower center", ncols=3, fontsize=9, handletextpad=0.1, columnspacing=1.2
        )
    return figure


def _scale(axes: Axes, largest: float) -> None:
    """Set a scale that is linear up to one unit and logarithmic above."""
    powers = max(1, math.ceil(math.log10(max(largest, 1))))
    steps = [10**power for power in range(powers + 1)]
    axes.set_xscale("symlog", linthresh=1)
    axes.minorticks_off()
    limit = steps[-1] * 1.3
    axes.set_xlim(-limit, limit)
    # At most five labels fit.
    ticks = steps[:: math.ceil(len(steps) / 2)]
    axes.set_xticks(
        [*(-step for step in reversed(ticks)), 0, *ticks],
        [*(f"\u2212{step:,}" for step in reversed(ticks)), "0", *(f"+{step:,}" for step in ticks)],
    )
    axes.set_xlabel("reproduced \u2212 published, in last digits or tolerances")


def _svg(figure: Figure, points: Iterable[Deviation]) -> str:
    """Convert a figure to SVG for the page, in its colours and with tooltips of the points."""
    buffer = io.BytesIO()
    with style():
        figure.savefig(buffer, format="svg", metadata=METADATA["svg"], transparent=True)
    text = escape_controls(buffer.getvalue().decode())
    # The style sheet of the figure would apply to the entire page.
    text = re.sub(r"<style.*?</style>|<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    root = r'\1 fill="currentColor" aria-hidden="true"'
    text = re.sub(r'(<svg [^>]*?) width="[^"]*"', root, text[text.index("<svg") :])
    text = re.sub(r'(<svg [^>]*?) height="[^"]*"', r"\1", text).replace("xlink:href", "href")
    # Points are for the mouse; keyboard users have the list of differences.
    texts = {point.link: point.text for point in points}

    def with_tooltip(link: re.Match[str]) -> str:
        title = escape(escape_controls(texts[unescape(link[1])]))
        return f'<a tabindex="-1" href="{link[1]}"><title>{title}</title>'

    # Before the names of the tooltips, which may contain a colour.
    text = re.sub("|".join(_PAGE_COLOURS), lambda match: _PAGE_COLOURS[match[0]], text)
    return re.sub(r'<a href="([^"]*)"[^>]*>', with_tooltip, text)


_NONE = "No reproduced value of this chapter differs from the published one."
_COLUMNS = ("published", "reproduced", "verdict", "difference", "tolerance", "cause")


def difference_files(chapter: ChapterOnPage) -> dict[str, bytes]:
    """Paths and contents of the tables of differences, with tolerances and causes."""
    markdown, latex = [], []
    for title, label, grid, notes in _tables(chapter):
        lines = [f"({number}) {text}" for text, number in notes.items()]
        markdown += [table_as_markdown(grid, title), *map(escape_markdown, lines)]
        latex.append(latex_table(grid, title, label))
        latex += [rf"\noindent {escape_tex(line)}\par" for line in lines]
    texts = {
        "md": "\n\n".join(part.strip() for part in markdown or [_NONE]) + "\n",
        "tex": latex_document("\n".join(latex or [escape_tex(_NONE)]) + "\n"),
    }
    return {f"pages/{chapter.name}.{form}": text.encode() for form, text in texts.items()}


def _tables(chapter: ChapterOnPage) -> Iterator[tuple[str, str, Grid[Cell], dict[str, int]]]:
    """Title, label, table and notes of each artefact with differences."""
    for artefact in chapter.artefacts:
        cells = [
            cell
            for cell in artefact.counted_cells
            if cell.is_different and cell.judged.kind not in UNCOUNTED
        ]
        if cells:
            notes: dict[str, int] = {}
            labels: list[tuple[str, ...]] = [(cell.name,) for cell in cells]
            rows: list[list[Cell | None]] = [list(_row(cell, notes)) for cell in cells]
            counts = describe_verdicts(artefact.deepest.report.verdicts if artefact.deepest else {})
            yield (
                f"{artefact.label}: {artefact.artefact.record.title} ({counts})",
                f"tab:differences-{artefact.id}".replace("_", "-"),
                Grid(["cell"], [(name,) for name in _COLUMNS], [*labels], labels, rows),
                notes,
            )


def _row(cell: VerdictCell, notes: dict[str, int]) -> Iterator[Cell]:
    judged = cell.judged
    # Each cause is listed once; the spread of each cell is in the table of seeds.
    cause = without_spread(judged.why or "")
    note = f" ({notes.setdefault(cause, len(notes) + 1)})" if cause else ""
    numbers = (judged.difference, judged.allowed)
    for text in (
        cell.published,
        str(cell.reproduced),
        judged.verdict,
        *("" if number is None else f"{number:.4g}" for number in numbers),
        judged.cause + note,
    ):
        yield Cell(text)
