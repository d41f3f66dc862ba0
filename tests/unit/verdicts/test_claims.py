"""Claims: quantifiers, comparisons, and what leaves a claim inconclusive or not run."""

import operator

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.records.claims import Claim, DecisiveIf, Predicate
from everycell.verdicts.claims import Decision, evaluate


def table(**values) -> pd.DataFrame:
    """One AP value per system."""
    return pd.DataFrame({"system": list(values), "metric": "AP", "value": list(values.values())})


MANY = table(a=1, b=2, c=3, d=4)
MARKED = table(a=1, b=2, c=3, d=0).assign(marker=["d", "a-b", "", "‡"])
TESTS = pd.DataFrame(
    {
        "pair": ["b - a"] * 2 + ["c - a"] * 2 + ["d - a"] * 2,
        "metric": ["difference", "p"] * 3,
        "value": [0.2, 0.01, 0.2, 0.2, -0.2, 0.01],
        "low": [0.1, "", -0.1, "", -0.3, ""],
        "high": [0.3, "", 0.5, "", -0.1, ""],
    }
)


def decide(cells: pd.DataFrame, *parts: dict, fields: dict | None = None, **options) -> Decision:
    """Test a claim with these predicates and fields on a table."""
    about = {"id": "c", "claim": "A claim of ours.", "source": "p. 1"} | (fields or {})
    return evaluate(Claim(**about, supported_if=list(parts)), cells, **options)


def outcome(cells: pd.DataFrame, *parts: dict, **options) -> str:
    return decide(cells, *parts, **options).outcome


def above(limit: float, quantifier: str = "all", **cells) -> dict:
    """Predicate that the selected cells are above a limit."""
    cells = cells or {"metric": "AP"}
    return {"quantifier": quantifier, "cells": cells, "op": ">", "value": limit}


def pair(first: str, op: str, second: str, **fields) -> dict:
    """Predicate that compares two systems."""
    return {"cells": {"system": first}, "op": op, "other": {"system": second}, **fields}


def with_value(system: str, op: str, value: object, **fields) -> dict:
    """Predicate that compares a system with a value."""
    return {"cells": {"system": system}, "op": op, "value": value, **fields}


def ranked(system: str, position: int = 1) -> dict:
    """Predicate that a system has a position among three systems."""
    among = {"system": ["a", "b", "c"]}
    return with_value(system, "highest", None, among=among, position=position)


def share(system: str, op: str, value: object) -> dict:
    """Predicate on the share of a system in that of system b."""
    return with_value(system, op, value, over={"system": "b"})


S, C, U, N = "supported", "contradicted", "inconclusive", "not run"


@pytest.mark.parametrize(
    ("quantifier", "expected"),
    [
        ("all", {0: S, 1: C}),
        ("any", {3: S, 4: C}),
        ("none", {4: S, 3: C}),
        ("most", {1: S, 2: C}),
        ("all but one", {1: S, 2: C}),
        ("almost all", {0: S, 1: U, 2: C}),
    ],
)
def test_evaluate_quantifier(quantifier, expected):
    assert {limit: outcome(MANY, above(limit, quantifier)) for limit in expected} == expected


@pytest.mark.parametrize(
    ("quantifier", "expected"),
    [
        ("all", {0: U, 1: C}),
        ("any", {2: S, 3: U}),
        ("none", {3: U, 2: C}),
        ("most", {0: S, 1: U, 2: C}),
    ],
)
def test_evaluate_quantifier_with_a_missing_value(quantifier, expected):
    cells = table(a=1, b=2, c=3, d="-")
    assert {limit: outcome(cells, above(limit, quantifier)) for limit in expected} == expected


@given(
    st.lists(st.one_of(st.integers(0, 4), st.just("-")), min_size=1, max_size=6),
    st.sampled_from(["all", "any", "none", "most"]),
    st.integers(0, 4),
)
def test_evaluate_inconclusive_if_missing_values_could_decide(values, quantifier, limit):
    def outcome_with(fill):
        cells = [fill if value == "-" else value for value in values]
        return outcome(
            table(**{f"s{row}": value for row, value in enumerate(cells)}),
            above(limit, quantifier),
        )

    result = outcome_with("-")
    assert {outcome_with(fill) for fill in (-1, 5)} == ({S, C} if result == U else {result})


