"""Counts of reproduced artefacts and values of a paper."""

from collections import Counter

import pandas as pd
from unit.toy_papers import CELLS, RECORD, write_paper

from everycell.cli.results import _summary_line
from everycell.records.papers import load_papers
from everycell.records.tables import Derived
from everycell.verdicts.counts import Counts, count_chapters
from everycell.verdicts.headlines import claim_lines, headline, headlines
from everycell.verdicts.reports import Result
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
    """Values computed elsewhere are not reproduced here, but counted, with their verdicts."""
    papers, result = toy(tmp_path, "released")
    counts = count_chapters(papers, result)["toy", "1"]
    assert _summary_line(counts).endswith("4 of 4 cells reproduced: 3 equal, 1 different.")
    counts.cells = Counter({cell._replace(origin="given"): n for cell, n in counts.cells.items()})
    line = _summary_line(counts)
    assert line.endswith("0 of 4 cells reproduced; 4 computed elsewhere: 3 equal, 1 different.")
    assert "surrogate" not in line and not claim_lines(Counts(cells=counts.cells))


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
