"""Verdicts: the limits of `judge`, what a report says of each cell, and a mutation."""

import json
import math
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest
from harness import published
from hypothesis import assume, given
from hypothesis import strategies as st
from unit.toy_papers import PAPER, RECORD, write_paper

from everycell.records.cells import SEEDS, RecordError, is_number, summarise_seeds
from everycell.records.claims import Claim
from everycell.records.folders import Tier
from everycell.records.papers import Artefact, all_artefacts, find_artefact, load_papers
from everycell.records.tables import RUNNABLE, Record
from everycell.verdicts.audits import Finding, audits_of, published_number
from everycell.verdicts.claims import evaluate
from everycell.verdicts.counting import summary_row
from everycell.verdicts.judging import judge
from everycell.verdicts.origins import Sources
from everycell.verdicts.reports import (
    UNCOUNTED,
    VERDICTS,
    AuditOutcome,
    JudgedCell,
    Markers,
    Report,
    explained_by_source,
    format_counts,
    reproduces_no_cell,
)
from everycell.verdicts.results import Result
from everycell.verdicts.verdicts import report

PAPERS = published()
DIGITS = st.integers(0, 6)
NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)
ORDER = ("equal", "within tolerance", "different")


# One cell


@given(NUMBERS, DIGITS)
def test_a_value_is_equal_to_its_print(value, digits):
    assert judge(f"{value:.{digits}f}", value, digits, measured=True) == "equal"


@given(NUMBERS, DIGITS)
def test_dropped_zeros_of_the_print_do_not_matter(value, digits):
    published_value = f"{value:.{digits}f}"
    short = published_value.rstrip("0").rstrip(".") if "." in published_value else published_value
    assert judge(short or "0", value, digits, measured=True) == "equal"


@given(st.integers(-(10**6), 10**6), DIGITS, st.booleans())
def test_an_exact_half_may_go_either_way(steps, digits, up):
    published_value = Decimal(steps).scaleb(-digits)
    half = Decimal(5).scaleb(-digits - 1)
    reproduced = float(published_value + half if up else published_value - half)
    assert judge(str(published_value), reproduced, digits, measured=True) == "equal"


@given(
    st.integers(-(10**6), 10**6),
    DIGITS,
    st.floats(-3, 3).filter(lambda shift: min(abs(abs(shift) - x) for x in (0.5, 1)) > 1e-3),
)
def test_a_distance_in_units_of_the_last_digit_decides(steps, digits, shift):
    published_value = Decimal(steps).scaleb(-digits)
    reproduced = float(published_value + Decimal(shift).scaleb(-digits))
    expected = (
        "equal" if abs(shift) < 0.5 else "within tolerance" if abs(shift) < 1 else "different"
    )
    assert judge(str(published_value), reproduced, digits, measured=True) == expected


@given(st.integers(-(10**6), 10**6), st.floats(-3, 3).filter(lambda shift: abs(shift) > 1e-3))
def test_a_count_is_the_printed_one_or_differs(count, shift):
    assert judge(str(count), count, 0) == "equal"
    assert judge(str(count), count + shift, 0) == "different"


@given(st.integers(-(10**4), 10**4), st.integers(-(10**4), 10**4), st.integers(0, 3))
def test_print_and_rebuilt_may_change_places(one, other, digits):
    first, second = (Decimal(steps).scaleb(-digits) for steps in (one, other))
    existing = judge(str(first), float(second), digits)
    assert existing == judge(str(second), float(first), digits)
    assert existing == judge(str(-first), -float(second), digits)


@given(NUMBERS, NUMBERS, DIGITS, st.floats(0, 1e6))
def test_a_tolerance_never_makes_a_verdict_worse_or_a_cell_equal(
    published_value, reproduced, digits, within
):
    text = f"{published_value:.{digits}f}"
    without, with_it = judge(text, reproduced, digits), judge(text, reproduced, digits, within)
    assert ORDER.index(with_it) <= ORDER.index(without)
    assert (with_it == "equal") == (without == "equal")


@given(NUMBERS, NUMBERS, DIGITS)
def test_a_distance_within_the_tolerance_is_close_at_least(published_value, reproduced, digits):
    text = f"{published_value:.{digits}f}"
    assert judge(text, reproduced, digits, abs(float(text) - reproduced)) != "different"


