"""Reports of an artefact in a tier: verdicts of cells, outcomes of claims, errata."""

import json
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from harness import published
from hypothesis import assume, given
from hypothesis import strategies as st
from unit.toy_papers import CELLS as TOY_CELLS
from unit.toy_papers import PAPER, RECORD, write_paper

from everycell.records.cells import SEEDS, RecordError, is_number, summarise_seeds
from everycell.records.claims import Claim
from everycell.records.folders import Tier
from everycell.records.papers import Artefact, all_artefacts, find_artefact, load_papers
from everycell.records.tables import RUNNABLE, Record
from everycell.verdicts.audits import Finding, audits_of, published_number
from everycell.verdicts.cells import Sources
from everycell.verdicts.claims import evaluate
from everycell.verdicts.counts import summary_row
from everycell.verdicts.judge import judge
from everycell.verdicts.reports import (
    UNCOUNTED,
    VERDICTS,
    AuditOutcome,
    JudgedCell,
    JudgedClaim,
    Markers,
    Report,
    Result,
    explained_by_source,
    format_counts,
    reproduces_no_cell,
)
from everycell.verdicts.results import read_result
from everycell.verdicts.verdicts import _ruling_on_marks, report

PAPERS = published()
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
#: The same, but a claim that row c is best is contradicted.
CONTRADICTING = ["0.9", *REPRODUCED[1:]]
TABLE = CELLS.assign(value=REPRODUCED)
CELL_C = {"row": "c", "metric": "AP"}


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


def judged(folder: Path, values=REPRODUCED, rows: slice = slice(None), **fields) -> Report:
    """Report on some rows of the toy with these values, and these fields in its record."""
    return report(toy(folder, **fields), "embedded", CELLS.assign(value=values)[rows])


def verdicts(folder: Path, *arguments, **fields) -> list[str]:
    return [cell.verdict for cell in judged(folder, *arguments, **fields).cells]


# Verdicts of cells


def test_report_cells(tmp_path):
    result = judged(tmp_path)
    assert [cell.verdict for cell in result.cells] == ["equal"] * 4 + ["different"] * 2
    assert [cell.reproduced for cell in result.cells] == [0.301, "S", 0.396, "M", 0.52, "L"]
    assert result.state == "reproduced"
    assert (result.verdicts["equal"], result.verdicts["different"]) == (4, 2)


def test_report_order_of_rows_and_columns(tmp_path):
    turned = TABLE.iloc[::-1][["value", "metric", "row"]].assign(note="x")
    assert report(toy(tmp_path), "embedded", turned) == judged(tmp_path)


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({"decimals": 1}, "equal"),
        ({"decimals": 0}, "different"),
        ({"decimals": 0, "measured": True}, "equal"),
    ],
)
def test_report_precision_of_a_block(tmp_path, fields, verdict):
    assert verdicts(tmp_path, precision=[{"cells": CELL_C} | fields])[4] == verdict


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"precision": [{"cells": CELL_C, "decimals": 1, "measured": True}]}, "without decimals"),
        ({"precision": [{"cells": CELL_C}]}, "needs `decimals` or `measured: true`"),
        (
            {"errata": [{"id": "e", "cause": "copy", "finding": "It is wrong.",
                         "evidence": "It cannot be.", "yields": [{"cells": CELL_C}]}]},
            "needs `at` or `supplement`",
        ),
    ],
)  # fmt: skip
def test_record_invalid_fields(tmp_path, fields, message):
    with pytest.raises(ValueError, match=message):
        toy(tmp_path, **fields)


def test_report_tolerance_with_its_reason(tmp_path):
    tolerance = {"cells": CELL_C, "within": 0.02, "because": "rounded inputs"}
    cell = judged(tmp_path, tolerances=[tolerance]).cells[4]
    assert (cell.verdict, cell.why) == ("within tolerance", "rounded inputs")


@pytest.mark.parametrize("values", [REPRODUCED, CELLS["value"].tolist()])
def test_report_quoted_cells(tmp_path, values):
    quoted = [{"cells": {"row": "c"}, "because": "from another paper"}]
    result = judged(tmp_path, values, slice(4), quoted=quoted)
    assert {(cell.verdict, cell.reproduced, cell.why) for cell in result.cells[4:]} == {
        ("quoted", None, "from another paper")
    }
    assert (result.verdicts["equal"], result.verdicts["quoted"]) == (4, 2)


