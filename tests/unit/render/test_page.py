import io
import json
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pandas as pd
import pytest
import yaml
from page import toys

from everycell.records.cells import RecordError
from everycell.records.papers import Origin, Publication, all_artefacts, load_papers
from everycell.records.registry import load_registry
from everycell.render.grid import shown_label
from everycell.render.page.artefacts import ClaimTest
from everycell.render.page.differences import deviation as deviation_of
from everycell.render.page.differences import difference_files
from everycell.render.page.overview import bibtex, build_page, failures_of, links_of
from everycell.render.page.pages import outdated_pages, pages_of, policy_of, write_page
from everycell.render.verdict_tables import published_grid, supplement_grid
from everycell.render.vocabulary import VERDICTS, label, section_and_page
from everycell.verdicts.counts import TESTED
from everycell.verdicts.record_checks import check_papers
from everycell.verdicts.reports import CAUSE_NAMES, UNEQUAL, JudgedCell, Report, Result

PUBLISHED = Path(__file__).parents[3] / "published"
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
def index(tmp_path):
    """The overview of the toy results."""
    path = tmp_path / "results" / "index.html"
    return write_page(path, toys.toy_results(tmp_path / "published", path.parent))


@pytest.fixture
def page(index):
    """The page of the toy chapter."""
    return index.parent / "pages" / "toy2026_ch1.html"


def test_write_page_badge(index):
    text = index.with_name("badge.svg").read_text()
    cells = pd.read_csv(index.with_name("cells.csv"))
    numbers = cells.query("counts == 'yes' and kind == 'number'")
    not_run = (numbers.origin == "none").sum()
    equal = ((numbers.origin == "data") & (numbers.verdict == "equal")).sum()
    total = (numbers.origin == "data").sum() + not_run
    assert not_run and f"{equal} of {total} numbers reproduced; {not_run} not run" in text
    ElementTree.fromstring(text)


def test_write_page_escapes_text(index, page):
    for path, scripts in ((index, 3), (page, 2)):
        outline = Outline(path.read_text())
        assert sum(tag == "script" for tag, _ in outline.tags) == scripts
        assert "b" in {tag for tag, _ in outline.tags}
        assert any("Scores <b>of</b> two runs" in text for text in outline.text)
        assert any("University of <b>Toys</b>" in text for text in outline.text)
        assert any("<b>code</b> of the runs" in text for text in outline.text)
    assert any(toys.EVIL in text for text in outline.text)


def test_write_page_links(index, page):
    home = index.parent / "released" / "toy2026"
    for name in ("table_1.csv", "figure_1.csv"):
        (home / name).write_text("x")
    outlines = {path.resolve(): Outline(path.read_text()) for path in (index, page)}
    for path, outline in outlines.items():
        ids = outline.values("id")
        assert len(ids) == len(set(ids))
        outside = {link for link in outline.values("href") if link.startswith("https:")}
        assert outside == {
            "https://doi.org/10.1000/toys_1",
            "https://toys.example/thesis",
            "https://code.example/toys",
        } | (
            {"https://arxiv.org/abs/2601.00001", load_registry().url(toys.RELEASED)}
            if path == page.resolve()
            else set()
        )
        inside = {*outline.values("href"), *outline.values("src")} - outside
        assert not [link for link in inside if "//" in link]
        for link in inside - {"data:,"}:
            file, _, anchor = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            assert target.is_file(), link
            # A search in the address is not a place on the page.
            if anchor and "=" not in anchor:
                assert anchor in outlines[target].values("id"), link


def test_write_page_same_bytes(index, page, tmp_path):
    result = toys.toy_results(tmp_path / "published2", tmp_path / "results2")
    again = write_page(tmp_path / "results2" / "index.html", result)
    data = map(index.with_name, ("cells.csv", "cells.parquet", "claims.csv"))
    for path in (index, page, *data):
        other = again.parent / path.relative_to(index.parent)
        assert other.read_bytes() == path.read_bytes()


