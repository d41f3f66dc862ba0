"""A record cannot make its own paper look better than its values are."""

import numpy as np
import pandas as pd
import pytest
from unit.toy_papers import CELLS, RECORD, write_paper

from everycell.records.cells import RecordError, plain_minus
from everycell.records.papers import load_papers
from everycell.render.table_files import write_table
from everycell.verdicts.record_checks import check_once, check_records
from everycell.verdicts.reports import JudgedCell, Markers
from everycell.verdicts.results import read_result
from everycell.verdicts.verdicts import _ruling_on_marks, report

REPRODUCED = pd.DataFrame(
    {
        "row": ["a", "a", "b", "b"],
        "metric": ["AP", "n", "AP", "n"],
        "value": ["0.301", "12", "0.398", "7"],
    }
)


def artefact_of(folder, record=RECORD, cells=CELLS):
    return load_papers(write_paper(folder, record, cells))["toy"].artefacts["table_1"]


def faults_of(folder, record=RECORD, cells=CELLS, **options):
    return check_records(load_papers(write_paper(folder, record, cells, **options)))


@pytest.mark.parametrize("options", ["", ", is_input: true"])
def test_report_refuses_quoted_cell_that_a_rule_makes(tmp_path, options):
    record = RECORD + f"    quoted: [{{cells: {{row: b}}, because: an input{options}}}]\n"
    with pytest.raises(RecordError, match=r"quoted.*b / AP.*embedded"):
        report(artefact_of(tmp_path, record), "embedded", REPRODUCED)
    half = report(artefact_of(tmp_path, record), "embedded", REPRODUCED[:2])
    assert half.verdicts["quoted"] == half.verdicts["equal"] == 2


def test_report_accepts_inputs_that_a_figure_repeats(tmp_path):
    record = RECORD + "    quoted: [{cells: {row: b}, because: an input, is_input: true}]\n"
    repeated = REPRODUCED.assign(value=["0.301", "12", "0.4", "7"])
    assert report(artefact_of(tmp_path, record), "embedded", repeated).verdicts["quoted"] == 2


@pytest.mark.parametrize(
    ("record", "name"),
    [
        (RECORD, "table_1"),
        (RECORD.replace("    decimals: {AP: 2, n: 0}\n", ""), "table_1"),
        (RECORD.replace("kind: table", "kind: text"), "text_1"),
        (RECORD.replace("kind: table", "kind: figure"), "figure_1"),
        (RECORD.replace("state: reproduced", "state: surrogate, name: other data"), "table_1"),
    ],
)
def test_check_records_missing_published_cells(tmp_path, record, name):
    [fault] = faults_of(tmp_path, record, None, name=name)
    assert f"{name}.csv does not exist" in fault and "unpublished" in fault
    assert faults_of(tmp_path, record + "    unpublished: true\n", None, name=name) == []


def test_check_records_figure_and_quoted_table_need_no_cells(tmp_path):
    record = RECORD.replace("    decimals: {AP: 2, n: 0}\n", "")
    figure = record.replace("kind: table", "kind: figure")
    assert faults_of(tmp_path / "a", figure, None, name="figure_1") == []
    quoted = record.replace("state: reproduced", "state: quoted")
    assert faults_of(tmp_path / "b", quoted, None) == []


CLAIM = """\
    claims:
      - id: a_wins
        claim: System a has a higher AP than system b.
        source: p. 1
        supported_if: [{cells: {row: a, metric: AP}, op: ">", other: {row: b}}]
"""
ERRATUM = """\
    errata:
      - id: a_loses
        cause: published
        finding: The table contradicts the sentence.
        evidence: 0.30 is below 0.4.
"""


def test_check_records_claim_contradicted_by_its_own_values(tmp_path):
    [fault] = faults_of(tmp_path, RECORD + CLAIM)
    assert "a_wins" in fault and "erratum" in fault
    assert faults_of(tmp_path, RECORD + CLAIM + ERRATUM) == []
    assert faults_of(tmp_path, RECORD + CLAIM.replace('">"', '"<"')) == []


MARKED = "row,metric,value,marker\na,AP,0.30,{}\nb,AP,0.4,\n"


