"""Cards and cells: what `check_cards` finds on toy papers, and the index of the real ones."""

from collections import Counter
from pathlib import Path

import pytest

from everycell.engine.artefacts import all_artefacts, find_artefact, load_papers
from everycell.engine.card_checks import check_cards
from everycell.engine.conclusions import evaluate
from everycell.engine.printed_cells import CardError, decimals_shown, is_number
from everycell.engine.verdicts import report

PAPER = "{title: Toy paper, authors: N. N., year: 2026, kind: paper, reference: none}\n"
CELLS = """\
row,metric,value
a,AP,0.30
a,n,12
b,AP,0.4
b,n,7
"""
CARD = """\
    kind: table
    title: A toy table
    source: p. 1
    tiers: {embedded: {state: rebuilt, needs: nothing}}
    decimals: {AP: 2, n: 0}
"""


def write_paper(
    folder: Path,
    card: str = CARD,
    cells: str | None = CELLS,
    *,
    key: str = "toy",
    name: str = "table_1",
    about: str = PAPER,
    chapter: str = "1",
) -> Path:
    """Write a paper of one chapter and one artefact; return the folder of all papers."""
    home = folder / key
    home.mkdir(parents=True, exist_ok=True)
    (home / "paper.yaml").write_text(about)
    (home / f"ch{chapter}.yaml").write_text(
        f'chapter: "{chapter}"\ntitle: First\nartefacts:\n  {name}:\n{card}'
    )
    if cells is not None:
        (home / f"{name}.csv").write_text(cells)
    return folder


def check(*arguments, **options) -> list[str]:
    return check_cards(load_papers(write_paper(*arguments, **options)))


def test_a_sound_paper_has_no_faults(tmp_path):
    assert check(tmp_path) == []


#: Lines added to the sound card, and what the one fault says.
ADDED = {
    "unknown row of a tolerance": (
        "tolerances: [{cells: {row: c}, within: 0.1, because: rounded inputs}]",
        "toy/table_1: no cell has row = 'c'; found are ['a', 'b'].",
    ),
    "unknown column of a selector": (
        "quoted: [{cells: {system: a}, because: an input}]",
        "toy/table_1: a selector names the column 'system'; the cells have ['row', 'metric'].",
    ),
    "unknown row of cells that are not run": (
        "not_run: [{cells: {row: c}, tier: full, needs: a GPU}]",
        "no cell has row = 'c'",
    ),
    "unknown row of an erratum": (
        "errata: [{id: e, where: print, cells: [{row: c}], finding: It is wrong., "
        "evidence: It cannot be.}]",
        "no cell has row = 'c'",
    ),
    "a value given for a cell that the erratum does not name": (
        "errata: [{id: e, where: print, cells: [{row: a}], gives: [{cells: {row: b}, value: S}], "
        "finding: It is wrong., evidence: It cannot be.}]",
        "erratum e gives a value for {'row': 'b'}, which its `cells` do not name",
    ),
    "unknown row of a conclusion": (
        "conclusions: [{id: c, claim: Row c is good., source: p. 1, "
        "holds_if: [{cells: {row: c}, op: '>', value: 0}]}]",
        "no cell has row = 'c'",
    ),
    "comparison with a cell that is not there": (
        "conclusions: [{id: c, claim: Row a is better., source: p. 1, "
        "holds_if: [{cells: {row: a, metric: AP}, op: '>', other: {row: z}}]}]",
        "toy/table_1: conclusion c compares with a cell that is not there, "
        "{'row': 'z', 'metric': 'AP'}.",
    ),
    "comparison along a column that is not there": (
        "conclusions: [{id: c, claim: Row a is better., source: p. 1, "
        "holds_if: [{cells: {row: a, metric: AP}, op: '>=', other: {system: z}}]}]",
        "toy/table_1: conclusion c names the column 'system'; the cells have ['row', 'metric'].",
    ),
    "two conclusions of one id": (
        "conclusions: [&c {id: c, claim: Row a is good., source: p. 1, "
        "holds_if: [{cells: {row: a}, op: '>', value: 0}]}, *c]",
        "toy/table_1: the id 'c' stands 2 times; give each its own.",
    ),
    "a label that is no column": (
        "labels: [model]",
        "toy/table_1: `labels` names the column 'model'; the key columns are ['row', 'metric'].",
    ),
    "a label that tells two cells apart": (
        "labels: [row]",
        "toy/table_1: without the labels ['row'] two cells have the key {'metric': 'AP'}",
    ),
    "layout without a key column": (
        "layout: {rows: [row], columns: []}",
        "toy/table_1: `layout` names ['row']; it must name each key column once",
    ),
    "layout with a column twice": (
        "layout: {rows: [row], columns: [metric, row]}",
        "`layout` names ['row', 'metric', 'row']",
    ),
}


