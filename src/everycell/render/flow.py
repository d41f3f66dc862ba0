"""Flow charts: boxes from left to right or from top to bottom, each after the boxes before it."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

import networkx as nx
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Patch
from matplotlib.path import Path
from matplotlib.transforms import Affine2D, Bbox

from everycell.base.errors import DataError
from everycell.render.figure_files import DASHES, TEXT_WIDTH, style
from everycell.render.figures import rows_by
from everycell.render.palette import BOX, COLOURS, INK

#: Separator of the names in the column `after`.
AFTER = "; "
#: Numbers of letters per line of a box, of which the first that fits the page is taken.
_LETTERS = range(28, 11, -1)
#: Sizes in inches: a letter, a line, the margin in a box, the gaps between boxes and between
#: layers, the width of an arrow that passes between boxes, and the height of a heading or legend.
_LETTER, _LINE, _MARGIN, _GAP, _PASSAGE, _HEADING = 0.062, 0.125, 0.1, 0.12, 0.1, 0.3
_LAYER_GAPS = {"across": 0.32, "down": 0.22}
#: Height of the page for charts from top to bottom, in inches.
_PAGE = 9.6
_SWEEPS = 8

#: "across" is from left to right, "down" from top to bottom.
Direction = Literal["across", "down"]


class _Area(NamedTuple):
    """Left end, centre line, width and height of a box or passage, in inches.

    In charts from top to bottom, left is the top, and the centre line is vertical.
    """

    left: float
    middle: float
    width: float
    height: float


_Layout = dict[Any, _Area]


def _heading(title: str, direction: Direction) -> float:
    """Height of a heading; in charts from top to bottom it may have two lines."""
    if not title:
        return _MARGIN
    return _HEADING if direction == "across" else _HEADING + 0.2


class _Page(NamedTuple):
    """Direction and letters per line of a chart, and the panels of each column with their sizes."""

    direction: Direction
    letters: int
    columns: list[dict[str, tuple[_Layout, float, float]]]

    @property
    def widths(self) -> list[float]:
        return [max(width for _, width, _ in column.values()) for column in self.columns]

    @property
    def size(self) -> tuple[float, float]:
        heights = [
            sum(
                height + _heading(title, self.direction) for title, (_, _, height) in column.items()
            )
            for column in self.columns
        ]
        width = sum(self.widths) + 2 * _GAP * (len(self.columns) - 1) + 2 * _MARGIN
        return width, max(heights) + _MARGIN


def flow_chart(boxes: pd.DataFrame) -> Figure:
    """Boxes with arrows from left to right, or from top to bottom if the page is too narrow.

    Columns are `box` (a name, unique in its panel), `text`, `after` (the boxes before it, separated
    by `AFTER`) and optionally `panel` and `group`, which selects the colour. An arrow is omitted if
    a longer way leads to the same box.
    """
    panels = rows_by(boxes, "panel" if "panel" in boxes else None)
    groups = list(rows_by(boxes, "group")) if "group" in boxes else []
    page = _choose_page(panels)
    width, height = page.size
    legend = _HEADING if groups else 0.0
    with style():
        figure = Figure(figsize=(width, height + legend))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, width), ylim=(-height, legend))
        axes.axis("off")
        x = _MARGIN
        for column, column_width in zip(page.columns, page.widths, strict=True):
            top = 0.0
            for title, (layout, panel_width, panel_height) in column.items():
                heading = _heading(title, page.direction)
                if title:
                    text = textwrap.fill(title, max(12, int(column_width / 0.08)))
                    axes.text(x, top - heading / 2, text, fontsize=9, weight="bold", va="center")
                top -= heading
                corner = (x, top, panel_width, panel_height)
                _draw(axes, panels[title], layout, groups, corner, page)
                top -= panel_height
            x += column_width + 2 * _GAP
        if groups:
            handles = [
                Patch(**_colours(groups, name), label=name, linewidth=1.0) for name in groups
            ]
            figure.legend(handles=handles, loc="upper left", ncols=len(groups), fontsize=8)
    return figure


def _choose_page(panels: Mapping[str, pd.DataFrame]) -> _Page:
    """The first arrangement that fits the page, with long lines, or else the widest one."""
    for direction, limit in (("across", 1), ("down", len(panels))):
        for letters in _LETTERS if direction == "down" else _LETTERS[:12]:
            sized = {}
            for title, rows in panels.items():
                layout = _layout(rows, letters, direction)
                width, height = _size(layout)
                sized[title] = (
                    (layout, width, height) if direction == "across" else (layout, height, width)
                )
            for number in range(limit, 0, -1):
                page = _Page(direction, letters, _columns(sized, number))
                width, height = page.size
                if width <= TEXT_WIDTH and (direction == "across" or height <= _PAGE):
                    return page
    layouts = {title: _layout(rows) for title, rows in panels.items()}
    sized = {title: (layout, *_size(layout)) for title, layout in layouts.items()}
    return _Page("across", _LETTERS[0], [sized])


def _columns(
    sized: Mapping[str, tuple[_Layout, float, float]], number: int
) -> list[dict[str, tuple[_Layout, float, float]]]:
    """Panels in columns, each in the shortest column so far."""
    columns: list[dict[str, tuple[_Layout, float, float]]] = [{} for _ in range(number)]
    for title, panel in sized.items():
        shortest = min(columns, key=lambda column: sum(height for _, _, height in column.values()))
        shortest[title] = panel
    return columns


def boxes_before(boxes: pd.DataFrame) -> nx.DiGraph:
    """Graph of the boxes of a panel, without arrows that follow from others."""
    names = boxes["box"].tolist()
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    for name, after in zip(names, boxes["after"], strict=True):
        graph.add_edges_from((before, name) for before in after.split(AFTER) if before)
    unknown = [name for name in graph if name not in names]
    if unknown or len(set(names)) < len(names):
        name = unknown[0] if unknown else boxes.loc[boxes["box"].duplicated(), "box"].iloc[0]
        raise DataError(column="box", value=name, expected="one box with each name in `after`")
    if not nx.is_directed_acyclic_graph(graph):
        circle = [start for start, _ in nx.find_cycle(graph)]
        raise DataError(column="after", value=circle, fault="in a circle", fix="remove an arrow")
    reduced = nx.DiGraph()
    reduced.add_nodes_from(graph)
    # The order of the arrows in `transitive_reduction` differs between processes.
    essential = nx.transitive_reduction(graph)
    reduced.add_edges_from(edge for edge in graph.edges if essential.has_edge(*edge))
    return reduced


def _layers(graph: nx.DiGraph) -> list[list[Any]]:
    """Boxes, and passages of arrows (start, end, layer), by layer, with few crossings."""
    layer = {
        name: number
        for number, names in enumerate(nx.topological_generations(graph))
        for name in names
    }
    for name in [name for name in graph if graph.in_degree(name) == 0 and graph.out_degree(name)]:
        layer[name] = min(layer[following] for following in graph.successors(name)) - 1
    chained = nx.DiGraph()
    chained.add_nodes_from(graph)
    for start, end in graph.edges:
        passages = [(start, end, number) for number in range(layer[start] + 1, layer[end])]
        layer |= {passage: passage[2] for passage in passages}
        nx.add_path(chained, [start, *passages, end])
    layers: list[list[Any]] = [[] for _ in range(max(layer.values()) + 1)]
    for name, number in layer.items():
        layers[number].append(name)
    for sweep in range(_SWEEPS):
        forward = sweep % 2 == 0
        neighbours = chained.predecessors if forward else chained.successors
        for names in layers if forward else reversed(layers):
            # Positions from -0.5 to 0.5, since layers are centred.
            position = {
                name: (index + 0.5) / len(part) - 0.5
                for part in layers
                for index, name in enumerate(part)
            }
            names.sort(
                key=lambda name: (
                    math.fsum(position[other] for other in around) / len(around)
                    if (around := list(neighbours(name)))
                    else position[name]
                )
            )
    return layers


def _layout(
    boxes: pd.DataFrame, letters: int = _LETTERS[0], direction: Direction = "across"
) -> _Layout:
    """Places of the boxes of a panel and of passages, around the centre line 0."""
    texts = {row.box: wrap(row.text, letters) for row in boxes.itertuples()}
    layout, left = {}, 0.0
    for names in _layers(boxes_before(boxes)):
        sizes = {name: _box_size(texts[name]) for name in names if name in texts}
        lengths, heights = (
            {name: size[index] for name, size in sizes.items()}
            for index in ((0, 1) if direction == "across" else (1, 0))
        )
        width = max(lengths.values(), default=2 * _MARGIN)
        heights = {name: heights.get(name, _PASSAGE) for name in names}
        top = (math.fsum(heights.values()) + _GAP * (len(names) - 1)) / 2
        for name, height in heights.items():
            layout[name] = _Area(left, top - height / 2, width, height)
            top -= height + _GAP
        left += width + _LAYER_GAPS[direction]
    return layout


def _box_size(text: str) -> tuple[float, float]:
    """Width and height of a box with a text."""
    lines = text.split("\n")
    return max(map(len, lines)) * _LETTER + 2 * _MARGIN, len(lines) * _LINE + _MARGIN


def wrap(text: str, letters: int = _LETTERS[0]) -> str:
    """Break the lines of a text that are too long for a box."""
    return "\n".join(
        textwrap.fill(line, letters, break_on_hyphens=False, break_long_words=False)
        for line in text.split("\n")
    )


def _size(layout: _Layout) -> tuple[float, float]:
    width = max(area.left + area.width for area in layout.values())
    return width, 2 * max(abs(area.middle) + area.height / 2 for area in layout.values())


def _colours(groups: list[str], group: str) -> dict[str, Any]:
    """Colours and line of the boxes of a group."""
    number = groups.index(group)
    colour = COLOURS[number % len(COLOURS)]
    return {
        "facecolor": to_rgba(colour, 0.18),
        "edgecolor": colour,
        "linestyle": DASHES[number % len(DASHES)],
    }


def _draw(
    axes: Axes,
    boxes: pd.DataFrame,
    layout: _Layout,
    groups: list[str],
    corner: tuple[float, float, float, float],
    page: _Page,
) -> None:
    """Draw a panel whose upper left corner, width and height are `corner`."""
    x, y, width, height = corner
    if page.direction == "across":
        to_page = Affine2D().translate(x, y - height / 2)
    else:
        to_page = Affine2D.from_values(0, -1, -1, 0, x + width / 2, y)
    for row in boxes.itertuples():
        area = layout[row.box]
        look = _colours(groups, str(row.group)) if groups else {"facecolor": BOX, "edgecolor": INK}
        ends = [
            (area.left, area.middle - area.height / 2),
            (area.left + area.width, area.middle + area.height / 2),
        ]
        box = Bbox(to_page.transform(ends))
        axes.add_patch(
            FancyBboxPatch(
                box.min,
                abs(box.width),
                abs(box.height),
                boxstyle="round,pad=0,rounding_size=0.05",
                linewidth=1.0 if groups else 0.6,
                **look,
            )
        )
        centre = to_page.transform((area.left + area.width / 2, area.middle))
        text = wrap(row.text, page.letters)
        axes.text(*centre, text, fontsize=7.5, ha="center", va="center", linespacing=1.1)
    for path in _arrows(boxes_before(boxes), layout):
        axes.add_patch(
            FancyArrowPatch(
                path=to_page.transform_path(path),
                arrowstyle="-|>",
                mutation_scale=8,
                color=INK,
                linewidth=0.8,
            )
        )


def _arrows(graph: nx.DiGraph, layout: _Layout) -> Iterator[Path]:
    """Curves from box to box, which leave and enter boxes at different heights."""
    passages = {edge: [] for edge in graph.edges}
    for name in layout:
        if isinstance(name, tuple):
            passages[name[:2]].append(name)
    for start, end in graph.edges:
        chain = [start, *sorted(passages[start, end], key=lambda name: name[2]), end]
        # Heights follow the next box or passage of each arrow.
        leaving = [(passages[edge] or [edge[1]])[0] for edge in graph.out_edges(start)]
        entering = [(passages[edge] or [edge[0]])[-1] for edge in graph.in_edges(end)]
        points = [
            (layout[start].left + layout[start].width, _port(layout, start, leaving, chain[1]))
        ]
        for name in chain[1:-1]:
            area = layout[name]
            points += [(area.left, area.middle), (area.left + area.width, area.middle)]
        points.append((layout[end].left, _port(layout, end, entering, chain[-2])))
        vertices, codes = [points[0]], [Path.MOVETO]
        for (x, y), (next_x, next_y) in zip(points, points[1:], strict=False):
            middle = (x + next_x) / 2
            vertices += [(middle, y), (middle, next_y), (next_x, next_y)]
            codes += [Path.CURVE4] * 3
        yield Path(vertices, codes)


def _port(layout: _Layout, box: Any, neighbours: list[Any], other: Any) -> float:
    """Height at which an arrow between a box and one of `neighbours` meets the box."""
    ordered = sorted(neighbours, key=lambda name: layout[name].middle)
    share = (ordered.index(other) + 0.5) / len(ordered) - 0.5
    return layout[box].middle + 0.7 * share * layout[box].height
