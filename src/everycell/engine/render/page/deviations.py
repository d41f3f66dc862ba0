"""Deviation plot of a chapter: how far each reproduced number is from the published one."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from everycell.engine.published_cells import decimals_shown
from everycell.engine.render.figure_files import INK, METADATA, STYLE, style
from everycell.engine.reports import VERDICT_NAMES, JudgedCell, Verdict

#: Marker of each verdict, so that colour is not alone.
_MARKERS: dict[Verdict, str] = {
    "equal": "o", "close": "s", "differs": "X", "explained": "D", "consistent": "^",
    "inconsistent": "v",
}  # fmt: skip
#: Colours of the drawing, which become those of the page, light or dark.
_PLACEHOLDERS = {
    f"#00000{number}": f"var(--bar-{verdict})" for number, verdict in enumerate(_MARKERS, 1)
}
_PAGE_COLOURS = {
    **_PLACEHOLDERS,
    INK: "currentColor",
    "#000000": "currentColor",
    str(STYLE["grid.color"]): "var(--line)",
    "#000008": "var(--soft)",
}
#: Successive points of a row are this far apart, modulo 1: no two close ones have equal heights.
_GOLDEN = (math.sqrt(5) - 1) / 2


class Deviation(NamedTuple):
    """A point of the plot; `link` is the id of a cell that is not equal."""

    artefact: str
    verdict: Verdict
    deviation: float
    link: str | None


def deviation(cell: JudgedCell) -> float | None:
    """Reproduced minus published number, in units of the last published digit.

    A tolerance that is larger than this unit takes its place.

    Examples
    --------
    >>> cell = JudgedCell(key={"row": "a"}, printed="0.45", rebuilt=0.47, verdict="differs", why="")
    >>> deviation(cell), deviation(cell.model_copy(update={"tolerance": 0.04}))
    (2.0, 0.5)
    """
    if cell.difference is None or not math.isfinite(cell.difference):
        return None
    unit = max(cell.tolerance or 0, 10.0 ** -decimals_shown(cell.printed))
    return round(cell.difference / unit, 9)


def deviations(chapter: Mapping[str, Any]) -> list[Deviation]:
    """Points of all compared numbers of a chapter, each in the deepest tier that reproduces it."""
    return [
        Deviation(one["label"], cell["verdict"], value, cell["id"] if cell["apart"] else None)
        for one in chapter["artefacts"]
        for table in one["tables"][-1:]
        for cell in table["cells"]
        if (value := deviation(cell["judged"])) is not None
    ]


def deviation_plot(chapter: Mapping[str, Any]) -> dict[str, Any] | None:
    """Deviation plot for the page of a chapter, as SVG and in words; none without numbers."""
    points = deviations(chapter)
    if not points:
        return None
    within = sum(abs(point.deviation) <= 1 for point in points)
    farthest = max(points, key=lambda point: abs(point.deviation))
    words = (
        f"{within} of {len(points)} reproduced numbers lie within one unit of the last published "
        "digit, or within their tolerance"
    )
    if abs(farthest.deviation) > 1:
        words += (
            f"; the largest deviation is {farthest.deviation:+,.3g} units ({farthest.artefact})"
        )
    return {"svg": _svg(_draw(points)), "words": f"{words}."}


def _draw(points: list[Deviation]) -> Figure:
    rows = list(dict.fromkeys(point.artefact for point in points))
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
            drawn = axes.scatter(
                [points[number].deviation for number in numbers],
                [
                    rows.index(points[number].artefact) + 0.7 * ((number * _GOLDEN) % 1 - 0.5)
                    for number in numbers
                ],
                s=22,
                marker=marker,
                color=colours[verdict],
                alpha=0.85,
                linewidths=0,
                label=f"{VERDICT_NAMES[verdict]} ({len(numbers)})",
                gid=f"deviations-{verdict}",
            )
            links = [points[number].link for number in numbers]
            drawn.set_urls([f"#{link}" if link else None for link in links])
        counts = [sum(point.artefact == row for point in points) for row in rows]
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
    """Linear up to one unit, logarithmic above, so that small and large deviations are seen."""
    powers = max(1, math.ceil(math.log10(max(largest, 1))))
    steps = [10**power for power in range(powers + 1)]
    axes.set_xscale("symlog", linthresh=1)
    axes.minorticks_off()
    limit = steps[-1] * 1.3
    axes.set_xlim(-limit, limit)
    # At most seven labels fit.
    ticks = steps[:: math.ceil(len(steps) / 3)]
    axes.set_xticks(
        [*(-step for step in reversed(ticks)), 0, *ticks],
        [*(f"\u2212{step:,}" for step in reversed(ticks)), "0", *(f"+{step:,}" for step in ticks)],
    )
    axes.set_xlabel("reproduced \u2212 published, in last digits or tolerances")


def _svg(figure: Figure) -> str:
    """Drawing as a part of a page, in the colours of the page."""
    buffer = io.BytesIO()
    with style():
        figure.savefig(buffer, format="svg", metadata=METADATA["svg"], transparent=True)
    text = buffer.getvalue().decode()
    # The style sheet of the drawing would be one of the whole page.
    text = re.sub(r"<style.*?</style>|<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    root = r'\1 fill="currentColor" aria-hidden="true"'
    text = re.sub(r'(<svg [^>]*?) width="[^"]*"', root, text[text.index("<svg") :])
    text = re.sub(r'(<svg [^>]*?) height="[^"]*"', r"\1", text).replace("xlink:href", "href")
    # A point is for the mouse: the keyboard has the list of differences.
    text = text.replace("<a href", '<a tabindex="-1" href')
    return re.sub("|".join(_PAGE_COLOURS), lambda match: _PAGE_COLOURS[match[0]], text)