@pytest.mark.parametrize(
    ("published_value", "reproduced", "decimals", "verdict"),
    [
        ("0.0", 0.0005, 3, "equal"),
        ("0.0", 0.00051, 3, "within tolerance"),
        ("0.0", 0.001, 3, "within tolerance"),
        ("0.0", 0.00101, 3, "different"),
        ("0.5", 0.498, 3, "different"),
        ("0.50", 0.504, 2, "equal"),
        ("8841823", 8841823.0, 0, "equal"),
        ("8841823", 8841824, 0, "different"),
        ("1", 0, 0, "different"),
        ("1", 0.6, 0, "different"),
        ("1", "1.0", 0, "equal"),
        ("+8.0", 8.04, 1, "equal"),
        ("-0.02", 0.02, 2, "different"),
        ("2e-5", 0.00002, 5, "equal"),
        ("0.3", "0.3004", 3, "equal"),
        ("S", "S", "text", "equal"),
        ("S", " S ", "text", "equal"),
        ("S", "M", "text", "different"),
        ("-", "-", "text", "equal"),
        ("3", "3.0", "text", "different"),
        ("132_1", "1321", "text", "different"),
        ("1321", "132_1", 0, "different"),
        ("-", 0.0, 3, "different"),
        ("0.0", math.nan, 3, "different"),
        ("0.0", "nan", 3, "different"),
        ("0.0", math.inf, 3, "different"),
        ("0.0", "", 3, "different"),
        ("0.0", None, 3, "different"),
        ("0.0", "<0.001", 3, "different"),
    ],
)
def test_single_cells(published_value, reproduced, decimals, verdict):
    assert judge(published_value, reproduced, decimals) == verdict


def test_the_limit_of_a_tolerance_belongs_to_it():
    assert judge("0.5", 0.502, 3, 0.002) == "within tolerance"
    assert judge("0.5", 0.5021, 3, 0.002) == "different"


def test_a_rounded_measurement_without_decimals_may_be_one_unit_off():
    assert judge("72", 72.4, 0, measured=True) == "equal"
    assert judge("72", 73, 0, measured=True) == "within tolerance"
    assert judge("72", 73, 0) == "different"
    assert judge("72", 73, 0, 1) == "within tolerance"  # where a record derives it


# A whole artefact

CELLS = pd.DataFrame(
    [
        ("a", "AP", "0.30"),
        ("a", "size", "S"),
        ("b", "AP", "0.4"),
        ("b", "size", "M"),
        ("c", "AP", "0.5"),
        ("c", "size", "-"),
    ],
    columns=["row", "metric", "value"],
)
REPRODUCED = ["0.301", "S", "0.396", "M", "0.52", "L"]


def toy(folder: Path, state: str = "reproduced", **fields) -> Artefact:
    """An artefact with six published cells."""
    home = folder / "toy"
    home.mkdir(exist_ok=True)
    CELLS.to_csv(home / "table_1.csv", index=False)
    tier = {"state": state, "needs": "nothing", "name": "a toy run"}
    record = {
        "kind": "table",
        "title": "A toy table",
        "source": "p. 1",
        "tiers": {"embedded": tier, "full": {"state": "not run", "needs": "a GPU"}},
        "decimals": {"AP": 2, "size": "text"},
    }
    return Artefact(
        paper="toy",
        chapter="1",
        name="table_1",
        record=Record.model_validate(record | fields),
        folder=home,
    )


def verdicts(artefact: Artefact, values=REPRODUCED) -> list[str]:
    result = report(artefact, "embedded", CELLS.assign(value=values))
    return [cell.verdict for cell in result.cells]


def test_each_cell_gets_the_verdict_of_its_metric(tmp_path):
    result = report(toy(tmp_path), "embedded", CELLS.assign(value=REPRODUCED))
    assert [cell.verdict for cell in result.cells] == [
        "equal",
        "equal",
        "equal",
        "equal",
        "different",
        "different",
    ]
    assert [cell.reproduced for cell in result.cells] == [0.301, "S", 0.396, "M", 0.52, "L"]
    assert result.state == "reproduced"
    assert result.verdicts["equal"] == 4 and result.verdicts["different"] == 2


def test_the_order_of_rows_and_columns_does_not_matter(tmp_path):
    artefact = toy(tmp_path)
    table = CELLS.assign(value=REPRODUCED)
    turned = table.iloc[::-1][["value", "metric", "row"]].assign(note="x")
    assert report(artefact, "embedded", turned) == report(artefact, "embedded", table)


def test_the_precision_of_a_block_is_not_that_of_its_metric(tmp_path):
    coarse = {"cells": {"row": "c", "metric": "AP"}, "decimals": 1}
    assert verdicts(toy(tmp_path, precision=[coarse]))[4] == "equal"
    full = {"cells": {"row": "c", "metric": "AP"}, "decimals": 0}
    assert verdicts(toy(tmp_path, precision=[full]))[4] == "different"
    assert verdicts(toy(tmp_path, precision=[full | {"measured": True}]))[4] == "equal"
    with pytest.raises(ValueError, match="`measured` is for numbers without decimals"):
        toy(tmp_path, precision=[coarse | {"measured": True}])
    with pytest.raises(ValueError, match="needs `decimals` or `measured: true`"):
        toy(tmp_path, precision=[{"cells": {"row": "c"}}])


def test_a_tolerance_gives_its_reason(tmp_path):
    tolerance = {"cells": {"row": "c", "metric": "AP"}, "within": 0.02, "because": "rounded inputs"}
    result = report(
        toy(tmp_path, tolerances=[tolerance]), "embedded", CELLS.assign(value=REPRODUCED)
    )
    assert result.cells[4].verdict == "within tolerance"
    assert result.cells[4].why == "rounded inputs"


