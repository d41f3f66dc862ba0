"""Counts of reproduced artefacts and values of a paper."""

import dataclasses
import re
from collections import Counter

import pandas as pd
import pytest
from page import toys
from unit.toy_papers import CELLS, RECORD, write_paper

from everycell.cli import results as listing
from everycell.cli import showing
from everycell.cli.results import _summary_line
from everycell.records.papers import load_papers
from everycell.records.tables import Derived
from everycell.render.page.pages import pages_of
from everycell.verdicts.counts import Counts, count_chapters, summary_row
from everycell.verdicts.headlines import claim_lines, headline, headlines
from everycell.verdicts.reports import VERDICTS, Result
from everycell.verdicts.verdicts import NO_AUDITS, report

TIERS = """\
    tiers:
      embedded: {state: surrogate, needs: nothing, name: other data}
      released: {state: reproduced, needs: data}
      full: {state: reproduced, needs: a GPU}
"""
CONCLUSION = """\
    claims:
      - {id: c, claim: Row a is good., source: p. 1,
         supported_if: [{cells: {row: a, metric: AP}, op: ">", value: 0.2}]}
"""


def toy(tmp_path, *tiers: str):
    """Papers of one artefact, and its results in these tiers, in which one cell differs."""
    record = RECORD.replace("    tiers: {embedded: {state: reproduced, needs: nothing}}\n", TIERS)
    papers = load_papers(write_paper(tmp_path, record + CONCLUSION, CELLS))
    artefact = papers["toy"].artefacts["table_1"]
    table = pd.DataFrame(
        [["a", "AP", 0.9], ["a", "n", 12], ["b", "AP", 0.4], ["b", "n", 7]],
        columns=["row", "metric", "value"],
    ).astype({"value": str})
    return papers, [
        Result(artefact, tier, report(artefact, tier, table, audits=NO_AUDITS)) for tier in tiers
    ]


def test_count_chapters_two_tiers(tmp_path):
    papers, result = toy(tmp_path, "embedded", "released", "full")
    for results in (result, result[:2], result[::-1]):
        counts = count_chapters(papers, results)["toy", "1"]
        assert (counts.artefacts, counts.states) == (1, {"reproduced": 1})
        assert (counts.published, counts.reproduced, counts.claimed) == (4, 4, 1)
        assert counts.verdicts(kind="number", origin="data") == {"equal": 3, "different": 1}
        assert counts.outcomes("data")["supported"] == counts.tested == 1


def test_summary_line_given(tmp_path):
    """Values that are given are not reproduced here, but counted, with their verdicts."""
    papers, result = toy(tmp_path, "released")
    counts = count_chapters(papers, result)["toy", "1"]
    assert _summary_line(counts).endswith("4 of 4 cells reproduced: 3 equal, 1 different.")
    counts.cells = Counter({cell._replace(origin="given"): n for cell, n in counts.cells.items()})
    line = _summary_line(counts)
    assert line.endswith("0 of 4 cells reproduced; 4 given: 3 equal, 1 different.")
    assert "surrogate" not in line and not claim_lines(Counts(cells=counts.cells))


@pytest.mark.parametrize(("number", "reproduced"), [(0, 1), (3, 1), (4, 0)])
def test_summary_line_all_given(tmp_path, number, reproduced):
    """A result is reproduced if one of its values is; if all are given, it says so."""
    papers, [result] = toy(tmp_path, "released")
    judged = result.report.cells
    cells = [cell.model_copy(update={"origin": "given"}) for cell in judged[:number]]
    report = result.report.model_copy(update={"cells": cells + judged[number:]})
    entry = dataclasses.replace(result, report=report)
    line = _summary_line(count_chapters(papers, [entry])["toy", "1"])
    assert line.startswith(f"{reproduced} of 1 artefact reproduced")
    assert ("1 with given values only" in line) == (summary_row(entry)["state"] != "reproduced")
    assert ("1 with given values only" in line) == (not reproduced)


def test_summary_surrogate_data(tmp_path):
    papers, result = toy(tmp_path, "embedded")
    counts = count_chapters(papers, result)["toy", "1"]
    assert (counts.states, counts.reproduced) == ({"surrogate": 1}, 0)
    assert counts.outcomes("surrogate data")["supported"] == 1 and not any(
        counts.outcomes("data").values()
    )


