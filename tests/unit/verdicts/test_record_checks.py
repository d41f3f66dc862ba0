"""What `check_records` finds on toy papers, and that it finds nothing on the real ones."""

import json
import re

import pytest
import yaml
from harness import REPOSITORY, published
from unit.toy_papers import CELLS, PAPER, RECORD, write_paper

from everycell.records.cells import RecordError
from everycell.records.papers import load_papers
from everycell.verdicts.record_checks import check_records


def check(*arguments, **options) -> list[str]:
    """Faults with the record's id in place of its file and line."""
    faults = check_records(load_papers(write_paper(*arguments, **options)))
    return [re.sub(r".*/(\w+)/ch\w+.yaml, line \d+ \((\w+)\)", r"\1/\2", fault) for fault in faults]


def test_a_sound_paper_has_no_faults(tmp_path):
    assert check(tmp_path) == []


MISSING = "missing: [{kind: experiment, name: users}]"
#: Lines added to the sound record, and what the one fault says.
ADDED = {
    "unknown row of a tolerance": (
        "tolerances: [{cells: {row: c}, within: 0.1, because: rounded inputs}]",
        "toy/table_1: no cell has row = 'c'; the values are ['a', 'b'].",
    ),
    "unknown column of a selector": (
        "quoted: [{cells: {system: a}, because: an input}]",
        "toy/table_1: a selector has the unknown column 'system'; the key columns are "
        "['row', 'metric'].",
    ),
    "unknown row of cells that are not run": (
        "not_run: [{cells: {row: c}, tier: full, needs: a GPU}]",
        "no cell has row = 'c'",
    ),
    "unknown row of an erratum": (
        "errata: [{id: e, cause: published, cells: [{row: c}], finding: It is wrong., "
        "evidence: It cannot be.}]",
        "no cell has row = 'c'",
    ),
    "a value yielded for a cell that the erratum does not name": (
        "errata: [{id: e, cause: published, cells: [{row: a}], "
        "yields: [{cells: {row: b}, at: {row: a}}], "
        "finding: It is wrong., evidence: It cannot be.}]",
        "erratum e yields a value for {'row': 'b'}, which its `cells` do not select",
    ),
    "a value yielded by an unknown column": (
        "errata: [{id: e, cause: published, cells: [{row: a}], yields: [{cells: {row: a}, "
        "at: {system: b}}], finding: It is wrong., evidence: It cannot be.}]",
        "erratum e has the unknown column 'system' in `at`; the key columns are ['row', 'metric']",
    ),
    "a value yielded by an unknown table": (
        "errata: [{id: e, cause: published, cells: [{row: a}], yields: [{cells: {row: a}, "
        "supplement: readings}], finding: It is wrong., evidence: It cannot be.}]",
        "an erratum reads the table 'readings', which no record of toy declares",
    ),
    "a tolerance above half of the value": (
        "tolerances: [{cells: {row: a, metric: AP}, within: 100, because: rounded inputs}]",
        "table_1.csv, line 2: the tolerance of 100 exceeds 0.15, half of the published value",
    ),
    "a tolerance above a difference that a claim reads": (
        "{tolerances: [{cells: {row: a, metric: AP}, within: 0.11, because: rounded inputs}], "
        "claims: [{id: c, claim: Row b is better., source: p. 1, "
        "supported_if: [{cells: {row: b, metric: AP}, op: '>', other: {row: a}}]}]}",
        "line 2: the tolerance of 0.11 exceeds 0.1, the smallest difference that a claim reads",
    ),
    "a tolerance of a count above half of it": (
        "tolerances: [{cells: {row: b, metric: n}, within: 4, because: rounded inputs}]",
        "line 5: the tolerance of 4 exceeds 3.5, half of the published value",
    ),
    "unknown row of a claim": (
        "claims: [{id: c, claim: Row c is good., source: p. 1, "
        "supported_if: [{cells: {row: c}, op: '>', value: 0}]}]",
        "no cell has row = 'c'",
    ),
    "comparison with a missing cell": (
        "claims: [{id: c, claim: Row a is better., source: p. 1, "
        "supported_if: [{cells: {row: a, metric: AP}, op: '>', other: {row: z}}]}]",
        "toy/table_1: claim c reads a cell that does not exist: {'row': 'z', 'metric': 'AP'}.",
    ),
    "comparison along a missing column": (
        "claims: [{id: c, claim: Row a is better., source: p. 1, "
        "supported_if: [{cells: {row: a, metric: AP}, op: '>=', other: {system: z}}]}]",
        "toy/table_1: claim c has the unknown column 'system'; the key columns are "
        "['row', 'metric'].",
    ),
    "two claims of one id": (
        "claims: [&c {id: c, claim: Row a is good., source: p. 1, "
        "supported_if: [{cells: {row: a}, op: '>', value: 0}]}, *c]",
        "toy/table_1: the id 'c' occurs 2 times; ids must be unique.",
    ),
    "a label without a column": (
        "labels: [model]",
        "toy/table_1: `labels` contains 'model', which is not a key column; the key columns are "
        "['row', 'metric'].",
    ),
    "a label that distinguishes two cells": (
        "labels: [row]",
        "toy/table_1: without the labels ['row'], two cells have the same key {'metric': 'AP'}",
    ),
    "layout without a key column": (
        "layout: {rows: [row], columns: []}",
        "toy/table_1: `layout` has the columns ['row']; it must have each key column once",
    ),
    "layout with a column twice": (
        "layout: {rows: [row], columns: [metric, row]}",
        "`layout` has the columns ['row', 'metric', 'row']",
    ),
}


