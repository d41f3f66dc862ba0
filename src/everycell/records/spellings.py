"""Published values that are no plain number: bounds, and words and dashes without a number."""

from __future__ import annotations

import operator
import re

from everycell.records.cells import is_number

#: Values of cells without a number.
_DASHES = ("-", "\u2013", "\u2014", "\u2212")
#: Words for a value that the paper could not report, in lower case.
_MISSING = {"oom", "oot", "na", "n/a", "n/r", "nr", "tbd", "timeout", "out of memory"}
#: What programs write for a missing value.
_NO_VALUE = re.compile(r"[-+]?nan|nat|none|null|nil|<na>|n\.a\.", re.IGNORECASE)
#: Signs of a bound such as "< .001".
_BOUNDS = {"<": operator.lt, ">": operator.gt, "≤": operator.le, "≥": operator.ge}


def split_bound(text: str) -> tuple[str, str]:
    """Sign of a published bound such as "< .001", or nothing; and the text after it."""
    text = text.strip()
    is_bound = text[:1] in _BOUNDS and is_number(text[1:])
    return (text[0], text[1:].strip()) if is_bound else ("", text)


def meets_bound(text: str, value: float) -> bool:
    """Whether a number meets a published bound."""
    sign, limit = split_bound(text)
    return bool(_BOUNDS[sign](value, float(limit)))


def is_missing(text: str) -> bool:
    """Whether a published dash or word says that there is no value, such as OOM."""
    return text.strip() in _DASHES or text.strip().lower() in _MISSING


def is_no_value(text: str) -> bool:
    """Whether a text is what programs write for a missing value, such as NaN."""
    return _NO_VALUE.fullmatch(text.strip()) is not None


def is_not_significant(text: str) -> bool:
    """Whether a published word stands for a p-value that is not significant."""
    return text.strip().lower() in ("n.s.", "n.s", "ns")