def test_write_page_deviation_plot(index, page):
    figure = re.search(r'<figure class="deviations">.*?</figure>', page.read_text(), re.DOTALL)[0]
    points = re.findall(r'id="deviations-([\w-]+)">(.*?)</g>\s*</g>', figure, re.DOTALL)
    drawn = Counter({verdict.replace("-", " "): marks.count("<use") for verdict, marks in points})
    cells = pd.read_csv(index.with_name("cells.csv"), dtype=str).query("counts == 'yes'")
    assert drawn == Counter(cells.loc[cells["difference"].notna(), "verdict"]) and len(drawn) > 1
    compared = ((cells["kind"] == "number") & ~cells["verdict"].isin(["not run", "quoted"])).sum()
    assert f"{compared} numbers compared" in figure and "aria-label=" in figure
    assert (f"{compared - drawn.total()} of them without" in figure) == (compared > drawn.total())


@pytest.mark.parametrize(
    ("published", "reproduced", "tolerance", "deviation"),
    [
        ("0.45", 0.452, None, 0.2),
        ("1e-2", 0.03, None, 2),
        ("0.45", 0.47, 0.04, 0.5),
        # A tolerance below the last digit does not count.
        ("0.45", 0.44, 0.001, -1),
        ("0.45", "bm25", None, None),
    ],
)
def test_deviation_in_last_digits_or_tolerances(published, reproduced, tolerance, deviation):
    cell = JudgedCell(key={"row": "a"}, published=published, reproduced=reproduced,
                      verdict="within tolerance", why=None, tolerance=tolerance)  # fmt: skip
    assert deviation_of(cell) == deviation


def test_outdated_pages_edited_or_missing(index, page, tmp_path):
    result = toys.toy_results(tmp_path / "published2", tmp_path / "results2")
    papers = load_papers(tmp_path / "published2")
    pages = pages_of(index.parent, result, papers)
    assert outdated_pages(index.parent, pages) == []
    index.with_name("cells.csv").unlink()
    page.write_text(page.read_text() + " ")
    assert outdated_pages(index.parent, pages) == [page, index.with_name("cells.csv")]


def test_write_page_classes_of_verdicts(index, page):
    """A verdict of several words is one class, which the style sheet knows."""
    texts = [path.read_text() for path in (index, page)]
    classes = {name for text in texts for names in re.findall(r'class="([^"]*)"', text)
               for name in names.split()}  # fmt: skip
    verdicts = {verdict.replace(" ", "-") for verdict in VERDICTS}
    assert {"within-tolerance", "too-noisy-to-judge", "not-run"} <= classes & verdicts
    assert not classes & {"within", "tolerance", "too", "noisy", "judge", "not", "run"}
    assert all(f".{name} {{" in texts[0] for name in classes & verdicts)


def test_write_page_cells_as_data(index):
    frame = pd.read_csv(index.with_name("cells.csv"), dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(frame, pd.read_parquet(index.with_name("cells.parquet")),
                                  check_dtype=False)  # fmt: skip
    table = frame[(frame["artefact"] == "table_1") & (frame["tier"] == "released")]
    assert table[["published", "verdict"]].values.tolist() == [[c[3], c[5]] for c in toys.CELLS]
    differs = table[table["verdict"] == "different"].iloc[0]
    assert json.loads(differs["key"]) == {"run": "b", "set": "x", "metric": "MAP"}
    assert (differs["paper"], differs["state"], differs["reproduced"]) == (
        "toy2026",
        "reproduced",
        "0.21",
    )
    explained = table[table["verdict"] == "explained"].iloc[0]
    assert explained["cause"] == "published" and "swapped" in explained["explanation"]
    standing = frame[frame["state"] == "surrogate"]
    assert standing[["published", "reproduced", "verdict"]].values.tolist() == [
        ["", "0.1", ""], ["0.250", "0.28351", ""], ["0.301", "0.31234", ""],
    ]  # fmt: skip
    assert set(standing["explanation"]) == {"surrogate data, not compared: made-up runs"}
    not_run = frame[frame["artefact"] == "table_2"]
    assert set(not_run["verdict"]) == {"not run"}
    assert set(not_run["explanation"]) == {"ten thousand crowd workers"}


def test_write_page_surrogate_table(page):
    grid = page.read_text().split("surrogate data, not the paper's data: made-up runs")[1]
    grid = grid.split("</table>")[0]
    rows = re.findall(r'<th scope="row">(\w)</th><td class="v surrogate".*?data-v="(.*?)" '
                      r'data-r="(.*?)">([0-9.]+)<', grid)  # fmt: skip
    message = "not compared: other data"
    assert rows == [
        ("a", f"published: 0.301; {message}", "0.31234", "0.312"),
        ("b", f"published: 0.250; {message}", "0.28351", "0.284"),
        ("z", f"published: no such cell; {message}", "0.1", "0.100"),
    ]


def test_write_page_sources_of_claims(page):
    text = " ".join("".join(Outline(page.read_text()).text).split())
    assert "Run a is better than run b. (§ 1.1, p. 4 ff.)" in text
    assert "§ 1, p. 3 ff." in text


def test_write_page_bibtex(index, page):
    for path in (index, page):
        text = "".join(Outline(path.read_text()).text)
        assert "@phdthesis{toy2026," in text
        # BibTeX reads a DOI as it is, and escapes of TeX as a part of it.
        assert re.findall(r"doi = .*", text) == ["doi = {10.1000/toys_1},"]
    assert "Published as: Proceedings of <b>Toys</b>" in text


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url", "javascript:alert(1)"),
        ("url", "http://a.example"),
        ("doi", "doi:10.1/x"),
        ("urls", "x"),
    ],
)
def test_write_page_invalid_address(tmp_path, field, value):
    home = tmp_path / "published" / "toy2026"
    result = toys.toy_results(home.parent, tmp_path)
    paper = yaml.safe_load((home / "paper.yaml").read_text())
    paper["publication"][field] = value
    (home / "paper.yaml").write_text(yaml.safe_dump(paper))
    with pytest.raises(RecordError, match=rf"toy2026/paper\.yaml: `publication`: `{field}` is "):
        write_page(tmp_path / "index.html", result)
    assert any(field in fault for fault in check_papers(home.parent))