@pytest.mark.parametrize("kind", ADDED)
def test_a_field_that_does_not_fit_the_cells(tmp_path, kind):
    field, sentence = ADDED[kind]
    [fault] = check(tmp_path, f"{CARD}    {field}\n")
    assert sentence in fault


LABELLED = "row,model,metric,value\na,BM25,AP,0.30\na,BM25,n,12\nb,TILDE,AP,0.4\nb,TILDE,n,7\n"
BETTER = (
    "    labels: [model]\n    conclusions: [{id: c, claim: Row b is better., source: p. 1, "
    "holds_if: [{cells: {row: b, metric: AP}, op: '>', other: {row: a}}]}]\n"
)


def test_a_stand_in_lacks_only_what_is_printed(tmp_path):
    for row, faults in (("b", []), ("c", ["toy/table_1: no cell has row = 'c'; found are"])):
        state = f"{{state: stand_in, name: toys, needs: nothing, lacks: {{row: [{row}]}}}}"
        card = CARD.replace("{state: rebuilt, needs: nothing}", state)
        found = check(tmp_path, card)
        assert [fault.startswith(said) for fault, said in zip(found, faults, strict=True)] == (
            [True] * len(faults)
        )


def test_conclusions_leave_labels_out(tmp_path):
    assert check(tmp_path, CARD + BETTER, LABELLED) == []


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
    assert check(tmp_path, CARD + BETTER.replace(sound, naming), LABELLED) == [
        "toy/table_1: conclusion c names the label 'model', which only describes other columns; "
        "name cells by ['row', 'metric']."
    ]


def test_a_selector_whose_values_never_meet_in_a_cell(tmp_path):
    cells = CELLS + "c,F1,0.10\n"
    card = CARD.replace("n: 0", "n: 0, F1: 2")
    quoted = "    quoted: [{cells: {row: a, metric: F1}, because: an input}]\n"
    [fault] = check(tmp_path, card + quoted, cells)
    assert fault == (
        "toy/table_1: no cell has {'row': 'a', 'metric': 'F1'} all at once; correct the selector."
    )


@pytest.mark.parametrize(
    ("decimals", "sentence"),
    [
        ("{AP: 2}", "`decimals` says nothing of the metric 'n'; declare its digits, or text."),
        ("{AP: 2, n: 0, F1: 3}", "`decimals` names the metric 'F1'; found are ['AP', 'n']."),
        ("{AP: 1, n: 0}", "table_1.csv, line 2: '0.30' shows more digits than the 1 declared."),
    ],
)
def test_decimals_and_metrics_fit(tmp_path, decimals, sentence):
    [fault] = check(tmp_path, CARD.replace("{AP: 2, n: 0}", decimals))
    assert fault.endswith(sentence)


def test_digits_of_one_metric_come_before_those_of_all(tmp_path):
    assert check(tmp_path, CARD.replace("{AP: 2, n: 0}", "{AP: 2, all: 0}")) == []


