"""Claims: quantifiers, comparisons, and what leaves a claim undecided."""

import operator

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.records.claims import Claim, DecisiveIf, Predicate
from everycell.verdicts.claims import evaluate


def table(**values) -> pd.DataFrame:
    """One AP value a system."""
    return pd.DataFrame({"system": list(values), "metric": "AP", "value": list(values.values())})


def outcome(cells: pd.DataFrame, *predicates: dict, published: pd.DataFrame | None = None) -> str:
    claim = Claim(id="c", claim="A claim of ours.", source="p. 1", supported_if=list(predicates))
    return evaluate(claim, cells, published).outcome


def above(limit: float, quantifier: str = "all", **cells) -> dict:
    return {
        "quantifier": quantifier,
        "cells": cells or {"metric": "AP"},
        "op": ">",
        "value": limit,
    }


MANY = table(a=1, b=2, c=3, d=4)


@pytest.mark.parametrize(
    ("quantifier", "limit", "expected"),
    [
        ("all", 0, "supported"),
        ("all", 1, "contradicted"),
        ("any", 3, "supported"),
        ("any", 4, "contradicted"),
        ("none", 4, "supported"),
        ("none", 3, "contradicted"),
        ("most", 1, "supported"),
        ("most", 2, "contradicted"),
        ("all but one", 1, "supported"),
        ("all but one", 2, "contradicted"),
        ("almost all", 0, "supported"),
        ("almost all", 1, "inconclusive"),
        ("almost all", 2, "contradicted"),
    ],
)
def test_quantifiers(quantifier, limit, expected):
    assert outcome(MANY, above(limit, quantifier)) == expected


@pytest.mark.parametrize(
    ("quantifier", "limit", "expected"),
    [
        ("all", 0, "inconclusive"),
        ("all", 1, "contradicted"),
        ("any", 2, "supported"),
        ("any", 3, "inconclusive"),
        ("none", 3, "inconclusive"),
        ("none", 2, "contradicted"),
        ("most", 0, "supported"),
        ("most", 1, "inconclusive"),
        ("most", 2, "contradicted"),
    ],
)
def test_one_missing_value_decides_nothing_but_may_not_matter(quantifier, limit, expected):
    assert outcome(table(a=1, b=2, c=3, d="-"), above(limit, quantifier)) == expected


@pytest.mark.parametrize(
    ("op", "true_for"),
    [("<", {1}), ("<=", {1, 2}), (">", {3}), (">=", {2, 3}), ("==", {2}), ("!=", {1, 3})],
)
@pytest.mark.parametrize("left", [1, 2, 3])
def test_comparisons_with_a_value_and_with_a_cell(op, true_for, left):
    expected = "supported" if left in true_for else "contradicted"
    first = {"cells": {"system": "a"}, "op": op}
    for kind in (int, float, str):
        cells = table(a=kind(left), b=kind(2))
        assert outcome(cells, first | {"value": 2}) == expected
        assert outcome(cells, first | {"other": {"system": "b"}}) == expected


@pytest.mark.parametrize("change", [-20.0, 20.0])
def test_absolute_takes_away_the_signs(change):
    nearer = {"cells": {"system": "ours"}, "op": "<", "other": {"system": "theirs"}}
    cells = table(ours=change, theirs=-9.0)
    assert outcome(cells, nearer | {"absolute": True}) == "contradicted"
    assert outcome(cells, nearer) == ("supported" if change < 0 else "contradicted")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((0.1, 0.5), "supported"),
        # Equal numbers contradict "higher", also if they differ by a rounding error.
        ((0, 0.5), "contradicted"),
        ((1e-12, 0.5), "contradicted"),
        (("no citation", 0.5), "inconclusive"),
    ],
)
def test_evaluate_strict_comparison_of_equal_numbers(values, expected):
    cells = table(**dict(zip("ab", values, strict=True)))
    assert outcome(cells, {"cells": {}, "op": ">", "value": 0}) == expected
    equal = {"cells": {"system": "a"}, "op": ">", "other": {"system": "b"}}
    assert outcome(table(a=1, b=1), equal) == "contradicted"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(2.0, "supported"), (2.5, "supported"), (3.0, "supported"), (1.9, "contradicted"),
     (3.1, "contradicted"), ("-", "inconclusive")],
)  # fmt: skip
def test_evaluate_between(value, expected):
    assert outcome(table(a=value), {"cells": {}, "op": "between", "value": [2, 3]}) == expected