@pytest.mark.parametrize("kind", ADDED)
def test_a_field_that_does_not_fit_the_cells(tmp_path, kind):
    field, sentence = ADDED[kind]
    if field.startswith("{"):
        fields = yaml.safe_load(field)
        field = "\n    ".join(f"{name}: {json.dumps(entry)}" for name, entry in fields.items())
    [fault] = check(tmp_path, f"{RECORD}    {field}\n")
    assert sentence in fault


@pytest.mark.parametrize("reads", ['mark: "*"', 'sign: "*"', "letters: true", "reads: marker"])
@pytest.mark.parametrize("tested_on", ["published", "reproduced"])
def test_check_claims_marker_without_a_column(tmp_path, reads, tested_on):
    op = 'op: contains, value: "*"' if "reads" in reads else 'op: ">", other: {row: b}'
    part = f"{{cells: {{row: a, metric: AP}}, {op}, {reads}, tested_on: [{tested_on}]}}"
    claim = "{id: c, claim: A is better., source: p. 1, supported_if: [" + part + "]}"
    record = f"{RECORD}    claims: [{claim}]\n"
    faults = check(tmp_path, record)
    assert len(faults) == (tested_on == "published")
    assert all("has no column `marker`" in fault for fault in faults)
    marked = "\n".join(
        f"{line},{'marker' if number == 0 else ''}"
        for number, line in enumerate(CELLS.replace("0.30", "0.50").splitlines())
    )
    assert not any("has no column" in fault for fault in check(tmp_path, record, marked + "\n"))


@pytest.mark.parametrize("within", [0.1, 0.15])
def test_check_tolerance_up_to_its_limit(tmp_path, within):
    tolerance = f"    tolerances: [{{cells: {{row: a, metric: AP}}, within: {within}, "
    assert check(tmp_path, f"{RECORD}{tolerance}because: rounded inputs}}]\n") == []
    # One unit of the last digit is always allowed.
    cells = CELLS.replace("a,AP,0.30", "a,AP,0.01")
    record = f"{RECORD}{tolerance.replace(str(within), '0.01')}because: rounded inputs}}]\n"
    assert check(tmp_path, record, cells) == []


def test_check_not_reported_with_a_value(tmp_path):
    cells = "row,metric,value,marker\na,AP,0.3,\na,n,-,not_reported\nb,AP,0.4,\nb,n,7,{}\n"
    assert check(tmp_path, RECORD, cells.format("")) == []
    [fault] = check(tmp_path, RECORD, cells.format("not_reported"))
    assert "line 5" in fault and "'7'" in fault and "not_reported" in fault


