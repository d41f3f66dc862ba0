"""Flow charts: boxes from left to right, each to the right of the boxes before it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import networkx as nx
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Patch
from matplotlib.path import Path

from everycell.base.errors import DataError
from everycell.render.figure_files import DASHES, style
from everycell.render.figures import rows_by
from everycell.render.palette import BOX, COLOURS, INK

#: Separator of the names in the column `after`.
AFTER = "; "
#: Most letters per line of a box.
_LETTERS = 28
#: Sizes in inches: a letter, a line, the margin in a box, the gaps between boxes and between
#: layers, the height of an arrow that passes between boxes, and that of a heading or legend.
_LETTER, _LINE, _MARGIN, _GAP, _LAYER_GAP, _PASSAGE, _HEADING = (
    0.062,
    0.125,
    0.1,
    0.12,
    0.4,
    0.1,
    0.3,
)
_SWEEPS = 8


class _Area(NamedTuple):
    """Left end, centre line, width and height of a box or passage, in inches."""

    left: float
    middle: float
    width: float
    height: float


def flow_chart(boxes: pd.DataFrame) -> Figure:
    """Boxes with arrows from left to right, one panel below the other.

    Columns are `box` (a name, unique in its panel), `text`, `after` (the boxes before it, separated
    by `AFTER`) and optionally `panel` and `group`, which selects the colour. An arrow is omitted if
    a longer way leads to the same box.
    """
    panels = rows_by(boxes, "panel" if "panel" in boxes else None)
    groups = list(rows_by(boxes, "group")) if "group" in boxes else []
    layouts = {title: _layout(rows) for title, rows in panels.items()}
    sizes = {title: _size(layout) for title, layout in layouts.items()}
    width = max(width for width, _ in sizes.values()) + 2 * _MARGIN
    headings = {title: _HEADING if title else _MARGIN for title in panels}
    height = sum(part for _, part in sizes.values()) + sum(headings.values()) + _MARGIN
    legend = _HEADING if groups else 0.0
    with style():
        figure = Figure(figsize=(width, height + legend))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, width), ylim=(-height, legend))
        axes.axis("off")
        top = 0.0
        for title, rows in panels.items():
            if title:
                position = (_MARGIN, top - _HEADING / 2)
                axes.text(*position, title, fontsize=9, weight="bold", va="center")
            top -= headings[title] + sizes[title][1]
            origin = (_MARGIN, top + sizes[title][1] / 2)
            _draw(axes, rows, layouts[title], groups, origin)
        if groups:
            handles = [
                Patch(**_colours(groups, name), label=name, linewidth=1.0) for name in groups
            ]
            figure.legend(handles=handles, loc="upper left", ncols=len(groups), fontsize=8)
    return figure


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
                    sum(position[other] for other in around) / len(around)
                    if (around := list(neighbours(name)))
                    else position[name]
                )
            )
    return layers


def _layout(boxes: pd.DataFrame) -> dict[Any, _Area]:
    """Places of the boxes of a panel and of passages, around the centre line 0."""
    texts = {row.box: wrap(row.text) for row in boxes.itertuples()}
    layout, left = {}, 0.0
    for names in _layers(boxes_before(boxes)):
        lines = {name: texts[name].split("\n") if name in texts else [] for name in names}
        letters = max((len(line) for part in lines.values() for line in part), default=0)
        width = letters * _LETTER + 2 * _MARGIN
        heights = {
            name: len(part) * _LINE + _MARGIN if part else _PASSAGE for name, part in lines.items()
        }
        top = (sum(heights.values()) + _GAP * (len(names) - 1)) / 2
        for name, height in heights.items():
            layout[name] = _Area(left, top - height / 2, width, height)
            top -= height + _GAP
        left += width + _LAYER_GAP
    return layout


def wrap(text: str) -> str:
    """Break the lines of a text that are too long for a box."""
    return "\n".join(
        textwrap.fill(line, _LETTERS, break_on_hyphens=False, break_long_words=False)
        for line in text.split("\n")
    )


def _size(layout: Mapping[Any, _Area]) -> tuple[float, float]:
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
    layout: dict[Any, _Area],
    groups: list[str],
    origin: tuple[float, float],
) -> None:
    x, y = origin
    layout = {
        name: area._replace(left=area.left + x, middle=area.middle + y)
        for name, area in layout.items()
    }
    for row in boxes.itertuples():
        area = layout[row.box]
        look = _colours(groups, str(row.group)) if groups else {"facecolor": BOX, "edgecolor": INK}
        axes.add_patch(
            FancyBboxPatch(
                (area.left, area.middle - area.height / 2),
                area.width,
                area.height,
                boxstyle="round,pad=0,rounding_size=0.05",
                linewidth=1.0 if groups else 0.6,
                **look,
            )
        )
        centre = (area.left + area.width / 2, area.middle)
        axes.text(*centre, wrap(row.text), fontsize=7.5, ha="center", va="center", linespacing=1.1)
    for path in _arrows(boxes_before(boxes), layout):
        axes.add_patch(
            FancyArrowPatch(path=path, arrowstyle="-|>", mutation_scale=8, color=INK, linewidth=0.8)
        )


def _arrows(graph: nx.DiGraph, layout: Mapping[Any, _Area]) -> Iterator[Path]:
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


def _port(layout: Mapping[Any, _Area], box: Any, neighbours: list[Any], other: Any) -> float:
    """Height at which an arrow between a box and one of `neighbours` meets the box."""
    ordered = sorted(neighbours, key=lambda name: layout[name].middle)
    share = (ordered.index(other) + 0.5) / len(ordered) - 0.5
    return layout[box].middle + 0.7 * share * layout[box].height