def test_evaluate_between_with_over():
    share = {"cells": {"system": "a"}, "over": {"system": "b"}, "op": "between"}
    assert outcome(table(a=9.74, b=100), share | {"value": [0.0975, 0.0985]}) == "contradicted"
    assert outcome(table(a=9.79, b=100), share | {"value": [0.0975, 0.0985]}) == "supported"


@pytest.mark.parametrize("value", [[3, 2], [1], [1, 2, 3], ["1", "2"], 2])
def test_predicate_between_requires_a_range(value):
    with pytest.raises(ValueError, match="between"):
        Predicate(cells={}, op="between", value=value)


@pytest.mark.parametrize(
    ("op", "position", "system", "expected"),
    [
        ("highest", 1, "d", "supported"),
        ("highest", 1, "c", "contradicted"),
        ("highest", 2, "c", "supported"),
        ("highest", 2, "d", "contradicted"),
        ("lowest", 1, "a", "supported"),
        ("lowest", 2, "b", "supported"),
        ("lowest", 3, "b", "contradicted"),
    ],
)
def test_evaluate_position_in_a_column(op, position, system, expected):
    ranked = {"cells": {"system": system}, "op": op, "among": {"system": list("abcd")}}
    assert outcome(MANY, ranked | {"position": position}) == expected


def test_evaluate_position_of_tied_and_missing_cells():
    best = {"cells": {"system": "a"}, "op": "highest", "among": {"system": ["a", "b", "c"]}}
    assert outcome(table(a=3, b=3, c=1), best) == "supported"
    third = best | {"cells": {"system": "c"}}
    assert outcome(table(a=3, b=3, c=1), third | {"position": 2}) == "contradicted"
    assert outcome(table(a=3, b=3, c=1), third | {"position": 3}) == "supported"
    assert outcome(table(a=3, b=2), best) == "not run"
    assert outcome(table(a=3, b="-", c=1), best) == "inconclusive"


@pytest.mark.parametrize(
    "fields",
    [
        {"op": "highest"},
        {"op": "highest", "value": 1, "among": {"system": "a"}},
        {"op": ">", "among": {"system": "a"}},
        {"op": ">", "value": 1, "position": 2},
    ],
)
def test_predicate_position_requires_among(fields):
    with pytest.raises(ValueError, match="among"):
        Predicate(cells={}, **fields)


@pytest.mark.parametrize(
    ("value", "marker", "expected"),
    [
        (2, "†", "supported"),
        (2, "*†", "supported"),
        (2, "*", "contradicted"),
        (2, "", "contradicted"),
        (0, "†", "contradicted"),
    ],
)
def test_evaluate_mark(value, marker, expected):
    cells = table(a=value, b=1).assign(marker=[marker, ""])
    better = {"cells": {"system": "a"}, "op": ">", "other": {"system": "b"}, "mark": "†"}
    assert outcome(cells, better) == expected
    assert Predicate(**better).tests_significance
    # Without the marker that the claim itself asserts, `sign` is inconclusive.
    sign = {"cells": {"system": "a"}, "op": ">", "other": {"system": "b"}, "sign": "†"}
    assert (outcome(cells, sign) == "inconclusive") == ("†" not in marker)


@pytest.mark.parametrize("value", [1, 3])
def test_evaluate_vague_word(value):
    claim = {"id": "c", "source": "p. 1", "claim": "Both are comparable (ours: above 2)."}
    parts = [{"cells": {}, "op": ">", "value": 2}]
    vague = Claim(**claim, supported_if=parts, vague="comparable")
    result = evaluate(vague, table(a=value))
    assert result.outcome == "inconclusive"
    assert "'comparable'" in result.detail and f"{int(value > 2)} of 1" in result.detail
    with pytest.raises(ValueError, match="vague"):
        Claim(**claim, supported_if=parts, vague="on a par")


