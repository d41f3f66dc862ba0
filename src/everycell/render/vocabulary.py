"""Words, marks and names of the reproduction page."""

from __future__ import annotations

import re

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
