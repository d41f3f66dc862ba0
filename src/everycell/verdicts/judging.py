"""Comparison of a reproduced value with the published one."""

from __future__ import annotations

from typing import Literal

from everycell.records.cells import as_number, is_number

#: Margin for floating-point errors, in units of the last published digit.
_SLACK = 1e-6


def judge(
    published: str,
    reproduced: object,
    decimals: int | Literal["text"],
    tolerance: float = 0.0,
    *,
    measured: bool = False,
) -> Literal["equal", "within tolerance", "different"]:
    """Compare a published value with a reproduced one."""
    if decimals == "text" or not is_number(published):
        same = str(reproduced).strip() == published.strip()
        return "equal" if same else "different"
    value = as_number(reproduced)
    if value is None:
        return "different"
    distance = abs(value - float(published))
    unit = 10.0**-decimals
    is_rounded = decimals > 0 or measured
    if distance <= unit * (0.5 * is_rounded + _SLACK):
        return "equal"
    if distance <= max(unit * is_rounded, tolerance) + unit * _SLACK:
        return "within tolerance"
    return "different"
