import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from page import toys

from everycell.engine.artefacts import all_artefacts, load_papers
from everycell.engine.printed_cells import CardError
from everycell.engine.render.page.model import build_model
from everycell.engine.render.page.page_file import write_page
from everycell.engine.render.page.tables import companion_table
from everycell.engine.render.page.vocabulary import VERDICTS, label
from everycell.engine.reports import PLACES, Report

PUBLISHED = Path(__file__).parents[2] / "published"
VOID = {"meta", "link", "br", "img", "input"}


class Outline(HTMLParser):
    """Checks that tags nest, and collects tags, ids, links and what they load."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def values(self, attribute):
        return [attrs[attribute] for _, attrs in self.tags if attribute in attrs]


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "results" / "index.html"
    write_page(path, toys.found(tmp_path / "published", path.parent))
    return path


def test_all_text_is_escaped(page):
    outline = Outline(page.read_text())
    assert sum(tag == "script" for tag, _ in outline.tags) == 1
    assert "b" in {tag for tag, _ in outline.tags}
    assert any("Scores <b>of</b> two runs" in text for text in outline.text)
    assert toys.EVIL in outline.text


def test_nothing_comes_from_elsewhere_and_every_link_leads_somewhere(page):
    outline = Outline(page.read_text())
    ids = outline.values("id")
    assert len(ids) == len(set(ids))
    links = outline.values("href") + outline.values("src")
    assert not [link for link in links if "//" in link]
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    files = [link for link in links if not link.startswith(("#", "data:"))]
    home = page.parent / "released" / "toy2026"
    for name in ("table_1.csv", "figure_1.csv"):
        (home / name).write_text("x")
    assert files and all((page.parent / link).is_file() for link in files)


def test_same_results_same_bytes(page, tmp_path):
    again = tmp_path / "results" / "again.html"
    found = toys.found(tmp_path / "published2", tmp_path / "results2")
    write_page(again, found)
    assert again.read_bytes() == page.read_bytes()


def test_cells_show_value_and_mark(page):
    text = re.sub(r"<(?!td|/td)[^>]+>", "", page.read_text())
    cells = re.findall(r'<td class="v (\w+)"[^>]*>(.*?)</td>', text)
    assert ("equal", "0.301 ✓") in cells
    assert ("differs", "printed 0.250 / rebuilt 0.210 ✗") in cells
    assert ("explained", "printed 0.4 / rebuilt 0.100 !") in cells
    marked = "(printed marker: b&lt;; rebuilt marker: none)"
    assert ("close", f"printed 0.5 / rebuilt 0.501 {marked} ≈") in cells
    assert ("consistent", "7 ↔") in cells
    assert ("inconsistent", "printed 8 / rebuilt 9 ↮") in cells
    assert {("quoted", "12 q"), ("not_run", "M –")} <= set(cells)
    assert all(shown.endswith(VERDICTS[verdict][0]) for verdict, shown in cells)
    assert len(cells) == len(toys.CELLS)


def test_markers_are_in_the_details_of_a_cell_and_no_other_has_any(page):
    details = Outline(page.read_text()).values("data-r")
    assert [text for text in details if "marker" in text] == [
        "0.5007; printed marker: b<; rebuilt marker: none"
    ]


def test_markers_of_a_table_beside_are_raised_and_no_key(page):
    beside = page.read_text().split("Beside the printed table: Scores by length")[1]
    grid = beside.split("</table>")[0]
    assert "<td>0.1235<sup>b&amp;</sup></td>" in grid and "<td>0.2</td>" in grid
    assert "<td>12553</td>" in grid
    assert "marker" not in grid


def test_an_interval_stands_behind_its_value_and_is_no_key(tmp_path):
    path = tmp_path / "differences.csv"
    path.write_text("system,against,value,low,high\na,b,0.30004,-0.1,0.51239\na,c,1,0,2\n")
    shown = companion_table(path, "Differences")
    assert shown["names"] == ["system"]
    assert [cell.label for cell in shown["head"][-1]] == ["b", "c"]
    assert shown["body"][0]["values"] == ["0.3 (-0.1 to 0.5124)", "1 (0 to 2)"]


def test_what_does_not_stand_comes_first(page):
    text = page.read_text()
    top, rest = text.split("</section>", 1)
    assert "What does not stand" in top and "<article" not in top
    shown = " ".join(re.sub(r"<style>.*?</style>|<[^>]+>", "", top, flags=re.S).split())
    assert "b / x / MAP: printed 0.250, rebuilt 0.210 ✗" in shown
    assert "c / y / size: printed 8, rebuilt 9 ↮" in shown
    assert "! 1 cells differ, explained (1 misprint)" in shown
    assert "misprint" in shown and "b / y / MAP: printed 0.4, rebuilt 0.100" in shown
    assert "figure_9.csv: changed since it was made." in shown
    assert "stand-in “made-up runs”" in shown
    assert "Receipt does not verify" in rest


def test_a_stand_in_has_no_verdicts(page, tmp_path):
    found = toys.found(tmp_path / "published2", tmp_path / "results2")
    standing = [entry for entry in found if entry.tier != "released"]
    figure = next(entry for entry in found if entry.artefact.name == "figure_1")
    model = build_model(load_papers(tmp_path / "published2"), [*standing, figure],
                        tmp_path / "results2")  # fmt: skip
    one = model["papers"][0]["chapters"][0]["artefacts"][0]
    assert one["state"] == "stand_in" and one["tables"] == []
    assert one["counts"] == {"not_run": len(toys.CELLS)} and one["outcomes"] == []
    assert [claim["stand_in"] for claim in model["falls"]["claims"]["stand_in"]] == ["made-up runs"]


def test_an_error_of_our_copy_is_not_called_the_papers(tmp_path):
    found = toys.found(tmp_path / "published", tmp_path)
    for number, entry in enumerate(found):
        content = entry.report.model_dump()
        for cell in content["cells"]:
            cell["why"] = (cell["why"] or "").replace("print:", "copy:") or None
        for erratum in content["errata"]:
            erratum["where"] = "copy"
        found[number] = replace(entry, report=Report.model_validate(content))
    text = write_page(tmp_path / "index.html", found).read_text()
    assert "error of our copy, not of the paper" in text
    assert "error in the print" not in text


def test_an_artefact_without_report_is_an_error(tmp_path):
    found = toys.found(tmp_path / "published", tmp_path)[1:]
    with pytest.raises(CardError, match="toy2026/figure_2: no report"):
        write_page(tmp_path / "index.html", found[:-1])


def test_all_papers_fit_into_a_small_page(tmp_path):
    papers = load_papers(PUBLISHED)
    found = []
    for artefact in all_artefacts(papers):
        keys = artefact.key_columns
        cells = [
            {"key": dict(zip(keys, row[:-1], strict=True)), "printed": row[-1], "rebuilt": row[-1],
             "verdict": "explained", "source": "undecided",
             "why": "a long reason that stands for any " + "x" * 99}
            for row in artefact.cells.get([*keys, "value"], artefact.cells).itertuples(index=False)
        ]  # fmt: skip
        for tier in artefact.card.tiers:
            found.append(toys.Toy(artefact, tier, toys.report(artefact, tier, "not_run")))
        # The longest page there can be: each cell is shown twice, and listed at the top.
        found[-1] = toys.Toy(artefact, tier, toys.report(artefact, tier, "rebuilt", cells=cells))
        receipt = tmp_path / tier / artefact.paper / f"{artefact.name}.receipt.json"
        receipt.parent.mkdir(parents=True, exist_ok=True)
        receipt.write_text('{"execution": {"seconds": 1}}')
    page = write_page(tmp_path / "index.html", found, papers)
    outline = Outline(page.read_text())
    assert page.stat().st_size < 2_300_000
    assert sum(tag == "article" for tag, _ in outline.tags) == len({f.artefact.id for f in found})
    assert len({f.artefact.id for f in found}) >= 170
    shown = sum("v explained" == attrs.get("class") for _, attrs in outline.tags)
    assert shown == sum(len(artefact.cells) for artefact in all_artefacts(papers)) > 3_400


@pytest.mark.parametrize("where", ["copy", "method", "undecided"])
def test_only_an_error_in_the_print_is_called_a_misprint(tmp_path, where):
    results = tmp_path / "results"
    changed = []
    for toy in toys.found(tmp_path / "published", results):
        report = toy.report.model_dump()
        report["errata"] = [erratum | {"where": where} for erratum in report["errata"]]
        for cell in report["cells"]:
            if cell["verdict"] == "explained":
                cell["source"] = where
        changed.append(replace(toy, report=Report.model_validate(report)))
    write_page(results / "page.html", changed, load_papers(tmp_path / "published"))
    page = (results / "page.html").read_text()
    assert f'data-v="explained ({where})"' in page
    body = page.split('<section class="paper"', 1)[1]
    falls = page.split("What does not stand", 1)[1].split("</section>")[0]
    assert "misprint" not in body + falls and PLACES[where] in body and PLACES[where] in falls


def test_labels():
    assert label("text_4_4_4") == "Text 4.4.4"


def test_claims_that_cannot_be_tested_stand_under_their_chapter(page):
    text = " ".join("".join(Outline(page.read_text()).text).split())
    assert "3 claims found" in text
    assert text.index("There are no geese here.") < text.index("There are no ducks here.")
