"""What the README says is rebuilt is counted from the expected verdicts."""

import importlib.util
from pathlib import Path

import pandas as pd
import pytest

from everycell.engine.artefacts import load_papers
from everycell.engine.cards import RUNNABLE
from everycell.engine.counting import HEADLINES, claim_lines, count_chapters, headlines, total
from everycell.engine.render.page.cells_file import cells_frame
from everycell.engine.render.page.model import build_model
from everycell.engine.results import collect

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def maker():
    path = REPOSITORY / "docs" / "make_coverage.py"
    spec = importlib.util.spec_from_file_location("make_coverage", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def papers():
    return load_papers(REPOSITORY / "published")


@pytest.fixture(scope="module")
def expected():
    return pd.read_csv(REPOSITORY / "tests" / "expected_verdicts.csv", dtype=str)


def test_the_readme_is_up_to_date(maker, papers, expected):
    page = (REPOSITORY / "README.md").read_text("utf-8")
    made = maker.rendered(page, papers, expected)
    assert made == page, "run `python docs/make_coverage.py`"


def test_the_counts_of_readme_page_summary_and_cells_agree(maker, papers, expected):
    whole = total(count_chapters(papers, maker.entries(papers, expected)).values())
    results = REPOSITORY / "results"
    found = collect(papers, results, REPOSITORY, audits=None)
    there = {(one.artefact.id, one.tier) for one in found if one.report.state in RUNNABLE}
    if not set(expected[["artefact", "tier"]].itertuples(index=False, name=None)) <= there:
        pytest.skip("needs the results of both tiers")
    own = total(count_chapters(papers, found).values())
    assert (own.cells, own.claims) == (whole.cells, whole.claims)
    model = build_model(papers, found, results)
    assert model["headlines"] == headlines(whole) and model["claim_lines"] == claim_lines(whole)
    cells = cells_frame(found, results)
    for name, verdicts in headlines(whole).items():
        rows = cells[cells["counts"] == "yes"]
        for column, value in HEADLINES[name].items():
            rows = rows[rows[column] == value]
        assert rows["verdict"].value_counts().to_dict() == dict(verdicts), name


def test_a_worse_verdict_changes_the_text(maker, papers, expected):
    first = expected.index[expected["verdict"] == "equal"][0]
    worse = expected.copy()
    worse.loc[first, "verdict"] = "differs"
    told = [
        maker.summary(count_chapters(papers, maker.entries(papers, each)))
        for each in (expected, worse)
    ]
    assert told[0] != told[1]


def test_a_page_without_the_marks_is_refused(maker, papers, expected):
    with pytest.raises(ValueError, match="lacks the marks"):
        maker.rendered("# everycell\n", papers, expected)