def test_write_page_values_and_marks(page):
    text = re.sub(r'<span class="both">.*?</span>', "", page.read_text())
    text = re.sub(r"<(?!td|/td)[^>]+>", "", text)
    cells = re.findall(r'<td class="v (?!surrogate)([\w-]+)"[^>]*>(.*?)</td>', text)
    assert ("equal", "0.301 ✓") in cells
    assert ("different", "published 0.250, reproduced 0.210 ✗") in cells
    assert ("explained", "published 0.4, reproduced 0.100 !") in cells
    marked = "(published marker: b&lt;; reproduced marker: none)"
    assert ("within-tolerance", f"published 0.5, reproduced 0.501 {marked} ≈") in cells
    assert ("consistent", "7 ↔") in cells
    assert ("inconsistent", "published 8, reproduced 9 ↮") in cells
    assert {("quoted", "12 q"), ("not-run", "M –")} <= set(cells)
    assert all(output.endswith(VERDICTS[verdict.replace("-", " ")][0]) for verdict, output in cells)
    assert len(cells) == len(toys.CELLS)


def changed(tmp_path, *, names=None, values=None):
    """Page and overview of the toys with names in the record, or with other reproduced values."""
    published, results = tmp_path / "records", tmp_path / "changed"
    result = toys.toy_results(published, results)
    chapter = published / "toy2026" / "ch1.yaml"
    records = yaml.safe_load(chapter.read_text())
    records["artefacts"]["table_1"]["names"] = names or {}
    chapter.write_text(yaml.safe_dump(records))
    papers = load_papers(published)
    entries = []
    for toy in result:
        report = toy.report.model_dump()
        for cell in report["cells"]:
            cell["reproduced"] = (values or {}).get(tuple(cell["key"].values()), cell["reproduced"])
        artefact = papers["toy2026"].artefacts[toy.artefact.name]
        entries.append(replace(toy, artefact=artefact, report=Report.model_validate(report)))
    index = write_page(results / "index.html", entries, papers)
    return (results / "pages/toy2026_ch1.html").read_text(), index.read_text()


def test_write_page_names_of_the_record(tmp_path):
    names = {"run": "system <i>", "MAP": "mean AP", "a": "run A_1", "length": "words"}
    page, index = changed(tmp_path, names=names)
    grids = re.findall(r"<table.*?</table>", page, re.DOTALL)
    # With verdicts, on surrogate data, and supplementary; the last is a different table.
    assert len(grids) == 4
    labels = [grid for grid in grids if ">mean AP</th>" in grid]
    assert len(labels) == 3 and all(">run A_1</th>" in grid for grid in labels)
    assert not [grid for grid in grids if re.search(r">(MAP|a|run|length)</th>", grid)]
    assert any(">system &lt;i&gt;</th>" in grid for grid in labels)
    assert "b / x / mean AP" in index


