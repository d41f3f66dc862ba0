"""Counts of the README come from the expected verdicts."""

import re
from collections import Counter
from html import unescape
from pathlib import Path

import pandas as pd
import pytest
from harness import load_script

from everycell.records.papers import load_papers
from everycell.records.tables import RUNNABLE
from everycell.render.page.pages import data_files, pages_of
from everycell.verdicts.counting import (
    CLAIM_LINES,
    claim_lines,
    count_chapters,
    count_claims,
    headline,
    headlines,
    total,
)
from everycell.verdicts.results import collect

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def maker():
    return load_script("docs/make_coverage.py")


@pytest.fixture(scope="module")
def papers():
    return load_papers(REPOSITORY / "published")


@pytest.fixture(scope="module")
def expected():
    return pd.read_csv(REPOSITORY / "tests" / "expected_verdicts.csv", dtype=str)


def test_update_page_readme(maker, papers, expected):
    page = (REPOSITORY / "README.md").read_text("utf-8")
    result = maker.update_page(page, papers, expected)
    assert result == page, "run `python docs/make_coverage.py`"


def readme_filters() -> tuple[str, list[tuple[int, str]]]:
    """Code of the README that reads the two tables, and its filters with their numbers."""
    text = (REPOSITORY / "README.md").read_text("utf-8")
    [code] = re.findall(r"```python\n(import pandas.+?\n)```", text, re.S)
    queries = text.replace('(\n    "', '("').replace('"\n)', '")')
    rows = re.findall(r"^(c\w+\..+)  # ([\d,]+)$", queries, re.M)
    return code, [(int(number.replace(",", "")), expression) for expression, number in rows]


def check_filters(complete_results, tables, folder):
    """Run the filters of the README on the tables of some results, and compare what they count."""
    code, rows = readme_filters()
    for name in ("cells.csv", "claims.csv"):
        (folder / name).write_bytes(tables[name])
    names: dict = {}
    exec(code.replace("results/", f"{folder}/"), names)
    filtered = {expression: eval(expression, names) for _, expression in rows}
    assert {expression: len(one) for expression, one in filtered.items()} == {
        expression: number for number, expression in rows
    }
    counted = [Counter(dict(one.value_counts())) for one in filtered.values()]
    assert counted == [
        complete_results.verdicts(),
        *headlines(complete_results).values(),
        *(
            outcomes_of_line(complete_results, CLAIM_LINES[name])
            for name in claim_lines(complete_results)
        ),
    ]


def outcomes_of_line(complete_results, line):
    """Number of claims of a line by outcome, whatever the cause."""
    outcomes = Counter()
    for (outcome, _), number in count_claims(complete_results, line).items():
        outcomes[outcome] += number
    return outcomes


def test_readme_filters(maker, papers, expected, tmp_path):
    result = maker.entries(papers, expected)
    full = total(count_chapters(papers, result).values())
    check_filters(full, data_files(papers, result, tmp_path), tmp_path)


def test_counts_of_readme_page_and_data(maker, papers, expected, tmp_path):
    full = total(count_chapters(papers, maker.entries(papers, expected)).values())
    results = REPOSITORY / "results"
    result = collect(papers, results, REPOSITORY, audits=None)
    existing = {(one.artefact.id, one.tier) for one in result if one.report.state in RUNNABLE}
    if not set(expected[["artefact", "tier"]].itertuples(index=False, name=None)) <= existing:
        pytest.skip("needs the results of both tiers")
    own = total(count_chapters(papers, result).values())
    assert (own.cells, own.claims) == (full.cells, full.claims)
    pages = pages_of(results, result, papers)
    check_filters(full, pages, tmp_path)
    text = " ".join(re.sub("<[^>]*>", "", unescape(pages["index.html"].decode())).split())
    verdicts = full.verdicts()
    output = [headline(name, one) for name, one in headlines(full).items()]
    output += claim_lines(full).values()
    output += [f"✗ {full.contradicted} claims contradicted", f"{full.published:,} published values"]
    assert (
        text.count("on the paper's own published values")
        + text.count("✗ contradicted on reproduced values")
        + text.count("✗ contradicted on values derived")
        == full.contradicted
    )
    output += [f"✗ {verdicts['different']} values different, cause unknown"]
    assert [line for line in output if line not in text] == []
    [explained] = re.findall(
        r"! (\d+) values? different, explained(?: \([^)]*\))?(?:, and (\d+) by)?", text
    )
    assert sum(int(number or 0) for number in explained) == verdicts["explained"]


def test_summary_worse_verdict(maker, papers, expected):
    first = expected.index[expected["verdict"] == "equal"][0]
    worse = expected.copy()
    worse.loc[first, "verdict"] = "different"
    message = [
        maker.summary(count_chapters(papers, maker.entries(papers, item)))
        for item in (expected, worse)
    ]
    assert message[0] != message[1]


def test_update_page_without_marks(maker, papers, expected):
    with pytest.raises(ValueError, match="lacks the markers"):
        maker.update_page("# everycell\n", papers, expected)