def test_report_quoted_artefact(tmp_path):
    result = report(toy(tmp_path, state="quoted"), "embedded")
    assert result.state == "quoted" and result.verdicts["quoted"] == 6


def erratum(cause="method", **fields) -> dict:
    """An erratum of the cell (c, AP), published as 0.5, which row b is said to explain."""
    return {
        "id": "e",
        "cause": cause,
        "cells": [{"row": "c"}],
        "yields": [{"cells": CELL_C, "at": {"row": "b"}}],
        "finding": "Two values are swapped.",
        "evidence": "The authors' picture.",
        **fields,
    }


def test_report_explained_only_by_the_published_value(tmp_path):
    def cell_c(yielded, reproduced="0.52", **fields):
        values = [*REPRODUCED[:2], yielded, "M", reproduced, "L"]
        return judged(tmp_path, values, errata=[erratum(**fields)]).cells[4]

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


READINGS = pd.DataFrame(
    [("c", "with fee", 0.52), ("c", "without fee", 0.499)], columns=["row", "fee", "value"]
)


@pytest.mark.parametrize(
    ("fee", "tables", "expected"),
    [
        ("without fee", {"readings": READINGS}, "explained"),
        ("with fee", {"readings": READINGS}, "different"),
        ("without fee", {}, "different"),
        ("half of the fee", {"readings": READINGS}, None),
        (None, {"readings": READINGS}, None),
    ],
)
def test_report_explained_by_a_supplementary_table(tmp_path, fee, tables, expected):
    yielded = {"cells": CELL_C, "supplement": "readings"} | ({"at": {"fee": fee}} if fee else {})
    artefact = toy(tmp_path, errata=[erratum(yields=[yielded])], supplements={"readings": "Fees."})
    if expected is None:
        with pytest.raises(RecordError, match="'readings'"):
            report(artefact, "embedded", TABLE, find_table=tables.get)
    else:
        cells = report(artefact, "embedded", TABLE, find_table=tables.get).cells
        assert cells[4].verdict == expected


@pytest.mark.parametrize("cause", ["published", "copy", "method", "unknown"])
def test_report_explained_cell_has_the_cause(tmp_path, cause):
    values = [*REPRODUCED[:2], "0.5", *REPRODUCED[3:]]
    result = judged(tmp_path, values, errata=[erratum(cause)])
    cell = result.cells[4]
    unknown = cause == "unknown"
    why = "Cause unknown; candidate: " * unknown + "Two values are swapped."
    verdict = "different" if unknown else "explained"
    assert (cell.verdict, cell.source, cell.why) == (verdict, cause, why)
    assert cell.model_dump()["source"] == cause
    assert "source" not in result.cells[0].model_dump()
    positions = dict.fromkeys(("published", "copy", "method"), 0)
    row = summary_row(Result(toy(tmp_path), "embedded", result))
    assert row["explained"] == positions | ({} if unknown else {cause: 1})


def test_report_derived_cells_are_consistent_or_inconsistent(tmp_path):
    derived = {"cells": {"metric": "AP"}, "because": "the mean of two other columns"}
    result = judged(tmp_path, derived=[derived], errata=[erratum("published")])
    assert [cell.verdict for cell in result.cells] == [
        "consistent", "equal", "consistent", "equal", "inconsistent", "different",
    ]  # fmt: skip
    assert result.cells[0].why == "the mean of two other columns"
    assert (result.cells[4].source, result.cells[4].why) == ("published", "Two values are swapped.")
    assert result.verdicts["equal"] == 2 and result.verdicts["consistent"] == 2
    assert not reproduces_no_cell(result)
    assert verdicts(tmp_path, derived=[derived | {"tiers": ["full"]}])[0] == "equal"


PART = {"because": "the mean of two other columns", "cells": {"row": "a"}}
WHOLE = {"because": "the mean of two other columns"}
DATA = Sources(data=("resources/a.csv",))