@pytest.mark.parametrize("values", [REPRODUCED, CELLS["value"].tolist()])
def test_a_quoted_cell_is_never_compared(tmp_path, values):
    artefact = toy(tmp_path, quoted=[{"cells": {"row": "c"}, "because": "from another paper"}])
    result = report(artefact, "embedded", CELLS.assign(value=values)[:4])
    for cell in result.cells[4:]:
        assert cell.verdict == "quoted" and cell.reproduced is None
        assert cell.why == "from another paper"
    assert result.verdicts["equal"] == 4 and result.verdicts["quoted"] == 2


def test_a_quoted_artefact_is_quoted_in_every_cell(tmp_path):
    result = report(toy(tmp_path, state="quoted"), "embedded")
    assert result.state == "quoted" and result.verdicts["quoted"] == 6


def erratum(cause="method", **fields) -> dict:
    """An erratum of the cell (c, AP), published as 0.5, which row b is said to explain."""
    yielded = [{"cells": {"row": "c", "metric": "AP"}, "at": {"row": "b"}}]
    return {
        "id": "e",
        "cause": cause,
        "cells": [{"row": "c"}],
        "yields": yielded,
        "finding": "Two values are swapped.",
        "evidence": "The authors' picture.",
        **fields,
    }


def test_judge_cells_explained_only_by_the_published_value(tmp_path):
    def cell_c(yielded, reproduced="0.52", **fields):
        values = [*REPRODUCED[:2], yielded, "M", reproduced, "L"]
        artefact = toy(tmp_path, errata=[erratum(**fields)])
        return report(artefact, "embedded", CELLS.assign(value=values)).cells[4]

    # The published value is 0.5.
    explained = cell_c("0.496")
    assert (explained.verdict, explained.yielded) == ("explained", pytest.approx(0.496))
    assert explained.why == "Two values are swapped."
    assert "the cause yields 0.496" in explained.difference_text
    # One unit of the last digit is not the published value, and neither is the reproduced one.
    for yielded in ("0.506", "0.52"):
        cell = cell_c(yielded)
        assert (cell.verdict, cell.source) == ("different", "unknown")
        assert "Cause unknown" in cell.why and f"the cause yields {yielded}" in cell.difference_text
    assert cell_c("0.496", "0.504").verdict == "equal"
    assert cell_c("0.496", "0.509").verdict == "explained"
    assert cell_c("0.6", "0.509").verdict == "within tolerance"
    assert cell_c("0.5", yields=[]).verdict == "different"


def test_judge_cells_explained_by_a_supplementary_table(tmp_path):
    where = {"cells": {"row": "c", "metric": "AP"}, "supplement": "readings"}
    supplement = pd.DataFrame(
        [("c", "with fee", 0.52), ("c", "without fee", 0.499)], columns=["row", "fee", "value"]
    )

    def cell_c(fee, tables):
        yielded = where | ({"at": {"fee": fee}} if fee else {})
        artefact = toy(
            tmp_path, errata=[erratum(yields=[yielded])], supplements={"readings": "Fees."}
        )
        table = CELLS.assign(value=REPRODUCED)
        return report(artefact, "embedded", table, find_table=tables.get).cells[4].verdict

    assert cell_c("without fee", {"readings": supplement}) == "explained"
    assert cell_c("with fee", {"readings": supplement}) == "different"
    assert cell_c("without fee", {}) == "different"
    for fee in ("half of the fee", None):
        with pytest.raises(RecordError, match="'readings'"):
            cell_c(fee, {"readings": supplement})


def test_yields_the_cell_itself(tmp_path):
    with pytest.raises(ValueError, match="needs `at` or `supplement`"):
        toy(tmp_path, errata=[erratum(yields=[{"cells": {"row": "c", "metric": "AP"}}])])


@pytest.mark.parametrize("where", ["published", "copy", "method", "unknown"])
def test_an_explained_cell_says_where_the_cause_is(tmp_path, where):
    values = [*REPRODUCED[:2], "0.5", *REPRODUCED[3:]]
    artefact = toy(tmp_path, errata=[erratum(where)])
    result = report(artefact, "embedded", CELLS.assign(value=values))
    cell = result.cells[4]
    unknown = where == "unknown"
    why = "Cause unknown; candidate: " * unknown + "Two values are swapped."
    verdict = "different" if unknown else "explained"
    assert (cell.verdict, cell.source, cell.why) == (verdict, where, why)
    assert cell.model_dump()["source"] == where
    assert "source" not in result.cells[0].model_dump()
    positions = dict.fromkeys(("published", "copy", "method"), 0)
    row = summary_row(Result(toy(tmp_path), "embedded", result))
    assert row["explained"] == positions | ({} if unknown else {where: 1})


