"""Claims of a chapter: each counted once, by the best result that there is."""

from collections import Counter
from dataclasses import dataclass, field

import pandas as pd
import pytest
from unit.toy_papers import CELLS, RECORD, write_paper

from everycell.records.cells import RecordError
from everycell.records.papers import Artefact, all_artefacts, load_papers
from everycell.render.page.pages import claims_frame, excluded_frame
from everycell.verdicts.counts import ClaimClass, Counts, claims_of, count_chapters, summary_row
from everycell.verdicts.headlines import CLAIM_LINES, as_query, claim_lines, count_claims
from everycell.verdicts.reports import Report
from everycell.verdicts.verdicts import report

CLAIMS = """\
    claims:
      - {id: higher, claim: Row b is better than a., source: p. 1,
         supported_if: [{cells: {row: b, metric: AP}, op: ">", other: {row: a}}]}
      - {id: larger, claim: Row b is larger than a., source: p. 1,
         supported_if: [{cells: {row: b, metric: n}, op: ">", other: {row: a}}]}
untested:
  - {source: p. 2, claim: Users like row b., missing: [{kind: file, name: answers of users}],
     reason: There are no users here.}
"""
TIERS = (
    "{embedded: {state: surrogate, name: toys, needs: nothing}, released: {state: reproduced, "
    "needs: the ratings}, full: {state: not run, needs: a zeppelin}}"
)


@dataclass
class Entry:
    artefact: Artefact
    tier: str
    report: Report
    faults: list[str] = field(default_factory=list)


@pytest.fixture
def papers(tmp_path):
    record = RECORD.replace("{embedded: {state: reproduced, needs: nothing}}", TIERS) + CLAIMS
    return load_papers(write_paper(tmp_path, record))


def entry(papers, tier, *values) -> Entry:
    (artefact,) = all_artefacts(papers)
    table = artefact.cells.assign(value=values) if values else None
    return Entry(artefact, tier, report(artefact, tier, table))


def test_count_chapters_without_results(papers):
    entries = [entry(papers, tier) for tier in ("embedded", "released", "full")]
    (result,) = count_chapters(papers, entries).values()
    assert (result.claimed, result.tested) == (3, 0)
    assert (result.not_run, result.untestable) == (2, 1)
    assert result.outcomes_of("on_published") == {"supported": 1, "contradicted": 1, "": 1}
    assert result.outcomes_of("on_reproduced") == {"": 3}


def test_reproduced_values_count_before_surrogate_data(papers):
    surrogate = entry(papers, "embedded", 2, 1, 1, 2)
    reproduced = entry(papers, "released", 0.3, 12, 0.4, 7)
    for entries, basis in (
        ([surrogate], "surrogate data"),
        ([surrogate, reproduced], "data"),
        ([reproduced, surrogate], "data"),
    ):
        (result,) = count_chapters(papers, entries).values()
        claims = {(basis, "supported"): 1, (basis, "contradicted"): 1, ("not testable", ""): 1}
        assert {(claim.basis, claim.outcome): n for claim, n in result.claims.items()} == claims


@pytest.mark.parametrize(
    ("declared", "rows", "expected_basis"),
    [
        (
            "not_run: [{cells: {row: b, metric: AP}, tier: released, needs: x y}]",
            [0, 1, 3],
            "not run",
        ),
        ("quoted: [{cells: {metric: AP}, because: from elsewhere}]", [1, 3], "quoted values"),
        ("quoted: [{cells: {row: a, metric: AP}, because: an input}]", [1, 2, 3], "data"),
        ("quoted: [{cells: {row: b, metric: AP}, because: their run}]", [0, 1, 3], "data"),
        ("derived: [{cells: {metric: AP}, because: follows from n}]", [0, 1, 2, 3], "other cells"),
    ],
)
def test_claims_of_compared_cells(tmp_path, declared, rows, expected_basis):
    record = RECORD.replace("{embedded: {state: reproduced, needs: nothing}}", TIERS) + CLAIMS
    papers = load_papers(
        write_paper(tmp_path, record.replace("    claims:", f"    {declared}\n    claims:"))
    )
    (artefact,) = all_artefacts(papers)
    result = Entry(artefact, "released", report(artefact, "released", artefact.cells.iloc[rows]))
    basis, larger = claims_of(artefact, result)
    assert basis.basis == expected_basis
    assert (larger.basis, larger.outcome, larger.flag) == ("data", "contradicted", "")
    on_one_side = declared.startswith("quoted") and expected_basis == "data"
    assert basis.flag == ("quoted" if on_one_side else "")
    assert basis.outcome == ("" if expected_basis == "not run" else "supported")


@pytest.mark.parametrize("varies", ["", ", varies: trained here, varies_by: 0.2"])
@pytest.mark.parametrize(("claims_field", "holding"), [("", 0), (", claims: [larger]", 1)])
def test_count_chapters_untestable(tmp_path, claims_field, holding, varies):
    missing = "missing: [{kind: experiment, name: toys with a size}]"
    reason = f"{missing}, because: Toys have no size.{claims_field}"
    declared = f"name: toys{varies}, not_testable: {{{reason}}}"
    record = RECORD.replace("{embedded: {state: reproduced, needs: nothing}}", TIERS) + CLAIMS
    papers = load_papers(write_paper(tmp_path, record.replace("name: toys", declared)))
    message = entry(papers, "embedded", 1, 2, 2, 3)
    (result,) = count_chapters(papers, [message]).values()
    outcome = "dependent on the machine" if varies else "supported"
    tested = {("surrogate data", outcome): holding} if holding else {}
    assert {(claim.basis, claim.outcome) for claim in result.claims} == {
        *tested,
        ("not testable", ""),
    }
    assert (result.claimed, result.tested, result.untestable) == (3, holding, 3 - holding)
    last = message.report.claims[-1]
    assert (last.on_published, last.on_reproduced) == ("contradicted", "not testable")
    assert last.detail == "Toys have no size."