def verdict_with_marks(folder, published, reproduced):
    record = RECORD.replace("{AP: 2, n: 0}", "{AP: 2}")
    table = REPRODUCED[::2].assign(marker=[reproduced, ""])
    cell = report(artefact_of(folder, record, MARKED.format(published)), "embedded", table).cells[0]
    return cell.verdict, cell.why or ""


@pytest.mark.parametrize(
    ("published", "reproduced"), [("L", "–"), ("L", ""), ("", "†"), ("*", "**"), ("S", "M")]
)
def test_report_different_marks_are_a_difference(tmp_path, published, reproduced):
    verdict, why = verdict_with_marks(tmp_path, published, reproduced)
    assert verdict == "different" and "mark" in why


def test_ruling_on_marks_of_a_value_that_is_too_noisy():
    """Neither the value nor its mark is judged, but the reader sees that the marks differ."""
    cell = JudgedCell(
        key={"row": "a"},
        kind="number",
        origin="data",
        published="0.30",
        reproduced="0.35",
        verdict="too noisy to judge",
        why="Seeds vary.",
    )
    ruling = _ruling_on_marks(cell, Markers(published="*", reproduced=""))
    assert ruling["verdict"] == "too noisy to judge"
    assert "the mark *" in ruling["why"] and ruling["why"].endswith("Seeds vary.")
    assert _ruling_on_marks(cell, Markers(published="*", reproduced="*")) == {}


@pytest.mark.parametrize(
    ("published", "reproduced"),
    [("L", "L"), ("–", ""), ("", "-"), ("-", "–"), ("†", "?"), ("not_reported", "*"), ("", "")],
)
def test_report_same_or_unknown_marks_are_no_difference(tmp_path, published, reproduced):
    assert verdict_with_marks(tmp_path, published, reproduced) == ("equal", "")


@pytest.mark.parametrize("minus", ["\u2212", "\u2013", "-"])
def test_report_reads_typographic_minus(tmp_path, minus):
    cells = CELLS.replace("0.30", f"{minus}0.30")
    artefact = artefact_of(tmp_path, cells=cells)
    assert artefact.cells["value"][0] == "-0.30"
    path = tmp_path / "result.csv"
    REPRODUCED.assign(value=[f"{minus}0.301", "12", "0.398", "7"]).to_csv(path, index=False)
    assert report(artefact, "embedded", read_result(path)).verdicts["equal"] == 4


def test_plain_minus_keeps_other_dashes():
    texts = ["–", "1–4", "a−1", "−x", "−"]
    assert [plain_minus(text) for text in texts] == texts


@pytest.mark.parametrize("cell", [[0.3], np.array([0.3, 0.4]), {"mean": 0.3}, pd.Series([0.3])])
def test_write_table_refuses_cells_that_are_no_scalars(tmp_path, cell):
    frame = pd.DataFrame({"row": ["a", "b"], "metric": "AP", "value": [0.3, None]}).astype(object)
    frame.at[1, "value"] = cell
    layout = {"layout_rows": ["row"], "layout_columns": ["metric"]}
    with pytest.raises(ValueError, match=r"table_1, row 2.*'value'"):
        write_table(frame, tmp_path / "table_1", title="A", decimals={"all": 2}, **layout)
    assert not any(tmp_path.iterdir())


def test_check_once_checks_again_only_after_a_change(tmp_path, monkeypatch):
    published, stamp = write_paper(tmp_path / "published"), tmp_path / "stamp"
    assert check_once(published, stamp) == [] and stamp.is_file()
    monkeypatch.setattr("everycell.verdicts.record_checks.check_papers", lambda folder: ["a fault"])
    assert check_once(published, stamp) == []
    (published / "toy/table_1.csv").write_text(CELLS + "c,AP,0.5\n")
    assert check_once(published, stamp) == ["a fault"]
    # Faults are found again.
    assert check_once(published, stamp) == ["a fault"]


@pytest.mark.parametrize(("text", "expected"), [("\u22120.5", "-0.5"), ("\u2013.5", "-.5")])
def test_plain_minus_before_digits(text, expected):
    assert plain_minus(text) == expected
