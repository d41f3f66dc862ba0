"""The report to attach, and the evidence for levels of artifact review."""

import json
import re

import pytest
from page import toys
from typer.testing import CliRunner

from everycell.cli import app, results
from everycell.cli.levels import levels_of
from everycell.records.papers import load_papers
from everycell.render.page.overview import build_page


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with the toy results, which are not verified."""
    toy_results = toys.toy_results(tmp_path / "published", tmp_path / "results")
    (tmp_path / "config.yaml").write_text("{}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(results, "collect_results", lambda papers, audits: toy_results)
    return tmp_path


def test_report_is_self_contained(project):
    done = CliRunner().invoke(app, ["report", "report.html"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    page = (project / "report.html").read_text()
    loaded = re.findall(r'(?:href|src)="([^"]*)"', page)
    assert all(address.startswith(("#", "data:", "https://")) for address in loaded)
    assert 'src="data:image/svg+xml;base64,' in page
    assert {link[1:] for link in loaded if link.startswith("#")} <= set(
        re.findall(r'id="([^"]*)"', page)
    )
    for text in ("0.250", "Run a is better than run b.", "1.2", "not recorded"):
        assert text in page
    levels = json.loads((project / "levels.json").read_text())
    assert [level["level"] for level in levels["papers"]["toy2026"]] == [
        "Artifacts Available",
        "Artifacts Evaluated - Functional",
        "Artifacts Evaluated - Reusable",
        "Results Reproduced",
    ]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["r.html", "toy2027"], "toy2027"),
        (["old.html"], "old.html"),
        (["levels.json"], "levels.json"),
        (["r.pdf"], "r.pdf"),
        (["r"], "r: "),
    ],
)
def test_report_refused(project, arguments, word):
    (project / "old.html").write_text("mine")
    done = CliRunner().invoke(app, ["report", *arguments])
    assert done.exit_code == 2 and word in done.output
    assert (project / "old.html").read_text() == "mine"
    assert not (project / "levels.json").exists()


REPORTS = ("report.html", "levels.json")


@pytest.mark.parametrize("other", [*REPORTS, None])
def test_report_again(project, other):
    """A report is replaced, and no other file of its name."""
    arguments = ["report", "report.html"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    before = [(project / name).read_text() for name in REPORTS]
    if other is not None:
        (project / other).write_text('{"policy": "https://mine", "mark": "everycell report"}')
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == (2 if other else 0)
    after = [(project / name).read_text() for name in REPORTS]
    assert after == before if other is None else "mine" in after[REPORTS.index(other)]


def levels(project, faults=()):
    papers = load_papers(project / "published")
    toy_results = results.collect_results(papers, None)
    [paper] = build_page(papers, toy_results, project / "results").papers
    return {level["level"].split()[-1]: level for level in levels_of(paper, project, faults)}


@pytest.mark.parametrize(
    ("edit", "level", "text"),
    [
        (lambda text: text.replace("https://code.example", "https://zenodo.org"), "Available",
         "zenodo.org/toys"),
        (lambda text: text + "licence: MIT\n", "Available", "MIT"),
    ],
)  # fmt: skip
def test_levels_of_evidence_replaces_missing(project, edit, level, text):
    before = levels(project)[level]
    assert not any(text in fact for fact in before["evidence"])
    path = project / "published/toy2026/paper.yaml"
    path.write_text(edit(path.read_text()))
    after = levels(project)[level]
    assert any(text in fact for fact in after["evidence"])
    assert len(after["missing"]) == len(before["missing"]) - 1


def test_levels_of_unverified_results(project):
    """No result counts as evidence in a folder that `verify` rejects."""
    assert "valid receipt" in " ".join(levels(project)["Functional"]["evidence"])
    by_name = levels(project, ["a.csv was edited.", "b.csv was edited."])
    assert "valid receipt" not in " ".join(by_name["Functional"]["evidence"])
    for name in ("Functional", "Reproduced"):
        assert "2 faults): a.csv was edited." in " ".join(by_name[name]["missing"])


def test_report_of_edited_results(project):
    """The toy results, which no job made, are no evidence."""
    CliRunner().invoke(app, ["report", "report.html"], catch_exceptions=False)
    [toy] = json.loads((project / "levels.json").read_text())["papers"].values()
    assert "everycell verify" in " ".join(toy[3]["missing"])


def test_levels_of_missing(project):
    by_name = levels(project)
    functional = " ".join(by_name["Functional"]["missing"])
    assert "figure_9.csv" in functional and "ten thousand crowd workers" in functional
    assert by_name["Reusable"]["missing"][0] == "what is missing for Functional"
    reproduced = " ".join(by_name["Reproduced"]["missing"])
    assert "1 value different, in Table 1" in reproduced
    assert all(level["to_judge"] for level in by_name.values())