def test_load_papers_untested_claim(tmp_path):
    for missing in (
        "source: p. 2, ",
        "claim: Users like row b., ",
        "missing: [{kind: file, name: answers of users}],\n     ",
        "\n     reason: There are no users here.",
    ):
        text = RECORD + CLAIMS.replace(missing, "")
        with pytest.raises(RecordError, match=r"untested.0"):
            load_papers(write_paper(tmp_path, text, CELLS))


def test_report_claims_read_supplements(papers):
    (artefact,) = all_artefacts(papers)
    parts = [{"supplement": "tests", "cells": {"pair": "b - a"}, "op": ">", "value": 0}]
    claim = artefact.record.claims[0].model_copy(
        update={"supported_if": [type(artefact.record.claims[0].supported_if[0])(**parts[0])]}
    )
    record = artefact.record.model_copy(update={"claims": [claim]})
    artefact = artefact.model_copy(update={"record": record})
    tests = pd.DataFrame({"pair": ["b - a"], "value": ["-0.1"]})
    message = report(artefact, "released", artefact.cells, find_table={"tests": tests}.get)
    assert [one.on_reproduced for one in message.claims] == ["contradicted"]
    message = report(artefact, "released", artefact.cells)
    assert [one.on_reproduced for one in message.claims] == ["not run"]


ERRATUM = "    errata: [{id: e, cause: CAUSE, finding: Not so here., evidence: The ratings.}]\n"


@pytest.mark.parametrize("cause", ["published", "method", "unknown", None])
def test_claim_lines_contradicted_claims_and_their_cause(tmp_path, cause):
    """A contradicted claim counts as contradicted, and its cause is counted beside it."""
    record = RECORD.replace("{embedded: {state: reproduced, needs: nothing}}", TIERS) + CLAIMS
    if cause:
        record = record.replace("id: larger,", "id: larger, erratum: e,")
        errata = ERRATUM.replace("CAUSE", cause)
        record = record.replace("    claims:", f"{errata}    claims:")
    papers = load_papers(write_paper(tmp_path, record))
    unknown = int(cause in ("unknown", None))
    part = "1 contradicted" + " (of these 1 with unknown cause)" * unknown
    for entries, on_reproduced in (
        ([], "3 not tested on reproduced values"),
        ([entry(papers, "released", 0.3, 12, 0.4, 7)], f"1 supported, {part}, 1 not tested"),
        ([entry(papers, "embedded", 0.3, 12, 0.4, 7)], "3 not tested on reproduced values"),
    ):
        (counts,) = count_chapters(papers, entries).values()
        lines = claim_lines(counts)
        assert lines["on published values"] == (
            f"3 claims on published values: 1 supported, {part}, 1 without a test"
        )
        assert on_reproduced in lines["on reproduced values"]
        parts = [count_claims(counts, CLAIM_LINES[name]).total() for name in lines]
        assert parts[:2] == [3, 3]
        assert counts.contradicted == 1
        if entries and entries[0].tier == "embedded":
            assert "unknown cause" not in lines["of them only on surrogate data"]


def test_claim_lines_outcomes():
    """The outcomes of a line add up to its claims, also those that were not run."""
    claims = Counter(
        {
            ClaimClass("data", "supported", "not run"): 2,
            ClaimClass("data", "inconclusive", "without published numbers"): 3,
            ClaimClass("data", "dependent on the machine", "not testable"): 4,
        }
    )
    lines = claim_lines(Counts(claims=claims))
    assert lines["on published values"] == (
        "9 claims on published values: 4 not testable, 2 not run, 3 without published numbers"
    )
    assert lines["on reproduced values"].endswith(
        "2 supported, 3 inconclusive, 4 dependent on the machine"
    )


def test_claims_frame_and_list_agree(papers):
    """`claims.csv` and `everycell list` name the same outcomes, also for tables not run."""
    entries = [
        entry(papers, "embedded", 2, 1, 1, 2),
        entry(papers, "released", 0.3, 12, 0.4, 7),
        entry(papers, "full"),
    ]
    for results in (entries, entries[-1:]):
        frame = claims_frame(papers, results)
        frame = frame[frame["claim"] != ""]
        for result in results:
            rows = frame[frame["tier"] == result.tier]
            listed = {name: n for name, n in summary_row(result)["claims"].items() if n}
            if result.tier == "full":
                assert listed == {"not run": 2} and rows.empty
            else:
                assert listed == dict(Counter(rows["outcome"]))
    assert set(frame["basis"]) == {"not run"} and set(frame["outcome"]) == {""}


def test_excluded_frame_outcomes(tmp_path):
    missing = "missing: [{kind: experiment, name: toys with a size}]"
    declared = f"name: toys, not_testable: {{{missing}, because: Toys have no size.}}"
    record = RECORD.replace("{embedded: {state: reproduced, needs: nothing}}", TIERS) + CLAIMS
    papers = load_papers(write_paper(tmp_path, record.replace("name: toys", declared)))
    frame = excluded_frame([entry(papers, "embedded", 1, 2, 2, 3)])
    assert frame[["claim", "on_published", "on_surrogate"]].to_numpy().tolist() == [
        ["higher", "supported", "supported"],
        ["larger", "contradicted", "supported"],
    ]
    assert set(frame["reason"]) == {"Toys have no size."}


def test_as_query_number_of_values():
    query = as_query({"kind": "number", "origin": ("data", "quoted")})
    assert query == "kind == 'number' and origin in ['data', 'quoted']"