@pytest.mark.parametrize(
    ("op", "true_for"),
    [("<", {1}), ("<=", {1, 2}), (">", {3}), (">=", {2, 3}), ("==", {2}), ("!=", {1, 3})],
)
@pytest.mark.parametrize("left", [1, 2, 3])
def test_evaluate_comparison_with_a_value_and_with_a_cell(op, true_for, left):
    for kind in (int, float, str):
        cells = table(a=kind(left), b=kind(2))
        results = {outcome(cells, with_value("a", op, 2)), outcome(cells, pair("a", op, "b"))}
        assert results == {S if left in true_for else C}


@given(st.lists(st.integers(0, 3), min_size=2, max_size=2), st.sampled_from(["<", "<=", "=="]))
def test_evaluate_comparison_of_cells(values, op):
    truth = {"<": operator.lt, "<=": operator.le, "==": operator.eq}[op](*values)
    assert outcome(table(a=values[0], b=values[1]), pair("a", op, "b")) == (S if truth else C)


@pytest.mark.parametrize(
    ("cells", "part", "expected"),
    [
        # Absolute values.
        (table(a=-20.0, b=-9.0), pair("a", "<", "b"), S),
        (table(a=-20.0, b=-9.0), pair("a", "<", "b", absolute=True), C),
        (table(a=20.0, b=-9.0), pair("a", "<", "b"), C),
        (table(a=20.0, b=-9.0), pair("a", "<", "b", absolute=True), C),
        # Equal numbers contradict "higher", also if they differ by a rounding error.
        (table(a=0.1, b=0.5), above(0), S),
        (table(a=0, b=0.5), above(0), C),
        (table(a=1e-12, b=0.5), above(0), C),
        (table(a="no citation", b=0.5), above(0), U),
        (table(a=1, b=1), pair("a", ">", "b"), C),
        # Ranges, and shares in a range.
        (table(a=2.0), with_value("a", "between", [2, 3]), S),
        (table(a=2.5), with_value("a", "between", [2, 3]), S),
        (table(a=3.0), with_value("a", "between", [2, 3]), S),
        (table(a=1.9), with_value("a", "between", [2, 3]), C),
        (table(a=3.1), with_value("a", "between", [2, 3]), C),
        (table(a="-"), with_value("a", "between", [2, 3]), U),
        (table(a=9.74, b=100), share("a", "between", [0.0975, 0.0985]), C),
        (table(a=9.79, b=100), share("a", "between", [0.0975, 0.0985]), S),
        # Shares.
        (table(a=1, b=4), share("a", ">=", 0.25), S),
        (table(a=1, b=5), share("a", ">=", 0.25), C),
        (table(a=1, b=0), share("a", ">=", 0.25), U),
        (table(a=1, b="-"), share("a", ">=", 0.25), U),
        # Text.
        (table(a="S"), with_value("a", "in", ["S", "M"]), S),
        (table(a="S"), with_value("a", "in", ["L"]), C),
        (table(a="S"), with_value("a", "not in", ["L"]), S),
        (table(a="S"), with_value("a", "not in", ["S", "L"]), C),
        (table(a="S"), with_value("a", "==", "S"), S),
        (table(a="S"), with_value("a", "!=", "S"), C),
        (table(a="S"), with_value("a", "==", "M"), C),
        (table(a="S"), with_value("a", "<", 1), U),
        (table(a="S", b="S"), pair("a", "==", "b"), S),
        (table(a="S", b="M"), pair("a", "==", "b"), C),
        # Positions, with ties and missing numbers.
        (table(a=3, b=3, c=1), ranked("a"), S),
        (table(a=3, b=3, c=1), ranked("c", 2), C),
        (table(a=3, b=3, c=1), ranked("c", 3), S),
        (table(a=3, b=2), ranked("a"), N),
        (table(a=3, b="-", c=1), ranked("a"), U),
        # Keys are compared as text, and "None" is a key like any other.
        (pd.DataFrame({"year": [2019, 2020], "value": [1, 2]}),
         {"cells": {"year": "2020"}, "op": ">", "other": {"year": "2019"}}, S),
        (pd.DataFrame({"mode": ["None", "V"], "value": [1, 2]}), above(0, mode="None"), S),
        (MANY[:0], above(0, "none"), N),
        # The bounds after the values of a figure are no keys.
        (table(a=1, b=2).assign(low=[0.5, 1.5], high=[1.5, 2.5]), pair("a", "<", "b"), S),
    ],
)  # fmt: skip
def test_evaluate_comparison(cells, part, expected):
    assert outcome(cells, part) == expected


