"""`everycell import`: LaTeX, HTML, Markdown and CSV."""

from pathlib import Path

import pytest
from command_line import refused
from unit.cli.importing.examples import BOOKTABS, CSV, GRID, HTML, MARKDOWN, imported


def test_import_booktabs(folder):
    values = imported("paper.tex", BOOKTABS)
    assert values == {
        ("BM25", "DL 2019", "nDCG@10"): "0.506",
        ("BM25", "DL 2019", "MAP"): ".301",
        ("BM25", "DL 2020", "nDCG@10"): "0.480",
        ("BM25", "DL 2020", "MAP"): "0.286",
        ("+ RM3", "DL 2019", "nDCG@10"): "0.518",
        ("+ RM3", "DL 2019", "MAP"): ".342",
        ("+ RM3", "DL 2020", "nDCG@10"): "–",
        ("+ RM3", "DL 2020", "MAP"): "OOM",
        ("ANCE", "DL 2019", "nDCG@10"): "0.648",
        ("ANCE", "DL 2019", "MAP"): ".371",
        ("ANCE", "DL 2020", "nDCG@10"): "0.646 underlined",
        ("ANCE", "DL 2020", "MAP"): "0.408",
        ("ANCE", "DL 2020", "MAP ±"): "0.02",
        ("Ours", "DL 2019", "nDCG@10"): "0.712 † bold",
        ("Ours", "DL 2019", "MAP"): ".401 bold",
        ("Ours", "DL 2020", "nDCG@10"): "0.701 †‡ bold",
        ("Ours", "DL 2020", "MAP"): "0.440",
        ("Ours", "DL 2020", "MAP ±"): "0.01",
    }
    header = Path("out.csv").read_text(encoding="utf-8").split("\n")[0]
    assert header == "model,collection,metric,value,marker,note"


def test_import_grid(folder):
    assert imported("paper.tex", GRID) == {
        ("ClueWeb", "Queries"): "1234",
        ("ClueWeb", "Documents (M)"): "502.5",
        ("GOV2", "Queries"): "150",
        ("GOV2", "Documents (M)"): "25.2",
    }


def test_import_html(folder):
    values = imported("page.html", HTML)
    assert len(values) == 12 and values["QL", "Core17", "P@20"] == "–"
    assert values["BM25", "Core17", "P@20"] == "0.4560"
    of_full = {key[1:]: text for key, text in values.items() if key[0] == "Full"}
    assert of_full == {
        ("Robust04", "MAP"): "0.2903 ab bold",
        ("Robust04", "P@20"): "0.4012 bold",
        ("Core17", "MAP"): "0.2823",
        ("Core17", "P@20"): "0.5500 underlined",
    }


def test_import_markdown(folder):
    values = imported("README.md", MARKDOWN)
    assert {key: text for key, text in values.items() if key[0] != "BM25"} == {
        ("ColBERT", "MAP"): "0.71 † bold",
        ("ColBERT", "nDCG@10"): "0.80 underlined",
        ("ColBERT", "nDCG@10 ±"): "0.05",
        ("ColBERT", "Recall@1k"): "85.2 %",
        ("ColBERT", "p"): "< .001",
        ("SPLADE", "MAP"): "0.70 †",
        ("SPLADE", "nDCG@10"): "0.81 bold",
        ("SPLADE", "nDCG@10 ±"): "0.04",
        ("SPLADE", "Recall@1k"): "91.0 % bold",
        ("SPLADE", "p"): "n.s.",
    }


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("<p>12</p>", "12"),
        ("12<script>3</script><style>4</style>", "12"),
        ("<s>11</s> <del>13</del> 12", "12"),
        ("12 <span hidden>3</span><i style='display: none'>4<br>5</i>", "12"),
        ("<table><tr><td><b>12</b></td></tr></table>", "12 bold"),
        ("12<div>± 3</div>", "12"),
        ("<p>12</p><p>345</p>", None),
        ("<ul><li>12<li>345</ul>", None),
        ("12<br/>345", None),
        ("12<table><tr><td>345</td></tr></table>", None),
    ],
)
def test_import_html_lines_and_hidden(folder, cell, value):
    """Numbers of two lines are two numbers, and text that is not shown is none."""
    text = f"<table><tr><th>M<th>MAP<tr><td>a<td>{cell}<tr><td>b<td>1<tr><td>c<td>2</table>"
    if value is None:
        Path("t.html").write_text(text)
        assert "row 2 of the table: MAP is '12 / 345'" in refused("import", "t.html", "out.csv")
    else:
        assert imported("t.html", text)["a", "MAP"] == value


def test_import_html_spans_and_hidden_rows(folder):
    """Spans are those of a browser: 0 rows are the rest of the section, an empty span is 1."""
    body = "<tr><td rowspan=0>A<td>x<td colspan=''>1<tr><td>y<td>2<tr hidden><td>z<td>9"
    text = (
        f"<table><caption>c<thead><tr><th>D<th>M<th>MAP</thead><tbody>{body}"
        "<tbody><tr><td rowspan=9>B<td>x<td hidden>8<td>3</table>"
    )
    assert imported("t.html", text) == {
        ("A", "x", "MAP"): "1",
        ("A", "y", "MAP"): "2",
        ("B", "x", "MAP"): "3",
    }


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("Cost ($/frame)", "Cost ($/frame)"),
        ("US$", "US$"),
        ("Cost, $", "Cost, $"),
        ("$p$", "p"),
        ("Gain $\\Delta$", "Gain Δ"),
    ],
)
def test_import_markdown_dollars(folder, heading, name):
    """One dollar sign in a heading is a currency, two enclose mathematics."""
    assert imported("t.md", f"|M|{heading}|\n|-|-|\n|a|0.5|\n|b|$0.25$|\n") == {
        ("a", name): "0.5",
        ("b", name): "0.25",
    }


@pytest.mark.parametrize("text", ["<a", "<a <b", "</", "<!", "<?", "<![", "<td "])
def test_import_unclosed_tags(tmp_path, monkeypatch, text):
    """Their number must not matter: in quadratic time, these would take minutes."""
    monkeypatch.chdir(tmp_path)
    Path("a.html").write_text(text * 200_000)
    assert "a.html has no table" in refused("import", "a.html")


def test_import_csv(folder):
    assert imported("table.csv", CSV) == {
        ("BM25", "nDCG@10"): "0.58",
        ("BM25", "MAP"): "0.301",
        ("Dense; tuned", "nDCG@10"): "0.61 bold",
        ("Dense; tuned", "MAP"): "-0.12",
    }


def test_import_csv_too_wide(folder):
    Path("a.csv").write_text("s" + ",m" * 20_000 + "\na" + ",1" * 20_000)
    assert "at most 10000" in refused("import", "a.csv", "out.csv")