LABELLED = "row,model,metric,value\na,BM25,AP,0.30\na,BM25,n,12\nb,TILDE,AP,0.4\nb,TILDE,n,7\n"

BETTER = (
    "    labels: [model]\n    claims: [{id: c, claim: Row b is better., source: p. 1, "
    "supported_if: [{cells: {row: b, metric: AP}, op: '>', other: {row: a}}]}]\n"
)


def test_a_stand_in_lacks_only_what_is_printed(tmp_path):
    for row, faults in (("b", []), ("c", ["toy/table_1: no cell has row = 'c'; the values are"])):
        state = f"{{state: surrogate, name: toys, needs: nothing, lacks: {{row: [{row}]}}}}"
        record = RECORD.replace("{state: reproduced, needs: nothing}", state)
        result = check(tmp_path, record)
        assert [
            fault.startswith(message) for fault, message in zip(result, faults, strict=True)
        ] == ([True] * len(faults))


def test_conclusions_leave_labels_out(tmp_path):
    assert check(tmp_path, RECORD + BETTER, LABELLED) == []


@pytest.mark.parametrize(
    ("sound", "naming"),
    [
        ("cells: {row: b,", "cells: {model: TILDE,"),
        ("other: {row: a}", "other: {row: a, model: BM25}"),
        ("other: {row: a}", "value: 0, low: {model: BM25}, high: {row: a}"),
        ("other: {row: a}", "value: 0, low: {row: a}, high: {model: BM25}"),
    ],
)
def test_a_conclusion_that_names_a_label(tmp_path, sound, naming):
    assert sound in BETTER
    assert check(tmp_path, RECORD + BETTER.replace(sound, naming), LABELLED) == [
        "toy/table_1: claim c uses the label column 'model', which only describes other columns; "
        "select cells by ['row', 'metric']."
    ]


@pytest.mark.parametrize(
    "changed", ["cells: {row: b, epochs: '10',", "supplement: tests, cells: {row: b, epochs: '10',"]
)
def test_check_claims_column_of_readings(tmp_path, changed):
    """A claim is tested on one reading; a predicate that selects one would find no cells."""
    readings = "    readings: epochs\n    supplements: {tests: Tests}\n"
    assert check(tmp_path, RECORD + readings + BETTER, LABELLED) == []
    record = RECORD + readings + BETTER.replace("cells: {row: b,", changed)
    [fault] = check(tmp_path, record, LABELLED)
    assert "claim c" in fault and "'epochs'" in fault


def test_a_selector_whose_values_never_meet_in_a_cell(tmp_path):
    cells = CELLS + "c,F1,0.10\n"
    record = RECORD.replace("n: 0", "n: 0, F1: 2")
    quoted = "    quoted: [{cells: {row: a, metric: F1}, because: an input}]\n"
    [fault] = check(tmp_path, record + quoted, cells)
    assert fault == (
        "toy/table_1: no cell matches the selector {'row': 'a', 'metric': 'F1'}; correct it."
    )


@pytest.mark.parametrize(
    ("decimals", "sentence"),
    [
        ("{AP: 2}", "`decimals` lacks the metric 'n'; add its number of decimals, or text."),
        (
            "{AP: 2, n: 0, F1: 3}",
            "`decimals` has the metric 'F1', which no cell has; the metrics are ['AP', 'n'].",
        ),
        (
            "{AP: 1, n: 0}",
            "table_1.csv, line 2: '0.30' has more decimals than the 1 in the record.",
        ),
    ],
)
def test_decimals_and_metrics_fit(tmp_path, decimals, sentence):
    [fault] = check(tmp_path, RECORD.replace("{AP: 2, n: 0}", decimals))
    assert fault.endswith(sentence)


def test_digits_of_one_metric_come_before_those_of_all(tmp_path):
    assert check(tmp_path, RECORD.replace("{AP: 2, n: 0}", "{AP: 2, all: 0}")) == []


