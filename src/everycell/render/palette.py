"""Colours of figures, page, badge, LaTeX tables and terminal, each written once.

The colours of figures are those of Okabe and Ito (2008), which readers with the common forms of
colour blindness can distinguish, without black and yellow, which is too pale on white.
"""

from __future__ import annotations

from typing import NamedTuple

BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"
PINK, VERMILION, SKY = "#CC79A7", "#D55E00", "#56B4E9"
#: Colours of the systems in a figure, in this order.
COLOURS = (BLUE, ORANGE, GREEN, PINK, VERMILION, SKY)
#: Lines, thin lines, grid lines and boxes of figures.
INK, GREY, GRID_LINES, BOX = "#222222", "#888888", "#d0d0d0", "#dcebf5"


class Tint(NamedTuple):
    """Colours of a verdict or state: of cells, bars and the terminal."""

    #: Light enough for a photocopy, also in LaTeX tables.
    light: str
    dark: str
    #: Of a bar, and of a point in a plot; empty if the state has a pattern.
    bar: str = ""
    #: Of a bar on a dark page, if it differs.
    dark_bar: str = ""
    terminal: str = ""


#: Verdict, or state of a result -> its colours.
TINTS = {
    "equal": Tint("#d9efe3", "#17402f", GREEN, terminal="green"),
    "within tolerance": Tint("#fff0c2", "#54430d", ORANGE, terminal="yellow"),
    "too noisy to judge": Tint("#e3dfc9", "#4a4630", "#8d8460", terminal="yellow"),
    "different": Tint("#f9c4bb", "#6d2114", "#c23b00", terminal="red"),
    "explained": Tint("#ead2f2", "#4f2b5c", "#a64d8c", terminal="magenta"),
    "consistent": Tint("#cdebf0", "#134650", "#14708a", terminal="cyan"),
    "inconsistent": Tint("#ecd6b4", "#5a3d10", "#7a4a00", terminal="bright_red"),
    "quoted": Tint("#d8e6f7", "#1d3a59", "#56a4d8", terminal="blue"),
    "surrogate": Tint("#efecd9", "#3f3b28"),
    "not run": Tint("#e8eaed", "#2b3037", "#b9bec6", "#555c66", terminal="bright_black"),
}
#: Part of the page -> its colour on a light and on a dark page.
PAGE = {
    "ground": ("#fff", "#15171b"),
    "soft": ("#f4f5f7", "#1f2329"),
    "ink": ("#1b1d21", "#e8eaed"),
    "dim": ("#4f555e", "#b3bac4"),
    "line": ("#d3d7dd", "#3a4049"),
    "link": ("#0b57b0", "#8ab8f5"),
}
#: Fields of the badge, and its text.
BADGE_LABEL, BADGE_MESSAGE, BADGE_TEXT = "#444", "#00694c", "#fff"
#: Background of figures, also on a dark page, and shadow of a panel.
PAPER, SHADOW = "#fff", "#0004"


def css_class(name: str) -> str:
    """Name of a verdict, outcome or state as a CSS class: "within-tolerance"."""
    return name.replace(" ", "-")


def css_colours(*, dark: bool = False) -> list[dict[str, str]]:
    """Variables of the style sheet by name, in groups: page, cells and bars."""
    fills = {css_class(name): tint.dark if dark else tint.light for name, tint in TINTS.items()}
    bars = {
        f"bar-{css_class(name)}": bar.lower()
        for name, tint in TINTS.items()
        if (bar := tint.dark_bar if dark else tint.bar)
    }
    return [{name: colours[dark] for name, colours in PAGE.items()}, fills, bars]