def test_evaluate_without_published_numbers():
    part = {"cells": {}, "op": ">", "value": 0, "supplement": "tests"}
    assert outcome(table(a=1), part) == "without published numbers"


@pytest.mark.parametrize(
    ("op", "value", "expected"),
    [
        ("in", ["S", "M"], "supported"),
        ("in", ["L"], "contradicted"),
        ("not in", ["L"], "supported"),
        ("not in", ["S", "L"], "contradicted"),
        ("==", "S", "supported"),
        ("!=", "S", "contradicted"),
        ("==", "M", "contradicted"),
        ("<", 1, "inconclusive"),
    ],
)
def test_comparisons_of_text(op, value, expected):
    assert outcome(table(a="S"), {"cells": {"system": "a"}, "op": op, "value": value}) == expected


def test_text_of_two_cells():
    same = {"cells": {"system": "a"}, "op": "==", "other": {"system": "b"}}
    assert outcome(table(a="S", b="S"), same) == "supported"
    assert outcome(table(a="S", b="M"), same) == "contradicted"


@pytest.mark.parametrize("missing", ["", None, float("nan"), "nan", "-"])
def test_a_cell_without_a_number_is_undecided(missing):
    assert outcome(table(a=missing), above(0, system="a")) == "inconclusive"
    other = {"cells": {"system": "a"}, "op": ">", "other": {"system": "b"}}
    assert outcome(table(a=1, b=missing), other) == "inconclusive"


@pytest.mark.parametrize("missing", ["", None, float("nan")])
def test_no_text_is_not_another_text(missing):
    assert (
        outcome(table(a=missing), {"cells": {}, "op": "not in", "value": ["S"]}) == "inconclusive"
    )
    assert outcome(table(a=missing), {"cells": {}, "op": "!=", "value": "S"}) == "inconclusive"


@pytest.mark.parametrize(
    "predicate",
    [
        above(0, system="z"),
        above(0, "none", system="z"),
        above(0, system=["a", "z"]),
        above(0, dataset="None"),
        {"cells": {"system": "a"}, "op": ">=", "other": {"dataset": "d"}},
    ],
)
def test_evaluate_missing_cell(predicate):
    assert outcome(MANY, predicate) == "not run"


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
    claim = {"id": "c", "claim": "A claim of ours.", "source": "p. 1"}
    claim["supported_if"] = [{"cells": {"system": "a"}} | sides]
    result = evaluate(Claim(**claim), MANY, kind="reproduced")
    assert result.outcome == "not run"
    assert "no cell z / AP" in result.detail
    with_dash = table(a=1, b=2, c=3, z="-")
    assert evaluate(Claim(**claim), with_dash, kind="reproduced").outcome == "inconclusive"


def test_evaluate_missing_other_side_that_cannot_matter():
    better = {"cells": {"metric": "AP", "system": ["a", "b"]}, "op": ">", "other": {"system": "z"}}
    assert outcome(table(a=1, b=2), better) == "not run"
    parts = [above(5, system="a"), better]
    assert outcome(table(a=1, b=2), *parts) == "contradicted"


@pytest.mark.parametrize("options", [{"vague": "claim"}, {"tests_must_agree": True}])
@pytest.mark.parametrize(
    "part",
    [
        {"cells": {"system": "z"}, "op": ">", "value": 0},
        {"cells": {"system": "a"}, "op": ">", "other": {"system": "z"}},
        {"cells": {"system": "a"}, "op": ">", "value": 0, "supplement": "tests"},
        {"cells": {"dataset": "d"}, "op": ">", "value": 0},
        {"cells": {"system": "a"}, "op": ">", "value": 0, "mark": "*"},
    ],
)
def test_evaluate_missing_cell_of_a_claim_that_stays_inconclusive(options, part):
    claim = Claim(
        id="c", claim="A claim of ours.", source="p. 1", supported_if=[above(0), part], **options
    )
    result = evaluate(claim, MANY, kind="reproduced")
    assert result.outcome == "not run"
    assert "no c" in result.detail or "is missing" in result.detail


