"""Conclusions of the papers as tests over a table of cells.

A conclusion is data (`everycell.artefacts.Conclusion`); this module says whether it holds on a
table: the printed one, a rebuilt one or a stand-in. Nothing here knows which.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from everycell.artefacts import Conclusion, Predicate, key_columns

Outcome = Literal["holds", "fails", "undecided"]

_NUMERIC: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True)
class Tested:
    """Outcome of a conclusion, and what decided it."""

    outcome: Outcome
    detail: str


def evaluate(conclusion: Conclusion, table: pd.DataFrame) -> Tested:
    """Test a conclusion on a tidy table of cells.

    Parameters
    ----------
    conclusion
        Predicates that must all hold.
    table
        Key columns and `value` (numbers or text), one row a cell.

    Returns
    -------
    Tested
        `fails` where one predicate fails; else `undecided` where one cannot be decided (a cell
        is missing or not a number, an interval holds the value, or no cell is selected); else
        `holds`.

    Examples
    --------
    >>> from everycell.artefacts import Conclusion
    >>> table = pd.DataFrame({"system": ["a", "b"], "metric": "AP", "value": [0.3, 0.4]})
    >>> better = Conclusion(id="b_wins", claim="System b is better than system a.", source="p. 1",
    ...     holds_if=[{"cells": {"system": "b"}, "op": ">", "other": {"system": "a"}}])
    >>> evaluate(better, table)
    Tested(outcome='holds', detail='1 of 1 comparisons true')
    >>> evaluate(better, table.assign(value=[0.4, 0.4])).outcome
    'fails'
    >>> evaluate(better, table[:1]).outcome
    'undecided'
    """
    results = [_evaluate(predicate, table) for predicate in conclusion.holds_if]
    for outcome in ("fails", "undecided"):
        for result in results:
            if result.outcome == outcome:
                return result
    return Tested("holds", "; ".join(dict.fromkeys(result.detail for result in results)))


def _evaluate(predicate: Predicate, table: pd.DataFrame) -> Tested:
    keys = key_columns(table)
    values = {tuple(row[:-1]): row[-1] for row in table[[*keys, "value"]].itertuples(index=False)}
    selected = [key for key in values if _matches(dict(zip(keys, key, strict=True)), predicate)]
    true, false, unknown = [], [], []
    for key in selected:
        truth = _compare(predicate, dict(zip(keys, key, strict=True)), values, keys)
        (unknown if truth is None else true if truth else false).append(key)
    expected = math.prod(len(v) if isinstance(v, list) else 1 for v in predicate.cells.values())
    # A table that lacks selected cells (a stand-in, a partial run) must not pass as complete.
    if not selected or (len(selected) < expected and set(keys) == set(predicate.cells)):
        return Tested("undecided", f"cells {predicate.cells} are not all there")
    outcome = _quantify(predicate.quantifier, len(true), len(false), len(unknown))
    detail = f"{len(true)} of {len(selected)} comparisons true"
    if unknown:
        detail += f", {len(unknown)} undecided"
    if outcome == "fails":
        against = true if predicate.quantifier == "none" else false
        detail += f"; against it: {_name(against[0])}" if against else ""
    return Tested(outcome, detail)


def _quantify(quantifier: str, true: int, false: int, unknown: int) -> Outcome:
    total = true + false + unknown
    low, high = {
        "all": (true == total, true + unknown == total),
        "any": (true > 0, true + unknown > 0),
        "none": (true + unknown == 0, true == 0),
        "most": (true > total / 2, true + unknown > total / 2),
    }[quantifier]
    return "holds" if low else "undecided" if high else "fails"


def _matches(key: dict[str, Any], predicate: Predicate) -> bool:
    for column, wanted in predicate.cells.items():
        if str(key.get(column)) not in ([wanted] if isinstance(wanted, str) else wanted):
            return False
    return True


def _compare(
    predicate: Predicate, key: dict[str, Any], values: Mapping[tuple, Any], keys: list[str]
) -> bool | None:
    def at(override: dict[str, str]) -> Any:
        return values.get(tuple(str((key | override)[column]) for column in keys))

    left = at({})
    right = at(predicate.other) if predicate.other is not None else predicate.value
    if left is None or right is None:
        return None
    if predicate.op in ("in", "not in"):
        inside = str(left) in ([right] if isinstance(right, str) else [str(v) for v in right])
        return inside == (predicate.op == "in")
    left_number, right_number = _number(left), _number(right)
    if left_number is None or right_number is None:
        if predicate.op in ("==", "!=") and isinstance(right, str):
            return (str(left) == right) == (predicate.op == "==")
        return None
    if predicate.low is not None and predicate.high is not None:
        low, high = _number(at(predicate.low)), _number(at(predicate.high))
        if low is None or high is None or low <= right_number <= high:
            return None
    return _NUMERIC[predicate.op](left_number, right_number)


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return None if math.isnan(number) else number


def _name(key: tuple) -> str:
    return " / ".join(str(part) for part in key)
