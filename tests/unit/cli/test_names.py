"""Names in any spelling, and what `everycell make` asks Snakemake for."""

import pytest
from harness import published
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner
from unit.toy_papers import RECORD, write_paper

from everycell.base.installation import requirement
from everycell.cli import app, entry, making
from everycell.cli.entry import describe_missing_module
from everycell.cli.making import plan
from everycell.cli.names import Names, Selection, words_of
from everycell.cli.project import papers_not_included
from everycell.records.cells import RecordError
from everycell.records.papers import all_artefacts, load_papers

PAPERS = published()
NAMES = Names(PAPERS)
ARTEFACTS = list(all_artefacts(PAPERS))
CHAPTERS = [(paper.key, chapter) for paper in PAPERS.values() for chapter in paper.chapters]
#: As a thesis prints them, as a reader writes them.
KINDS = {"table": ["Table", "Tab.", "table"], "figure": ["Figure", "Fig.", "fig"], "text": ["Text"]}
SUFFIXES = [".csv", ".md", ".tex", ".receipt.json", ".verdicts.json", ".power.png"]


@st.composite
def spelled(draw) -> tuple[str, Selection]:
    """An artefact in one of its spellings, and what it is."""
    artefact = draw(st.sampled_from(ARTEFACTS))
    kind, *numbers = artefact.name.split("_")
    number = draw(st.sampled_from("._- ")).join(numbers)
    own = draw(st.sampled_from([artefact.name, f"{draw(st.sampled_from(KINDS[kind]))} {number}"]))
    own = draw(st.sampled_from([own, own.upper(), own.lower(), f"{kind}{number}"]))
    join = draw(st.sampled_from(["/", "_", " ", ", ", " of "]))
    name = draw(
        st.sampled_from([f"{artefact.paper}{join}{own}", f"{own}{' ' + join}{artefact.paper}"])
    )
    return name, Selection("artefact", artefact.paper, artefact.chapter, artefact.name)


@given(spelled())
def test_selection_artefact_spellings(case):
    name, names = case
    assert NAMES.find(name) == names


@given(st.sampled_from(ARTEFACTS), st.data())
def test_selection_path_of_result(artefact, data):
    tier = data.draw(st.sampled_from(list(artefact.record.tiers)))
    suffix = data.draw(st.sampled_from(["", *SUFFIXES]))
    result = NAMES.find(f"results/{tier}/{artefact.id}{suffix}")
    assert (str(result), result.tier) == (artefact.id, tier)


@pytest.mark.parametrize(
    "form", ["{0}_ch{1}", "{0}/ch{1}", "{0} chapter {1}", "Chapter {1} of {0}"]
)
def test_selection_chapter_spellings(form):
    for paper, chapter in CHAPTERS:
        assert NAMES.find(form.format(paper, chapter)) == Selection("chapter", paper, chapter)
        assert str(NAMES.find(form.format(paper, chapter))) == f"{paper}_ch{chapter}"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Heuss2025", Selection("paper", "heuss2025")),
        ("released", Selection("tier", tier="released")),
        ("ALL", Selection("all")),
        ("full_heuss2025_ch5", Selection("chapter", "heuss2025", "5", tier="full")),
        ("heuss2025 released", Selection("paper", "heuss2025", tier="released")),
        ("Appendix A of lajewska2025", Selection("chapter", "lajewska2025", "A")),
        # Only one paper has a Table 4.8.
        ("table 4.8", Selection("artefact", "lajewska2025", "4", "table_4_8")),
        ("lajewska", Selection("paper", "lajewska2025")),
        ("Heuss (2025), Table 2.1", Selection("artefact", "heuss2025", "2", "table_2_1")),
        ("Tbl. 2.1 of Heuss 2025", Selection("artefact", "heuss2025", "2", "table_2_1")),
        ("Łajewska Table 4.8", Selection("artefact", "lajewska2025", "4", "table_4_8")),
        ("RankingSHAP", Selection("chapter", "heuss2025", "4")),
        ("TExFAIR abolghasemi2026", Selection("chapter", "abolghasemi2026", "4")),
        ("abolghasemi, chapter 5", Selection("chapter", "abolghasemi2026", "5")),
    ],
)
def test_selection_other_names(name, expected):
    assert NAMES.find(name) == expected


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "table 1",
            "is ambiguous (abolghasemi2024/table_1, sakai2023/table_1); use one of these names.",
        ),
        ("sakai2024", "is not a paper, chapter or artefact; did you mean sakai2023"),
        ("lajewska2025/table_4_88", "did you mean lajewska2025/table_4_8"),
        ("lajewskaa", "did you mean lajewska2025"),
        ("abolghasemi", "is ambiguous (abolghasemi2024, abolghasemi2026); use one of these names."),
        ("listwise attribution", "did you mean heuss2025_ch4?"),
        ("TExFAIR", "is ambiguous (abolghasemi2024_ch1, abolghasemi2026_ch4)"),
        ("ginger nuggets", "did you mean lajewska2025_ch6"),
        ("table 99.99", "`everycell list` lists them all."),
        ("", "`everycell list` lists them all."),
        ("zzz", "`everycell list` lists them all."),
    ],
)
def test_selection_unknown_name(name, message):
    with pytest.raises(RecordError) as error:
        NAMES.find(name)
    assert message in str(error.value) and str(error.value).startswith(repr(name))


@given(st.text(max_size=40))
def test_selection_any_text(text):
    try:
        assert NAMES.find(text).kind in ("artefact", "chapter", "paper", "tier", "all")
    except RecordError as error:
        assert str(error).endswith((".", "?"))