@pytest.mark.parametrize("quantifier", ["all", "any", "none", "most", "almost all"])
@pytest.mark.parametrize("option", [{"mark": "*"}, {"sign": "*"}, {"letters": True}])
def test_evaluate_mark_without_a_column_of_markers(quantifier, option):
    """Without markers, nothing shows which differences are significant."""
    part = {"cells": {"system": ["b", "c"]}, "op": ">", "other": {"system": "a"}}
    part |= {"quantifier": quantifier} | option
    claim = Claim(id="c", claim="A claim of ours.", source="p. 1", supported_if=[part])
    result = evaluate(claim, MANY)
    assert result.outcome == "not run"
    assert "no column 'marker'" in result.detail
    assert evaluate(claim, MANY.assign(marker="")).outcome != "not run"


@pytest.mark.parametrize(
    ("predicate", "column"),
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
def test_evaluate_missing_column(predicate, column):
    """The reason names the column, the table and its columns."""
    claim = Claim(id="c", claim="A claim of ours.", source="p. 1", supported_if=[predicate])
    tables = {"tests": MANY, "empty": MANY.drop(columns="value")}
    result = evaluate(claim, MANY, kind="reproduced", find_table=tables.get)
    assert result.outcome == "not run"
    name = (
        "supplementary table '" + predicate["supplement"] + "'"
        if "supplement" in predicate
        else "table"
    )
    assert f"the {name} has no column '{column}'; its columns are system, metric" in result.detail


def test_evaluate_missing_column_of_the_table():
    claim = Claim(id="c", claim="A claim of ours.", source="p. 1", supported_if=[above(0)])
    result = evaluate(claim, MANY.drop(columns="value"))
    assert (result.outcome, "no column 'value'" in result.detail) == ("not run", True)
    result = evaluate(claim, MANY.assign(reading="a"), MANY, kind="reproduced")
    assert "the published table has no column 'reading'" in result.detail


def test_a_table_without_rows_decides_nothing():
    assert outcome(MANY[:0], above(0, "none")) == "not run"


def test_evaluate_published_cell_that_was_not_reproduced():
    part = MANY[:3]
    assert outcome(part, above(0)) == "supported"
    assert outcome(part, above(0), published=MANY.astype(str)) == "not run"
    assert outcome(part, above(2), published=MANY.astype(str)) == "contradicted"
    assert outcome(part, above(2, "any"), published=MANY.astype(str)) == "supported"


def test_published_keys_may_stand_in_another_order():
    turned = MANY[["metric", "system", "value"]].astype(str)
    assert outcome(MANY, above(0), published=turned) == "supported"


def test_keys_are_compared_as_text():
    years = pd.DataFrame({"year": [2019, 2020], "value": [1, 2]})
    later = {"cells": {"year": "2020"}, "op": ">", "other": {"year": "2019"}}
    assert outcome(years, later) == "supported"


def test_the_level_none_is_not_a_missing_column():
    cells = pd.DataFrame({"mode": ["None", "V"], "value": [1, 2]})
    assert outcome(cells, above(0, mode="None")) == "supported"


INTERVAL = {
    "cells": {"bound": "mean"},
    "op": ">",
    "value": 0,
    "low": {"bound": "low"},
    "high": {"bound": "high"},
}


@pytest.mark.parametrize(
    ("mean", "low", "high", "expected"),
    [
        (2, 1, 3, "supported"),
        (-2, -3, -1, "contradicted"),
        (2, -1, 5, "inconclusive"),
        (-2, -5, 1, "inconclusive"),
        (2, 0, 4, "inconclusive"),
        (-2, -4, 0, "inconclusive"),
        (2, "-", 4, "inconclusive"),
    ],
)
def test_an_interval_that_holds_the_value_is_undecided(mean, low, high, expected):
    cells = pd.DataFrame({"bound": ["mean", "low", "high"], "value": [mean, low, high]})
    assert outcome(cells, INTERVAL) == expected


def test_evaluate_interval_without_a_bound():
    cells = pd.DataFrame({"bound": ["mean", "low"], "value": [2, 1]})
    assert outcome(cells, INTERVAL) == "not run"


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ((0, 0), "supported"),
        ((0, 9), "contradicted"),
        ((9, None), "contradicted"),
        ((0, None), "inconclusive"),
    ],
)
def test_all_predicates_must_hold_and_one_that_fails_decides(limits, expected):
    cells = table(a=1, b=2, c="-")
    parts = [
        above(limit, system="a") if limit is not None else above(0, system="c") for limit in limits
    ]
    assert outcome(cells, *parts) == outcome(cells, *reversed(parts)) == expected


