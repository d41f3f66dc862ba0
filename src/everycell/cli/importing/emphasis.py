"""Emphasis of an HTML element: its tag, its style and the whole names of its classes."""

from __future__ import annotations

import re
from collections.abc import Mapping

#: Classes that are bold or underlined in Bootstrap, Tailwind, Bulma, LaTeXML, Pandoc and by custom.
_BOLD = set(
    "bold bolder semibold fw-bold fw-bolder fw-semibold font-weight-bold font-weight-bolder "
    "font-bold font-semibold font-extrabold text-bold text-strong has-text-weight-bold "
    "has-text-weight-semibold is-bold strong best ltx_font_bold ltx_mathvariant_bold "
    "ltx_mathvariant_bold-italic".split()
)
_UNDERLINED = set(
    "underline underlined text-underline text-decoration-underline is-underlined "
    "ltx_framed_underline ltx_underline".split()
)
_WEIGHT = re.compile(r"(?:^|;)font-weight:(bold|bolder|normal|lighter|\d+)(?:!important)?(?=;|$)")
_UNDERLINE = re.compile(r"(?:^|;)text-decoration(?:-line)?:[^;]*underline")


def emphasis_of(tag: str, attributes: Mapping[str, str], style: str) -> list[str]:
    """What an element adds: `bold` or `regular`, which ends bold, and `underlined`.

    The style has no blanks. A class such as `bold-border` only contains the word.
    """
    classes = set(attributes.get("class", "").lower().split())
    emphasis = []
    if weights := _WEIGHT.findall(style):
        is_heavy = weights[-1].startswith("bold") or (
            weights[-1].isdigit() and int(weights[-1]) >= 600
        )
        emphasis.append("bold" if is_heavy else "regular")
    elif (
        tag in ("b", "strong")
        or classes & _BOLD
        or attributes.get("mathvariant", "").startswith("bold")
    ):
        emphasis.append("bold")
    if tag in ("u", "ins") or classes & _UNDERLINED or _UNDERLINE.search(style):
        emphasis.append("underlined")
    return emphasis