def test_a_cell_from_other_printed_cells_is_consistent_and_never_equal(tmp_path):
    derived = [{"cells": {"metric": "AP"}, "because": "the mean of two other columns"}]
    artefact = toy(tmp_path, derived=derived, errata=[erratum("published")])
    result = report(artefact, "embedded", CELLS.assign(value=REPRODUCED))
    assert [cell.verdict for cell in result.cells] == [
        "consistent", "equal", "consistent", "equal", "inconsistent", "different",
    ]  # fmt: skip
    assert result.cells[0].why == "the mean of two other columns"
    assert (result.cells[4].source, result.cells[4].why) == ("published", "Two values are swapped.")
    assert result.verdicts["equal"] == 2 and result.verdicts["consistent"] == 2
    assert not reproduces_no_cell(result)
    elsewhere = toy(tmp_path, derived=[derived[0] | {"tiers": ["full"]}])
    assert verdicts(elsewhere)[0] == "equal"


def test_report_origin_from_the_files_of_its_job(tmp_path):
    def origins(sources, **fields):
        result = report(toy(tmp_path, **fields), "embedded", table, sources=sources)
        return result.origin, {cell.origin for cell in result.cells}

    table = CELLS.assign(value=REPRODUCED)
    derived = {"because": "the mean of two other columns"}
    part = derived | {"cells": {"row": "a"}}
    data = Sources(data=("resources/a.csv",))
    both = data._replace(published=("published/toy/table_1.csv",))
    assert origins(data) == ("data", {"data"})
    assert origins(Sources()) == ("constants", {"constants"})
    assert origins(Sources(given_values=("values.csv",))) == ("given", {"given"})
    # A record may say less of a part of the cells than the files allow, and nothing else.
    assert origins(both, derived=[part]) == ("data", {"data", "other cells"})
    for sources, fields in (
        (data, {"derived": [part]}),
        (both, {"derived": [derived]}),
        (Sources(), {"derived": [part]}),
    ):
        with pytest.raises(RecordError, match=next(iter(fields))):
            origins(sources, **fields)


@pytest.mark.parametrize("observations", [False, True])
def test_report_origin_from_published_values(tmp_path, observations):
    quoted = {"cells": {"row": "a"}, "because": "votes", "is_input": True}
    papers = write_paper(
        tmp_path, f"{RECORD}    quoted: [{json.dumps(quoted | {'observations': observations})}]\n"
    )
    artefact = load_papers(papers)["toy"].artefacts["table_1"]
    sources = Sources(published=("published/toy/table_1.csv",))
    result = report(artefact, "embedded", artefact.cells, sources=sources)
    expected = "published inputs" if observations else "other cells"
    assert result.origin == expected
    assert [cell.origin for cell in result.cells] == ["quoted"] * 2 + [expected] * 2
    # Facts that are no published values of an artefact are inputs of the method.
    facts = Sources(published=("published/toy/queries.csv",))
    (papers / "toy" / "paper.yaml").write_text(PAPER.replace("}", ", facts: [queries.csv]}"))
    assert report(artefact, "embedded", artefact.cells, sources=facts).origin == "published inputs"


def test_report_empty_cells_count_nowhere(tmp_path):
    cells = "row,metric,value,marker\na,AP,0.30,\na,n,-,not_reported\nb,AP,\u2013,\nb,size,-,\n"
    record = RECORD.replace("n: 0}", "n: 0, size: text}")
    artefact = load_papers(write_paper(tmp_path, record, cells))["toy"].artefacts["table_1"]
    assert artefact.empty_rows == [1, 2]
    table = pd.DataFrame(
        [("a", "AP", 0.3), ("b", "AP", 0.1), ("b", "size", "-")], columns=["row", "metric", "value"]
    )
    result = report(artefact, "embedded", table)
    assert [cell.kind for cell in result.cells] == ["number", "empty", "empty", "category"]
    assert result.cells[2].reproduced is None
    assert sum(result.verdicts.values()) == result.verdicts["equal"] == 2


@pytest.mark.parametrize(
    ("origin", "expected"),
    [("data", False), ("published inputs", False), ("other cells", True), ("constants", True)],
)
def test_reproduces_no_cell_without_published_cells(tmp_path, origin, expected):
    artefact = toy(tmp_path)
    result = report(artefact, "embedded", CELLS.assign(value=REPRODUCED))
    assert not reproduces_no_cell(result)
    drawn = result.model_copy(update={"cells": [], "origin": origin})
    assert reproduces_no_cell(drawn) is expected
    assert not reproduces_no_cell(drawn.model_copy(update={"state": "surrogate"}))


def test_what_is_rebuilt_on_other_data_is_a_stand_in_of_that_name(tmp_path):
    artefact = toy(tmp_path)
    values = CELLS.assign(value=REPRODUCED)
    result = report(artefact, "embedded", values, foreign="other data than a fold")
    assert (result.state, result.foreign, result.cells) == (
        "surrogate",
        "other data than a fold",
        [],
    )
    assert report(artefact, "embedded", values).state == "reproduced"


