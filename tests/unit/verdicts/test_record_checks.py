"""Faults of records: toy papers with one fault each, and the real papers, which have none."""

import json
import re

import pytest
import yaml
from harness import REPOSITORY, published
from unit.toy_papers import CELLS, PAPER, RECORD, write_paper

from everycell.records.cells import RecordError
from everycell.records.papers import load_papers
from everycell.verdicts.record_checks import check_once, check_records


def check(*arguments, **options) -> list[str]:
    """Faults with the record's id in place of its file and line."""
    faults = check_records(load_papers(write_paper(*arguments, **options)))
    return [re.sub(r".*/(\w+)/ch\w+.yaml, line \d+ \((\w+)\)", r"\1/\2", fault) for fault in faults]


#: Lines added to the record without faults, and what the one fault says.
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
    "a relative tolerance above a difference that a claim reads": (
        "{tolerances: [{cells: {row: a, metric: AP}, relative: 0.4, because: rounded inputs}], "
        "claims: [{id: c, claim: Row b is better., source: p. 1, "
        "supported_if: [{cells: {row: b, metric: AP}, op: '>', other: {row: a}}]}]}",
        "line 2: the tolerance of 0.12 exceeds 0.1, the smallest difference that a claim reads",
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


@pytest.mark.parametrize(("field", "sentence"), ADDED.values(), ids=ADDED)
def test_check_records_field_that_does_not_fit_the_cells(tmp_path, field, sentence):
    if field.startswith("{"):
        fields = yaml.safe_load(field)
        field = "\n    ".join(f"{name}: {json.dumps(entry)}" for name, entry in fields.items())
    [fault] = check(tmp_path, f"{RECORD}    {field}\n")
    assert sentence in fault


LABELLED = "row,model,metric,value\na,BM25,AP,0.30\na,BM25,n,12\nb,TILDE,AP,0.4\nb,TILDE,n,7\n"
BETTER = (
    "    labels: [model]\n    claims: [{id: c, claim: Row b is better., source: p. 1, "
    "supported_if: [{cells: {row: b, metric: AP}, op: '>', other: {row: a}}]}]\n"
)
MARKED_LABELS = LABELLED.replace("\n", ",\n").replace("value,", "value,marker")
NO_DECIMALS = RECORD.replace("    decimals: {AP: 2, n: 0}\n", "")
UNPUBLISHED = RECORD + "    unpublished: true\n"
REPORTED = "row,metric,value,marker\na,AP,0.3,\na,n,-,not_reported\nb,AP,0.4,\nb,n,7,{}\n"
DECIMALS = "{AP: 2, n: 0}"
TOLERANCE = "tolerances: [{cells: {row: a, metric: AP}, within: %s, because: rounded inputs}]\n"
TESTED = BETTER.replace("claim:", "test: Paired t-test, claim:", 1)
READINGS = "    readings: epochs\n    supplements: {tests: Tests}\n"
RISES = (
    "    claims: [{id: up, claim: It goes up., source: p. 1, supported_if: "
    "[{cells: {row: a}, op: '>', value: 0}]}]\n"
)
A_WINS = (
    "    claims: [{id: a_wins, claim: System a has a higher AP than system b., source: p. 1, "
    "supported_if: [{cells: {row: a, metric: AP}, op: '>', other: {row: b}}]}]\n"
)
A_LOSES = (
    "    errata: [{id: a_loses, cause: published, finding: The table contradicts the sentence., "
    "evidence: 0.30 is below 0.4.}]\n"
)
#: Records and cells, and what their one fault says; empty if they have none.
PAPERS = {
    "no faults": (RECORD, CELLS, ""),
    "tolerance below its limit": (f"{RECORD}    {TOLERANCE % 0.1}", CELLS, ""),
    "tolerance at its limit": (f"{RECORD}    {TOLERANCE % 0.15}", CELLS, ""),
    "tolerance of one unit": (
        f"{RECORD}    {TOLERANCE % 0.01}", CELLS.replace("a,AP,0.30", "a,AP,0.01"), ""),
    "bound among numbers": (RECORD, CELLS.replace("a,AP,0.30", "a,AP,< .05"), ""),
    "bound with more decimals": (
        RECORD, CELLS.replace("a,AP,0.30", "a,AP,< .001"), "'.001' has more decimals"),
    "word that is declared as empty": (
        RECORD + "    kinds: {empty: [{row: a, metric: AP}]}\n",
        CELLS.replace("a,AP,0.30", "a,AP,OOM"), ""),
    "word among numbers": (
        RECORD, CELLS.replace("a,AP,0.30", "a,AP,OOM"), "'OOM' is not a number"),
    "dash that is not reported": (RECORD, REPORTED.format(""), ""),
    "value that is not reported": (
        RECORD, REPORTED.format("not_reported"), "line 5: '7' has the marker not_reported"),
    "claim without labels": (RECORD + BETTER, LABELLED, ""),
    "claim with readings": (RECORD + READINGS + BETTER, LABELLED, ""),
    "claim on a column of readings": (
        RECORD + READINGS + BETTER.replace("{row: b,", "{row: b, epochs: '10',"), LABELLED,
        "claim c selects the column 'epochs'"),
    "claim on readings of a supplement": (
        RECORD + READINGS
        + BETTER.replace("cells: {row: b,", "supplement: tests, cells: {row: b, epochs: '10',"),
        LABELLED, "claim c selects the column 'epochs'"),
    "selector that matches no cell": (
        RECORD.replace("n: 0", "n: 0, F1: 2")
        + "    quoted: [{cells: {row: a, metric: F1}, because: an input}]\n",
        CELLS + "c,F1,0.10\n",
        "toy/table_1: no cell matches the selector {'row': 'a', 'metric': 'F1'}; correct it."),
    "metric without decimals": (
        RECORD.replace(DECIMALS, "{AP: 2}"), CELLS,
        "`decimals` lacks the metric 'n'; add its number of decimals, or text."),
    "decimals of a metric without cells": (
        RECORD.replace(DECIMALS, "{AP: 2, n: 0, F1: 3}"), CELLS,
        "`decimals` has the metric 'F1', which no cell has; the metrics are ['AP', 'n']."),
    "more decimals than declared": (
        RECORD.replace(DECIMALS, "{AP: 1, n: 0}"), CELLS,
        "table_1.csv, line 2: '0.30' has more decimals than the 1 in the record."),
    "decimals of one metric and of all": (
        RECORD.replace(DECIMALS, "{AP: 2, all: 0}"), CELLS, ""),
    "decimals without a column of metrics": (
        RECORD.replace(DECIMALS, "{all: 2}"), CELLS.replace("metric", "measure"), ""),
    "no decimals for all": (
        RECORD.replace(f"decimals: {DECIMALS}", "layout: {rows: [row], columns: []}"),
        "row,value\na,0.3\n", "`decimals` lacks the metric 'all'"),
    "dash among text": (
        RECORD, "row,metric,value,marker\na,AP,-,not_reported\na,n,12,\nb,AP,0.4,\nb,n,7,\n", ""),
    "text": (RECORD.replace("AP: 2", "AP: text"), CELLS.replace("0.30", "S"), ""),
    "erratum without cells": (
        UNPUBLISHED + "    errata: [{id: e, cause: copy, cells: [{row: a}], finding: It is wrong., "
        "evidence: It cannot be.}]\n", None,
        "toy/table_1: `errata` selects cells, but table_1.csv does not exist; add the published "
        "cells or remove the field."),
    "claim of a run without published numbers": (UNPUBLISHED + RISES, None, ""),
    "claim contradicted by its own values": (
        RECORD + A_WINS, CELLS, "the published values contradict the claim a_wins"),
    "contradicted claim with an erratum": (RECORD + A_WINS + A_LOSES, CELLS, ""),
    "claim that its values support": (RECORD + A_WINS.replace("'>'", "'<'"), CELLS, ""),
    "quoted table without cells": (
        NO_DECIMALS.replace("state: reproduced", "state: quoted"), None, ""),
    "test that no predicate reads": (
        RECORD + TESTED, LABELLED, "has a `test`, but no predicate reads a p-value"),
    "test that a predicate reads": (
        RECORD + TESTED.replace("other: {row: a}", "other: {row: a}, letters: true", 1),
        MARKED_LABELS, ""),
}  # fmt: skip


@pytest.mark.parametrize(("record", "cells", "sentence"), PAPERS.values(), ids=PAPERS)
def test_check_records(tmp_path, record, cells, sentence):
    faults = check(tmp_path, record, cells)
    assert len(faults) == bool(sentence) and sentence in "".join(faults)


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
    marked = CELLS.replace("0.30", "0.50").replace("\n", ",\n").replace("value,", "value,marker")
    assert not any("has no column" in fault for fault in check(tmp_path, record, marked))


@pytest.mark.parametrize(
    ("sound", "naming"),
    [
        ("cells: {row: b,", "cells: {model: TILDE,"),
        ("other: {row: a}", "other: {row: a, model: BM25}"),
        ("other: {row: a}", "value: 0, low: {model: BM25}, high: {row: a}"),
        ("other: {row: a}", "value: 0, low: {row: a}, high: {model: BM25}"),
    ],
)
def test_check_claims_label(tmp_path, sound, naming):
    assert sound in BETTER
    assert check(tmp_path, RECORD + BETTER.replace(sound, naming), LABELLED) == [
        "toy/table_1: claim c uses the label column 'model', which only describes other columns; "
        "select cells by ['row', 'metric']."
    ]


def test_check_decimals_without_a_column_of_metrics(tmp_path):
    [first, _] = check(tmp_path, cells=CELLS.replace("metric", "measure"))
    assert first == (
        f"toy/table_1: `decimals` has the key 'AP', but {tmp_path}/toy/table_1.csv has no column "
        "`metric`; use the key `all`, or rename the column of measures to `metric`."
    )


@pytest.mark.parametrize("value", ["about 30", "-", "1,000", "0.3*", "NaN", "0x1"])
def test_check_decimals_of_no_number(tmp_path, value):
    [fault] = check(tmp_path, cells=CELLS.replace("0.30", f'"{value}"'))
    path = tmp_path / "toy" / "table_1.csv"
    assert fault == f"{path}, line 2: {value!r} is not a number, but `decimals` of the record is 2."


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


@pytest.mark.parametrize(("cells", "sentence"), BROKEN_CELLS.values(), ids=BROKEN_CELLS)
def test_check_records_cells_that_cannot_be_used(tmp_path, cells, sentence):
    [fault] = check(tmp_path, cells=cells)
    assert fault.startswith(str(tmp_path / "toy" / "table_1.csv")) and sentence in fault


@pytest.mark.parametrize(
    ("record", "name"),
    [
        (RECORD, "table_1"),
        (NO_DECIMALS, "table_1"),
        (RECORD.replace("kind: table", "kind: text"), "text_1"),
        (RECORD.replace("kind: table", "kind: figure"), "figure_1"),
        (RECORD.replace("state: reproduced", "state: surrogate, name: other data"), "table_1"),
    ],
)
def test_check_records_missing_published_cells(tmp_path, record, name):
    [fault] = check(tmp_path, record, None, name=name)
    assert f"{name}.csv does not exist" in fault and "unpublished" in fault
    assert check(tmp_path, record + "    unpublished: true\n", None, name=name) == []


def test_check_records_figure_without_cells(tmp_path):
    figure = NO_DECIMALS.replace("kind: table", "kind: figure")
    assert check(tmp_path, figure, None, name="figure_1") == []


def test_check_records_quoted_artefact_without_cells(tmp_path):
    record = (UNPUBLISHED + RISES).replace("state: reproduced", "state: quoted")
    faults = check(tmp_path, record, cells=None)
    assert [fault.split("`")[1] for fault in faults] == ["decimals", "claims"]


def test_check_records_cells_without_a_record(tmp_path):
    path = write_paper(tmp_path) / "toy" / "table_2.csv"
    path.write_text(CELLS)
    [fault] = check_records(load_papers(tmp_path))
    assert fault == f"{path} has no record; add table_2 to a chapter file."


def test_check_records_facts(tmp_path):
    about = PAPER.replace("}", ", facts: [targets.csv]}")
    [fault] = check(tmp_path, about=about)
    assert fault.endswith(
        "paper.yaml, line 1: targets.csv in `facts` does not exist; add the file or remove it from "
        "`facts`."
    )
    (tmp_path / "toy" / "targets.csv").write_text("group,value\na,1\n")
    assert check_records(load_papers(tmp_path)) == []


@pytest.mark.parametrize(
    ("name", "kind", "state", "sentence"),
    [
        (
            "table_1", "figure", "reproduced",
            "an id that begins with 'table' requires the kind table.",
        ),
        ("figure_1", "table", "reproduced", "'figure' requires the kind figure or drawing."),
        ("figure_1", "drawing", "reproduced", "but its state in tier embedded is 'reproduced'"),
        ("figure_1", "figure", "drawing", "but its state in tier embedded is 'drawing'"),
    ],
)  # fmt: skip
def test_check_name_kind_and_state(tmp_path, name, kind, state, sentence):
    record = RECORD.replace("kind: table", f"kind: {kind}").replace("reproduced", state)
    [fault] = check(tmp_path, record, name=name)
    assert f"{name} has the kind '{kind}'" in fault and sentence in fault


def test_check_name_of_another_chapter_of_a_thesis(tmp_path):
    about = PAPER.replace("kind: paper", "kind: thesis")
    [fault] = check(tmp_path, about=about, name="table_4_1", chapter="5")
    assert fault.endswith("table_4_1 belongs to chapter 4; move its record to ch4.yaml.")
    assert check(tmp_path / "right", about=about, name="table_4_1", chapter="4") == []


def test_check_records_paper_without_artefacts(tmp_path):
    home = tmp_path / "toy"
    home.mkdir()
    (home / "paper.yaml").write_text(PAPER)
    assert check_records(load_papers(tmp_path)) == [
        "toy has no artefacts; add a chapter file with records."
    ]


def test_check_records_real_papers():
    assert check_records(published()) == []


@pytest.mark.parametrize("name", ["tests", "table_1.tests", "table_9.tests"])
def test_check_supplements_undeclared(tmp_path, name):
    reading = RECORD + BETTER.replace("cells:", f"supplement: {name}, cells:", 1)
    assert "which no record of toy declares" in "".join(check(tmp_path, reading, LABELLED))
    if "9" not in name:
        names = reading + "    supplements: {tests: Tests of the differences}\n"
        assert check(tmp_path / "named", names, LABELLED) == []


# Surrogate data


def surrogate(fields: str, state: str = "surrogate, name: toys") -> str:
    """The record with a tier on surrogate data that has these fields."""
    tier = f"{{state: {state}, needs: nothing{fields and ', '}{fields}}}"
    return RECORD.replace("{state: reproduced, needs: nothing}", tier)


WHY = "missing: [{kind: experiment, name: users}], because: Toys are no users."
ELSEWHERE = BETTER.replace("cells:", "tested_on: [published, reproduced], cells:", 1)


@pytest.mark.parametrize(
    ("fields", "claims", "cells", "sentence"),
    [
        ("lacks: {row: [b]}", "", CELLS, ""),
        ("lacks: {row: [c]}", "", CELLS, "toy/table_1: no cell has row = 'c'; the values are"),
        (
            "decisive_if: [{claims: [d], supported_if: [{cells: {row: a}, op: '>', value: 0}], "
            "because: It learned nothing.}]", BETTER, LABELLED,
            "toy/table_1: `decisive_if` has the unknown claim 'd'; the claims are ['c'].",
        ),
        (f"not_testable: {{claims: [c], {WHY}}}", BETTER, LABELLED, ""),
        (f"not_testable: {{claims: [d], {WHY}}}", BETTER, LABELLED,
         "`not_testable` has the unknown claim 'd'"),
        (f"not_testable: {{claims: [c], {WHY}}}", ELSEWHERE, LABELLED, ""),
        (f"not_testable: {{{WHY}}}", ELSEWHERE, LABELLED, ""),
        ("", ELSEWHERE, LABELLED, "no predicate of c is tested on surrogate data"),
        (f"not_testable: {{{WHY}}}", "", CELLS, "toy/table_1: `not_testable`"),
    ],
)  # fmt: skip
def test_check_untestable(tmp_path, fields, claims, cells, sentence):
    faults = check(tmp_path, surrogate(fields) + claims, cells)
    assert len(faults) == bool(sentence) and sentence in "".join(faults)


def test_record_not_testable_on_reproduced_data(tmp_path):
    with pytest.raises(RecordError, match="not_testable"):
        check(tmp_path, surrogate(f"not_testable: {{{WHY}}}", "reproduced"), LABELLED)


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
def test_check_records_missing_of_untested_claims(tmp_path, kind, name, fault):
    record = RECORD + UNTESTED.replace("KIND", kind).replace("NAME", name)
    folder = write_paper(tmp_path, record)
    registry = REGISTRY.replace("COMMIT", "a" * 40).replace("HASH", "b" * 64)
    (folder / "toy" / "registry.yaml").write_text(registry)
    faults = check_records(load_papers(folder))
    assert bool(faults) == bool(fault)
    if fault:
        assert fault in faults[0] and "ch1.yaml, line 11" in faults[0]


def test_sources_of_records_name_no_line_of_a_text():
    for path in (REPOSITORY / "published").glob("*/ch*.yaml"):
        assert not re.findall(r"source: L\d.*", path.read_text()), path


def test_check_once_checks_again_only_after_a_change(tmp_path, monkeypatch):
    folder, stamp = write_paper(tmp_path / "published"), tmp_path / "stamp"
    assert check_once(folder, stamp) == [] and stamp.is_file()
    monkeypatch.setattr("everycell.verdicts.record_checks.check_papers", lambda folder: ["a fault"])
    assert check_once(folder, stamp) == []
    (folder / "toy/table_1.csv").write_text(CELLS + "c,AP,0.5\n")
    assert check_once(folder, stamp) == ["a fault"]
    # Faults are found again.
    assert check_once(folder, stamp) == ["a fault"]