def test_write_page_distinct_digits(tmp_path):
    # Their verdicts differ: a tolerance of zero, a published marker.
    values = {("b", "x", "MAP"): 0.25004, ("a", "y", "MAP"): 0.5, ("b", "y", "MAP"): -0.4}
    page, index = changed(tmp_path, values=values)
    output = re.findall(r"published </i>(\S+?)<i>, reproduced</i></span> (\S+?)[<\s]", page)
    assert ("0.250", "0.25004") in output
    # No digit tells 0.5 from 0.5: its marker differs.
    assert ("0.5", "0.500") in output and ("0.4", "-0.400") in output
    assert "reproduced <b>0.25004</b>" in index


def test_write_page_markers_in_details(page):
    details = Outline(page.read_text()).values("data-r")
    assert [text for text in details if "marker" in text] == [
        "0.5007; published marker: b<; reproduced marker: none"
    ]


def test_write_page_markers_of_a_supplement(page):
    beside = page.read_text().split("Supplementary table: Scores by length")[1]
    grid = beside.split("</table>")[0]
    assert "<td>0.1235<sup>b&amp;</sup></td>" in grid and "<td>0.2</td>" in grid
    assert "<td>12553</td>" in grid
    assert ">Length</th>" in grid and "marker" not in grid.lower()


def test_supplement_grid_intervals(tmp_path):
    path = tmp_path / "differences.csv"
    path.write_text("system,against,value,low,high\na,b,0.30004,-0.1,0.51239\na,c,1,0,2\n")
    grid = supplement_grid(path)
    assert grid.names == ["System"]
    assert [cell.label for cell in grid.head[-1]] == ["b", "c"]
    assert [cell.text for cell in grid.rows[0]] == ["0.3 (-0.1 to 0.5124)", "1 (0 to 2)"]


def test_write_page_failures_first(index, page):
    top = index.read_text().split('<h2 id="chapters-title"')[0]
    assert "Differences and contradicted claims" in top
    output = " ".join(re.sub(r"<style>.*?</style>|<[^>]+>", "", top, flags=re.S).split())
    assert "b / x / MAP: published 0.250, reproduced 0.210" in output
    assert "c / y / Size: published 8, reproduced 9" in output
    assert "! 1 value different, explained (1 caused by the paper)" in output
    assert "error in print" in output and "b / y / MAP: published 0.4, reproduced 0.100" in output
    assert "figure_9.csv differs from its hash in" in output
    # Its claims count where it was reproduced.
    assert "on surrogate data (made-up runs)" not in output
    assert "Result is not trusted" in page.read_text()


def test_build_page_counts_the_deepest_tier(tmp_path):
    results = tmp_path / "results"
    result = toys.toy_results(tmp_path / "published", results)
    released = next(toy for toy in result if toy.tier == "released")
    cells = released.report.model_dump()["cells"]
    differs = next(cell for cell in cells if cell["verdict"] == "different")
    differs["reproduced"] = 0.22
    claims = [one.model_copy(update={"on_reproduced": "contradicted", "detail": "0 of 1"})
              for one in released.report.claims]  # fmt: skip
    full = toys.report(released.artefact, "full", "reproduced", cells=cells, claims=claims)
    (results / "full/toy2026").mkdir(parents=True)
    (results / "full/toy2026/table_1.receipt.json").write_text(
        '{"inputs": [], "code": {}, "execution": {"seconds": 1}}'
    )
    result = [replace(toy, report=full) if toy.tier == "full" and toy.artefact == released.artefact
             else toy for toy in result]  # fmt: skip
    page = build_page(load_papers(tmp_path / "published"), result, results)
    assert len(page.artefacts[0].compared_tiers) == 2
    for verdict in ("different", "explained", "inconsistent"):
        assert page.failures.count[verdict] == page.cells[verdict] == 1
    [reason] = page.failures.cells["different"][0].reasons
    assert reason.cells[0].reproduced == "0.220"
    # Inconclusive in the released tier, and contradicted in the full tier.
    assert page.tested_claims == dict.fromkeys(TESTED, 0) | {"contradicted": 1}
    assert [claim.test.tier.name for claim in page.failures.claims["reproduced"]] == ["full"]


