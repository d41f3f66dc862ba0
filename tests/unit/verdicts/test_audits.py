"""Arithmetic of published values that audits share."""

from types import ModuleType

import pandas as pd
import pytest

from everycell.verdicts.audits import (
    Finding,
    audits_in,
    concatenate_tables,
    holds_if_any,
    holds_if_none,
    is_multiple,
    published_text,
    rows_where,
)


@pytest.mark.parametrize(
    ("value", "step", "expected"),
    [
        (0.6, 0.2, True),
        (0.19, 0.2, False),
        (0.21, 0.2, False),
        (0.7, 0.2, False),
        (0.506, 1 / 500, True),
        (0.507, 1 / 500, False),
        (0.0, 0.2, True),
    ],
)
def test_is_multiple_below_and_above(value: float, step: float, expected: bool) -> None:
    assert is_multiple(value, step) is expected


def test_audits_in_module_by_prefix():
    toy = ModuleType("toy")
    toy.audit_toy2026_sum = toy.share = lambda cells: Finding(True, "")
    assert list(audits_in(toy)) == ["audit_toy2026_sum"]


def test_rows_where_and_published_text():
    table = pd.DataFrame(
        {"row": ["a", "a", "b"], "metric": ["P", "R", "P"], "value": ["0.30", "S", "1"]}
    )
    assert rows_where(table, row=["a", "b"], metric="P").index.to_list() == [0, 2]
    assert published_text(table, row="a", metric="P") == "0.30"


def test_concatenate_tables_in_order():
    cells = {name: pd.DataFrame({"value": [name[-1]]}) for name in ("table_1", "table_2")}
    joined = concatenate_tables(cells.__getitem__, "table_1", "table_2")
    assert joined["value"].to_list() == ["1", "2"]


def test_holds_if_any_and_holds_if_none():
    assert holds_if_any(["a: 3 above 2", "b: 5"], "no") == Finding(True, "a: 3 above 2; b: 5")
    assert holds_if_any([], "no value is above") == Finding(False, "no value is above")
    assert holds_if_none([], "4 totals are sums") == Finding(True, "4 totals are sums")
    assert holds_if_none(["SGD: 7"], "4 totals are sums") == Finding(False, "SGD: 7")