def test_plan_targets():
    requests = [
        "Table 4.8 of lajewska2025",
        "lajewska2025_table_4_8",
        "lajewska2025 ch. 4",
        "full_heuss2025_table_5_2",
        "embedded sakai2023_table_1",
        "results/released/lajewska2025/table_4_8.tex",
        "results/index.html",
        "all",
    ]
    result = plan(PAPERS, requests)
    assert result.targets == [
        "lajewska2025_table_4_8",
        "lajewska2025_ch4",
        "full_heuss2025_table_5_2",
        "results/embedded/sakai2023/table_1.verdicts.json",
        "results/embedded/sakai2023/table_1.csv",
        "results/embedded/sakai2023/table_1.receipt.json",
        "results/released/lajewska2025/table_4_8.tex",
        "results/index.html",
        "all",
    ]
    assert result.reasons == [] and result.papers == list(PAPERS)
    assert plan(PAPERS, ["table 4.8"]).papers == ["lajewska2025"]


@pytest.mark.parametrize(
    ("tiers", "name", "message"),
    [
        (
            "{released: {state: not run, needs: Twenty people.}}",
            "toy/table_1",
            "toy/table_1 has no rule. released: no rule yet; needs twenty people.",
        ),
        (
            "{released: {state: drawing, needs: nothing}}",
            "toy/table_1",
            "toy/table_1 has no rule. released: a drawing without data. See p. 1 of the paper: "
            "A toy table.",
        ),
        (
            "{embedded: {state: quoted, needs: Nothing.}}",
            "toy/table_1",
            "toy/table_1 has no rule. embedded: quoted and not computed. See p. 1 of the paper: "
            "A toy table.",
        ),
        (
            "{full: {state: reproduced, needs: a GPU}}",
            "toy/table_1",
            "toy/table_1 has a rule only in the full tier, which takes hours and needs settings in "
            "config.yaml; make it with `everycell make full_toy_table_1`.",
        ),
        (
            "{embedded: {state: reproduced, needs: nothing}}",
            "released toy/table_1",
            "toy/table_1 has no tier released; its record has embedded.",
        ),
        (
            "{released: {state: not run, needs: Twenty people.}}",
            "toy ch1",
            "toy_ch1: none of its artefacts has a rule yet; `everycell show toy_ch1` lists what "
            "each of them needs.",
        ),
    ],
)
def test_plan_target_without_rule(tmp_path, tiers, name, message):
    known = "{embedded: {state: reproduced, needs: nothing}}"
    papers = load_papers(write_paper(tmp_path, RECORD.replace(known, tiers)))
    result = plan(papers, [name])
    assert (result.targets, result.reasons, result.papers) == ([], [message], [])


def test_plan_drawing_says_where_it_is():
    drawings = [artefact for artefact in ARTEFACTS if artefact.record.kind == "drawing"]
    reasons = plan(PAPERS, [artefact.id for artefact in drawings]).reasons
    assert len(drawings) == len(reasons) > 0
    for artefact, reason in zip(drawings, reasons, strict=True):
        assert artefact.record.title in reason and " p. " in reason, reason
        assert "L1" not in reason


def test_describe_missing_module(monkeypatch):
    monkeypatch.setattr(making, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError) as error:
        making.run_snakemake(["all"])
    assert "module snakemake, " in describe_missing_module(error.value)
    assert f"pip install '{requirement()}'" in describe_missing_module(error.value)


@pytest.mark.parametrize(
    ("command", "module", "is_bare", "extras"),
    [
        (["measure", "explain"], "matplotlib", True, "methods,workflow"),
        (["measure", "explain"], "shap", True, "methods,workflow"),
        (["measure", "explain"], "shap", False, "methods"),
        (["measure", "fairness"], "matplotlib", True, "workflow"),
        (["list"], "snakemake", True, "workflow"),
    ],
)
def test_describe_missing_module_of_extras(monkeypatch, command, module, is_bare, extras):
    monkeypatch.setattr(entry.sys, "argv", ["everycell", *command])
    monkeypatch.setattr(entry, "find_spec", lambda name: None if is_bare else entry)
    message = entry.describe_missing_module(ModuleNotFoundError(name=module))
    assert f"pip install '{requirement(extras)}'" in message


def test_make_without_name(monkeypatch, repository):
    monkeypatch.chdir(repository)
    requests: list[list[str]] = []
    monkeypatch.setattr(making, "run_snakemake", lambda request: requests.append(request) or 1)
    line, end = CliRunner().invoke(app, ["make"]).stderr.split("\n")
    assert requests == [[]] and end == ""
    assert "default target" in line and "`everycell make all`" in line
    assert CliRunner().invoke(app, ["make", "embedded"]).stderr == ""
    # A project of one's own without such results.
    own = {key: paper.model_copy(update={"artefacts": {}}) for key, paper in PAPERS.items()}
    monkeypatch.setattr(making.project, "papers", lambda: own)
    line = CliRunner().invoke(app, ["make"]).stderr
    assert "default target" in line and "all" not in line


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Table 4.8 of lajewska2025", ("table", "4", "8", "lajewska2025")),
        (
            "results/released/lajewska2025/table_4_8.power.csv",
            ("released", "lajewska2025", "table", "4", "8"),
        ),
        ("Fig. A1", ("figure", "a", "1")),
        ("lajewska2025_chA", ("lajewska2025", "ch", "a")),
    ],
)
def test_words_of_spellings(name, words):
    assert words_of(name) == words


def test_papers_not_included_in_the_snakefile(tmp_path):
    (tmp_path / "workflow/papers/toy2026").mkdir(parents=True)
    (tmp_path / "workflow/papers/toy2026/ch1.smk").touch()
    (tmp_path / "Snakefile").touch()
    assert papers_not_included(tmp_path) == ["toy2026"]