@pytest.mark.parametrize("value", ["NaN", float("nan"), "–", "OOM", "", "Infinity"])
@pytest.mark.parametrize("is_given", [True, False])
def test_report_given_value_missing(tmp_path, value, is_given):
    """A word for a missing number is no difference if users give the values; a rule has a fault."""
    values = [value, value, *REPRODUCED[2:]]
    sources = Sources(given_values=("values.csv",)) if is_given else DATA
    table = CELLS.assign(value=values)
    result = report(toy(tmp_path), "embedded", table, sources=sources)
    is_missing = is_given and value != "Infinity"
    assert result.cells[0].verdict == ("not run" if is_missing else "different")
    assert (result.cells[0].reproduced is None) == is_missing
    # Where the paper has a word, another one differs.
    assert result.cells[1].verdict == "different"


BOTH = DATA._replace(published=("published/toy/table_1.csv",))


@pytest.mark.parametrize(
    ("sources", "derived", "expected"),
    [
        (DATA, [], ("data", {"data"})),
        (Sources(), [], ("constants", {"constants"})),
        (Sources(given_values=("values.csv",)), [], ("given", {"given"})),
        # A record may say less of a part of the cells than the files allow, and nothing else.
        (BOTH, [PART], ("data", {"data", "other cells"})),
        (DATA, [PART], None),
        (BOTH, [WHOLE], None),
        (Sources(), [PART], None),
    ],
)
def test_report_origin(tmp_path, sources, derived, expected):
    artefact = toy(tmp_path, derived=derived)
    if expected is None:
        with pytest.raises(RecordError, match="derived"):
            report(artefact, "embedded", TABLE, sources=sources)
    else:
        result = report(artefact, "embedded", TABLE, sources=sources)
        assert (result.origin, {cell.origin for cell in result.cells}) == expected


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
    # Facts that are not published values of an artefact are inputs of the method.
    facts = Sources(published=("published/toy/queries.csv",))
    (papers / "toy" / "paper.yaml").write_text(PAPER.replace("}", ", facts: [queries.csv]}"))
    assert report(artefact, "embedded", artefact.cells, sources=facts).origin == "published inputs"


def test_report_empty_cells_count_nowhere(tmp_path):
    cells = "row,metric,value,marker\na,AP,0.30,\na,n,-,not_reported\nb,AP,\u2013,\nb,size,-,\n"
    record = RECORD.replace("n: 0}", "n: 0, size: text}")
    artefact = toy_in_files(tmp_path, record, cells)
    assert artefact.empty_rows == [1, 2]
    rows = [("a", "AP", 0.3), ("b", "AP", 0.1), ("b", "size", "-")]
    result = report(artefact, "embedded", pd.DataFrame(rows, columns=CELLS.columns))
    assert [cell.kind for cell in result.cells] == ["number", "empty", "empty", "category"]
    assert result.cells[2].reproduced is None
    assert sum(result.verdicts.values()) == result.verdicts["equal"] == 2


@pytest.mark.parametrize(
    ("origin", "expected"),
    [("data", False), ("published inputs", False), ("other cells", True), ("constants", True)],
)
def test_reproduces_no_cell_without_published_cells(tmp_path, origin, expected):
    result = judged(tmp_path)
    assert not reproduces_no_cell(result)
    drawn = result.model_copy(update={"cells": [], "origin": origin})
    assert reproduces_no_cell(drawn) is expected
    assert not reproduces_no_cell(drawn.model_copy(update={"state": "surrogate"}))


def test_report_on_other_data(tmp_path):
    result = report(toy(tmp_path), "embedded", TABLE, foreign="other data than a fold")
    assert (result.state, result.cells) == ("surrogate", [])
    assert result.foreign == "other data than a fold"


def test_report_not_run_cells(tmp_path):
    fields = {"not_run": [{"cells": {"row": "c"}, "tier": "embedded", "needs": "a crowd"}]}
    cells = judged(tmp_path, REPRODUCED, slice(4), **fields).cells[4:]
    assert {(cell.verdict, cell.why) for cell in cells} == {("not run", "a crowd")}
    with pytest.raises(RecordError, match=r"`not_run` of table_1 selects the cell c / AP"):
        judged(tmp_path, **fields)


YOUR_MODELS = {"state": "reproduced", "needs": "your own models", "may_lack": {"row": ["b", "c"]}}