def test_cells_that_a_tier_cannot_reach(tmp_path):
    part = {"cells": {"row": "c"}, "tier": "embedded", "needs": "a crowd"}
    artefact = toy(tmp_path, not_run=[part])
    result = report(artefact, "embedded", CELLS.assign(value=REPRODUCED)[:4])
    assert [cell.verdict for cell in result.cells[4:]] == ["not run", "not run"]
    assert {cell.why for cell in result.cells[4:]} == {"a crowd"}
    with pytest.raises(
        RecordError, match=r"`not_run` of table_1 selects the cell c / AP, .* exclude it"
    ):
        report(artefact, "embedded", CELLS.assign(value=REPRODUCED))


def test_a_printed_cell_that_a_rebuilt_table_leaves_out_is_an_error(tmp_path):
    table = CELLS.assign(value=REPRODUCED)
    lacking = "lacks the published cell c / size"
    with pytest.raises(RecordError, match=lacking):
        report(toy(tmp_path), "embedded", table[:5])
    with pytest.raises(RecordError, match="lacks the published cell a / AP"):
        report(toy(tmp_path), "embedded", table[:0])
    quoted = toy(tmp_path, quoted=[{"cells": {"row": "c"}, "because": "from another paper"}])
    assert report(quoted, "embedded", table[:4]).verdicts["quoted"] == 2


def test_a_run_may_leave_out_what_its_user_names(tmp_path):
    tier = {"state": "reproduced", "needs": "your own models", "may_lack": {"row": ["b", "c"]}}
    artefact = toy(tmp_path, tiers={"embedded": tier})
    table = CELLS.assign(value=REPRODUCED)
    result = report(artefact, "embedded", table[:4])
    assert [cell.verdict for cell in result.cells] == ["equal"] * 4 + ["not run"] * 2
    assert result.cells[5].why == "your own models"
    assert report(artefact, "embedded", table).verdicts["not run"] == 0
    with pytest.raises(RecordError, match="lacks the published cell a / AP"):
        report(artefact, "embedded", table[2:])
    with pytest.raises(ValueError, match="`may_lack` requires the state reproduced"):
        toy(tmp_path, tiers={"embedded": tier | {"state": "quoted"}})


def test_without_a_run_every_cell_says_what_it_takes(tmp_path):
    for tier, needs in (("embedded", "nothing"), ("full", "a GPU")):
        result = report(toy(tmp_path), tier)
        assert result.state == "not run" and result.verdicts["not run"] == 6
        assert {cell.why for cell in result.cells} == {needs}


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (pd.concat([CELLS, CELLS[:1]]), "the cell a / AP twice"),
        (CELLS.replace("c", "d"), "which table_1.csv does not have"),
        (CELLS.drop(columns="metric"), "lacks the column 'metric'; it needs"),
        (CELLS.drop(columns="value"), "lacks the column 'value'; it needs"),
    ],
)
def test_a_rebuilt_table_that_does_not_fit(tmp_path, table, sentence):
    with pytest.raises(RecordError, match=sentence):
        report(toy(tmp_path), "embedded", table)


def test_a_tier_that_the_record_does_not_have(tmp_path):
    with pytest.raises(
        RecordError, match=r"no tier 'released'; its record declares embedded, full"
    ):
        report(toy(tmp_path), "released")


def test_a_value_that_is_no_number_stays_readable_json(tmp_path):
    values = ["nan", "S", "inf", "1e999", "", "L"]
    result = report(toy(tmp_path), "embedded", CELLS.assign(value=values))
    text = json.dumps(result.model_dump(), allow_nan=False)
    assert [cell["reproduced"] for cell in json.loads(text)["cells"]] == values
    assert Counter(cell.verdict for cell in result.cells) == {"different": 5, "equal": 1}


@pytest.mark.parametrize("text", ["0.3_0", "inf", "-inf", "nan", "1e999", "0x1", "٣", ""])
def test_what_is_no_number_is_none_wherever_a_number_is_read(text):
    table = pd.DataFrame({"system": ["a", "b"], "value": ["0.1", text]})
    claim = {"cells": {"system": "b"}, "op": ">", "value": 0}
    claim = Claim.model_validate(CLAIM | {"supported_if": [claim]})
    assert judge("0.3", text, 1) == "different"
    assert evaluate(claim, table).outcome == "inconclusive"
    with pytest.raises(ValueError, match="is not a number"):
        published_number(table, system="b")


def test_text_that_python_takes_for_a_number_stays_text(tmp_path):
    values = [*REPRODUCED[:5], "132_1"]
    assert report(toy(tmp_path), "embedded", CELLS.assign(value=values)).cells[5].reproduced == (
        "132_1"
    )


CLAIM = {
    "id": "c_is_best",
    "claim": "Row c has the highest AP.",
    "source": "p. 1",
    "supported_if": [
        {"cells": {"row": "c", "metric": "AP"}, "op": ">", "other": {"row": row}} for row in "ab"
    ],
}


def test_a_stand_in_has_no_cell_verdicts_but_its_conclusions(tmp_path):
    artefact = toy(tmp_path, state="surrogate", claims=[CLAIM])
    other_data = CELLS.assign(value=["0.9", "S", "0.8", "S", "0.7", "S"])
    result = report(artefact, "embedded", other_data)
    assert result.state == "surrogate" and result.cells == []
    assert set(result.verdicts.values()) == {0}
    [claim] = result.claims
    assert (claim.on_published, claim.on_reproduced) == ("supported", "contradicted")