def test_counts_add_up_and_name_kinds_and_origins(tmp_path):
    papers, result = toy(tmp_path, "released")
    total = Counts()
    for _ in range(2):
        total += count_chapters(papers, result)["toy", "1"]
    assert [headline(*line) for line in headlines(total).items()] == [
        "8 numbers computed from data: 6 equal, 2 different",
        "4 of them effectiveness measures: 2 equal, 2 different",
    ]
    assert headlines(Counts()) == {}
    # Cells without a run have their line too, so that the lines add up to all published cells.
    for entries, where in ([], ""), (toy(tmp_path / "2", "embedded")[1], " in tables run on"):
        [(name, verdicts)] = headlines(count_chapters(papers, entries)["toy", "1"]).items()
        assert verdicts == {"not run": 4} and headline(name, verdicts).startswith(
            f"4 values{where}"
        )


def test_summary_kinds_and_origins(tmp_path):
    papers, (actual,) = toy(tmp_path, "released")
    record = actual.artefact.record.model_copy(
        update={
            "kinds": {"identifier": [{"row": "a", "metric": "n"}], "check": [{"row": "b"}]},
            "derived": [Derived(cells={"metric": "AP"}, because="The mean of two columns.")],
        }
    )
    artefact = actual.artefact.model_copy(update={"record": record})
    table = artefact.cells.assign(value=artefact.cells["value"])
    result = Result(artefact, "released", report(artefact, "released", table, audits=NO_AUDITS))
    counts = count_chapters(papers, [result])["toy", "1"]
    assert {(one.kind, one.origin) for one in counts.cells} == {
        ("identifier", "data"),
        ("number", "other cells"),
    }
    assert counts.published == 2 == sum(result.report.verdicts.values())


def counts_in(text: str, pattern: str) -> dict[str, int]:
    """Numbers by verdict in a text, from a pattern with the groups `verdict` and `n`."""
    text = text.replace("\u00a0", " ")
    matches = ((match["verdict"].strip(), int(match["n"])) for match in re.finditer(pattern, text))
    return {verdict: number for verdict, number in matches if verdict in VERDICTS}


def test_counts_are_the_same_on_page_badge_and_terminal(tmp_path, monkeypatch, capsys):
    results = toys.toy_results(tmp_path / "published", tmp_path / "results")
    papers = load_papers(tmp_path / "published")
    files = pages_of(tmp_path / "results", results, papers)
    monkeypatch.setattr(listing, "collect_results", lambda *arguments, **options: results)
    monkeypatch.setenv("COLUMNS", "500")
    listing.print_summary(papers)
    summary = capsys.readouterr().out
    overview, badge = files["index.html"].decode(), files["badge.svg"].decode()
    (line,) = re.findall(r"^\d+ numbers? computed from data: .*(?=\.$)", summary, re.MULTILINE)
    assert f"<summary>{line}</summary>" in overview or f"<li>{line}</li>" in overview
    equal = counts_in(line, r"(?P<n>\d+) (?P<verdict>equal)")["equal"]
    assert f"{equal} of " in badge
    # The verdicts of an artefact: on its chapter's page, in `show` and in `list`.
    chapter = files["pages/toy2026_ch1.html"].decode()
    (article,) = re.findall(r'<article id="toy2026-table_1">.*?</article>', chapter, re.DOTALL)
    on_page = counts_in(article, r'<span class="mark [\w-]+">\S+ (?P<n>\d+) (?P<verdict>[a-z ]+)')
    own = [result for result in results if result.artefact.name == "table_1"]
    showing._show_artefact(own[0].artefact, own)
    (legend,) = re.findall("with reproduced ones below:.*", capsys.readouterr().out)
    in_show = counts_in(legend, r"  \S (?P<verdict>[a-z ]+) \((?P<n>\d+)\)")
    (reproduced,) = (result for result in own if result.report.state == "reproduced")
    row = {verdict: n for verdict, n in listing._row(reproduced)["verdicts"].items() if n}
    assert len(row) > 3 and on_page == in_show == row
