"""How many digits of a reproduced value a reader has to see beside a published one."""

from __future__ import annotations

from typing import Any, Literal

from everycell.engine.render.tables.layout import show_value

#: Largest number of digits added to distinguish two values.
_MOST_ADDED = 6


def format_distinct(
    value: Any, published: str, decimals: int | Literal["text"], added: int = 0
) -> str:
    """Return a value with as many digits as tell it from the published one, if digits can.

    Examples
    --------
    >>> format_distinct(0.47, ".45", 2), format_distinct(0.47, ".45", 2, added=1)
    ('0.47', '0.470')
    >>> format_distinct(0.45004, ".45", 2)
    '0.45004'
    """
    if not isinstance(value, float) or decimals == "text":
        return show_value(value, decimals)
    fewest = decimals + added
    for digits in range(fewest, fewest + _MOST_ADDED + 1):
        text = show_value(value, digits)
        if not _same(published, text):
            return text
    return show_value(value, fewest)


def _same(published: str, text: str) -> bool:
    """Whether two values look the same: 0.5, .5 and 0.500 do."""
    try:
        return float(published) == float(text)
    except ValueError:
        return published == text
