"""Faults of figures in print: texts, colours, series, labels and legends as they are drawn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D

from everycell.base.arrays import FloatArray
from everycell.render import palette
from everycell.render.figure_files import TEXT_WIDTH, style

#: Smallest text in print, in points.
SMALLEST_TEXT = 6.0
#: Texts that overlap, and points that coincide, by less than this are not counted, in points.
_TOLERANCE = 0.75
#: Most texts of a figure, and points of a series, that are compared with each other: 64 MB.
_MOST_COMPARED = 2000
_NUMBER = re.compile(r"[\u2212+-]?[\d.,]+ ?%?")
_PALETTE = {
    to_hex(colour)
    for colour in (
        "white",
        *palette.COLOURS,
        palette.INK,
        palette.GREY,
        palette.GRID_LINES,
        palette.BOX,
    )
}


class _Line(NamedTuple):
    """A line of a text, its size in points, and its left, low, right and high ends in pixels."""

    text: str
    size: float
    box: tuple[float, float, float, float]


class _Recorder(RendererBase):
    """Renderer that records lines of text and colours instead of drawing them."""

    def __init__(self, figure: Figure):
        super().__init__()
        self.dpi, self.size = figure.dpi, (figure.bbox.width, figure.bbox.height)
        self.lines: list[_Line] = []
        self.colours: set[str] = set()

    def flipy(self) -> bool:
        return False

    def points_to_pixels(self, points: Any) -> Any:
        return points * self.dpi / 72

    def draw_path(self, gc, path, transform, rgbFace=None) -> None:
        if gc.get_linewidth() > 0 and gc.get_alpha() != 0:
            self.colours.add(to_hex(gc.get_rgb()[:3]))
        if rgbFace is not None and (len(rgbFace) < 4 or rgbFace[3] > 0):
            self.colours.add(to_hex(rgbFace[:3]))

    def draw_markers(self, gc, marker_path, marker_trans, path, trans, rgbFace=None) -> None:
        """All markers have the same colours, and there may be many."""
        self.draw_path(gc, marker_path, marker_trans, rgbFace)

    def draw_path_collection(
        self,
        gc,
        master_transform,
        paths,
        all_transforms,
        offsets,
        offset_trans,
        facecolors,
        edgecolors,
        linewidths,
        *arguments,
        **options,
    ) -> None:
        """There may be many markers, but few colours."""
        drawn = [facecolors, edgecolors if np.any(np.asarray(linewidths) > 0) else []]
        for colours in drawn:
            for colour in np.unique(np.reshape(colours, (-1, 4)), axis=0):
                if colour[3] > 0:
                    self.colours.add(to_hex(colour[:3]))

    def draw_image(self, gc, x, y, im, transform=None) -> None:
        """Images have colours between those of the palette."""

    def draw_quad_mesh(self, gc, *arguments, **options) -> None:
        """Meshes are images, too."""

    def draw_gouraud_triangles(self, gc, triangles_array, colors_array, transform) -> None:
        """Meshes are images, too."""

    def draw_text(self, gc, x, y, s, prop, angle, ismath=False, mtext=None) -> None:
        if not s.strip():
            return
        self.colours.add(to_hex(gc.get_rgb()[:3]))
        width, height, descent = self.get_text_width_height_descent(s, prop, ismath)
        turn = np.deg2rad(angle)
        rotation = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        corners = [(i, j) for i in (0, width) for j in (-descent, height - descent)]
        corners = np.array(corners) @ rotation + (x, y)
        box = (*corners.min(axis=0), *corners.max(axis=0))
        self.lines.append(_Line(s, prop.get_size_in_points(), box))


def figure_faults(figure: Figure) -> list[str]:
    """Faults of a figure, as sentences, in print at the width of the text."""
    recorder = _Recorder(figure)
    with style():
        figure.draw(recorder)
    return [
        *_faults_of_texts(figure, recorder),
        *(f"{colour} is not in the palette" for colour in sorted(recorder.colours - _PALETTE)),
        *_faults_of_legends(figure),
        *(
            fault
            for axes in figure.axes
            if axes.axison and axes.get_visible()
            for fault in (*_missing_labels(figure, axes), *_hidden_series(axes))
        ),
    ]


def _faults_of_texts(figure: Figure, recorder: _Recorder) -> Iterator[str]:
    scale = min(1.0, TEXT_WIDTH / figure.get_figwidth())
    for line in recorder.lines:
        if line.size * scale < SMALLEST_TEXT - 0.01:
            yield f"{line.text!r} has {line.size * scale:.1f} points in print"
    if not recorder.lines:
        return
    boxes = np.array([line.box for line in recorder.lines])
    tolerance = recorder.points_to_pixels(_TOLERANCE)
    page = np.array([-tolerance, -tolerance, *(np.array(recorder.size) + tolerance)])
    for line, box in zip(recorder.lines, boxes, strict=True):
        if (box[:2] < page[:2]).any() or (box[2:] > page[2:]).any():
            yield f"{line.text!r} is cut off"
    if len(boxes) > _MOST_COMPARED:
        return
    low, high = boxes[:, None, :2] + tolerance, boxes[:, None, 2:] - tolerance
    overlap = (low < boxes[None, :, 2:]) & (boxes[None, :, :2] < high)
    for one, other in np.argwhere(np.triu(overlap.all(axis=2), 1)):
        yield f"{recorder.lines[one].text!r} overlaps {recorder.lines[other].text!r}"


def _faults_of_legends(figure: Figure) -> Iterator[str]:
    legends = figure.findobj(Legend)
    if len(legends) > 1:
        yield f"{len(legends)} legends"


def _missing_labels(figure: Figure, axes: Axes) -> Iterator[str]:
    """Axes with numbers need a label, their own or one in their row, column or figure."""
    for name, span, common in (
        ("x", "colspan", figure.get_supxlabel()),
        ("y", "rowspan", figure.get_supylabel()),
    ):
        axis = getattr(axes, f"{name}axis")
        texts = [label.get_text() for label in axis.get_ticklabels() if label.get_visible()]
        spec = axes.get_subplotspec()
        labelled = [
            getattr(other, f"{name}axis").get_label_text()
            for other in figure.axes
            if other is axes
            or (
                spec is not None
                and (cell := other.get_subplotspec()) is not None
                and getattr(cell, span) == getattr(spec, span)
            )
        ]
        if any(map(_NUMBER.fullmatch, texts)) and not (common or any(labelled)):
            yield f"{axes.get_title() or 'a panel'}: the {name} axis has no label"


def _hidden_series(axes: Axes) -> Iterator[str]:
    """Series whose marks a later series covers."""
    series = [
        (label, mark)
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        if isinstance(mark := handle[0] if isinstance(handle, ErrorbarContainer) else handle,
                      (Line2D, PathCollection))
    ]  # fmt: skip
    ordered = sorted(series, key=lambda pair: pair[1].get_zorder())
    for (lower_name, lower), (upper_name, upper) in combinations(ordered, 2):
        if lower_name != upper_name and _covers(upper, lower):
            yield f"{axes.get_title()}: {upper_name!r} hides {lower_name!r}"


def _covers(upper: Line2D | PathCollection, lower: Line2D | PathCollection) -> bool:
    points, covered = _points(upper), _points(lower)
    if not all(0 < len(some) <= _MOST_COMPARED for some in (points, covered)):
        return False
    tolerance = _TOLERANCE * upper.figure.dpi / 72
    # Most series differ in their bounds, which are cheaper to compare.
    outside = (covered.min(axis=0) < points.min(axis=0) - tolerance) | (
        covered.max(axis=0) > points.max(axis=0) + tolerance
    )
    if outside.any():
        return False
    distances = np.abs(covered[:, None] - points[None]).max(axis=2).min(axis=1)
    if distances.max() > tolerance:
        return False
    return _extent(upper) >= _extent(lower) and not _shows_through(upper, lower)


def _points(mark: Line2D | PathCollection) -> FloatArray:
    """Positions of the marks of a series, in pixels."""
    if isinstance(mark, PathCollection):
        return mark.get_offset_transform().transform(np.asarray(mark.get_offsets(), dtype=float))
    return mark.get_transform().transform(np.asarray(mark.get_xydata(), dtype=float))


def _extent(mark: Line2D | PathCollection) -> float:
    """Width of the marks of a series, in points."""
    if isinstance(mark, PathCollection):
        return float(np.sqrt(mark.get_sizes().min()))
    has_markers = mark.get_marker() not in ("None", None, "")
    is_filled = mark.get_markerfacecolor() != "none"
    return float(mark.get_markersize()) * is_filled if has_markers else float(mark.get_linewidth())


def _shows_through(upper: Line2D | PathCollection, lower: Line2D | PathCollection) -> bool:
    """Whether lines differ in their dashes, or their markers are at different points."""
    if isinstance(upper, PathCollection) or isinstance(lower, PathCollection):
        return False
    return (
        upper.get_linestyle() not in ("-", "None", lower.get_linestyle())
        or upper.get_markevery() != lower.get_markevery()
    )
