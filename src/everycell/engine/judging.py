"""How close a reproduced value is to the published one."""

from __future__ import annotations

from typing import Literal

from everycell.engine.published_cells import as_number, is_number

#: Slack for the binary form of a decimal fraction, in units of the last published digit.
_SLACK = 1e-6


def judge(
    published: str,
    rebuilt: object,
    decimals: int | Literal["text"],
    tolerance: float = 0.0,
    *,
    measured: bool = False,
) -> Literal["equal", "close", "differs"]:
    """Compare a published value with a reproduced one.

    Examples
    --------
    >>> judge("0.014", 0.0139, 3), judge("0.0", 0.0004, 3), judge("0.0", 0.0006, 3)
    ('equal', 'equal', 'close')
    >>> judge("12", 13, 0), judge("12", 12.4, 0, measured=True), judge("12", 13, 0, 1)
    ('differs', 'equal', 'close')
    >>> judge("0.014", 0.016, 3), judge("0.4493", 0.44922, 4), judge("S", "M", "text")
    ('differs', 'close', 'differs')
    """
    if decimals == "text" or not is_number(published):
        same = str(rebuilt).strip() == published.strip()
        return "equal" if same else "differs"
    value = as_number(rebuilt)
    if value is None:
        return "differs"
    distance = abs(value - float(published))
    unit = 10.0**-decimals
    is_rounded = decimals > 0 or measured
    if distance <= unit * (0.5 * is_rounded + _SLACK):
        return "equal"
    if distance <= max(unit * is_rounded, tolerance) + unit * _SLACK:
        return "close"
    return "differs"