@pytest.mark.parametrize(
    ("rows", "fields", "lacking"),
    [
        (slice(5), {}, "c / size"),
        (slice(0), {}, "a / AP"),
        (slice(4), {"quoted": [{"cells": {"row": "c"}, "because": "another paper"}]}, ""),
        (slice(4), {"tiers": {"embedded": YOUR_MODELS}}, ""),
        (slice(2, None), {"tiers": {"embedded": YOUR_MODELS}}, "a / AP"),
    ],
)
def test_report_missing_cell(tmp_path, rows, fields, lacking):
    if lacking:
        with pytest.raises(RecordError, match=f"lacks the published cell {lacking}"):
            judged(tmp_path, REPRODUCED, rows, **fields)
    else:
        assert verdicts(tmp_path, REPRODUCED, rows, **fields)[:4] == ["equal"] * 4


def test_report_cells_that_a_run_may_lack(tmp_path):
    fields = {"tiers": {"embedded": YOUR_MODELS}}
    cells = judged(tmp_path, REPRODUCED, slice(4), **fields).cells[4:]
    assert {(cell.verdict, cell.why) for cell in cells} == {("not run", "your own models")}
    assert judged(tmp_path, **fields).verdicts["not run"] == 0
    with pytest.raises(ValueError, match="`may_lack` requires the state reproduced"):
        toy(tmp_path, tiers={"embedded": YOUR_MODELS | {"state": "quoted"}})


@pytest.mark.parametrize(("tier", "needs"), [("embedded", "nothing"), ("full", "a GPU")])
def test_report_without_a_run(tmp_path, tier, needs):
    result = report(toy(tmp_path), tier)
    assert result.state == "not run" and result.verdicts["not run"] == 6
    assert {cell.why for cell in result.cells} == {needs}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pd.concat([CELLS, CELLS[:1]]), "the cell a / AP twice"),
        (CELLS.replace("c", "d"), "which table_1.csv does not have"),
        (CELLS.drop(columns="metric"), "lacks the column 'metric'; it needs"),
        (CELLS.drop(columns="value"), "lacks the column 'value'; it needs"),
    ],
)
def test_report_table_that_does_not_fit(tmp_path, table, message):
    with pytest.raises(RecordError, match=message):
        report(toy(tmp_path), "embedded", table)


def test_report_unknown_tier(tmp_path):
    with pytest.raises(RecordError, match="no tier 'released'; its record declares embedded, full"):
        report(toy(tmp_path), "released")


def test_report_values_that_are_no_numbers(tmp_path):
    values = ["nan", "S", "inf", "1e999", "", "132_1"]
    result = judged(tmp_path, values)
    text = json.dumps(result.model_dump(), allow_nan=False)
    assert [cell["reproduced"] for cell in json.loads(text)["cells"]] == values
    assert Counter(cell.verdict for cell in result.cells) == {"different": 5, "equal": 1}


CLAIM = {
    "id": "c_is_best",
    "claim": "Row c has the highest AP.",
    "source": "p. 1",
    "supported_if": [{"cells": CELL_C, "op": ">", "other": {"row": row}} for row in "ab"],
}


@pytest.mark.parametrize("text", ["0.3_0", "inf", "-inf", "nan", "1e999", "0x1", "٣", ""])
def test_numbers_are_the_same_wherever_they_are_read(text):
    table = pd.DataFrame({"system": ["a", "b"], "value": ["0.1", text]})
    part = {"cells": {"system": "b"}, "op": ">", "value": 0}
    claim = Claim.model_validate(CLAIM | {"supported_if": [part]})
    assert judge("0.3", text, 1) == "different"
    assert evaluate(claim, table).outcome == "inconclusive"
    with pytest.raises(ValueError, match="is not a number"):
        published_number(table, system="b")


# Claims


def judged_claim(folder: Path, *arguments, **fields) -> JudgedClaim:
    """The only claim of the toy, which says that row c is best."""
    [claim] = judged(folder, *arguments, **{"claims": [CLAIM]} | fields).claims
    return claim


def test_report_claim_on_surrogate_data(tmp_path):
    result = judged(
        tmp_path, ["0.9", "S", "0.8", "S", "0.7", "S"], state="surrogate", claims=[CLAIM]
    )
    assert result.state == "surrogate" and result.cells == []
    assert set(result.verdicts.values()) == {0}
    [claim] = result.claims
    assert (claim.on_published, claim.on_reproduced) == ("supported", "contradicted")
    without = report(toy(tmp_path, state="surrogate"), "embedded")
    assert without.state == "not run" and without.cells == []