def test_a_stand_in_that_was_not_run_has_no_cell_verdicts_either(tmp_path):
    result = report(toy(tmp_path, state="surrogate"), "embedded")
    assert result.state == "not run" and result.cells == []


def test_report_claim_on_a_reproduced_table_that_lacks_cells(tmp_path):
    claim = CLAIM | {"supported_if": [{"cells": {"metric": "AP"}, "op": ">", "value": 0.1}]}
    tier = {"state": "reproduced", "needs": "your own models", "may_lack": {"row": ["c"]}}
    artefact = toy(tmp_path, claims=[claim], tiers={"embedded": tier})
    full = report(artefact, "embedded", CELLS.assign(value=REPRODUCED))
    part = report(artefact, "embedded", CELLS.assign(value=REPRODUCED)[:4])
    assert full.claims[0].on_reproduced == "supported"
    assert part.claims[0].on_reproduced == "not run"
    assert report(artefact, "embedded").claims[0].on_reproduced == "not run"


@pytest.mark.parametrize("is_input", [True, False])
def test_report_claim_against_quoted_cells(tmp_path, is_input):
    quoted = {"cells": {"row": "c"}, "because": "an official run", "is_input": is_input}
    part = CELLS.assign(value=REPRODUCED)[:4]
    artefact = toy(tmp_path, claims=[CLAIM], quoted=[quoted])
    [result] = report(artefact, "embedded", part).claims
    assert result.on_reproduced == "supported" and "quoted values" in result.detail
    part = CELLS.assign(value=["9", *REPRODUCED[1:]])[:4]
    [result] = report(artefact, "embedded", part).claims
    assert result.on_reproduced == "contradicted" and "quoted values" in result.detail


@pytest.mark.parametrize("where", [None, "published", "copy", "method", "unknown"])
def test_report_contradicted_claim_stays_contradicted(tmp_path, where):
    """Whatever the cause of a contradiction, the outcome is what the test says."""
    erratum = {"id": "e", "cause": where, "finding": "Not so here.", "evidence": "The ratings."}
    fields = {"erratum": "e"} if where else {}
    artefact = toy(
        tmp_path,
        claims=[CLAIM | {"on_published": "contradicted"} | fields],
        errata=[erratum] if where else [],
    )
    values = ["0.9", *REPRODUCED[1:]]
    [result] = report(artefact, "embedded", CELLS.assign(value=values)).claims
    assert (result.on_published, result.on_reproduced) == ("supported", "contradicted")


def test_report_claim_that_surrogate_data_cannot_decide(tmp_path):
    missing = [{"kind": "experiment", "name": "toys with a size"}]
    declared = {"missing": missing, "because": "Toys have no size of their own."}
    tier = {"state": "surrogate", "needs": "nothing", "name": "toys", "not_testable": declared}
    artefact = toy(tmp_path, claims=[CLAIM], tiers={"embedded": tier})
    for values, outcome in ((REPRODUCED, "supported"), (["0.9", *REPRODUCED[1:]], "contradicted")):
        [result] = report(artefact, "embedded", CELLS.assign(value=values)).claims
        assert (result.on_reproduced, result.excluded) == ("not testable", outcome)


def test_a_stand_in_does_not_mix_with_printed_inputs(tmp_path):
    quoted = {"cells": {"row": "c"}, "because": "counts of the paper", "is_input": True}
    artefact = toy(tmp_path, state="surrogate", claims=[CLAIM], quoted=[quoted])
    [result] = report(artefact, "embedded", CELLS.assign(value=REPRODUCED)[:4]).claims
    assert result.on_reproduced == "not run"


LABELLED = pd.DataFrame(
    [("a", "BM25", "0.30", "b"), ("b", "TILDE", "0.4", "")],
    columns=["row", "model", "value", "marker"],
)


def labelled(folder: Path, state: str, **fields) -> Artefact:
    """An artefact with a column that describes its rows, a claim without it, and markers."""
    claim = CLAIM | {"supported_if": [{"cells": {"row": "b"}, "op": ">", "other": {"row": "a"}}]}
    record = {"labels": ["model"], "claims": [claim], "decimals": {"all": 2}}
    artefact = toy(folder, state, **record, **fields)
    LABELLED.to_csv(artefact.cells_path, index=False)
    return artefact


def test_a_stand_in_decides_conclusions_whatever_its_labels_are(tmp_path):
    other = LABELLED.assign(model=["LM", "SPLADE-tiny"])
    for values, outcome in ((["0.2", "0.3"], "supported"), (["0.3", "0.2"], "contradicted")):
        result = report(labelled(tmp_path, "surrogate"), "embedded", other.assign(value=values))
        [claim] = result.claims
        assert (claim.on_published, claim.on_reproduced) == ("supported", outcome)
    unnamed = other.drop(columns="model")
    assert report(labelled(tmp_path, "surrogate"), "embedded", unnamed) == report(
        labelled(tmp_path, "surrogate"), "embedded", other
    )