def test_cells_without_metrics_need_decimals_for_all(tmp_path):
    card = CARD.replace("decimals: {AP: 2, n: 0}", "layout: {rows: [row], columns: []}")
    [fault] = check(tmp_path, card, "row,value\na,0.3\n")
    assert "`decimals` says nothing of the metric 'all'" in fault


@pytest.mark.parametrize("value", ["about 30", "-", "1,000", "0.3*", "NaN", "0x1"])
def test_a_number_that_cannot_be_parsed(tmp_path, value):
    cells = CELLS.replace("0.30", f'"{value}"')
    [fault] = check(tmp_path, cells=cells)
    path = tmp_path / "toy" / "table_1.csv"
    assert fault == f"{path}, line 2: {value!r} is no number, but `decimals` declares 2 digits."


def test_a_dash_needs_no_decimals_where_no_number_is_reported(tmp_path):
    head, *lines = CELLS.replace("0.30", "-").splitlines()
    marked = [f"{line},{'not_reported' if line.endswith('-') else ''}" for line in lines]
    assert check(tmp_path, cells="\n".join([f"{head},marker", *marked]) + "\n") == []


def test_text_is_compared_as_text_where_the_card_says_so(tmp_path):
    card = CARD.replace("AP: 2", "AP: text")
    assert check(tmp_path, card, CELLS.replace("0.30", "S")) == []


BROKEN_CELLS = {
    "duplicate": (CELLS + "a,AP,0.31\n", "line 6: a second cell for {'row': 'a', 'metric': 'AP'}"),
    "no value": (CELLS.replace("value", "result"), "has no column `value`"),
    "header only": ("row,metric,value\n", "holds no cells; delete the file or fill it."),
    "empty": ("", "cannot be read as CSV"),
    "row too short": (CELLS + "c,AP\n", "line 6: has no value; write what is printed"),
    "row too long": (CELLS + "c,AP,0.1,,5\n", "cannot be read as CSV"),
    "all rows too long": ("row,value\na,AP,0.1\n", "its rows have more fields than its header"),
    "no key": ("value\n0.1\n", "has no key columns before `value`"),
    "key after value": ("row,metric,value,year\na,AP,0.3,1\n", "the column 'year' stands after"),
}


@pytest.mark.parametrize("kind", BROKEN_CELLS)
def test_cells_that_cannot_be_used(tmp_path, kind):
    cells, sentence = BROKEN_CELLS[kind]
    [fault] = check(tmp_path, cells=cells)
    assert fault.startswith(str(tmp_path / "toy" / "table_1.csv")) and sentence in fault


def test_a_card_that_points_at_no_cells(tmp_path):
    card = CARD + "    errata: [{id: e, where: copy, cells: [{row: a}], finding: It is wrong., "
    card += "evidence: It cannot be.}]\n"
    faults = check(tmp_path, card, cells=None)
    assert faults == [
        f"toy/table_1: `{field}` points at cells, but there is no table_1.csv; add the printed "
        "cells or drop the field."
        for field in ("decimals", "errata")
    ]


def test_cells_without_a_card(tmp_path):
    (write_paper(tmp_path) / "toy" / "table_2.csv").write_text(CELLS)
    [fault] = check_cards(load_papers(tmp_path))
    path = tmp_path / "toy" / "table_2.csv"
    assert fault == f"{path}: cells without a card; add table_2 to a chapter file."


def test_facts_need_no_card_but_must_be_there(tmp_path):
    about = PAPER.replace("}", ", facts: [targets.csv]}")
    [fault] = check(tmp_path, about=about)
    assert fault.endswith("paper.yaml: `facts` names targets.csv, which is not there.")
    (tmp_path / "toy" / "targets.csv").write_text("group,value\na,1\n")
    assert check_cards(load_papers(tmp_path)) == []