def test_build_page_surrogate_data(tmp_path):
    result = toys.toy_results(tmp_path / "published2", tmp_path / "results2")
    standing = [entry for entry in result if entry.tier != "released"]
    figure = next(entry for entry in result if entry.artefact.name == "figure_1")
    papers = load_papers(tmp_path / "published2")
    page = build_page(papers, [*standing, figure], tmp_path / "results2")
    one = page.artefacts[0]
    assert one.state == "surrogate" and one.compared_tiers == []
    assert one.counts == {"surrogate": len(toys.CELLS)} and one.deepest is None
    assert (page.cells["surrogate"], page.cells["not run"]) == (len(toys.CELLS), 2)
    [claim] = page.failures.claims["surrogate"]
    assert claim.test.tier.surrogate == "made-up runs"
    index = write_page(tmp_path / "results2/index.html", [*standing, figure]).read_text()
    assert "on surrogate data (made-up runs)" in index


def test_write_page_reasons_not_testable(tmp_path):
    result = [one for one in toys.toy_results(tmp_path / "published", tmp_path)
             if one.tier != "released" or one.artefact.name == "figure_1"]  # fmt: skip
    position, silent = next(
        (position, one) for position, one in enumerate(result) if one.report.state == "surrogate"
    )
    untestable = {"on_reproduced": "not testable", "detail": "Toys are no users."}
    claims = [one.model_copy(update=untestable)
              for one in silent.report.claims]  # fmt: skip
    result[position] = replace(silent, report=silent.report.model_copy(update={"claims": claims}))
    path = write_page(tmp_path / "index.html", result)
    text = (path.parent / "pages" / "toy2026_ch1.html").read_text()
    article, apart = text.split('id="toy2026-ch1-untested"')
    assert article.count("Toys are no users.") == apart.count("Toys are no users.") == 1
    assert "– not testable</span>" in article
    # The chapter lists two others.
    assert f"{len(claims) + 2} of them not testable here, each with the reason" in path.read_text()


def test_write_page_missing_report(tmp_path):
    result = toys.toy_results(tmp_path / "published", tmp_path)[1:]
    with pytest.raises(RecordError, match="toy2026/figure_2: the report is missing"):
        write_page(tmp_path / "index.html", result[:-1])


def test_published_grid_units_and_marks():
    marks = set()
    for artefact in all_artefacts(load_papers(PUBLISHED)):
        names = artefact.record.names
        for row in artefact.cells.to_dict("records"):
            if row.get("unit") in ("%", "percent") and "metric" in row:
                labels = [str(shown_label(key, row[key], names)) for key in artefact.key_columns]
                assert any("%" in label for label in labels), f"{artefact.id}: {labels}"
        if artefact.cells.empty:
            continue
        cells = [cell for row in published_grid(artefact).rows for cell in row if cell]
        marks |= {cell.mark for cell in cells}
        if "metric" in artefact.cells:
            texts = {cell.text for cell in cells}
            assert texts == set(artefact.cells["value"]), artefact.id
    assert {"bcd,f-j", "†", "*"} <= marks
    # Codes of the CSV files are not markers.
    codes = set().union(
        *(one.cells.get("marker", []) for one in all_artefacts(load_papers(PUBLISHED)))
    )
    assert "not_reported" in codes and "not_reported" not in marks


def test_pages_of_published_mark(tmp_path):
    result = toys.toy_results(tmp_path / "published", tmp_path / "results")
    table = result[1].artefact
    cells = table.cells.assign(marker=["ab;_c", *[""] * (len(table.cells) - 1)])
    cells.to_csv(table.cells_path, index=False)
    del table.__dict__["cells"]
    pages = pages_of(tmp_path / "results", result, load_papers(tmp_path / "published"))
    assert pages["pages/toy2026_ch1.html"].decode().count("<sup>ab,c</sup>") == 1