def test_a_stand_in_that_only_its_labels_tell_apart(tmp_path):
    with pytest.raises(
        RecordError, match=r"without the labels \['model'\], two cells .*'row': 'b'"
    ):
        report(labelled(tmp_path, "surrogate"), "embedded", LABELLED.assign(row="b"))


def test_a_stand_in_is_tested_without_the_rows_that_its_record_says_it_lacks(tmp_path):
    claim = CLAIM | {"supported_if": [{"cells": {"row": ["a", "b"], "metric": "AP"}, "op": "<",
                                   "other": {"row": "c"}}]}  # fmt: skip
    tier = {"state": "surrogate", "needs": "nothing", "name": "toys", "lacks": {"row": ["a"]}}
    artefact = toy(tmp_path, claims=[claim], tiers={"embedded": tier})
    part = CELLS.assign(value=REPRODUCED)
    [result] = report(artefact, "embedded", part[part["row"] != "a"]).claims
    assert (result.on_published, result.on_reproduced) == ("supported", "supported")
    assert result.detail == "1 of 1 comparisons true, without row a"
    with pytest.raises(RecordError, match="`lacks` of table_1 has row = 'a'"):
        report(artefact, "embedded", part)


def test_a_verdict_needs_the_labels_of_the_print(tmp_path):
    artefact = labelled(tmp_path, "reproduced")
    result = report(artefact, "embedded", LABELLED)
    assert [cell.verdict for cell in result.cells] == ["equal", "equal"]
    assert result.claims[0].on_reproduced == "supported"
    with pytest.raises(RecordError, match=r"\(b, SPLADE\), which table_1.csv"):
        report(artefact, "embedded", LABELLED.assign(model=["BM25", "SPLADE"]))


def test_report_markers(tmp_path):
    artefact = labelled(tmp_path, "reproduced")
    plain = report(artefact, "embedded", LABELLED.drop(columns="marker"))
    assert not any("markers" in cell for cell in plain.model_dump()["cells"])
    result = report(artefact, "embedded", LABELLED.assign(marker="c")[::-1])
    assert [cell.markers for cell in result.cells] == [
        Markers(published="b", reproduced="c"),
        Markers(published="", reproduced="c"),
    ]
    # Marks that differ make equal values different.
    assert {cell.verdict for cell in plain.cells} == {"equal"}
    assert {cell.verdict for cell in result.cells} == {"different"}
    none = report(artefact, "embedded", LABELLED.assign(marker=["", None]))
    first, second = none.model_dump()["cells"]
    assert first["markers"] == {"published": "b", "reproduced": ""}
    assert "markers" not in second


def test_a_cell_without_a_rebuilt_value_has_no_markers(tmp_path):
    part = {"cells": {"row": "a"}, "tier": "embedded", "needs": "a crowd"}
    artefact = labelled(tmp_path, "reproduced", not_run=[part])
    [first, second] = report(artefact, "embedded", LABELLED[1:]).cells
    assert first.verdict == "not run" and first.markers is None
    assert second.markers is None


def test_an_erratum_runs_its_audit_on_the_printed_cells(tmp_path):
    def audit_toy_rows(cells):
        return Finding(cells("table_1").shape == (6, 3), "six cells")

    audits = {"audit_toy_rows": audit_toy_rows}
    erratum = {
        "id": "e",
        "cause": "published",
        "finding": "Something is off.",
        "evidence": "Count the rows.",
    }
    artefact = toy(tmp_path, errata=[erratum | {"audit": "audit_toy_rows"}])
    [result] = report(artefact, "embedded", audits=audits).errata
    assert result.audit == AuditOutcome(name="audit_toy_rows", holds=True, detail="six cells")
    unknown = toy(tmp_path, errata=[erratum | {"audit": "audit_toy_none"}])
    with pytest.raises(
        RecordError, match=r"erratum e of table_1 refers to the audit 'audit_toy_none'"
    ):
        report(unknown, "embedded", audits=audits)
    with pytest.raises(RecordError, match=r"which chapter 1 does not have; correct the name or"):
        report(artefact, "embedded")


# The real artefacts


def as_reproduced(artefact: Artefact) -> pd.DataFrame:
    """The published cells as a reproduced table, with numbers where decimals are declared."""
    return artefact.cells[[*artefact.key_columns, "value"]]


def judged(artefact: Artefact, tier: Tier, reproduced: pd.DataFrame | None) -> Report:
    """The report of a real artefact, with the audits of its chapter and three equal trainings."""
    audits, tables = audits_of(artefact.paper, artefact.chapter), {}
    if reproduced is not None and SEEDS in artefact.record.supplements:
        numbers = reproduced[reproduced["value"].map(is_number)]
        tables[SEEDS] = summarise_seeds(pd.concat([numbers] * 3), artefact.key_columns)
    return report(artefact, tier, reproduced, audits=audits, find_table=tables.get)