def test_report_claim_missing_cells(tmp_path):
    claim = CLAIM | {"supported_if": [{"cells": {"metric": "AP"}, "op": ">", "value": 0.1}]}
    fields = {"claims": [claim], "tiers": {"embedded": YOUR_MODELS}}
    assert judged_claim(tmp_path, **fields).on_reproduced == "supported"
    assert judged_claim(tmp_path, REPRODUCED, slice(4), **fields).on_reproduced == "not run"
    assert report(toy(tmp_path, **fields), "embedded").claims[0].on_reproduced == "not run"


@pytest.mark.parametrize("is_input", [True, False])
@pytest.mark.parametrize(
    ("values", "expected"), [(REPRODUCED, "supported"), (CONTRADICTING, "contradicted")]
)
def test_report_claim_against_quoted_cells(tmp_path, is_input, values, expected):
    quoted = {"cells": {"row": "c"}, "because": "an official run", "is_input": is_input}
    result = judged_claim(tmp_path, values, slice(4), quoted=[quoted])
    assert result.on_reproduced == expected and "quoted values" in result.detail


@pytest.mark.parametrize("cause", [None, "published", "copy", "method", "unknown"])
def test_report_contradicted_claim(tmp_path, cause):
    """The outcome is that of the test, whatever the cause of a contradiction."""
    own = {"id": "e", "cause": cause, "finding": "Not so here.", "evidence": "The ratings."}
    claim = CLAIM | {"on_published": "contradicted"} | ({"erratum": "e"} if cause else {})
    result = judged_claim(tmp_path, CONTRADICTING, claims=[claim], errata=[own] if cause else [])
    assert (result.on_published, result.on_reproduced) == ("supported", "contradicted")


@pytest.mark.parametrize(
    ("values", "outcome"), [(REPRODUCED, "supported"), (CONTRADICTING, "contradicted")]
)
def test_report_claim_undecided_by_surrogate(tmp_path, values, outcome):
    missing = [{"kind": "experiment", "name": "toys with a size"}]
    declared = {"missing": missing, "because": "Toys have no size of their own."}
    tier = {"state": "surrogate", "needs": "nothing", "name": "toys", "not_testable": declared}
    result = judged_claim(tmp_path, values, tiers={"embedded": tier})
    assert (result.on_reproduced, result.excluded) == ("not testable", outcome)


def test_report_surrogate_data_do_not_mix_with_published_inputs(tmp_path):
    quoted = {"cells": {"row": "c"}, "because": "counts of the paper", "is_input": True}
    result = judged_claim(tmp_path, REPRODUCED, slice(4), state="surrogate", quoted=[quoted])
    assert result.on_reproduced == "not run"


def test_report_claim_without_the_rows_that_surrogate_data_lack(tmp_path):
    part = {"cells": {"row": ["a", "b"], "metric": "AP"}, "op": "<", "other": {"row": "c"}}
    tier = {"state": "surrogate", "needs": "nothing", "name": "toys", "lacks": {"row": ["a"]}}
    fields = {"claims": [CLAIM | {"supported_if": [part]}], "tiers": {"embedded": tier}}
    result = judged_claim(tmp_path, REPRODUCED, slice(2, None), **fields)
    assert (result.on_published, result.on_reproduced) == ("supported", "supported")
    assert result.detail == "1 of 1 comparisons true, without row a"
    with pytest.raises(RecordError, match="`lacks` of table_1 has row = 'a'"):
        judged(tmp_path, **fields)


# Labels and markers

LABELLED = pd.DataFrame(
    [("a", "BM25", "0.30", "b"), ("b", "TILDE", "0.4", "")],
    columns=["row", "model", "value", "marker"],
)


def labelled(folder: Path, table=LABELLED, state: str = "reproduced", **fields) -> Report:
    """Report on an artefact with a column that describes its rows, a claim, and markers."""
    claim = CLAIM | {"supported_if": [{"cells": {"row": "b"}, "op": ">", "other": {"row": "a"}}]}
    record = {"labels": ["model"], "claims": [claim], "decimals": {"all": 2}}
    artefact = toy(folder, state, **record, **fields)
    LABELLED.to_csv(artefact.cells_path, index=False)
    return report(artefact, "embedded", table)


