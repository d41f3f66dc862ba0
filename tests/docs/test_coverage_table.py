"""What the README says is rebuilt is counted from the expected verdicts."""

import importlib.util
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from everycell.engine.artefacts import load_papers

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


def test_each_cell_counts_once_and_every_recomputed_one_is_counted(maker, papers, expected):
    chapters = maker.counted(papers, expected)
    cells = expected[~expected["key"].str.startswith("conclusion ")]
    again = cells[cells["verdict"].str.split(" ").str[0].isin(maker.RECOMPUTED)]
    recomputed = sum(counts.recomputed for counts in chapters.values())
    assert recomputed == len(again.drop_duplicates(["artefact", "key"]))
    assert sum(counts.printed for counts in chapters.values()) == sum(
        len(artefact.cells) for paper in papers.values() for artefact in paper.artefacts.values()
    )


def test_a_worse_verdict_changes_the_text(maker, papers, expected):
    first = expected.index[expected["verdict"] == "equal"][0]
    worse = expected.copy()
    worse.loc[first, "verdict"] = "differs"
    told = [maker.summary(maker.counted(papers, each)) for each in (expected, worse)]
    assert told[0] != told[1]


def test_a_page_without_the_marks_is_refused(maker, papers, expected):
    with pytest.raises(ValueError, match="lacks the marks"):
        maker.rendered("# everycell\n", papers, expected)


def test_small_helpers(maker):
    assert maker.claims(Counter(holds=3, fails=1)) == "3 / 1 / 0"
    assert maker.share(1, 8) == "12.5 %"