@pytest.mark.parametrize("name", ["table_4_8", "table_7_5"])
def test_one_p_value_moved_by_0_002_changes_exactly_its_verdict(name):
    artefact = find_artefact(PAPERS, f"lajewska2025/{name}")
    assert artefact.decimals("p_value") == 3
    table = as_reproduced(artefact)
    before = judged(artefact, "released", table).cells
    assert {cell.verdict for cell in before} == {"equal"}
    p_values = table.index[table["metric"] == "p_value"]
    for index in p_values[:: max(1, len(p_values) // 10)]:
        for shift in (0.002, -0.002):
            value = float(table.loc[index, "value"]) + shift
            moved = table.assign(value=table["value"].where(table.index != index, repr(value)))
            after = judged(artefact, "released", moved).cells
            changed = [at for at in range(len(before)) if before[at] != after[at]]
            assert changed == [index]
            assert after[index].verdict in {"different", "explained"}


RUNS = [
    pytest.param(artefact, tier, id=f"{artefact.id} {tier}")
    for artefact in all_artefacts(PAPERS)
    for tier, declared in artefact.record.tiers.items()
    if declared.state in RUNNABLE and not artefact.cells.empty
]


@pytest.mark.parametrize(("artefact", "tier"), RUNS)
def test_counts_sum_to_the_cells_with_and_without_a_run(artefact, tier):
    unreachable = pd.Series(False, index=artefact.cells.index)
    for part in artefact.record.not_run:
        if part.tier == tier:
            unreachable |= artefact.select(part.cells)
    # A rule may not make quoted cells.
    for part in artefact.record.quoted:
        if tier in part.tiers:
            unreachable |= artefact.select(part.cells)
    for column, values in artefact.record.tiers[tier].lacks.items():
        unreachable |= artefact.cells[column].isin(values)
    runs = [None] if unreachable.all() else [None, as_reproduced(artefact)[~unreachable]]
    for reproduced in runs:
        result = judged(artefact, tier, reproduced)
        cells = 0 if artefact.record.tiers[tier].state == "surrogate" else len(artefact.cells)
        checks = sum(cell.kind in UNCOUNTED for cell in result.cells)
        assert sum(result.verdicts.values()) + checks == len(result.cells) == cells
        assert tuple(result.verdicts) == VERDICTS
        row = summary_row(Result(artefact, tier, result))
        assert sum(row["claims"].values()) == len(artefact.record.claims)
        if reproduced is not None:
            counted = {verdict for verdict, count in result.verdicts.items() if count}
            assert counted <= {"equal", "consistent", "quoted", "not run"}
            derived = pd.Series(False, index=artefact.cells.index)
            for part in artefact.record.derived:
                if tier in part.tiers:
                    derived |= artefact.select(part.cells)
            assert result.verdicts["consistent"] == (derived & ~unreachable).sum()


def test_a_summary_counts_conclusions_on_the_rebuilt_values(tmp_path):
    artefact = toy(tmp_path, claims=[CLAIM])
    low = CELLS.assign(value=["0.3", "S", "0.4", "M", "0.1", "-"])
    result = Result(artefact, "embedded", report(artefact, "embedded", low))
    assert summary_row(result) == {
        "id": "toy/table_1",
        "tier": "embedded",
        "state": "reproduced",
        "verdicts": dict.fromkeys(VERDICTS, 0) | {"equal": 5, "different": 1},
        "explained": dict.fromkeys(("published", "copy", "method"), 0),
        "claims": {
            "supported": 0,
            "contradicted": 1,
            "inconclusive": 0,
            "dependent on the machine": 0,
            "not testable": 0,
            "not run": 0,
        },
    }
    not_run = Result(artefact, "embedded", report(artefact, "embedded"))
    assert {name: n for name, n in summary_row(not_run)["claims"].items() if n} == {"not run": 1}


@given(st.data())
def test_a_moved_value_never_changes_the_verdict_of_another_cell(data):
    artefact = find_artefact(PAPERS, "sakai2023/table_2")
    table = as_reproduced(artefact)
    index = data.draw(st.sampled_from(table.index.tolist()))
    value = data.draw(st.floats(0, 1))
    assume(abs(value - float(table.loc[index, "value"])) > 0.0002)
    moved = table.assign(value=table["value"].where(table.index != index, repr(value)))
    result = [cell.verdict for cell in judged(artefact, "embedded", moved).cells]
    assert result == ["different" if at == index else "equal" for at in range(len(table))]


def test_explained_by_source_and_format_counts():
    cell = JudgedCell(
        key={"row": "a"}, published="1", reproduced=2.0, verdict="explained", why="", source="copy"
    )
    assert explained_by_source([cell]) == {"published": 0, "copy": 1, "method": 0}
    verdicts = {"equal": 3, "within tolerance": 0, "explained": 2}
    counts = format_counts(verdicts, {"published": 1, "copy": 1, "method": 0})
    assert counts == "3 equal, 2 explained (1 published, 1 copy)"