@pytest.mark.parametrize(
    ("values", "outcome"), [(["0.2", "0.3"], "supported"), (["0.3", "0.2"], "contradicted")]
)
def test_report_claim_on_surrogate_data_with_other_labels(tmp_path, values, outcome):
    other = LABELLED.assign(model=["LM", "SPLADE-tiny"], value=values)
    result = labelled(tmp_path, other, "surrogate")
    assert [(claim.on_published, claim.on_reproduced) for claim in result.claims] == [
        ("supported", outcome)
    ]
    assert labelled(tmp_path, other.drop(columns="model"), "surrogate") == result


def test_report_cells_that_only_labels_distinguish(tmp_path):
    with pytest.raises(RecordError, match=r"without the labels \['model'\], two cells .*'b'"):
        labelled(tmp_path, LABELLED.assign(row="b"), "surrogate")


def test_report_labels_are_keys_of_reproduced_cells(tmp_path):
    result = labelled(tmp_path)
    assert [cell.verdict for cell in result.cells] == ["equal", "equal"]
    assert result.claims[0].on_reproduced == "supported"
    with pytest.raises(RecordError, match=r"\(b, SPLADE\), which table_1.csv"):
        labelled(tmp_path, LABELLED.assign(model=["BM25", "SPLADE"]))


def test_report_markers(tmp_path):
    plain = labelled(tmp_path, LABELLED.drop(columns="marker"))
    assert not any("markers" in cell for cell in plain.model_dump()["cells"])
    result = labelled(tmp_path, LABELLED.assign(marker="c")[::-1])
    assert [cell.markers for cell in result.cells] == [
        Markers(published="b", reproduced="c"),
        Markers(published="", reproduced="c"),
    ]
    # Marks that differ make equal values different.
    assert {cell.verdict for cell in plain.cells} == {"equal"}
    assert {cell.verdict for cell in result.cells} == {"different"}
    first, second = labelled(tmp_path, LABELLED.assign(marker=["", None])).model_dump()["cells"]
    assert first["markers"] == {"published": "b", "reproduced": ""}
    assert "markers" not in second


def test_report_markers_of_a_cell_not_run(tmp_path):
    part = {"cells": {"row": "a"}, "tier": "embedded", "needs": "a crowd"}
    [first, second] = labelled(tmp_path, LABELLED[1:], not_run=[part]).cells
    assert first.verdict == "not run" and first.markers is None
    assert second.markers is None


def test_report_runs_the_audit_of_an_erratum(tmp_path):
    def audit_toy_rows(cells):
        return Finding(cells("table_1").shape == (6, 3), "six cells")

    audits = {"audit_toy_rows": audit_toy_rows}
    own = erratum("published", yields=[], cells=[])
    artefact = toy(tmp_path, errata=[own | {"audit": "audit_toy_rows"}])
    [result] = report(artefact, "embedded", audits=audits).errata
    assert result.audit == AuditOutcome(name="audit_toy_rows", holds=True, detail="six cells")
    unknown = toy(tmp_path, errata=[own | {"audit": "audit_toy_none"}])
    with pytest.raises(
        RecordError, match=r"erratum e of table_1 refers to the audit 'audit_toy_none'"
    ):
        report(unknown, "embedded", audits=audits)
    with pytest.raises(RecordError, match=r"which chapter 1 does not have; correct the name or"):
        report(artefact, "embedded")


# Papers in files

TOY_TABLE = pd.DataFrame(
    {
        "row": ["a", "a", "b", "b"],
        "metric": ["AP", "n", "AP", "n"],
        "value": ["0.301", "12", "0.398", "7"],
    }
)


def toy_in_files(folder: Path, record: str = RECORD, cells: str = TOY_CELLS) -> Artefact:
    return load_papers(write_paper(folder, record, cells))["toy"].artefacts["table_1"]


