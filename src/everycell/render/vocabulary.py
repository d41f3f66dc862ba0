"""Words, marks and colours of verdicts, states and outcomes; each colour is written once."""

from __future__ import annotations

import re
from typing import NamedTuple

from everycell.render.palette import GREEN, ORANGE
from everycell.verdicts.reports import Verdict

#: Verdict -> its mark next to a cell, and its meaning.
VERDICTS: dict[Verdict, tuple[str, str]] = {
    "equal": ("✓", "the reproduced value rounds to the published one"),
    "within tolerance": (
        "≈",
        "one unit of the last decimal away, or within a tolerance with a stated cause; "
        "counts and ranks must be equal",
    ),
    "too noisy to judge": (
        "∿",
        "its tolerance exceeds half of the published value, or the smallest difference that the "
        "paper reads from it: no evidence for or against",
    ),
    "different": ("✗", "the reproduced value is different; the cause is unknown"),
    "explained": (
        "!",
        "different, and what the cause in an erratum yields equals the published value: an error "
        "in print, a transcription error of ours, or the way in which the number was computed",
    ),
    "consistent": ("↔", "follows from other published values; nothing was computed from data"),
    "inconsistent": ("↮", "contradicts the published values from which it should follow"),
    "quoted": ("q", "a setting, or a value from another paper: not compared"),
    "not run": ("–", "not computed here; each table and figure lists what a run needs"),
}
#: Mark, name and meaning of the groups of published values: verdicts, and surrogate data.
GROUPS = {
    verdict: (mark, verdict, meaning)
    for verdict, (mark, meaning) in VERDICTS.items()
    if verdict != "not run"
} | {
    "surrogate": (
        "s",
        "surrogate data only",
        "the method was run on data other than the paper's, so the values are not compared",
    ),
    "not run": (VERDICTS["not run"][0], "not run", VERDICTS["not run"][1]),
}


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
    "different": Tint("#f9c4bb", "#6d2114", "#c23b00", "#e2632f", terminal="red"),
    "explained": Tint("#ead2f2", "#4f2b5c", "#a64d8c", "#c774b0", terminal="magenta"),
    "consistent": Tint("#cdebf0", "#134650", "#14708a", "#3aa3c2", terminal="cyan"),
    "inconsistent": Tint("#ecd6b4", "#5a3d10", "#7a4a00", "#b88a3a", terminal="bright_red"),
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
OUTCOMES = {
    "supported": "✓",
    "contradicted": "✗",
    "inconclusive": "?",
    "not testable": "–",
    "not run": "–",
    "without published numbers": "–",
}
#: Suffix of a file -> name of its format.
FORMAT_NAMES = {
    "csv": "CSV",
    "tex": "TeX",
    "md": "Markdown",
    "html": "HTML",
    "svg": "SVG",
    "pdf": "PDF",
    "png": "PNG",
}


def label(name: str) -> str:
    """Name of an artefact as in the paper."""
    kind, _, number = name.partition("_")
    return f"{kind.capitalize()} {number.replace('_', '.')}"


def page_of_chapter(paper: str, chapter: str) -> str:
    """Path of a chapter's page in the results folder."""
    return f"pages/{paper}_ch{chapter}.html"


def section_and_page(text: str) -> str:
    """Remove line numbers, which refer to our plain-text copy, from a source."""
    text = re.sub(r"(, )?(?<![\w-])L\d+(-L\d+)?", "", text).replace(" ()", "")
    return re.sub(r" from (p\. \d+)(?! to)\b", r", \1 ff.", text)


def is_numeric(text: str) -> bool:
    """Whether a text is a number, possibly with an inequality, a unit of percent or a spread."""
    return bool(re.match(r"[<>=\u2264\u2265~+\u2212\s-]*\.?\d[\d.,e]*\s*(%|\u00b1.*|\(.*)?$", text))


def is_sign(text: str | None) -> bool:
    """Whether a published value, such as a tick, could be taken for the mark of a verdict."""
    return bool(text) and not any(map(str.isalnum, text))


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