def test_decimals_of_metrics_need_a_column_of_that_name(tmp_path):
    cells = CELLS.replace("metric", "measure")
    [first, _] = check(tmp_path, cells=cells)
    assert first == (
        f"toy/table_1: `decimals` has the key 'AP', but {tmp_path}/toy/table_1.csv has no column "
        "`metric`; use the key `all`, or rename the column of measures to `metric`."
    )
    assert check(tmp_path, RECORD.replace("{AP: 2, n: 0}", "{all: 2}"), cells=cells) == []


def test_cells_without_metrics_need_decimals_for_all(tmp_path):
    record = RECORD.replace("decimals: {AP: 2, n: 0}", "layout: {rows: [row], columns: []}")
    [fault] = check(tmp_path, record, "row,value\na,0.3\n")
    assert "`decimals` lacks the metric 'all'" in fault


@pytest.mark.parametrize("value", ["about 30", "-", "1,000", "0.3*", "NaN", "0x1"])
def test_a_number_that_cannot_be_parsed(tmp_path, value):
    cells = CELLS.replace("0.30", f'"{value}"')
    [fault] = check(tmp_path, cells=cells)
    path = tmp_path / "toy" / "table_1.csv"
    assert fault == f"{path}, line 2: {value!r} is not a number, but `decimals` of the record is 2."


def test_a_dash_needs_no_decimals_where_no_number_is_reported(tmp_path):
    head, *lines = CELLS.replace("0.30", "-").splitlines()
    marked = [f"{line},{'not_reported' if line.endswith('-') else ''}" for line in lines]
    assert check(tmp_path, cells="\n".join([f"{head},marker", *marked]) + "\n") == []


def test_text_is_compared_as_text_where_the_record_says_so(tmp_path):
    record = RECORD.replace("AP: 2", "AP: text")
    assert check(tmp_path, record, CELLS.replace("0.30", "S")) == []


BROKEN_CELLS = {
    "duplicate": (CELLS + "a,AP,0.31\n", "line 6 repeats the cell {'row': 'a', 'metric': 'AP'}"),
    "no value": (CELLS.replace("value", "result"), "has no column `value`"),
    "header only": ("row,metric,value\n", "contains no cells; add some or delete the file."),
    "empty": ("", "line 1 has no column `value`"),
    "row too short": (CELLS + "c,AP\n", "line 6 has no value"),
    "row too long": (CELLS + "c,AP,0.1,,5\n", "line 6 has 5 fields, expected 3; use"),
    "decimal comma": (CELLS + "c,AP,0,1\n", "line 6 has 4 fields, expected 3; use"),
    "all rows too long": ("row,value\na,AP,0.1\n", "line 2 has 3 fields, expected 2"),
    "quotation mark": (CELLS + 'c,"AP,0.1\n', "cannot be read as CSV"),
    "duplicate after a blank line": (CELLS + "\na,AP,0.31\n", "line 7 repeats the cell"),
    "column twice": ("row,row,value\na,b,0.3\n", "line 1 has 2 columns named 'row'"),
    "no key": ("value\n0.1\n", "has no key columns before `value`"),
    "key after value": ("row,metric,value,year\na,AP,0.3,1\n", "the column 'year' is after"),
}


@pytest.mark.parametrize("kind", BROKEN_CELLS)
def test_cells_that_cannot_be_used(tmp_path, kind):
    cells, sentence = BROKEN_CELLS[kind]
    [fault] = check(tmp_path, cells=cells)
    assert fault.startswith(str(tmp_path / "toy" / "table_1.csv")) and sentence in fault


def test_a_record_that_points_at_no_cells(tmp_path):
    record = RECORD + "    unpublished: true\n"
    record += "    errata: [{id: e, cause: copy, cells: [{row: a}], finding: It is wrong., "
    record += "evidence: It cannot be.}]\n"
    faults = check(tmp_path, record, cells=None)
    assert faults == [
        f"toy/table_1: `{field}` selects cells, but table_1.csv does not exist; add the "
        "published cells or remove the field."
        for field in ("errata",)
    ]