@pytest.mark.parametrize("options", ["", ", is_input: true"])
def test_report_quoted_cell_that_a_rule_makes(tmp_path, options):
    quoted = f"    quoted: [{{cells: {{row: b}}, because: an input{options}}}]\n"
    artefact = toy_in_files(tmp_path, RECORD + quoted)
    with pytest.raises(RecordError, match=r"quoted.*b / AP.*embedded"):
        report(artefact, "embedded", TOY_TABLE)
    half = report(artefact, "embedded", TOY_TABLE[:2])
    assert half.verdicts["quoted"] == half.verdicts["equal"] == 2
    # A figure may repeat its inputs.
    repeated = TOY_TABLE.assign(value=["0.301", "12", "0.4", "7"])
    if options:
        assert report(artefact, "embedded", repeated).verdicts["quoted"] == 2


@pytest.mark.parametrize(
    ("published_mark", "reproduced_mark", "verdict"),
    [
        *((*pair, "different") for pair in (("L", "–"), ("L", ""), ("", "†"), ("*", "**"))),
        ("S", "M", "different"),
        *((*pair, "equal") for pair in (("L", "L"), ("–", ""), ("", "-"), ("-", "–"), ("", ""))),
        # An unknown mark is no difference.
        ("†", "?", "equal"),
        ("not_reported", "*", "equal"),
    ],
)
def test_report_marks(tmp_path, published_mark, reproduced_mark, verdict):
    cells = f"row,metric,value,marker\na,AP,0.30,{published_mark}\nb,AP,0.4,\n"
    artefact = toy_in_files(tmp_path, RECORD.replace("{AP: 2, n: 0}", "{AP: 2}"), cells)
    table = TOY_TABLE[::2].assign(marker=[reproduced_mark, ""])
    cell = report(artefact, "embedded", table).cells[0]
    assert (cell.verdict, "mark" in (cell.why or "")) == (verdict, verdict == "different")


def test_ruling_markers_too_noisy():
    """Neither the value nor its mark is judged, but the reader sees that the marks differ."""
    cell = JudgedCell(
        key={"row": "a"}, published="0.30", reproduced="0.35", verdict="too noisy to judge",
        why="Seeds vary.",
    )  # fmt: skip
    ruling = _ruling_on_marks(cell, Markers(published="*", reproduced=""))
    assert ruling["verdict"] == "too noisy to judge"
    assert "the mark *" in ruling["why"] and ruling["why"].endswith("Seeds vary.")
    assert _ruling_on_marks(cell, Markers(published="*", reproduced="*")) == {}


@pytest.mark.parametrize("minus", ["\u2212", "\u2013", "-"])
def test_report_typographic_minus(tmp_path, minus):
    artefact = toy_in_files(tmp_path, cells=TOY_CELLS.replace("0.30", f"{minus}0.30"))
    assert artefact.cells["value"][0] == "-0.30"
    path = tmp_path / "result.csv"
    TOY_TABLE.assign(value=[f"{minus}0.301", "12", "0.398", "7"]).to_csv(path, index=False)
    assert report(artefact, "embedded", read_result(path)).verdicts["equal"] == 4


# The real artefacts


def as_reproduced(artefact: Artefact) -> pd.DataFrame:
    """The published cells as a reproduced table, with numbers where decimals are declared."""
    return artefact.cells[[*artefact.key_columns, "value"]]


def with_value(table: pd.DataFrame, index: int, value: float) -> pd.DataFrame:
    """The table with another value in one row."""
    return table.assign(value=table["value"].where(table.index != index, repr(value)))


def report_on(artefact: Artefact, tier: Tier, reproduced: pd.DataFrame | None) -> Report:
    """The report of a real artefact, with the audits of its chapter and three equal trainings."""
    audits, tables = audits_of(artefact.paper, artefact.chapter), {}
    if reproduced is not None and SEEDS in artefact.record.supplements:
        numbers = reproduced[reproduced["value"].map(is_number)]
        tables[SEEDS] = summarise_seeds(pd.concat([numbers] * 3), artefact.key_columns)
    return report(artefact, tier, reproduced, audits=audits, find_table=tables.get)


