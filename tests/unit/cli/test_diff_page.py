"""The page of two results folders side by side."""

import re
from dataclasses import replace

import pytest
from page import toys

from everycell.cli import diff_page as module
from everycell.receipts.diff import Change, Difference
from everycell.records.papers import load_papers

NAME = "released/toy2026/table_1"


@pytest.fixture
def page_of(tmp_path, monkeypatch):
    """Write the page of the toy results and of results with these edits."""
    first, second = tmp_path / "a", tmp_path / "b"
    results = {(one.artefact.id, one.tier): one for one in toys.toy_results(tmp_path / "p", first)}
    papers = load_papers(tmp_path / "p")
    monkeypatch.setattr(module.project, "papers", lambda: papers)

    def page(difference, **edits):
        def read(artefact, tier, folder, root, *, audits):
            result = results[artefact.id, tier]
            if folder == first:
                return result
            return replace(result, report=result.report.model_copy(update=edits))

        monkeypatch.setattr(module, "result_of", read)
        return module.diff_page([difference], first, second, 10), results[
            "toy2026/table_1", "released"
        ].report

    return page


def outlined(page):
    return set(re.findall(r"#([\w-]+), ", page))


@pytest.mark.parametrize("edit", [{"reproduced": 0.3}, {"verdict": "different"}])
def test_diff_page_marks_cells(page_of, edit):
    change = Change(key="a / x / MAP", old="0.30142", new="0.3")
    _, report = page_of(Difference(name=NAME, cells=(change,)))
    cells = [report.cells[0].model_copy(update=edit), *report.cells[1:]]
    page, _ = page_of(Difference(name=NAME, cells=(change,)), cells=cells)
    marked = outlined(page)
    assert marked == {f"{side}-toy2026-table_1-released-1" for side in ("first", "second")}
    assert all(f'id="{name}"' in page for name in marked)
    assert "a / x / MAP: 0.30142 -&gt; 0.3" in page
    assert not re.findall(r'(?:href|src)="(?!data:)', page)


def test_diff_page_marks_claims(page_of):
    difference = Difference(name=NAME, claims=(Change(key="a_wins", old="x", new="y"),))
    page, report = page_of(difference)
    assert 'class="prose differs"' not in page
    claims = [report.claims[0].model_copy(update={"on_reproduced": "contradicted"})]
    page, _ = page_of(difference, claims=claims)
    assert page.count('class="prose differs"') == 2
    assert outlined(page) == set()


@pytest.mark.parametrize(
    ("difference", "text"),
    [
        (Difference(name=NAME), "Table 1 of toy2026 (released): the same"),
        (Difference(name=NAME, only_in="first"), f"{NAME} is only in"),
        (Difference(name="embedded/errata", files=("errata.csv",)), "errata.csv"),
    ],
)
def test_diff_page_without_pairs_or_differences(page_of, difference, text):
    page, _ = page_of(difference)
    assert text in page and outlined(page) == set()
