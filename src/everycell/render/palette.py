"""Colours of figures: those of Okabe and Ito (2008), then three darker ones of Tol (2021).

Readers with the common forms of colour blindness can distinguish them. Black is left out, and
yellow, which is too pale on white. `everycell.render.vocabulary` has the colours of verdicts.
"""

from __future__ import annotations

BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"
PINK, VERMILION, SKY = "#CC79A7", "#D55E00", "#56B4E9"
INDIGO, WINE, OLIVE = "#332288", "#882255", "#999933"
#: Colours of the systems in a figure, in this order.
COLOURS = (BLUE, ORANGE, GREEN, PINK, VERMILION, SKY, INDIGO, WINE, OLIVE)
#: Lines, thin lines, grid lines and boxes of figures.
INK, GREY, GRID_LINES, BOX = "#222222", "#888888", "#d0d0d0", "#dcebf5"