@pytest.mark.slow
def test_write_page_size_of_all_papers(tmp_path):
    papers = load_papers(PUBLISHED)
    result = []
    for artefact in all_artefacts(papers):
        keys = artefact.key_columns
        cells = [
            {"key": dict(zip(keys, row[:-1], strict=True)), "published": row[-1],
             "reproduced": row[-1], "verdict": "explained", "source": "unknown",
             "why": "a long reason that stands for any " + "x" * 99}
            for row in artefact.cells.get([*keys, "value"], artefact.cells).itertuples(index=False)
        ]  # fmt: skip
        for tier in artefact.record.tiers:
            result.append(Result(artefact, tier, toys.report(artefact, tier, "not run")))
        # The longest page there can be: each cell is shown twice, and listed at the top.
        result[-1] = Result(artefact, tier, toys.report(artefact, tier, "reproduced", cells=cells))
        receipt = tmp_path / tier / artefact.paper / f"{artefact.name}.receipt.json"
        receipt.parent.mkdir(parents=True, exist_ok=True)
        receipt.write_text('{"inputs": [], "code": {}, "execution": {"seconds": 1}}')
    index = write_page(tmp_path / "index.html", result, papers)
    # The overview and each page of a chapter are small.
    assert index.stat().st_size < 1_400_000
    pages = list((tmp_path / "pages").iterdir())
    assert {page.stem for page in pages} == {
        f"{paper.key}_ch{chapter}" for paper in papers.values() for chapter in paper.chapters
    }
    assert max(page.stat().st_size for page in pages) < 600_000
    outlines = [Outline(page.read_text()) for page in pages]
    tags = [tag for outline in outlines for tag in outline.tags]
    assert sum(tag == "article" for tag, _ in tags) == len({f.artefact.id for f in result})
    assert len({f.artefact.id for f in result}) >= 170
    output = sum((attrs.get("class") or "").startswith("v explained") for _, attrs in tags)
    assert output == sum(len(artefact.cells) for artefact in all_artefacts(papers)) > 3_400


def test_pages_of_too_noisy_cell(tmp_path):
    """A cell that is too noisy has its own verdict and tolerance in all views."""
    table = toys.toy_results(tmp_path / "published", tmp_path / "results")[1]
    cells = table.report.model_dump()["cells"]
    close = next(cell for cell in cells if cell["verdict"] == "within tolerance")
    close |= {"verdict": "too noisy to judge", "tolerance": 0.262, "unit": 0.001, "why": "Seeds."}
    explained = next(cell for cell in cells if cell["verdict"] == "explained")
    explained |= {"yielded": 0.4291, "unit": 0.001}
    message = toys.report(table.artefact, "released", "reproduced", cells=cells)
    result = toys.toy_results(tmp_path / "again", tmp_path / "results2")
    result[1] = replace(table, report=message)
    files = pages_of(tmp_path / "results2", result, load_papers(tmp_path / "published"))
    page, index = (files[name].decode() for name in ("pages/toy2026_ch1.html", "index.html"))
    assert 'data-t="0.262"' in page and "too noisy to judge" in page and "too noisy" in index
    assert 'data-y="0.4291"' in page and 'data-t="0.001, one unit of the last digit"' in page
    frame = pd.read_csv(io.BytesIO(files["cells.csv"]), dtype=str, keep_default_na=False)
    noisy = frame[frame["verdict"] == "too noisy to judge"]
    assert "0.262" in set(noisy["tolerance"]) and len(noisy) == 2
    assert "2 too noisy to judge" in files["badge.svg"].decode()


def test_difference_files_tolerance_and_cause(tmp_path):
    table = toys.toy_results(tmp_path / "published", tmp_path / "results")[1]
    cells = table.report.model_dump()["cells"]
    cells[2] |= {"tolerance": 0.00251, "why": "The spread of 5 seeds."}
    message = toys.report(table.artefact, "released", "reproduced", cells=cells)
    papers = load_papers(tmp_path / "published")
    result = toys.toy_results(tmp_path / "again", tmp_path / "results2")
    result[1] = replace(table, report=message)
    files = pages_of(tmp_path / "results2", result, papers)
    markdown, latex = (files[f"pages/toy2026_ch1.{form}"].decode() for form in ("md", "tex"))
    names = [line.split(" | ")[0][2:].strip() for line in markdown.splitlines()[4:]]
    unequal = [c["key"].values() for c in cells if c["verdict"] in UNEQUAL]
    assert [name.lower() for name in names if " / " in name] == [
        " / ".join(key).lower() for key in unequal
    ]
    for text in (markdown, latex):
        assert "within tolerance" in text and "0.00251" in text and "tolerance (1)" in text
        assert "(1) The spread of 5 seeds." in text
    if shutil.which("pdflatex"):
        (tmp_path / "t.tex").write_text(latex)
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)