def test_the_detail_names_what_speaks_against_a_claim():
    claim = Claim(id="c", claim="A claim of ours.", source="p. 1", supported_if=[above(1)])
    assert evaluate(claim, MANY).detail == "3 of 4 comparisons true; against it: a / AP"
    none = Claim(id="c", claim="A claim of ours.", source="p.1", supported_if=[above(3, "none")])
    assert evaluate(none, MANY).detail == "1 of 4 comparisons true; against it: d / AP"


@pytest.mark.parametrize(
    ("lacks", "cells", "outcome_with", "detail"),
    [
        (["c"], ["a", "b", "c"], "supported", "2 of 2 comparisons true, without system c"),
        (["d", "c"], ["a", "c", "d"], "supported", "1 of 1 comparisons true, without system c, d"),
        ([], ["a", "b", "c"], "not run", "no cell has system = 'c'"),
        (["d"], ["a", "b", "c"], "not run", "no cell has system = 'c'"),
        (["c", "d"], ["c", "d"], "not run", "no cell has system = 'c'"),
        (["c"], "c", "not run", "no cell has system = 'c'"),
        (["c"], ["a", "b"], "supported", "2 of 2 comparisons true"),
    ],
)
def test_what_a_table_is_declared_to_lack_is_left_out_beside_others(
    lacks, cells, outcome_with, detail
):
    claim = Claim(id="c", claim="A claim of ours.", source="p. 1",
                       supported_if=[above(0, system=cells)])  # fmt: skip
    decision = evaluate(claim, table(a=1, b=2), lacks={"system": lacks})
    assert (decision.outcome, decision.detail) == (outcome_with, detail)


def test_evaluate_comparison_with_what_a_table_lacks():
    claim = Claim(id="c", claim="A claim of ours.", source="p. 1",
                       supported_if=[{"cells": {"system": ["a", "b"]}, "op": ">",
                                  "other": {"system": "c"}}])  # fmt: skip
    assert evaluate(claim, table(a=1, b=2), lacks={"system": ["c"]}).outcome == "not run"


@given(
    st.lists(st.one_of(st.integers(0, 4), st.just("-")), min_size=1, max_size=6),
    st.sampled_from(["all", "any", "none", "most"]),
    st.integers(0, 4),
)
def test_undecided_means_that_filling_the_gaps_can_go_both_ways(values, quantifier, limit):
    def outcome_with(fill):
        cells = [fill if value == "-" else value for value in values]
        frame = table(**{f"s{at}": value for at, value in enumerate(cells)})
        return outcome(frame, above(limit, quantifier))

    open_outcome = outcome_with("-")
    filled = {outcome_with(fill) for fill in (-1, 5)}
    assert filled == (
        {"supported", "contradicted"} if open_outcome == "inconclusive" else {open_outcome}
    )


@given(st.lists(st.integers(0, 3), min_size=2, max_size=2), st.sampled_from(["<", "<=", "=="]))
def test_a_comparison_of_cells_is_that_of_python(values, op):
    cells = table(a=values[0], b=values[1])
    truth = {"<": operator.lt, "<=": operator.le, "==": operator.eq}[op](*values)
    predicate = {"cells": {"system": "a"}, "op": op, "other": {"system": "b"}}
    assert outcome(cells, predicate) == ("supported" if truth else "contradicted")


