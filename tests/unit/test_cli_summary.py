"""Counts of what was rebuilt of a work, out of all that it prints."""

import pandas as pd
from unit.toy_papers import CARD, CELLS, write_paper

from everycell.cli.summing import Tally, in_words, tallies
from everycell.engine.artefacts import load_papers
from everycell.engine.results import Result
from everycell.engine.verdicts import NO_AUDITS, report

TIERS = """\
    tiers:
      embedded: {state: stand_in, needs: nothing, name: other data}
      released: {state: rebuilt, needs: data}
      full: {state: rebuilt, needs: a GPU}
"""
CONCLUSION = """\
    conclusions:
      - {id: c, claim: Row a is good., source: p. 1,
         holds_if: [{cells: {row: a, metric: AP}, op: ">", value: 0.2}]}
"""


def toy(tmp_path, *tiers: str):
    """Papers of one artefact, and its results in these tiers, in which one cell differs."""
    card = CARD.replace("    tiers: {embedded: {state: rebuilt, needs: nothing}}\n", TIERS)
    papers = load_papers(write_paper(tmp_path, card + CONCLUSION, CELLS))
    artefact = papers["toy"].artefacts["table_1"]
    table = pd.DataFrame(
        [["a", "AP", 0.9], ["a", "n", 12], ["b", "AP", 0.4], ["b", "n", 7]],
        columns=["row", "metric", "value"],
    ).astype({"value": str})
    return papers, [
        Result(artefact, tier, report(artefact, tier, table, audits=NO_AUDITS)) for tier in tiers
    ]


def test_an_artefact_of_two_tiers_counts_once(tmp_path):
    papers, found = toy(tmp_path, "embedded", "released", "full")
    for results in (found, found[:2], found[::-1]):
        tally = tallies(papers, results)["toy"]
        assert (tally.artefacts, tally.rebuilt, tally.stand_ins) == (1, 1, 0)
        assert (tally.cells, tally.compared, tally.claims) == (4, 4, 1)
        assert tally.verdicts["equal"] == 3 and tally.verdicts["differs"] == 1
        assert tally.outcomes == {"holds": 1}


def test_a_stand_in_compares_nothing(tmp_path):
    papers, found = toy(tmp_path, "embedded")
    tally = tallies(papers, found)["toy"]
    assert (tally.rebuilt, tally.stand_ins, tally.compared) == (0, 1, 0)
    assert not tally.outcomes and (tally.cells, tally.claims) == (4, 1)


def test_works_add_up(tmp_path):
    papers, found = toy(tmp_path, "released")
    total = Tally()
    for _ in range(2):
        total.add(tallies(papers, found)["toy"])
    assert in_words(total) == (
        "2 artefacts, 2 rebuilt (0 of them without a rebuilt cell) and 0 stand-ins; cells: "
        "6 equal, 2 differs; conclusions: 2 hold, 0 fail, 0 undecided."
    )
    assert in_words(Tally()).startswith("0 artefacts, 0 rebuilt")