@pytest.mark.parametrize(
    ("op", "position", "system", "expected"),
    [
        ("highest", 1, "d", S),
        ("highest", 1, "c", C),
        ("highest", 2, "c", S),
        ("highest", 2, "d", C),
        ("lowest", 1, "a", S),
        ("lowest", 2, "b", S),
        ("lowest", 3, "b", C),
    ],
)
def test_evaluate_position_in_a_column(op, position, system, expected):
    part = with_value(system, op, None, among={"system": list("abcd")}, position=position)
    assert outcome(MANY, part) == expected


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        *(({"op": "between", "value": value}, "between")
          for value in ([3, 2], [1], [1, 2, 3], ["1", "2"], 2)),
        ({"op": "highest"}, "among"),
        ({"op": "highest", "value": 1, "among": {"system": "a"}}, "among"),
        ({"op": ">", "among": {"system": "a"}}, "among"),
        ({"op": ">", "value": 1, "position": 2}, "among"),
        ({"op": "<", "over": {"system": "b"}, "other": {"system": "c"}}, "`over` cannot"),
    ],
)  # fmt: skip
def test_predicate_invalid_fields(fields, message):
    with pytest.raises(ValueError, match=message):
        Predicate(cells={}, **fields)


@pytest.mark.parametrize("missing", ["", None, float("nan"), "nan", "-", "0.3_0", "inf", "1e999"])
def test_evaluate_cell_without_a_number(missing):
    assert outcome(table(a=missing), above(0, system="a")) == U
    assert outcome(table(a=1, b=missing), pair("a", ">", "b")) == U


@pytest.mark.parametrize("missing", ["", None, float("nan")])
def test_evaluate_cell_without_text(missing):
    assert outcome(table(a=missing), {"cells": {}, "op": "not in", "value": ["S"]}) == U
    assert outcome(table(a=missing), {"cells": {}, "op": "!=", "value": "S"}) == U


@pytest.mark.parametrize(("gain", "other", "expected"), [(2, 1, S), (1, 2, C), (-2, 1, S)])
def test_evaluate_difference_of_differences(gain, other, expected):
    cells = table(a=10, b=10 + gain, c=3, d=3 + other)
    part = {"cells": {"system": "b"}, "minus": {"system": "a"}, "op": ">", "absolute": True}
    against = {"other": {"system": "d"}, "other_minus": {"system": "c"}}
    assert outcome(cells, part | against) == expected
    assert outcome(cells, part | {"value": 1.5}) == (S if abs(gain) > 1.5 else C)
    assert outcome(cells, part | {"value": 1.5, "minus": {"system": "z"}}) == N


# Missing cells, columns and tables


@pytest.mark.parametrize(
    "part",
    [
        above(0, system="z"),
        above(0, "none", system="z"),
        above(0, system=["a", "z"]),
        above(0, dataset="None"),
        {"cells": {"system": "a"}, "op": ">=", "other": {"dataset": "d"}},
    ],
)
def test_evaluate_missing_cell(part):
    assert outcome(MANY, part) == N