@pytest.mark.parametrize(
    ("name", "kind", "sentence"),
    [
        ("table_1", "figure", "table_1 is of kind 'figure'; an id with 'table' is of kind table."),
        ("figure_1", "table", "an id with 'figure' is of kind figure or drawing."),
    ],
)
def test_an_id_of_another_kind(tmp_path, name, kind, sentence):
    [fault] = check(tmp_path, CARD.replace("kind: table", f"kind: {kind}"), name=name)
    assert sentence in fault


@pytest.mark.parametrize(("kind", "state"), [("drawing", "rebuilt"), ("figure", "drawing")])
def test_drawings_and_nothing_else_have_the_state_drawing(tmp_path, kind, state):
    card = CARD.replace("kind: table", f"kind: {kind}").replace("rebuilt", state)
    [fault] = check(tmp_path, card, name="figure_1")
    assert f"figure_1 is of kind '{kind}', but its state in tier embedded is '{state}'" in fault


def test_a_card_of_another_chapter_of_a_thesis(tmp_path):
    about = PAPER.replace("kind: paper", "kind: thesis")
    [fault] = check(tmp_path, about=about, name="table_4_1", chapter="5")
    assert fault.endswith("table_4_1 belongs to chapter 4; move its card to ch4.yaml.")
    assert check(tmp_path / "right", about=about, name="table_4_1", chapter="4") == []


def test_a_paper_without_artefacts(tmp_path):
    home = tmp_path / "toy"
    home.mkdir()
    (home / "paper.yaml").write_text(PAPER)
    assert check_cards(load_papers(tmp_path)) == [
        "toy: has no artefact; add a chapter file with cards."
    ]


