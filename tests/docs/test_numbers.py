"""Numbers in the documentation: bound to files that exist, worded as bound, and never stale."""

from pathlib import Path

import pytest
from harness import load_script

from everycell.records.papers import load_papers
from everycell.records.tables import RUNNABLE

REPOSITORY = Path(__file__).resolve().parents[2]
check_numbers = load_script("docs/check_numbers.py")

PAGES = sorted((REPOSITORY / "docs").rglob("*.md"))
BOUND = {path: page for path in PAGES if "<!-- numbers" in (page := path.read_text("utf-8"))}
FILE = "released/lajewska2025/table_6_8.tests.csv"
PAGE = """\
# Another heading with 0.3

## Finding

Three variants lose 0.014, 0.047 and 28 %, each with p below 0.05.

<!-- numbers
{file}:
  - {{metric: difference, is: [{differences}]}}
  - {{metric: p, is: {p}}}
-->
"""
TABLE = "metric,value\ndifference,-0.0139\ndifference,-0.0466\np,0.0345\np,0.1\n"


def page(differences="-0.014, -0.047", p="<= 0.05", file=FILE):
    return PAGE.format(differences=differences, p=p, file=file)


@pytest.fixture
def results(tmp_path):
    (tmp_path / FILE).parent.mkdir(parents=True)
    (tmp_path / FILE).write_text(TABLE, encoding="utf-8")
    return tmp_path


def test_wrong_values_stale_number(results):
    (fault,) = check_numbers.wrong_values(page(), results)
    assert "the page has <= 0.05, but the result is 0.1" in fault
    (results / FILE).write_text(TABLE.replace("p,0.1\n", "p,0.01\n"), encoding="utf-8")
    assert not list(check_numbers.wrong_values(page(), results))


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        ({"differences": "-0.014, -0.046"}, "has -0.046, but the result is -0.0466"),
        ({"differences": "-0.014"}, "2 cells for 1 expected"),
        ({"p": '"> 0.05"'}, "has > 0.05, but the result is 0.0345"),
    ],
)
def test_wrong_values_wrong_entry(results, wrong, fault):
    assert any(fault in item for item in check_numbers.wrong_values(page(**wrong), results))


def test_wrong_values_unknown_column(results):
    text = page().replace("{metric: p,", "{measure: p,")
    assert "unknown column 'measure'" in next(iter(check_numbers.wrong_values(text, results)))


def test_wrong_values_without_results(tmp_path):
    assert not list(check_numbers.wrong_values(page(), tmp_path))


def test_missing_numbers():
    assert not list(check_numbers.missing_numbers(page()))
    # 0.3 is under another heading.
    (fault,) = check_numbers.missing_numbers(page(p="< 0.3"))
    assert "does not contain 0.3" in fault


@pytest.mark.parametrize("path", BOUND, ids=lambda path: path.name)
def test_missing_numbers_of_pages(path):
    assert not list(check_numbers.missing_numbers(BOUND[path]))


@pytest.mark.parametrize("path", BOUND, ids=lambda path: path.name)
def test_entries_of_pages(path):
    papers = load_papers(REPOSITORY / "published")
    for entry in check_numbers.entries(BOUND[path]):
        tier, paper, name = entry.file.split("/")
        artefact, *beside = name.removesuffix(".csv").split(".")
        record = papers[paper].artefacts[artefact].record
        assert record.tiers[tier].state in RUNNABLE, entry
        assert set(beside) <= set(record.supplements), entry