@pytest.mark.parametrize(
    "sides",
    [
        {"op": ">=", "other": {"system": "z"}},
        {"op": ">=", "value": 0, "minus": {"system": "z"}},
        {"op": ">=", "value": 0, "over": {"system": "z"}},
        {"op": ">=", "value": 0, "p": {"system": "z"}},
        {"op": ">=", "value": 0, "low": {"system": "z"}, "high": {"system": "b"}},
        {"op": "lowest", "among": {"system": ["b", "z"]}},
        {"op": ">", "other": {"system": "b"}, "minus": {"system": "c"},
         "other_minus": {"system": "z"}},
    ],
)  # fmt: skip
def test_evaluate_missing_other_side(sides):
    """A comparison with a cell that was not reproduced is not run; one without a number is not."""
    part = {"cells": {"system": "a"}} | sides
    result = decide(MANY, part, kind="reproduced")
    assert result.outcome == N and "no cell z / AP" in result.detail
    assert outcome(table(a=1, b=2, c=3, z="-"), part, kind="reproduced") == U


def test_evaluate_missing_other_side_that_cannot_matter():
    better = {"cells": {"metric": "AP", "system": ["a", "b"]}, "op": ">", "other": {"system": "z"}}
    assert outcome(table(a=1, b=2), better) == N
    assert outcome(table(a=1, b=2), above(5, system="a"), better) == C


@pytest.mark.parametrize("options", [{"vague": "claim"}, {"tests_must_agree": True}])
@pytest.mark.parametrize(
    "part",
    [
        with_value("z", ">", 0),
        pair("a", ">", "z"),
        with_value("a", ">", 0, supplement="tests"),
        {"cells": {"dataset": "d"}, "op": ">", "value": 0},
        with_value("a", ">", 0, mark="*"),
    ],
)
def test_evaluate_missing_cell_inconclusive(options, part):
    result = decide(MANY, above(0), part, fields=options, kind="reproduced")
    assert result.outcome == N
    assert "no c" in result.detail or "is missing" in result.detail


@pytest.mark.parametrize("quantifier", ["all", "any", "none", "most", "almost all"])
@pytest.mark.parametrize("option", [{"mark": "*"}, {"sign": "*"}, {"letters": True}])
def test_evaluate_mark_without_a_column_of_markers(quantifier, option):
    """Without markers, nothing shows which differences are significant."""
    part = pair("b", ">", "a", quantifier=quantifier, **option)
    part["cells"] = {"system": ["b", "c"]}
    result = decide(MANY, part)
    assert result.outcome == N and "no column 'marker'" in result.detail
    assert outcome(MANY.assign(marker=""), part) != N


@pytest.mark.parametrize(
    ("part", "column"),
    [
        (above(0, dataset="d"), "dataset"),
        ({"cells": {}, "op": ">", "other": {"dataset": "d"}}, "dataset"),
        ({"cells": {}, "op": ">", "value": 0, "minus": {"dataset": "d"}}, "dataset"),
        ({"cells": {}, "op": ">", "value": 0, "over": {"dataset": "d"}}, "dataset"),
        ({"cells": {}, "op": ">", "value": 0, "p": {"test": "p"}}, "test"),
        ({"cells": {}, "op": ">", "value": 0, "low": {"end": "l"}, "high": {"end": "h"}}, "end"),
        ({"cells": {}, "op": "contains", "value": "x", "reads": "marker"}, "marker"),
        ({"cells": {}, "op": ">", "value": 0, "supplement": "tests", "interval": True}, "low"),
        ({"cells": {}, "op": "<", "value": 0, "supplement": "tests", "reads": "p"}, "p"),
        ({"cells": {}, "op": ">", "value": 0, "supplement": "empty"}, "value"),
    ],
)
def test_evaluate_missing_column(part, column):
    """The reason names the column, the table and its columns."""
    tables = {"tests": MANY, "empty": MANY.drop(columns="value")}
    result = decide(MANY, part, kind="reproduced", find_table=tables.get)
    name = f"supplementary table {part['supplement']!r}" if "supplement" in part else "table"
    assert result.outcome == N
    assert f"the {name} has no column '{column}'; its columns are system, metric" in result.detail


def test_evaluate_missing_column_of_the_table():
    result = decide(MANY.drop(columns="value"), above(0))
    assert result.outcome == N and "no column 'value'" in result.detail
    result = decide(MANY.assign(reading="a"), above(0), published=MANY, kind="reproduced")
    assert "the published table has no column 'reading'" in result.detail


