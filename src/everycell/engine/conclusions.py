"""Conclusions of the papers as tests over a table of cells.

A conclusion is data (`everycell.engine.cards.Conclusion`); this module says whether it holds on
a table: the printed one, a rebuilt one or a stand-in. Nothing here knows which.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from everycell.engine.cards import Conclusion, Predicate
from everycell.engine.printed_cells import key_columns

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
class Decision:
    """Outcome of a conclusion, and what decided it."""

    outcome: Outcome
    detail: str


def evaluate(
    conclusion: Conclusion,
    table: pd.DataFrame,
    printed: pd.DataFrame | None = None,
    *,
    lacks: Mapping[str, Sequence[str]] | None = None,
) -> Decision:
    """Test a conclusion on a tidy table of cells.

    Parameters
    ----------
    conclusion
        Predicates that must all hold.
    table
        Key columns and `value` (numbers or text), one row a cell.
    printed
        Cells with the same key columns, all of which the table should have; one that it lacks
        is undecided. Without it, a table need only hold what a predicate names (a stand-in has
        other cells than the print).
    lacks
        Key column -> values that the table is declared not to have. A predicate that selects
        some of them among others is tested on the others, and the detail says so; one that
        selects nothing else is undecided.

    Returns
    -------
    Decision
        `fails` where one predicate fails; else `undecided` where one cannot be decided (a cell
        is missing or not a number, an interval holds the value, two numbers are equal where
        that decides nothing, or no cell is selected); else `holds`.

    Examples
    --------
    >>> from everycell.engine.cards import Conclusion
    >>> table = pd.DataFrame({"system": ["a", "b"], "metric": "AP", "value": [0.3, 0.4]})
    >>> better = Conclusion(id="b_wins", claim="System b is better than system a.", source="p. 1",
    ...     holds_if=[{"cells": {"system": "b"}, "op": ">", "other": {"system": "a"}}])
    >>> evaluate(better, table)
    Decision(outcome='holds', detail='1 of 1 comparisons true')
    >>> evaluate(better, table.assign(value=[0.4, 0.4])).outcome
    'fails'
    >>> evaluate(better, table[:1]).outcome
    'undecided'
    >>> high = Conclusion(id="high", claim="All three are above 0.2.", source="p. 1",
    ...     holds_if=[{"cells": {"system": ["a", "b", "c"]}, "op": ">", "value": 0.2}])
    >>> evaluate(high, table, lacks={"system": ["c"]})
    Decision(outcome='holds', detail='2 of 2 comparisons true, without system c')
    """
    keys, values = key_columns(table), _by_key(table)
    expected = [] if printed is None else list(printed[keys].itertuples(index=False, name=None))
    results = [_evaluate(part, keys, values, expected, lacks or {}) for part in conclusion.holds_if]
    for outcome in ("fails", "undecided"):
        for result in results:
            if result.outcome == outcome:
                return result
    return Decision("holds", "; ".join(dict.fromkeys(result.detail for result in results)))


def _by_key(table: pd.DataFrame) -> dict[tuple[str, ...], Any]:
    keys = key_columns(table)
    return {
        tuple(str(part) for part in row[:-1]): row[-1]
        for row in table[[*keys, "value"]].itertuples(index=False)
    }


def _evaluate(
    predicate: Predicate,
    keys: list[str],
    values: Mapping[tuple[str, ...], Any],
    expected: list[tuple[str, ...]],
    lacks: Mapping[str, Sequence[str]],
) -> Decision:
    wanted, without = {}, ""
    for column, value in predicate.cells.items():
        named = [value] if isinstance(value, str) else value
        rest = [name for name in named if name not in lacks.get(column, ())] or named
        wanted[column] = rest
        if len(rest) < len(named):
            without += f", without {column} {', '.join(sorted(set(named) - set(rest)))}"
    absent = sorted(set(wanted) - set(keys))
    if absent:
        return Decision("undecided", f"the table has no column {absent[0]!r}")
    selected = [
        key
        for key in dict.fromkeys([*values, *expected])
        if all(part in wanted.get(column, [part]) for column, part in zip(keys, key, strict=True))
    ]
    for column, names in wanted.items():
        found = {key[keys.index(column)] for key in selected}
        lost = [name for name in names if name not in found]
        # A table that lacks selected cells must not pass as complete.
        if lost or not found:
            return Decision("undecided", f"no cell has {column} = {(lost or names)[0]!r}")
    true, false, unknown = [], [], []
    for key in selected:
        truth = _compare(predicate, dict(zip(keys, key, strict=True)), values, keys)
        (unknown if truth is None else true if truth else false).append(key)
    outcome = _quantify(predicate.quantifier, len(true), len(false), len(unknown))
    detail = f"{len(true)} of {len(selected)} comparisons true{without}"
    if unknown:
        detail += f", {len(unknown)} undecided"
    if outcome == "fails":
        against = true if predicate.quantifier == "none" else false
        detail += f"; against it: {_name(against[0])}" if against else ""
    return Decision(outcome, detail)


def _quantify(quantifier: str, true: int, false: int, unknown: int) -> Outcome:
    total = true + false + unknown
    low, high = {
        "all": (true == total, true + unknown == total),
        "any": (true > 0, true + unknown > 0),
        "none": (true + unknown == 0, true == 0),
        "most": (true > total / 2, true + unknown > total / 2),
    }[quantifier]
    return "holds" if low else "undecided" if high else "fails"


def _compare(
    predicate: Predicate,
    key: dict[str, str],
    values: Mapping[tuple[str, ...], Any],
    keys: list[str],
) -> bool | None:
    """Truth of one comparison, None where it cannot be decided."""

    def at(override: dict[str, str]) -> Any:
        # A column that the table does not have leads to no cell, not back to this one.
        return (
            values.get(tuple((key | override).values())) if override.keys() <= set(keys) else None
        )

    left = at({})
    right = at(predicate.other) if predicate.other is not None else predicate.value
    if _is_missing(left) or _is_missing(right):
        return None
    if isinstance(right, list):
        return (str(left) in right) == (predicate.op == "in")
    left_number, right_number = _number(left), _number(right)
    if left_number is None or right_number is None:
        if predicate.op in ("==", "!="):
            return (str(left) == str(right)) == (predicate.op == "==")
        return None
    if predicate.low is not None and predicate.high is not None:
        low, high = _number(at(predicate.low)), _number(at(predicate.high))
        if low is None or high is None or low <= right_number <= high:
            return None
    if predicate.absolute:
        left_number, right_number = abs(left_number), abs(right_number)
    # A mean of differences that cancel each other may be off 0 by a rounding of floats.
    if predicate.undecided_if_equal and math.isclose(left_number, right_number, abs_tol=1e-9):
        return None
    return _NUMERIC[predicate.op](left_number, right_number)


def _is_missing(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return None if math.isnan(number) else number


def _name(key: tuple) -> str:
    return " / ".join(str(part) for part in key)