@pytest.mark.parametrize("where", ["copy", "method"])
def test_write_page_causes_of_errata(tmp_path, where):
    results = tmp_path / "results"
    changed = []
    for toy in toys.toy_results(tmp_path / "published", results):
        report = toy.report.model_dump()
        report["errata"] = [erratum | {"cause": where} for erratum in report["errata"]]
        for cell in report["cells"]:
            if cell["verdict"] == "explained":
                cell["source"] = where
        changed.append(replace(toy, report=Report.model_validate(report)))
    index = write_page(results / "index.html", changed, load_papers(tmp_path / "published"))
    page = (results / "pages/toy2026_ch1.html").read_text()
    assert f'data-v="explained ({where})' in page
    for text in (page, index.read_text()):
        assert "caused by the paper" not in without_legend(text) and CAUSE_NAMES[where] in text


def without_legend(page):
    """A page without the list that says what each mark means."""
    return re.sub(r'<dl class="meaning">.*?</dl>', "", page, flags=re.DOTALL)


def test_label_of_a_passage():
    assert label("text_4_4_4") == "Text 4.4.4"


def test_write_page_untested_claims(page):
    text = " ".join("".join(Outline(page.read_text()).text).split())
    assert "3 claims on published values: " in text
    assert text.index("There are no geese here.") < text.index("There are no ducks here.")


@pytest.mark.parametrize(("counts_in", "listed"), [("released", 1), ("embedded", 1), (None, 0)])
def test_failures_of_claim_where_it_counts(counts_in, listed):
    tiers = {
        name: SimpleNamespace(name=name, state="surrogate") for name in ("embedded", "released")
    }
    judged = SimpleNamespace(on_reproduced="contradicted")
    tests = [ClaimTest(tier, judged) for tier in tiers.values()]
    artefact = SimpleNamespace(
        tiers=[],
        counted_cells=[],
        errata=[],
        claims=[SimpleNamespace(published="supported", tests=tests)],
        claims_count_in=tiers.get(counts_in),
    )
    claims = failures_of([artefact]).claims["surrogate"]
    assert [claim.test.tier.name for claim in claims] == [counts_in] * listed


def test_policy_of_allows_only_own_scripts():
    assert policy_of([""]).startswith("default-src 'none'; script-src 'sha256-4")


def test_difference_files_without_differences():
    files = difference_files(SimpleNamespace(name="toy2026_ch1", artefacts=[]))
    assert b"No reproduced value" in files["pages/toy2026_ch1.md"]


def test_links_of_arxiv():
    origin = Origin(published="Findings of ACL 2024", arxiv="2403.19056")
    assert links_of(origin) == [("arXiv 2403.19056", "https://arxiv.org/abs/2403.19056")]


def test_section_and_page_without_lines():
    assert section_and_page("§ 2.6 from p. 27, L733") == "§ 2.6, p. 27 ff."
    assert section_and_page("§ 5 (L39), L43; § 3, L12-L14") == "§ 5; § 3"


def test_bibtex_thesis():
    publication = Publication(school="A University")
    paper = SimpleNamespace(
        key="toy2026",
        title="R&D ^ 2",
        authors="A. Low, B. Høj",
        year=2026,
        kind="thesis",
        read_publication=lambda: publication,
    )
    text = bibtex(paper)
    assert text.startswith("@phdthesis{toy2026,") and "school = {A University}" in text
    assert r"title = {{R\&D \textasciicircum{} 2}}" in text
    assert "author = {A. Low and B. Høj}" in text


def test_write_page_text_direction(tmp_path, monkeypatch):
    """Overrides in names, cells and notes are shown, and reorder nothing."""
    marks = [*map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A)])]
    monkeypatch.setattr(toys, "HOSTILE", f"{''.join(marks)}gnp.exe\x07")
    home = tmp_path / "results"
    write_page(home / "index.html", toys.hostile(tmp_path / "published", home))
    pages = [home / "index.html", *(home / "pages").glob("*.html")]
    assert len(pages) == 2
    for path in pages:
        text = path.read_text()
        assert not [mark for mark in [*marks, "\x07"] if mark in text]
        assert text.count("\\u202e\\u2066\\u2067\\u2068\\u2069gnp.exe\\x07") > 10
