"""Loading records: messages of files that cannot be read, ids, inputs, and the real papers."""

import re
from collections import Counter

import pytest
from harness import published
from unit.toy_papers import RECORD, write_paper

from everycell.records.cells import RecordError
from everycell.records.papers import all_artefacts, find_artefact, load_papers
from everycell.verdicts.claims import evaluate
from everycell.verdicts.record_checks import check_records
from everycell.verdicts.verdicts import report

#: Text of the record that is replaced, by what, and what loading says.
UNREADABLE = {
    "unknown key": (
        "source: p. 1",
        "source: p. 1\n    titel: x",
        "`artefacts.table_1.titel` is not a valid key (did you mean `title`?); valid keys: kind,",
    ),
    "missing key": ("    source: p. 1\n", "", "`artefacts.table_1.source` is missing; add it."),
    "unknown tier": ("embedded", "embeded", "`artefacts.table_1.tiers.embeded.[key]` is 'embeded'"),
    "no tier": ("{embedded: {state: reproduced, needs: nothing}}", "{}", "is {}; expected "),
    "unknown state": (
        "state: reproduced",
        "state: done",
        ".state` is 'done'; expected 'reproduced', ",
    ),
    "stand-in without a name": (
        "state: reproduced",
        "state: surrogate",
        "`artefacts.table_1.tiers.embedded` is invalid: the state surrogate requires a `name`",
    ),
    "a tier that lacks cells and is no stand-in": (
        "needs: nothing",
        "needs: nothing, lacks: {row: [a]}",
        "`lacks` requires the state surrogate; use `not_run` of the record",
    ),
    "no words for what a tier needs": (
        "needs: nothing",
        "needs: ''",
        ".needs` is ''; expected ",
    ),
    "tolerance without derivation": (
        "decimals:",
        "tolerances: [{within: 0.1}]\n    decimals:",
        "`artefacts.table_1.tolerances.0.because` is missing; add it.",
    ),
    "tolerance with a derivation too short": (
        "decimals:",
        "tolerances: [{within: 0.1, because: noise}]\n    decimals:",
        ".because` is 'noise'; expected text of at least 10 characters.",
    ),
    "tolerance of nothing": (
        "decimals:",
        "tolerances: [{within: 0, because: rounded inputs}]\n    decimals:",
        ".within` is 0; expected ",
    ),
    "number in a selector": (
        "decimals:",
        "quoted: [{cells: {row: 3}, because: an input}]\n    decimals:",
        ".cells.row` is 3; expected a valid string.",
    ),
    "same record twice": (
        "    decimals: {AP: 2, n: 0}\n",
        "  table_1: {}\n",
        "is not valid YAML, line 9: the key 'table_1' occurs twice; correct that line.",
    ),
    "no artefact id": ("  table_1:", "  tab_1:", "'tab_1' is not a valid artefact id; expected"),
    "chapter as a number": ('chapter: "1"', "chapter: 1", "`chapter` is 1; expected a valid"),
    "another chapter": ('chapter: "1"', 'chapter: "2"', "`chapter` is '2'; rename the file"),
    "broken YAML": ("title: First", "title: [First", "is not valid YAML, line "),
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_a_record_that_cannot_be_read_names_file_key_and_what_is_allowed(tmp_path, kind):
    old, new, sentence = UNREADABLE[kind]
    path = write_paper(tmp_path) / "toy" / "ch1.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(RecordError) as caught:
        load_papers(tmp_path)
    message = str(caught.value)
    assert message.startswith(str(path)) and sentence in message
    assert "\n" not in message


def test_names_of_a_chapter_hold_for_its_records_which_may_have_others(tmp_path):
    path = write_paper(tmp_path, RECORD + "    names: {n: Size}\n") / "toy" / "ch1.yaml"
    path.write_text(
        path.read_text().replace("artefacts:", "names: {AP: MAP (%), n: N}\nartefacts:")
    )
    names = load_papers(tmp_path)["toy"].artefacts["table_1"].record.names
    assert names == {"AP": "MAP (%)", "n": "Size"}


def test_each_fault_of_a_record_has_its_line(tmp_path):
    path = write_paper(tmp_path) / "toy" / "ch1.yaml"
    text = path.read_text().replace("source:", "sorce:").replace("{AP: 2,", "{AP: [2],")
    path.write_text(text)
    with pytest.raises(RecordError) as caught:
        load_papers(tmp_path)
    lines = text.splitlines()
    number = {word: lines.index(line) + 1 for line in lines for word in line.split()[:1]}
    assert dict(re.findall(r", line (\d+): `([^`]+)`", str(caught.value))) == {
        str(number["table_1:"]): "artefacts.table_1.source",
        str(number["sorce:"]): "artefacts.table_1.sorce",
        str(number["decimals:"]): "artefacts.table_1.decimals.AP",
    }


@pytest.mark.parametrize(
    ("predicate", "sentence"),
    [
        ("{op: '>'}", "needs one of `value`, `other` and `among`"),
        ("{op: '>', value: 1, other: {row: b}}", "needs one of `value`, `other` and `among`"),
        ("{op: '>', value: 1, low: {row: b}}", "`low` and `high` must be used together"),
        ("{op: '>', other: {row: b}, low: {row: a}, high: {row: b}}", "requires a `value`"),
        (
            "{op: '>', value: 1, low: {row: a}, high: {row: b}, absolute: true}",
            "cannot be combined",
        ),
        ("{op: in, value: S}", "must be a list for `in`, `not in` and `between`"),
        ("{op: in, other: {row: b}}", "must be a list for `in`, `not in` and `between`"),
        ("{op: '==', value: [S, M]}", "must be a list for `in`, `not in` and `between`"),
        ("{op: '<', value: '0.05'}", "`<` requires a number as `value`, without quotation marks"),
        ("{op: '=', value: 1}", "expected '<', '<='"),
        ("{op: '<', value: 1, quantifier: every}", "expected 'all', 'any'"),
    ],
)
def test_a_predicate_that_says_nothing(tmp_path, predicate, sentence):
    record = f"""{RECORD}    claims:
      - {{id: c, claim: Row a is good., source: p. 1,
         supported_if: [{{cells: {{row: a}}, {predicate[1:]}]}}
"""
    with pytest.raises(RecordError) as caught:
        load_papers(write_paper(tmp_path, record))
    assert sentence in str(caught.value)


def test_one_name_in_two_chapters(tmp_path):
    write_paper(tmp_path)
    write_paper(tmp_path, chapter="2")
    with pytest.raises(RecordError, match=r"ch2.yaml, line 4: table_1 already has a record"):
        load_papers(tmp_path)


def test_chapters_without_a_paper_are_not_passed_over(tmp_path):
    (write_paper(tmp_path) / "toy" / "paper.yaml").unlink()
    with pytest.raises(RecordError, match=r"ch1.yaml: the folder has no paper.yaml"):
        load_papers(tmp_path)


def test_a_folder_without_papers(tmp_path):
    with pytest.raises(
        RecordError, match=r"contains no paper; a paper is a folder with a paper.yaml"
    ):
        load_papers(tmp_path)


@pytest.mark.parametrize(
    ("requested", "nearest"),
    [
        ("toy/table_2", "toy/table_1"),
        ("table_1", "toy/table_1"),
        ("other/tabel_1", "other/table_1"),
    ],
)
def test_an_unknown_id_brings_the_nearest(tmp_path, requested, nearest):
    write_paper(tmp_path)
    papers = load_papers(write_paper(tmp_path, key="other"))
    with pytest.raises(RecordError) as caught:
        find_artefact(papers, requested)
    assert str(caught.value).startswith(
        f"{requested!r} is not a known artefact; did you mean {nearest}"
    )


def test_an_id_that_resembles_none(tmp_path):
    with pytest.raises(RecordError, match=r"'\?' is not a known artefact; see `everycell list`."):
        find_artefact(load_papers(write_paper(tmp_path)), "?")


def test_adding_a_paper_touches_no_other(tmp_path, repository):
    """Three files make a paper, as in docs/your-own-paper.md; all other papers stay the same."""
    (tmp_path / "sakai2023").symlink_to(repository / "published" / "sakai2023")
    before = load_papers(tmp_path)
    papers = load_papers(
        write_paper(
            tmp_path,
            RECORD
            + """\
    claims:
      - id: b_is_better
        claim: Row b is better than row a.
        source: p. 1
        supported_if: [{cells: {row: b, metric: AP}, op: ">", other: {row: a}}]
""",
        )
    )
    assert papers["sakai2023"] == before["sakai2023"]
    assert check_records(papers) == []
    added = find_artefact(papers, "toy/table_1")
    assert evaluate(added.record.claims[0], added.cells).outcome == "supported"
    result = report(added, "embedded", added.cells.assign(value=["0.301", "12", "0.42", "8"]))
    assert [cell.verdict for cell in result.cells] == ["equal", "equal", "different", "different"]


def test_only_declared_inputs_are_handed_to_a_rebuild(tmp_path):
    quoted = """    quoted:
      - {cells: {metric: n}, because: counts of the paper, is_input: true}
      - {cells: {row: b}, because: from another paper}
"""
    artefact = find_artefact(load_papers(write_paper(tmp_path, RECORD + quoted)), "toy/table_1")
    assert artefact.input_cells()["value"].tolist() == ["12", "7"]


def test_what_one_tier_takes_as_given_another_may_rebuild(tmp_path):
    quoted = """    quoted:
      - {cells: {metric: n}, because: counts of the paper, is_input: true, tiers: [embedded]}
"""
    record = RECORD.replace("tiers: {", "tiers: {full: {state: reproduced, needs: hours}, ")
    artefact = find_artefact(load_papers(write_paper(tmp_path, record + quoted)), "toy/table_1")
    assert artefact.input_cells()["value"].tolist() == ["12", "7"]
    verdicts = {}
    for tier in ("embedded", "full"):
        result = report(artefact, tier, artefact.cells)
        verdicts[tier] = [cell.verdict for cell in result.cells]
        assert len(artefact.input_cells(tier)) == verdicts[tier].count("quoted")
    assert verdicts == {
        "embedded": ["equal", "quoted", "equal", "quoted"],
        "full": ["equal"] * 4,
    }


def test_undeclared_decimals_are_the_most_that_a_metric_shows(tmp_path):
    record = RECORD.replace("    decimals: {AP: 2, n: 0}\n", "")
    artefact = find_artefact(load_papers(write_paper(tmp_path, record)), "toy/table_1")
    assert (artefact.decimals("AP"), artefact.decimals("n")) == (2, 0)


def test_every_table_and_figure_of_the_five_papers_has_a_record(repository):
    artefacts = list(all_artefacts(published()))
    counts = Counter((artefact.paper, artefact.name.split("_")[0]) for artefact in artefacts)
    assert {key: n for key, n in counts.items() if key[1] != "text"} == {
        ("lajewska2025", "table"): 48,
        ("lajewska2025", "figure"): 25,
        ("abolghasemi2026", "table"): 30,
        ("abolghasemi2026", "figure"): 21,
        ("abolghasemi2024", "table"): 2,
        ("abolghasemi2024", "figure"): 2,
        ("heuss2025", "table"): 10,
        ("heuss2025", "figure"): 25,
        ("sakai2023", "table"): 2,
        ("sakai2023", "figure"): 5,
    }
    kinds = Counter(artefact.name.split("_")[0] for artefact in artefacts)
    assert (kinds["table"], kinds["figure"]) == (92, 78)
