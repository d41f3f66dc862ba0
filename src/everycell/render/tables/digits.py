"""Number of digits that distinguish a reproduced value from the published one."""

from __future__ import annotations

from typing import Any, Literal

from everycell.render.tables.layout import show_value

#: Maximum number of digits added to distinguish two values.
_MAX_ADDED_DIGITS = 6


def format_distinct(
    value: Any, published: str, decimals: int | Literal["text"], added: int = 0
) -> str:
    """Format a value with enough digits to tell it from the published one."""
    if not isinstance(value, float) or decimals == "text":
        return show_value(value, decimals)
    minimum = decimals + added
    for digits in range(minimum, minimum + _MAX_ADDED_DIGITS + 1):
        text = show_value(value, digits)
        if not _is_same_number(published, text):
            return text
    return show_value(value, minimum)


def _is_same_number(published: str, text: str) -> bool:
    """Whether two texts are the same number, as 0.5, .5 and 0.500 are."""
    try:
        return float(published) == float(text)
    except ValueError:
        return published == text