TESTS = pd.DataFrame(
    {
        "pair": ["b - a"] * 2 + ["c - a"] * 2 + ["d - a"] * 2,
        "metric": ["difference", "p"] * 3,
        "value": [0.2, 0.01, 0.2, 0.2, -0.2, 0.01],
        "low": [0.1, "", -0.1, "", -0.3, ""],
        "high": [0.3, "", 0.5, "", -0.1, ""],
    }
)


def on_tests(kind="reproduced", **fields) -> str:
    part = {"supplement": "tests", "op": ">", "value": 0} | fields
    claim = Claim(id="c", claim="A claim of ours.", source="p. 1", supported_if=[part])
    result = evaluate(claim, MANY, kind=kind, find_table={"tests": TESTS}.get)
    return result.outcome


@pytest.mark.parametrize("how", [{"p": {"metric": "p"}}, {"interval": True}])
@pytest.mark.parametrize(
    ("pair", "expected"),
    [("b - a", "supported"), ("c - a", "inconclusive"), ("d - a", "contradicted")],
)
def test_a_difference_that_is_not_significant_decides_nothing(how, pair, expected):
    assert on_tests(cells={"pair": pair, "metric": "difference"}, **how) == expected


def test_a_p_value_equal_to_alpha_is_not_significant():
    cells, p = {"pair": "b - a", "metric": "difference"}, {"metric": "p"}
    assert on_tests(cells=cells, p=p, alpha=0.01) == "inconclusive"


def test_a_p_value_as_a_cell_is_the_claim_itself():
    significant = {"op": "<", "value": 0.05}
    assert on_tests(cells={"pair": "b - a", "metric": "p"}, **significant) == "supported"
    assert on_tests(cells={"pair": "c - a", "metric": "p"}, **significant) == "contradicted"


def test_a_table_beside_is_none_of_the_print_and_may_be_missing():
    cells = {"pair": "b - a", "metric": "difference"}
    assert on_tests("published", cells=cells) == "without published numbers"
    assert on_tests(supplement="other", cells=cells) == "not run"
    assert on_tests(cells=cells, reads="low") == "supported"


def test_a_predicate_counts_only_on_the_tables_that_it_is_about():
    parts = [above(0), above(5) | {"tested_on": ["surrogate"]}]
    claim = Claim(id="c", claim="A claim of ours.", source="p. 1", supported_if=parts)
    assert evaluate(claim, MANY, kind="surrogate").outcome == "contradicted"
    result = evaluate(claim, MANY, kind="reproduced")
    assert result.outcome == "supported"
    assert "1 of 2 predicates" in result.detail


MARKED = table(a=1, b=2, c=3, d=0).assign(marker=["d", "a-b", "", "‡"])


@pytest.mark.parametrize(
    ("system", "other", "expected"),
    [
        ("b", "a", "supported"),
        ("a", "b", "contradicted"),
        ("c", "a", "inconclusive"),
        ("d", "a", "contradicted"),
    ],
)
def test_letters_name_the_smaller_cell(system, other, expected):
    part = {"cells": {"system": system}, "op": ">", "other": {"system": other}, "letters": True}
    assert outcome(MARKED, part) == expected


def test_signs_and_markers():
    signed = {"op": "<", "value": 1, "sign": "‡"}
    assert outcome(MARKED, {"cells": {"system": "d"}} | signed) == "supported"
    assert outcome(MARKED, {"cells": {"system": "a"}} | signed) == "inconclusive"
    read = {"reads": "marker", "op": "contains", "value": "‡"}
    assert outcome(MARKED, {"cells": {"system": "d"}} | read) == "supported"
    assert outcome(MARKED, {"cells": {"system": "c"}} | read) == "contradicted"
    assert outcome(MANY, {"cells": {"system": "c"}} | read) == "not run"
    unmarked = {"reads": "marker", "op": "==", "value": ""}
    assert outcome(MARKED, {"cells": {"system": "c"}} | unmarked) == "supported"