def test_evaluate_cell_not_reproduced():
    published = MANY.astype(str)
    assert outcome(MANY[:3], above(0)) == S
    assert outcome(MANY[:3], above(0), published=published) == N
    assert outcome(MANY[:3], above(2), published=published) == C
    assert outcome(MANY[:3], above(2, "any"), published=published) == S
    # The published keys may be in another order.
    turned = published[["metric", "system", "value"]]
    assert outcome(MANY, above(0), published=turned) == S


@pytest.mark.parametrize(
    ("lacks", "cells", "expected", "detail"),
    [
        (["c"], ["a", "b", "c"], S, "2 of 2 comparisons true, without system c"),
        (["d", "c"], ["a", "c", "d"], S, "1 of 1 comparisons true, without system c, d"),
        ([], ["a", "b", "c"], N, "no cell has system = 'c'"),
        (["d"], ["a", "b", "c"], N, "no cell has system = 'c'"),
        (["c", "d"], ["c", "d"], N, "no cell has system = 'c'"),
        (["c"], "c", N, "no cell has system = 'c'"),
        (["c"], ["a", "b"], S, "2 of 2 comparisons true"),
    ],
)
def test_evaluate_table_that_lacks_cells(lacks, cells, expected, detail):
    part = above(0, system=cells)
    assert decide(table(a=1, b=2), part, lacks={"system": lacks}) == (expected, detail)


def test_evaluate_comparison_with_missing():
    part = pair("a", ">", "c") | {"cells": {"system": ["a", "b"]}}
    assert outcome(table(a=1, b=2), part, lacks={"system": ["c"]}) == N


# Several predicates


@pytest.mark.parametrize(
    ("limits", "expected"), [((0, 0), S), ((0, 9), C), ((9, None), C), ((0, None), U)]
)
def test_evaluate_all_predicates(limits, expected):
    parts = [
        above(0, system="c") if limit is None else above(limit, system="a") for limit in limits
    ]
    for order in (parts, parts[::-1]):
        assert outcome(table(a=1, b=2, c="-"), *order) == expected


@pytest.mark.parametrize(("limits", "expected"), [((0, 0), S), ((4, 4), C), ((0, 4), U)])
def test_evaluate_tests_that_must_agree(limits, expected):
    parts = [above(limit) for limit in limits]
    assert outcome(MANY, *parts, fields={"tests_must_agree": True}) == expected


def test_evaluate_detail_has_a_counterexample():
    assert decide(MANY, above(1)).detail == "3 of 4 comparisons true; counterexample: a / AP"
    none = decide(MANY, above(3, "none"))
    assert none.detail == "1 of 4 comparisons true; counterexample: d / AP"


@pytest.mark.parametrize("value", [1, 3])
def test_evaluate_vague_word(value):
    fields = {"claim": "Both are comparable (ours: above 2).", "vague": "comparable"}
    result = decide(table(a=value), with_value("a", ">", 2), fields=fields)
    assert result.outcome == U
    assert "'comparable'" in result.detail and f"{int(value > 2)} of 1" in result.detail
    with pytest.raises(ValueError, match="vague"):
        decide(MANY, above(0), fields=fields | {"vague": "on a par"})


def test_evaluate_predicate_tested_on_other_tables():
    parts = [above(0), above(5) | {"tested_on": ["surrogate"]}]
    assert outcome(MANY, *parts, kind="surrogate") == C
    result = decide(MANY, *parts, kind="reproduced")
    assert result.outcome == S and "1 of 2 predicates" in result.detail


def test_evaluate_without_published_numbers():
    part = {"cells": {}, "op": ">", "value": 0, "supplement": "tests"}
    assert outcome(table(a=1), part) == "without published numbers"


# Significance

INTERVAL = {
    "cells": {"bound": "mean"},
    "op": ">",
    "value": 0,
    "low": {"bound": "low"},
    "high": {"bound": "high"},
}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((2, 1, 3), S),
        ((-2, -3, -1), C),
        ((2, -1, 5), U),
        ((-2, -5, 1), U),
        ((2, 0, 4), U),
        ((-2, -4, 0), U),
        ((2, "-", 4), U),
        ((2, 1), N),
    ],
)
def test_evaluate_interval(values, expected):
    bounds = ["mean", "low", "high"][: len(values)]
    assert outcome(pd.DataFrame({"bound": bounds, "value": values}), INTERVAL) == expected


