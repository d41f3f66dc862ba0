"""Drawings of Figures 1 and 5 of chapter 1 of sakai2023: weights, annotated conversations."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from everycell.render.figure_files import MARKERS, style
from everycell.render.figures import rows_by
from everycell.render.palette import BLUE, COLOURS, GREY, GRID_LINES, INK


def slope(points: pd.DataFrame, budget: int) -> Figure:
    """Linear decay of the weight up to the reading budget, with the films of each system on it."""
    with style():
        figure = Figure(figsize=(5.2, 2.6), layout="constrained")
        axis = figure.subplots()
        axis.plot([1, budget + 1], [1, 0], color=INK, linewidth=0.8, zorder=1)
        for number, (system, films) in enumerate(rows_by(points, "system").items()):
            axis.scatter(
                films["words"],
                films["value"],
                color=COLOURS[number],
                marker=MARKERS[number],
                s=22,
                label=system,
                zorder=2,
            )
        axis.set(
            xlabel="Words of the conversation up to the film",
            ylabel="Weight of the film",
            xlim=(0, budget + 1),
            ylim=(0, 1.02),
        )
        axis.legend(fontsize=8)
    return figure


def memberships(films: pd.DataFrame, titles: dict[str, str]) -> Figure:
    """Films of each conversation with turn, words before them, level, and shares in the groups.

    `titles` has the columns of shares, lists of numbers that are missing for films without groups.
    """
    widths = {name: len(films[name].iloc[0]) for name in titles}
    systems = rows_by(films, "system")
    sizes = [len(rows) for rows in systems.values()]
    with style():
        figure = Figure(figsize=(7.2, 0.9 + 0.24 * sum(sizes)), layout="constrained")
        axes = figure.subplots(
            len(systems), 1 + len(titles), squeeze=False,
            gridspec_kw={"width_ratios": [9, *widths.values()], "height_ratios": sizes},
        )  # fmt: skip
        for row, (system, own) in zip(axes, systems.items(), strict=True):
            _write_films(row[0], system, own)
            for axis, (name, title) in zip(row[1:], titles.items(), strict=True):
                _draw_shares(axis, own[name].tolist(), widths[name], title)
    return figure


def _write_films(axis: Axes, system: str, films: pd.DataFrame) -> None:
    """Text columns of a conversation, with a line above each turn."""
    axis.set(xlim=(0, 1), ylim=(len(films) - 0.5, -0.5))
    axis.set_axis_off()
    columns = {"turn": (0, "left", "Turn"), "entity": (0.12, "left", system)} | {
        "words": (0.84, "right", "Words"),
        "level": (0.98, "right", "Level"),
    }
    for column, (x, align, head) in columns.items():
        axis.text(x, -0.7, head, ha=align, va="bottom", weight="bold", fontsize=8)
        earlier = None
        for y, (text, level) in enumerate(zip(films[column], films["level"], strict=True)):
            colour = GREY if level == "L0" else INK
            label = "" if column == "turn" and text == earlier else text
            axis.text(x, y, label, ha=align, va="center", color=colour, fontsize=8)
            if column == "turn" and text != earlier:
                axis.plot([0, 1], [y - 0.5] * 2, color=INK, linewidth=0.8, clip_on=False)
            earlier = text


def _draw_shares(axis: Axes, shares: list[list[float]], groups: int, title: str) -> None:
    """Share of each film in each group, from white to blue; films without groups stay empty."""
    grid = np.array(shares, dtype=float)
    colours = LinearSegmentedColormap.from_list("shares", ["white", BLUE])
    axis.imshow(np.nan_to_num(grid), cmap=colours, vmin=0, vmax=1, aspect="auto")
    for (y, x), share in np.ndenumerate(grid):
        if share > 0:
            text = str(Fraction(share).limit_denominator(12))
            colour = "white" if share > 0.5 else INK
            axis.text(x, y, text, ha="center", va="center", color=colour, fontsize=7)
    axis.set_xticks(range(groups), [str(group + 1) for group in range(groups)], fontsize=8)
    axis.set_xticks(np.arange(groups + 1) - 0.5, minor=True)
    axis.set_yticks([])
    axis.set_yticks(np.arange(len(shares) + 1) - 0.5, minor=True)
    axis.spines[:].set_visible(False)
    axis.grid(visible=False)
    axis.grid(visible=True, which="minor", axis="both", color=GRID_LINES, linewidth=0.5)
    axis.tick_params(which="both", length=0, labelbottom=False, labeltop=True)
    axis.xaxis.set_label_position("top")
    axis.set_xlabel(title, fontsize=8, weight="bold")