def test_claims_without_printed_numbers_need_a_run(tmp_path):
    record = RECORD + "    unpublished: true\n"
    record += "    claims: [{id: up, claim: It goes up., source: p. 1, supported_if: "
    record += "[{cells: {row: a}, op: '>', value: 0}]}]\n"
    assert check(tmp_path, record, cells=None) == []
    faults = check(tmp_path, record.replace("state: reproduced", "state: quoted"), cells=None)
    assert [fault.split("`")[1] for fault in faults] == ["decimals", "claims"]


def test_cells_without_a_record(tmp_path):
    (write_paper(tmp_path) / "toy" / "table_2.csv").write_text(CELLS)
    [fault] = check_records(load_papers(tmp_path))
    path = tmp_path / "toy" / "table_2.csv"
    assert fault == f"{path} has no record; add table_2 to a chapter file."


def test_facts_need_no_record_but_must_be_there(tmp_path):
    about = PAPER.replace("}", ", facts: [targets.csv]}")
    [fault] = check(tmp_path, about=about)
    assert fault.endswith(
        "paper.yaml, line 1: targets.csv in `facts` does not exist; add the file or remove it from "
        "`facts`."
    )
    (tmp_path / "toy" / "targets.csv").write_text("group,value\na,1\n")
    assert check_records(load_papers(tmp_path)) == []


@pytest.mark.parametrize(
    ("name", "kind", "sentence"),
    [
        (
            "table_1",
            "figure",
            "table_1 has the kind 'figure'; an id that begins with 'table' requires the kind "
            "table.",
        ),
        (
            "figure_1",
            "table",
            "an id that begins with 'figure' requires the kind figure or drawing.",
        ),
    ],
)
def test_an_id_of_another_kind(tmp_path, name, kind, sentence):
    [fault] = check(tmp_path, RECORD.replace("kind: table", f"kind: {kind}"), name=name)
    assert sentence in fault


@pytest.mark.parametrize(("kind", "state"), [("drawing", "reproduced"), ("figure", "drawing")])
def test_drawings_and_nothing_else_have_the_state_drawing(tmp_path, kind, state):
    record = RECORD.replace("kind: table", f"kind: {kind}").replace("reproduced", state)
    [fault] = check(tmp_path, record, name="figure_1")
    assert f"figure_1 has the kind '{kind}', but its state in tier embedded is '{state}'" in fault


def test_a_record_of_another_chapter_of_a_thesis(tmp_path):
    about = PAPER.replace("kind: paper", "kind: thesis")
    [fault] = check(tmp_path, about=about, name="table_4_1", chapter="5")
    assert fault.endswith("table_4_1 belongs to chapter 4; move its record to ch4.yaml.")
    assert check(tmp_path / "right", about=about, name="table_4_1", chapter="4") == []


def test_a_paper_without_artefacts(tmp_path):
    home = tmp_path / "toy"
    home.mkdir()
    (home / "paper.yaml").write_text(PAPER)
    assert check_records(load_papers(tmp_path)) == [
        "toy has no artefacts; add a chapter file with records."
    ]


def test_real_records_have_no_faults(repository):
    assert check_records(published()) == []


def test_a_test_that_no_predicate_reads_is_decoration(tmp_path):
    names = BETTER.replace("claim:", "test: Paired t-test, claim:", 1)
    assert names != BETTER
    (fault,) = check(tmp_path, RECORD + names, LABELLED)
    assert "has a `test`, but no predicate reads a p-value" in fault
    read = names.replace("other: {row: a}", "other: {row: a}, letters: true", 1)
    assert read != names
    marked = LABELLED.replace("\n", ",\n").replace("value,", "value,marker")
    assert check(tmp_path, RECORD + read, marked) == []


@pytest.mark.parametrize("name", ["tests", "table_1.tests", "table_9.tests"])
def test_a_table_beside_must_be_named_on_its_record(tmp_path, name):
    reading = RECORD + BETTER.replace("cells:", f"supplement: {name}, cells:", 1)
    assert "which no record of toy declares" in "".join(check(tmp_path, reading, LABELLED))
    if "9" not in name:
        names = reading + "    supplements: {tests: Tests of the differences}\n"
        assert check(tmp_path / "named", names, LABELLED) == []