@pytest.mark.parametrize("name", ["table_4_8", "table_7_5"])
def test_report_p_value_moved_by_0_002_changes_its_verdict_alone(name):
    artefact = find_artefact(PAPERS, f"lajewska2025/{name}")
    assert artefact.decimals("p_value") == 3
    table = as_reproduced(artefact)
    before = report_on(artefact, "released", table).cells
    assert {cell.verdict for cell in before} == {"equal"}
    p_values = table.index[table["metric"] == "p_value"]
    for index in p_values[:: max(1, len(p_values) // 10)]:
        for shift in (0.002, -0.002):
            moved = with_value(table, index, float(table.loc[index, "value"]) + shift)
            after = report_on(artefact, "released", moved).cells
            assert [row for row in range(len(before)) if before[row] != after[row]] == [index]
            assert after[index].verdict in {"different", "explained"}


@given(st.data())
def test_report_moved_value_changes_no_other_verdict(data):
    artefact = find_artefact(PAPERS, "sakai2023/table_2")
    table = as_reproduced(artefact)
    index = data.draw(st.sampled_from(table.index.tolist()))
    value = data.draw(st.floats(0, 1))
    assume(abs(value - float(table.loc[index, "value"])) > 0.0002)
    cells = report_on(artefact, "embedded", with_value(table, index, value)).cells
    assert [cell.verdict for cell in cells] == [
        "different" if row == index else "equal" for row in range(len(table))
    ]


RUNS = [
    pytest.param(artefact, tier, id=f"{artefact.id} {tier}")
    for artefact in all_artefacts(PAPERS)
    for tier, declared in artefact.record.tiers.items()
    if declared.state in RUNNABLE and not artefact.cells.empty
]


@pytest.mark.parametrize(("artefact", "tier"), RUNS)
def test_report_counts_sum_to_the_cells(artefact, tier):
    def mask(selectors) -> pd.Series:
        selected = pd.Series(False, index=artefact.cells.index)
        for selector in selectors:
            selected |= artefact.select(selector)
        return selected

    record = artefact.record
    # A rule may not make quoted cells.
    unreachable = mask(
        [part.cells for part in record.not_run if part.tier == tier]
        + [part.cells for part in record.quoted if tier in part.tiers]
        + [{column: values} for column, values in record.tiers[tier].lacks.items()]
    )
    derived = mask([part.cells for part in record.derived if tier in part.tiers])
    runs = [None] if unreachable.all() else [None, as_reproduced(artefact)[~unreachable]]
    for reproduced in runs:
        result = report_on(artefact, tier, reproduced)
        cells = 0 if record.tiers[tier].state == "surrogate" else len(artefact.cells)
        checks = sum(cell.kind in UNCOUNTED for cell in result.cells)
        assert sum(result.verdicts.values()) + checks == len(result.cells) == cells
        assert tuple(result.verdicts) == VERDICTS
        row = summary_row(Result(artefact, tier, result))
        assert sum(row["claims"].values()) == len(record.claims)
        if reproduced is not None:
            counted = {verdict for verdict, count in result.verdicts.items() if count}
            assert counted <= {"equal", "consistent", "quoted", "not run"}
            assert result.verdicts["consistent"] == (derived & ~unreachable).sum()


def test_summary_row_counts_claims_on_reproduced_values(tmp_path):
    artefact = toy(tmp_path, claims=[CLAIM])
    low = CELLS.assign(value=["0.3", "S", "0.4", "M", "0.1", "-"])
    result = Result(artefact, "embedded", report(artefact, "embedded", low))
    outcomes = ("supported", "contradicted", "inconclusive", "dependent on the machine")
    claims = dict.fromkeys((*outcomes, "not testable", "not run"), 0)
    assert summary_row(result) == {
        "id": "toy/table_1",
        "tier": "embedded",
        "state": "reproduced",
        "verdicts": dict.fromkeys(VERDICTS, 0) | {"equal": 5, "different": 1},
        "explained": dict.fromkeys(("published", "copy", "method"), 0),
        "claims": claims | {"contradicted": 1},
    }
    not_run = Result(artefact, "embedded", report(artefact, "embedded"))
    assert summary_row(not_run)["claims"] == claims | {"not run": 1}


def test_explained_by_source_and_format_counts():
    cell = JudgedCell(
        key={"row": "a"}, published="1", reproduced=2.0, verdict="explained", why="", source="copy"
    )
    assert explained_by_source([cell]) == {"published": 0, "copy": 1, "method": 0}
    verdict_counts = {"equal": 3, "within tolerance": 0, "explained": 2}
    counts = format_counts(verdict_counts, {"published": 1, "copy": 1, "method": 0})
    assert counts == "3 equal, 2 explained (1 published, 1 copy)"