@pytest.mark.parametrize(
    ("cells", "fields", "expected"),
    [
        *((f"{system} - a", how, expected)
          for how in ({"p": {"metric": "p"}}, {"interval": True})
          for system, expected in (("b", S), ("c", U), ("d", C))),
        # A p-value equal to alpha is not significant.
        ("b - a", {"p": {"metric": "p"}, "alpha": 0.01}, U),
        ("b - a", {"reads": "low"}, S),
        ("b - a", {"supplement": "other"}, N),
        # A claim may be about the p-value itself.
        ("b - a p", {"op": "<", "value": 0.05}, S),
        ("c - a p", {"op": "<", "value": 0.05}, C),
    ],
)  # fmt: skip
def test_evaluate_supplementary_table_of_tests(cells, fields, expected):
    name, p = cells.removesuffix(" p"), cells.endswith(" p")
    selector = {"pair": name, "metric": "p" if p else "difference"}
    part = {"supplement": "tests", "op": ">", "value": 0, "cells": selector} | fields
    assert outcome(MANY, part, kind="reproduced", find_table={"tests": TESTS}.get) == expected
    assert outcome(MANY, part, find_table={"tests": TESTS}.get) == "without published numbers"


@pytest.mark.parametrize(
    ("value", "marker", "expected"),
    [(2, "†", S), (2, "*†", S), (2, "*", C), (2, "", C), (0, "†", C)],
)
def test_evaluate_mark(value, marker, expected):
    cells = table(a=value, b=1).assign(marker=[marker, ""])
    assert outcome(cells, pair("a", ">", "b", mark="†")) == expected
    assert Predicate(**pair("a", ">", "b", mark="†")).tests_significance
    # Without the marker that the claim itself asserts, `sign` is inconclusive.
    assert (outcome(cells, pair("a", ">", "b", sign="†")) == U) == ("†" not in marker)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        # Letters name the smaller cell.
        (pair("b", ">", "a", letters=True), S),
        (pair("a", ">", "b", letters=True), C),
        (pair("c", ">", "a", letters=True), U),
        (pair("d", ">", "a", letters=True), C),
        (with_value("d", "<", 1, sign="‡"), S),
        (with_value("a", "<", 1, sign="‡"), U),
        (with_value("d", "contains", "‡", reads="marker"), S),
        (with_value("c", "contains", "‡", reads="marker"), C),
        (with_value("c", "==", "", reads="marker"), S),
        (with_value("a", "lacks", "a", reads="marker"), S),
        (with_value("b", "lacks", "a", reads="marker"), C),
        (with_value("c", "lacks", "a", reads="marker"), S),
        (with_value("d", "lacks", "a", reads="marker"), S),
    ],
)
def test_evaluate_markers(part, expected):
    assert outcome(MARKED, part) == expected


@pytest.mark.parametrize(
    ("kind", "expected"), [("published", S), ("reproduced", S), ("surrogate", U)]
)
def test_evaluate_letters_on_surrogate_data_alone(kind, expected):
    assert outcome(MARKED, pair("c", ">", "a", letters="surrogate"), kind=kind) == expected


@pytest.mark.parametrize(
    ("condition", "names", "expected"),
    [
        (above(3, system="d"), {}, S),
        (above(4, system="d"), {}, "not testable"),
        (above(4, system="d"), {"cells": {"system": "d"}}, U),
        (above(4, system="d"), {"cells": {"system": "b"}}, S),
        (above(4, system="d"), {"claims": ["c"]}, U),
        (above(4, system="d"), {"claims": ["another"]}, S),
        (above(0, system="no such"), {}, "not testable"),
    ],
)
def test_evaluate_surrogate_data_that_cannot_decide(condition, names, expected):
    rule = DecisiveIf(supported_if=[condition], because="It has learned nothing at all.", **names)
    result = decide(MANY, pair("a", "<", "d"), kind="surrogate", decisive_if=[rule])
    assert result.outcome == expected
    assert ("It has learned nothing" in result.detail) == (expected != S)