def test_a_stand_in_speaks_of_conclusions_that_are_there(tmp_path):
    rule = (
        "{claims: [d], supported_if: [{cells: {row: a}, op: '>', value: 0}], "
        "because: It learned nothing.}"
    )
    state = f"{{state: surrogate, name: toys, needs: nothing, decisive_if: [{rule}]}}"
    record = RECORD.replace("{state: reproduced, needs: nothing}", state) + BETTER
    assert check(tmp_path, record, LABELLED) == [
        "toy/table_1: `decisive_if` has the unknown claim 'd'; the claims are ['c']."
    ]


@pytest.mark.parametrize(
    ("tested_on", "claims", "fault"),
    [
        ("", "[c]", ""),
        ("", "[d]", "`not_testable` has the unknown claim 'd'"),
        ("tested_on: [published, reproduced], ", "[c]", ""),
        ("tested_on: [published, reproduced], ", "null", ""),
        (
            "tested_on: [published, reproduced], ",
            None,
            "no predicate of c is tested on surrogate data",
        ),
    ],
)
def test_what_a_stand_in_cannot_test_is_declared(tmp_path, tested_on, claims, fault):
    reason = f"{MISSING}, because: Toys are no users."
    declared = f"not_testable: {{claims: {claims}, {reason}}}"
    state = "{state: surrogate, name: toys, needs: nothing%s}"
    state %= "" if claims is None else f", {declared}"
    record = RECORD.replace("{state: reproduced, needs: nothing}", state)
    record += BETTER.replace("cells:", f"{tested_on}cells:", 1)
    result = check(tmp_path, record, LABELLED)
    assert len(result) == bool(fault) and fault in "".join(result)


def test_nothing_is_untestable_without_a_claim(tmp_path):
    excluded = f"not_testable: {{{MISSING}, because: Toys it is.}}"
    state = f"{{state: surrogate, name: toys, needs: nothing, {excluded}}}"
    [fault] = check(tmp_path, RECORD.replace("{state: reproduced, needs: nothing}", state))
    assert "toy/table_1: `not_testable`" in fault


def test_what_is_rebuilt_is_tested(tmp_path):
    excluded = f"not_testable: {{{MISSING}, because: Toys are no users.}}"
    declared = f"{{state: reproduced, needs: nothing, {excluded}}}"
    with pytest.raises(RecordError, match="not_testable"):
        check(tmp_path, RECORD.replace("{state: reproduced, needs: nothing}", declared), LABELLED)


UNTESTED = """\
untested:
  - {source: p. 2, claim: Users find row b comparable., reason: There are no users here.,
     missing: [{kind: KIND, name: NAME}]}
"""
REGISTRY = """\
repositories: {o/r: {commit: COMMIT, licence: MIT}}
sets: {toys: {authors: N. N., paper: Toys, licence: MIT, feeds: [toy/table_1]}}
files:
  toys/answers_of_users.csv:
    mirror: {path: toys/answers_of_users.csv, size: 3, sha256: HASH}
    note: ours
"""


@pytest.mark.parametrize(
    ("kind", "name", "fault"),
    [
        ("file", "answers of users", "toys/answers_of_users.csv"),
        ("system", "answers", "toys/answers_of_users.csv"),
        ("file", "answers of experts", ""),
        ("definition", "comparable", ""),
        ("definition", "roughly", "roughly"),
        ("experiment", "answers of users", ""),
    ],
)
def test_check_records_looks_for_what_untested_claims_lack(tmp_path, kind, name, fault):
    record = RECORD + UNTESTED.replace("KIND", kind).replace("NAME", name)
    folder = write_paper(tmp_path, record)
    registry = REGISTRY.replace("COMMIT", "a" * 40).replace("HASH", "b" * 64)
    (folder / "toy" / "registry.yaml").write_text(registry)
    faults = check_records(load_papers(folder))
    assert bool(faults) == bool(fault)
    if fault:
        assert fault in faults[0] and "ch1.yaml, line 11" in faults[0]


def test_no_place_in_a_text_begins_with_a_line_that_nobody_else_has():
    for path in (REPOSITORY / "published").glob("*/ch*.yaml"):
        assert not re.findall(r"source: L\d.*", path.read_text()), path