#: Text of the card that is replaced, by what, and what loading says.
UNREADABLE = {
    "unknown key": (
        "source: p. 1",
        "source: p. 1\n    titel: x",
        "`artefacts.table_1.titel` is no key (did you mean `title`?); allowed are: kind, title,",
    ),
    "missing key": ("    source: p. 1\n", "", "`artefacts.table_1.source` is missing; add it."),
    "unknown tier": ("embedded", "embeded", "`artefacts.table_1.tiers.embeded.[key]` is 'embeded'"),
    "no tier": ("{embedded: {state: rebuilt, needs: nothing}}", "{}", "is {}; allowed is: "),
    "unknown state": (
        "state: rebuilt",
        "state: done",
        ".state` is 'done'; allowed is: 'rebuilt', ",
    ),
    "stand-in without a name": (
        "state: rebuilt",
        "state: stand_in",
        "`artefacts.table_1.tiers.embedded` does not hold together: a stand_in needs a `name`",
    ),
    "a tier that lacks cells and is no stand-in": (
        "needs: nothing",
        "needs: nothing, lacks: {row: [a]}",
        "only a stand_in has `lacks`; others name cells in `not_run`",
    ),
    "no words for what a tier needs": (
        "needs: nothing",
        "needs: ''",
        ".needs` is ''; allowed is: ",
    ),
    "tolerance without derivation": (
        "decimals:",
        "tolerances: [{within: 0.1}]\n    decimals:",
        "`artefacts.table_1.tolerances.0.because` is missing; add it.",
    ),
    "tolerance with a derivation too short": (
        "decimals:",
        "tolerances: [{within: 0.1, because: noise}]\n    decimals:",
        ".because` is 'noise'; allowed is: a text of 10 characters or more.",
    ),
    "tolerance of nothing": (
        "decimals:",
        "tolerances: [{within: 0, because: rounded inputs}]\n    decimals:",
        ".within` is 0; allowed is: a number, above 0.",
    ),
    "number in a selector": (
        "decimals:",
        "quoted: [{cells: {row: 3}, because: an input}]\n    decimals:",
        ".cells.row` is 3; allowed is: a valid string.",
    ),
    "same card twice": (
        "    decimals: {AP: 2, n: 0}\n",
        "  table_1: {}\n",
        "is no YAML, line 9: the key 'table_1' stands twice; mend that line.",
    ),
    "no artefact id": ("  table_1:", "  tab_1:", "'tab_1' is no artefact id; write table_4_8,"),
    "chapter as a number": ('chapter: "1"', "chapter: 1", "`chapter` is 1; allowed is: a valid"),
    "another chapter": ('chapter: "1"', 'chapter: "2"', "says it is chapter '2'; rename the file"),
    "broken YAML": ("title: First", "title: [First", "is no YAML, line "),
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_a_card_that_cannot_be_read_names_file_key_and_what_is_allowed(tmp_path, kind):
    old, new, sentence = UNREADABLE[kind]
    path = write_paper(tmp_path) / "toy" / "ch1.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(CardError) as caught:
        load_papers(tmp_path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ") and sentence in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("predicate", "sentence"),
    [
        ("{op: '>'}", "needs `value` or `other`, and not both"),
        ("{op: '>', value: 1, other: {row: b}}", "needs `value` or `other`, and not both"),
        ("{op: '>', value: 1, low: {row: b}}", "`low` and `high` go together"),
        ("{op: '>', other: {row: b}, low: {row: a}, high: {row: b}}", "is tested against a"),
        ("{op: '>', value: 1, low: {row: a}, high: {row: b}, absolute: true}", "has signs, so"),
        ("{op: in, value: S}", "`in` and `not in` need a list"),
        ("{op: in, other: {row: b}}", "`in` and `not in` need a list"),
        ("{op: '==', value: [S, M]}", "`in` and `not in` need a list"),
        ("{op: '<', value: '0.05'}", "`<` needs a number as `value`, without quotation marks"),
        ("{op: '=', value: 1}", "allowed is: '<', '<='"),
        ("{op: '<', value: 1, quantifier: every}", "allowed is: 'all', 'any'"),
    ],
)
def test_a_predicate_that_says_nothing(tmp_path, predicate, sentence):
    card = f"""{CARD}    conclusions:
      - {{id: c, claim: Row a is good., source: p. 1,
         holds_if: [{{cells: {{row: a}}, {predicate[1:]}]}}
"""
    with pytest.raises(CardError) as caught:
        load_papers(write_paper(tmp_path, card))
    assert sentence in str(caught.value)


def test_one_name_in_two_chapters(tmp_path):
    write_paper(tmp_path)
    write_paper(tmp_path, chapter="2")
    with pytest.raises(CardError, match=r"ch2.yaml: a second card for table_1; keep one."):
        load_papers(tmp_path)


def test_chapters_without_a_paper_are_not_passed_over(tmp_path):
    (write_paper(tmp_path) / "toy" / "paper.yaml").unlink()
    with pytest.raises(CardError, match=r"ch1.yaml: there is no paper.yaml beside it"):
        load_papers(tmp_path)


def test_a_folder_without_papers(tmp_path):
    with pytest.raises(CardError, match=r"holds no paper; a paper is a folder with a paper.yaml"):
        load_papers(tmp_path)


@pytest.mark.parametrize(
    ("wanted", "nearest"),
    [
        ("toy/table_2", "toy/table_1"),
        ("table_1", "toy/table_1"),
        ("other/tabel_1", "other/table_1"),
    ],
)
def test_an_unknown_id_brings_the_nearest(tmp_path, wanted, nearest):
    write_paper(tmp_path)
    papers = load_papers(write_paper(tmp_path, key="other"))
    with pytest.raises(CardError) as caught:
        find_artefact(papers, wanted)
    assert str(caught.value).startswith(f"{wanted!r} is no artefact; did you mean {nearest}")


def test_an_id_that_resembles_none(tmp_path):
    with pytest.raises(CardError, match=r"'\?' is no artefact; see `everycell list`."):
        find_artefact(load_papers(write_paper(tmp_path)), "?")


def test_adding_a_paper_touches_no_other(tmp_path, repository):
    """What the README walks through: three files make a paper, and the rest stays as it is."""
    (tmp_path / "sakai2023").symlink_to(repository / "published" / "sakai2023")
    before = load_papers(tmp_path)
    papers = load_papers(
        write_paper(
            tmp_path,
            CARD
            + """\
    conclusions:
      - id: b_is_better
        claim: Row b is better than row a.
        source: p. 1
        holds_if: [{cells: {row: b, metric: AP}, op: ">", other: {row: a}}]
""",
        )
    )
    assert papers["sakai2023"] == before["sakai2023"]
    assert check_cards(papers) == []
    added = find_artefact(papers, "toy/table_1")
    assert evaluate(added.card.conclusions[0], added.cells).outcome == "holds"
    found = report(added, "embedded", added.cells.assign(value=["0.301", "12", "0.42", "8"]))
    assert [cell["verdict"] for cell in found["cells"]] == ["equal", "equal", "differs", "close"]


def test_only_declared_inputs_are_handed_to_a_rebuild(tmp_path):
    quoted = """    quoted:
      - {cells: {metric: n}, because: counts of the paper, is_input: true}
      - {cells: {row: b}, because: from another paper}
"""
    artefact = find_artefact(load_papers(write_paper(tmp_path, CARD + quoted)), "toy/table_1")
    assert artefact.input_cells()["value"].tolist() == ["12", "7"]


def test_what_one_tier_takes_as_given_another_may_rebuild(tmp_path):
    quoted = """    quoted:
      - {cells: {metric: n}, because: counts of the paper, is_input: true, tiers: [embedded]}
"""
    card = CARD.replace("tiers: {", "tiers: {full: {state: rebuilt, needs: hours}, ")
    artefact = find_artefact(load_papers(write_paper(tmp_path, card + quoted)), "toy/table_1")
    assert artefact.input_cells()["value"].tolist() == ["12", "7"]
    verdicts = {}
    for tier in ("embedded", "full"):
        found = report(artefact, tier, artefact.cells)
        verdicts[tier] = [cell["verdict"] for cell in found["cells"]]
        assert len(artefact.input_cells(tier)) == verdicts[tier].count("quoted")
    assert verdicts == {
        "embedded": ["equal", "quoted", "equal", "quoted"],
        "full": ["equal"] * 4,
    }


def test_none_and_dashes_stay_what_they_are(tmp_path):
    cells = CELLS.replace("a,", "None,").replace("b,", "-,").replace("0.30", "NA")
    artefact = find_artefact(load_papers(write_paper(tmp_path, cells=cells)), "toy/table_1")
    assert artefact.cells["row"].tolist() == ["None", "None", "-", "-"]
    assert artefact.cells["value"].iloc[0] == "NA"


def test_undeclared_decimals_are_the_most_that_a_metric_shows(tmp_path):
    card = CARD.replace("    decimals: {AP: 2, n: 0}\n", "")
    artefact = find_artefact(load_papers(write_paper(tmp_path, card)), "toy/table_1")
    assert (artefact.decimals("AP"), artefact.decimals("n")) == (2, 0)


@pytest.mark.parametrize(
    ("text", "digits"),
    [("0.30", 2), ("12", 0), ("12.", 0), (".5", 1), ("-1.50", 2), ("2.5e-5", 6), ("1E3", 0)],
)
def test_digits_after_the_point(text, digits):
    assert is_number(text) and decimals_shown(text) == digits


@pytest.mark.parametrize("text", ["", "-", "1,000", "132_1", "nan", "inf", "1 2", "5%", "0.3*"])
def test_what_is_no_number(text):
    assert not is_number(text)


# The five papers


def test_real_cards_have_no_faults(repository):
    assert check_cards(load_papers(repository / "published")) == []


def test_every_table_and_figure_of_the_five_papers_has_a_card(repository):
    artefacts = list(all_artefacts(load_papers(repository / "published")))
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