@pytest.mark.parametrize(
    ("learned", "names", "expected"),
    [
        (above(3, system="d"), {}, "supported"),
        (above(4, system="d"), {}, "not testable"),
        (above(4, system="d"), {"cells": {"system": "d"}}, "inconclusive"),
        (above(4, system="d"), {"cells": {"system": "b"}}, "supported"),
        (above(4, system="d"), {"claims": ["c"]}, "inconclusive"),
        (above(4, system="d"), {"claims": ["another"]}, "supported"),
        (above(0, system="no such"), {}, "not testable"),
    ],
)
def test_a_stand_in_that_is_too_weak_decides_nothing(learned, names, expected):
    rule = DecisiveIf(supported_if=[learned], because="It has learned nothing at all.", **names)
    part = {"cells": {"system": "a"}, "op": "<", "other": {"system": "d"}}
    claim = Claim(id="c", claim="A claim of ours.", source="p. 1", supported_if=[part])
    result = evaluate(claim, MANY, kind="surrogate", decisive_if=[rule])
    assert result.outcome == expected
    assert ("It has learned nothing" in result.detail) == (expected != "supported")


@pytest.mark.parametrize("number", ["0.3_0", "inf", "1e999", "nan"])
def test_what_the_verdicts_take_for_no_number_is_none_here(number):
    assert outcome(table(a=number), above(0)) == "inconclusive"


@pytest.mark.parametrize(
    ("gain", "other", "expected"),
    [(2, 1, "supported"), (1, 2, "contradicted"), (-2, 1, "supported")],
)
def test_a_difference_against_a_difference(gain, other, expected):
    cells = table(a=10, b=10 + gain, c=3, d=3 + other)
    part = {"cells": {"system": "b"}, "minus": {"system": "a"}, "op": ">", "absolute": True}
    against = {"other": {"system": "d"}, "other_minus": {"system": "c"}}
    assert outcome(cells, part | against) == expected
    assert outcome(cells, part | {"value": 1.5}) == (
        "supported" if abs(gain) > 1.5 else "contradicted"
    )
    assert outcome(cells, part | {"value": 1.5, "minus": {"system": "z"}}) == "not run"


@pytest.mark.parametrize(
    ("share", "expected"),
    [(4, "supported"), (5, "contradicted"), (0, "inconclusive"), ("-", "inconclusive")],
)
def test_a_share_against_a_number(share, expected):
    part = {"cells": {"system": "a"}, "over": {"system": "b"}, "op": ">=", "value": 0.25}
    assert outcome(table(a=1, b=share), part) == expected


def test_a_share_is_compared_with_a_number_only():
    part = {"cells": {"system": "a"}, "over": {"system": "b"}, "op": "<", "other": {"system": "c"}}
    with pytest.raises(ValueError, match="`over` cannot be combined with"):
        Predicate(**part)


def test_a_marker_lacks_what_it_does_not_contain():
    part = {"reads": "marker", "op": "lacks", "value": "a"}
    result = [outcome(MARKED, part | {"cells": {"system": system}}) for system in "abcd"]
    assert result == ["supported", "contradicted", "supported", "supported"]


def test_letters_may_be_asked_of_stand_ins_alone():
    part = {"cells": {"system": "c"}, "op": ">", "other": {"system": "a"}, "letters": "surrogate"}
    claim = Claim(id="c", claim="A claim of ours.", source="p. 1", supported_if=[part])
    kinds = ("published", "reproduced", "surrogate")
    result = [evaluate(claim, MARKED, kind=kind).outcome for kind in kinds]
    assert result == ["supported", "supported", "inconclusive"]


@pytest.mark.parametrize(("limits", "expected"), [((0, 0), "supported"), ((4, 4), "contradicted"),
                                                  ((0, 4), "inconclusive")])  # fmt: skip
def test_tests_that_must_agree(limits, expected):
    parts = [above(limit) for limit in limits]
    claim = Claim(id="c", claim="A claim of ours.", source="p. 1", supported_if=parts,
                       tests_must_agree=True)  # fmt: skip
    assert evaluate(claim, MANY).outcome == expected


def test_evaluate_other_cell_of_a_figure_with_intervals():
    figure = table(a=1, b=2).assign(low=[0.5, 1.5], high=[1.5, 2.5])
    assert outcome(figure, {"cells": {"system": "a"}, "op": "<", "other": {"system": "b"}}) == (
        "supported"
    )
