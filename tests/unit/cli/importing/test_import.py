"""`everycell import`: tables in the forms in which papers and repositories have them."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml
from command_line import call, refused

from everycell.records.papers import load_papers
from everycell.verdicts.record_checks import check_records

#: Two levels of headings, multirow, macros, comments, spacing, raised signs, all of booktabs.
BOOKTABS = r"""
\documentclass{article}
\newcommand{\best}[1]{\textbf{#1}}
\newcommand\ours{\textsc{Ours}} % with a comment & an ampersand
\begin{document}
\begin{table*}[t]
\caption[short]{Effectiveness on DL~2019 and 2020. $\dagger$: $p<0.05$}
\label{tab:main}
\resizebox{\textwidth}{!}{%
\begin{tabular}{@{}llS[table-format=1.3]ccr@{}}
\toprule
 & & \multicolumn{2}{c}{\textbf{DL 2019}} & \multicolumn{2}{c}{\textbf{DL 2020}} \\
\cmidrule(lr){3-4} \cmidrule(l){5-6}
Family & Model & {nDCG@10} & {MAP} & nDCG@10$\,\uparrow$ & MAP \\
\midrule
\multirow{2}{*}{Sparse} & BM25~\cite{robertson} & 0.506 & .301 & 0.480 & 0.286 \\
 & +~RM3 & 0.518 & .342 & {--} & \multicolumn{1}{c}{OOM} \\[2pt]
\addlinespace[2pt]
\rowcolor{gray!10}
\multirow{2}{*}{Dense} & ANCE & 0.648 & .371 & \underline{0.646} & $0.408_{\pm 0.02}$ \\
 & \ours{} & \best{0.712}$^{\dagger}$ & \best{.401} & {\bf 0.701}$^{\dagger\ddagger}$
 & 0.440 $\pm$ 0.01 \\
\bottomrule
\end{tabular}}
\end{table*}
"""
#: Lines around all cells, siunitx, decimal braces, and a heading of a group.
GRID = r"""
\begin{tabular*}{\linewidth}{|l|r|S|}
\hline
\\ [-1.5ex]
\rule{0pt}{2ex}Collection & Queries & Documents (M) \\ \hline\hline
\multicolumn{3}{|c|}{\emph{Web}} \\ \hline
ClueWeb{} & 1{,}234 & \num{502.5} \\ \hline
GOV2 & 150 & $25.2$ \\ \hline
\end{tabular*}
"""
HTML = """
<html><body><table><caption>Ablation</caption>
<thead><tr><th rowspan="2">System</th><th colspan=2>Robust04</th><th colspan=2>Core17</th></tr>
<tr><th>MAP</th><th>P@20</th><th>MAP</th><th>P@20</th></tr></thead>
<tbody><tr><td colspan="5"><i>Baselines</i></td></tr>
<tr><td>BM25<td>0.2531<td>0.3631<td>0.2087<td>0.4560
<tr><td>QL</td><td>0.2467</td><td>0.3548</td><td>&ndash;</td><td>&#8211;</td></tr>
<tr><td colspan="5"><i>Ours</i></td></tr>
<tr><td>Full</td><td><b>0.2903</b><sup>a,b</sup></td><td style="font-weight: bold">0.4012</td>
<td>0.2823</td><td><span style="text-decoration: underline">0.5500</span></td></tr>
</tbody></table></body></html>
"""
MARKDOWN = """# Results

| Model | MAP | nDCG@10 | Recall@1k (%) | p |
|:------|----:|--------:|--------------:|---|
| BM25 | 0.58 | 0.66 | 81.2 | – |
| [ColBERT](https://example.org) | **0.71**<sup>†</sup> | <u>0.80</u> ± 0.05 | 85.2 | < .001 |
| SPLADE | 0.70$^{\\dagger}$ | **0.81** ± 0.04 | **91.0** | n.s. |

More text.
"""
CSV = """Methode;nDCG@10;MAP
BM25;0,58;0,301
"Dense; tuned";**0,61**;-0,12
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def imported(name: str, text: str, *options: str) -> dict[tuple[str, ...], str]:
    """Values and details by key, after the command."""
    Path(name).write_text(text, encoding="utf-8")
    code, out, err = call("import", name, "out.csv", "--force", *options)
    assert (code, err) == (0, "") and "out.csv: " in out
    cells = pd.read_csv("out.csv", dtype=str, keep_default_na=False)
    end = list(cells.columns).index("value")
    return {
        tuple(row[:end]): " ".join(filter(None, row[end:]))
        for row in cells.itertuples(index=False, name=None)
    }


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


def test_import_csv(folder):
    assert imported("table.csv", CSV) == {
        ("BM25", "nDCG@10"): "0.58",
        ("BM25", "MAP"): "0.301",
        ("Dense; tuned", "nDCG@10"): "0.61 bold",
        ("Dense; tuned", "MAP"): "-0.12",
    }


@pytest.mark.parametrize("heading", ["Data set", "Collection", "Corpus"])
def test_import_measure_of_caption(folder, heading):
    values = imported("t.csv", f"{heading},BM25,ANCE\nA,.1,.2\nB,.3,.4\n", "--measure", "nDCG@10")
    assert values["B", "ANCE", "nDCG@10"] == ".4"
    assert Path("out.csv").read_text().startswith("collection,system,metric,value\n")


@pytest.mark.parametrize("heading", ["Metric", "", "Method"])
def test_import_rows_of_measures(folder, heading):
    """Measures are the metric, in rows too; so are their deviations."""
    values = imported("t.md", f"|{heading}|A|B|\n|-|-|-|\n|MAP|.1|.2|\n|P@5|.3|.4 ± .1|\n")
    assert (values["P@5", "B"], values["P@5 ±", "B"]) == (".4", ".1")
    assert Path("out.csv").read_text().startswith("metric,system,value\n")


@pytest.mark.parametrize(
    ("head", "key"),
    [
        (r"Model & \multicolumn{2}{c}{MAP} \\ & dev & test \\ \hline", ("A", "test", "MAP")),
        # The second row belongs to the heading without a line, since its first cell is blank.
        (r"Model & \multicolumn{2}{c}{MAP} \\ & dev & test \\", ("A", "test", "MAP")),
        (r"Model & \multicolumn{2}{c}{Web} \\ & P@5 & MAP \\ \hline", ("A", "MAP")),
    ],
)
def test_import_measure_above_columns(folder, head, key):
    """A measure above all columns is that of all values."""
    text = rf"\begin{{tabular}}{{lll}}{head} A & .4 & .5 \\ \end{{tabular}}"
    assert imported("t.tex", text)[key] == ".5"


def test_import_rows_of_systems_and_measures(folder):
    text = "System,Metric,Web\nA,MAP,.3\nA,Score,.5\nB,MAP,.2\n"
    assert imported("t.csv", text)["A", "Score", "Web"] == ".5"


def test_import_rows_named_by_groups(folder):
    text = (
        "|Model|MAP|\n|-|-|\n|Robust04||\n|BM25|.1|\n|QL|.2|\n|||\n|Core17||\n|BM25|.3|\n|QL|.4|\n"
    )
    assert imported("t.md", text)["Core17", "QL", "MAP"] == ".4"


def test_import_repeated_labels(folder):
    """A label of the first column holds until the next one; blank values are no values."""
    text = "|Data|Model|MAP|\n|-|-|-|\n|A|BM25|.1|\n||QL|.2|\n|B|BM25||\n||QL|.4|\n"
    assert imported("t.md", text) == {
        ("A", "BM25", "MAP"): ".1",
        ("A", "QL", "MAP"): ".2",
        ("B", "QL", "MAP"): ".4",
    }


def test_import_only_shows(folder):
    """Without a file to write, it shows source, values and offered claims."""
    Path("README.md").write_text(MARKDOWN, encoding="utf-8")
    code, out, _ = call("import", "README.md")
    assert code == 0 and [*folder.iterdir()] == [folder / "README.md"]
    lines = [line.split() for line in out.splitlines()]
    assert ["read", "ColBERT", "0.71", "(†,", "bold)"] in [line[:5] for line in lines]
    assert "ColBERT has the highest MAP." in out
    assert "ColBERT has the second highest nDCG@10." in out
    assert "everycell import README.md table.csv" in out


@pytest.mark.parametrize(("measures", "label"), [(93, 12), (12, 60), (3, 200)])
def test_import_shows_wide_table(folder, monkeypatch, measures, label):
    """Each heading and value is whole on a line of 80 characters, beside the name of its row."""
    monkeypatch.setenv("COLUMNS", "80")
    names = [f"set_measure_{number}_at_100" for number in range(measures)]
    rows = ["|".join(["System", *names]), "|".join("-" * (measures + 1))]
    rows += ["|".join([name * label, *["0.2531"] * measures]) for name in "AB"]
    Path("t.md").write_text("".join(f"|{row}|\n" for row in rows), encoding="utf-8")
    lines = call("import", "t.md")[1].partition("Read ")[0].splitlines()
    assert max(map(len, lines)) <= 80
    assert [word for line in lines for word in line.split() if "set_" in word] == names
    read = [line.split()[1:] for line in lines if line.startswith("read")]
    assert sum(words[1:].count("0.2531") for words in read) == 2 * measures
    assert {words[0][0] for words in read} == {"A", "B"}


def test_import_row_names_to_choose(folder):
    """A column that could name the rows too is not said to name none."""
    Path("t.md").write_text("|Run name|Paper run|MAP|\n|-|-|-|\n|aa|bb|.1|\n|cc|dd|.2|\n")
    (note,) = (line for line in call("import", "t.md")[1].splitlines() if "Not imported" in line)
    assert "Run name already names the rows: Paper run." in note


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("table_1.py", "import os\n\nX = [1, 2]\n", "Python code"),
        ("table.R", "x <- c(1, 2)\n", "R code"),
        ("a.ipynb", '{"cells": [{"source": ["<table>"]}]}', "a Jupyter notebook"),
        ("config.yaml", "a: 1\nb: [1, 2]\n", "settings"),
        ("a.run", "q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 0.4 t\n", "a run"),
        ("a.csv", "q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 0.4 t\n" * 9999, "a run"),
        ("qrels.txt", "q1 0 d1 1\nq1 0 d2 0\n", "relevance judgements"),
    ],
)
def test_import_other_file(folder, name, text, kind):
    Path(name).write_text(text)
    assert f"{name} is {kind}" in refused("import", name, "x.csv")


@pytest.mark.parametrize(
    ("values", "offers", "is_reported"),
    [
        (["**.5**", "<u>.4</u>", ".3"], ["the highest", "the second highest"], False),
        ([".5", "<u>.4</u>", "**.3**"], ["the lowest", "the second lowest"], False),
        (
            ["**.5**", "**.5**", "<u>.3</u>"],
            ["the highest", "the highest", "the second highest"],
            False,
        ),
        ([".5", "**.4**", ".3"], [], True),
        # Without a bold value, it is unclear what is best.
        ([".5", ".4", "<u>.3</u>"], [], False),
        (["**.5**", ".4", "<u>.3</u>"], ["the highest"], True),
    ],
)
def test_import_offers(folder, values, offers, is_reported):
    """Emphasis that fits no order is reported, not asserted."""
    rows = "".join(f"|s{number}|{value}|\n" for number, value in enumerate(values))
    Path("t.md").write_text(f"|System|MAP|\n|-|-|\n{rows}")
    _, out, _ = call("import", "t.md", "table.csv")
    assert [
        line.split(" has ")[1][:-5] for line in out.splitlines() if " has the" in line
    ] == offers
    assert ("MAP: " in out) == is_reported


def test_import_offers_become_comments(folder):
    """`init` writes them as comments; without the marks, they are valid claims."""
    imported("README.md", MARKDOWN)
    Path("values.csv").write_text(
        Path("out.csv").read_text(encoding="utf-8").replace("0.66", "0.7")
    )
    code, _, err = call("init", "smith2026", "--table", "out.csv", "--values", "values.csv")
    assert (code, err) == (0, "")
    assert check_records(load_papers(folder / "smith2026/published")) == []
    path = folder / "smith2026/published/smith2026/ch1.yaml"
    text = path.read_text(encoding="utf-8")
    assert "claims" not in yaml.safe_load(text)["artefacts"]["table_1"]
    before, _, after = text.partition("    # claims:\n")
    path.write_text(before + "    claims:\n" + after.replace("    # ", "    "), encoding="utf-8")
    claims = yaml.safe_load(path.read_text(encoding="utf-8"))["artefacts"]["table_1"]["claims"]
    assert claims[0]["claim"] == "ColBERT has the highest MAP." and len(claims) == 4
    assert check_records(load_papers(folder / "smith2026/published")) == []


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        ("a.md", "no table\n", [], "a.md has no table in markdown"),
        ("a.tex", "\\begin{tabular}{ll}a&b\\\\", [], "a.tex, line 1 begins a tabular"),
        ("a.tex", GRID + GRID, ["--number", "3"], "a.tex has 2 tables"),
        ("a.tex", r"\begin{tabular}{ll}A&B\\a&" + "{" * 200 + "1\\end{tabular}", [], "nested"),
        ("a.html", "<table><tr><td colspan=99999>a", [], "a.html, line 1: colspan"),
        (
            "a.html",
            "<table><tr><td rowspan=9999 colspan=9999>" + "<tr>" * 9998 + "</table>",
            [],
            "cells",
        ),
        ("a.md", "|A|MAP|\n|-|-|\n|a|.1|\n|a|.2|\n", [], "row 3 of the table"),
        ("a.md", "|A|MAP|MAP|\n|-|-|-|\n|a|.1|.2|\n", [], "row 2 of the table"),
        ("a.md", "|A|B|\n|-|-|\n|a|b|\n", [], "a.md has a table without numbers"),
        ("a.csv", "A,B\na,1,2\n", [], "a.csv, row 2 has 3 fields"),
        ("a.csv", 'A,B\n"a,1\n', [], "a.csv cannot be read"),
        ("a.csv", "A;MAP\na;0.61\nb;0,58\n", [], "row 3 of the table (b): MAP is '0,58'"),
    ],
)
def test_import_refused(folder, name, text, options, message):
    Path(name).write_text(text)
    before = sorted(folder.iterdir())
    assert message in refused("import", name, "out.csv", *options)
    assert sorted(folder.iterdir()) == before


def test_import_several_tables(folder):
    """Without a number, the tables of the file are listed."""
    Path("a.tex").write_text(BOOKTABS + GRID)
    code, out, err = call("import", "a.tex")
    assert code == 2 and not out and "1: 4 rows, 6 columns: Effectiveness on DL 2019" in err
    assert ("GOV2", "Queries") in imported("a.tex", BOOKTABS + GRID, "--number", "2")


def test_import_existing_file(folder):
    imported("README.md", MARKDOWN)
    assert "out.csv already exists" in refused("import", "README.md", "out.csv")


@pytest.mark.parametrize("text", ["<a", "<a <b", "</", "<!", "<?", "<![", "<td "])
def test_import_unclosed_tags(tmp_path, monkeypatch, text):
    """Their number must not matter: in quadratic time, these would take minutes."""
    monkeypatch.chdir(tmp_path)
    Path("a.html").write_text(text * 200_000)
    assert "a.html has no table" in refused("import", "a.html")


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("||BM25|E5|\n|-|-|-|\n|NF-Corpus|34.3|30|\n|TREC-COVID|68|66|\n", "collection,system"),
        ("|System|BM25|E5|\n|-|-|-|\n|DL19|34.3|30|\n|DL 2020|68|66|\n", "collection,system"),
        ("||BM25|E5|\n|-|-|-|\n|Covid model|34.3|30|\n|B|68|66|\n", "system,collection"),
    ],
)
def test_import_rows_of_collections(folder, text, header):
    imported("t.md", text, "--measure", "nDCG@10")
    assert Path("out.csv").read_text().startswith(f"{header},metric,value\n")


def test_import_one_value_per_row(folder):
    """A CSV that already has a row per value keeps its keys."""
    text = "Data_Set,Algorithm,Measure,Value\nA,X,MAP,1.0\nA,Y,MAP,0.5\n"
    assert imported("t.csv", text)["A", "X", "MAP"] == "1.0"
    assert imported("s.csv", "System,Value\nX,1.0\nY,0.5\n", "--measure", "RR")["X", "RR"] == "1.0"


HARNESS = {
    "results": {
        "arc_easy": {
            "alias": "arc_easy", "sample_len": 99, "is_greedy,none": True, "acc,none": 0.71,
            "acc_stderr,none": 0.012,
        },
        "gsm8k": {
            "alias": "gsm8k", "exact_match,strict-match": 0.3,
            "exact_match_stderr,strict-match": "N/A", "exact_match,flexible-extract": 0.34,
        },
    },
    "n-shot": {"arc_easy": 0, "gsm8k": 5},
    "config": {"model": "hf", "model_args": "pretrained=org/m"},
    "model_name": "org/m",
}  # fmt: skip
HELM = [
    {
        "title": "Accuracy",
        "header": [
            {"value": "Model/adapter", "markdown": False, "metadata": {}},
            {"value": "Mean win rate", "lower_is_better": False, "metadata": {}},
            {"value": "MMLU - EM", "markdown": False},
        ],
        "rows": [
            [{"value": "A (7B)"}, {"value": 0.96, "style": {"font-weight": "bold"}}, {}],
            [{"value": "B (13B)"}, {"value": 0.5, "style": {}}, {"value": 0.6875}],
        ],
        "links": [],
    }
]


def test_import_harness(folder):
    values = imported("results_2026.json", json.dumps(HARNESS))
    assert values == {
        ("org/m", "arc_easy", "acc"): "0.71",
        ("org/m", "arc_easy", "acc ±"): "0.012",
        ("org/m", "gsm8k", "exact_match (strict-match)"): "0.3",
        ("org/m", "gsm8k", "exact_match (flexible-extract)"): "0.34",
    }
    assert Path("out.csv").read_text().startswith("system,collection,metric,value\n")


@pytest.mark.parametrize("task", ["ARC-e", "arc_easy"])
def test_import_columns_of_tasks(folder, task):
    """Columns of tasks are collections, as in results of lm-evaluation-harness."""
    text = f"|Model|{task}|GSM8K|Average|\n|-|-|-|-|\n|org/m|71|30 ± 1|50.5|\n"
    assert imported("t.md", text)["org/m", "GSM8K", "value ±"] == "1"
    assert imported("t.md", text.replace(" ± 1", ""))["org/m", task] == "71"
    assert imported("t.md", text, "--measure", "acc")["org/m", task, "acc"] == "71"


@pytest.mark.parametrize(
    ("measure", "column", "name"),
    [("acc", "ARC", "acc_norm"), ("P(rel=2)@5", "R(k=1)", "nDCG(dcg='exp-log2')@10")],
)
def test_import_measures_of_columns(folder, measure, column, name):
    """A deviation keeps its role; an equals sign in brackets is part of a name."""
    text = f"|Model|GSM8K|{column}|\n|-|-|-|\n|a|.1 ± .02|.2 ± .03|\n|b|.3|.4|\n"
    values = imported("t.md", text, "--measure", measure, "--measure", f"{column}={name}")
    metrics = {keys[1:]: value for keys, value in values.items() if keys[0] == "a"}
    assert metrics == {
        ("GSM8K", measure): ".1", ("GSM8K", f"{measure} ±"): ".02",
        (column, name): ".2", (column, f"{name} ±"): ".03",
    }  # fmt: skip


def test_import_command_to_write(folder):
    """The printed command has the options of this one, as a shell reads them."""
    table = "|Team|Run name|A|B|\n|-|-|-|-|\n|ab|my run|.1|.2|\n|cd|run|.3|.4|\n"
    (folder / "a b.md").write_text(f"{table}\n{table}")
    options = ["--number", "2", "--names", "Run name"]
    options += ["--measure", "acc", "--measure", "B=it's"]
    out = call("import", "a b.md", *options)[1]
    (line,) = (line for line in out.splitlines() if line.startswith("To write it: everycell "))
    words = shlex.split(line.removeprefix("To write it: everycell "))
    assert words == ["import", "a b.md", "table.csv", *options]
    assert call(*words)[0] == 0


def test_import_columns_of_tasks_and_results_of_harness(folder):
    """Values of the tool match the published ones, of which they are shares."""
    results = {"arc_easy": {"acc,none": 0.71, "acc_stderr,none": 0.01, "acc_norm,none": 0.72}}
    results["boolq"] = {"acc,none": 0.8, "acc_stderr,none": 0.01}
    text = json.dumps({"results": results, "model_name": "org/m"})
    imported("results.json", text)
    Path("out.csv").rename("values.csv")
    text = "|Model|ARC_easy|BoolQ|\n|-|-|-|\n|org/m|71|80.5|\n"
    imported("t.md", text, "--measure", "acc")
    code, out, err = call("init", "smith2026", "--table", "out.csv", "--values", "values.csv")
    assert (code, err) == (0, "") and "multiplied by 100" in out


def test_import_helm(folder):
    values = imported("core_scenarios.json", json.dumps(HELM))
    assert values["A (7B)", "–", "Mean win rate"] == "0.96 bold"
    assert values["B (13B)", "MMLU", "EM"] == "0.6875"
    assert ("A (7B)", "MMLU", "EM") not in values


@pytest.mark.parametrize(
    "text",
    [
        "Start Time,Duration,Run ID,Name,Source Type,Source Name,User,Status,acc,MRR@10\n"
        "2026-01-02 10:00:00,1.2min,0ab1,bert,LOCAL,src.py,me,FINISHED,0.1,0.35\n"
        "2026-01-02 11:00:00,1.4min,0ab2,t5,LOCAL,src.py,me,FINISHED,0.2,0.36\n",
        "run_id,experiment_id,status,artifact_uri,start_time,end_time,metrics.acc,metrics.MRR@10,"
        "params.lr,tags.mlflow.runName,tags.mlflow.user\n"
        "0ab1,0,FINISHED,s3://a,2026,2026,0.1,0.35,0.1,bert,me\n"
        "0ab2,0,FINISHED,s3://b,2026,2026,0.2,0.36,0.3,t5,me\n",
        '"Name","State","Notes","User","Tags","Created","Runtime","Sweep","_step","acc","MRR@10"\n'
        '"bert","finished","-","me","","2026-01-02T10:00:00.000Z","73","","10","0.1","0.35"\n'
        '"t5","finished","-","me","","2026-01-02T11:00:00.000Z","79","","10","0.2","0.36"\n',
    ],
)
def test_import_tracked_runs(folder, text):
    """MLflow's page, MLflow's library, W&B."""
    assert imported("runs.csv", text) == {
        ("bert", "acc"): "0.1", ("bert", "MRR@10"): "0.35",
        ("t5", "acc"): "0.2", ("t5", "MRR@10"): "0.36",
    }  # fmt: skip


@pytest.mark.parametrize(
    "text", ["{", "[]", "[1]", "3", '{"a": "b"}', '{"a": {"b": [1]}}', '[{"a": 1}, {"a": 2}]']
)
def test_import_json_refused(folder, text):
    Path("a.json").write_text(text)
    assert "a.json" in refused("import", "a.json", "out.csv")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"results": {"t": {"acc": 0.5, "acc": 0.9}}}', "occurs twice"),
        ('{"results": {"t": {"acc": 0.5}}, "results": {"t": {"acc": 0.9}}}', "occurs twice"),
        ('{"results": {"t": {"acc": 0.5, "acc,none": 0.9}}}', "but also 0.5"),
        ('{"header": [{"value": "M"}, {"value": "a"}], "rows": [[{"value": "b"}]]}', "1 cells"),
        (
            json.dumps({"results": {f"t{i}": {f"m{i}": 0.5} for i in range(2000)}}),
            "at most 10000",
        ),
    ],
    ids=["key", "results", "filters", "ragged", "wide"],
)
def test_import_json_ambiguous_or_large(folder, text, words):
    """Of two values of one cell, none is chosen; a small file does not become a huge table."""
    Path("a.json").write_text(text)
    assert words in refused("import", "a.json", "out.csv")


def test_import_csv_too_wide(folder):
    Path("a.csv").write_text("s" + ",m" * 20_000 + "\na" + ",1" * 20_000)
    assert "at most 10000" in refused("import", "a.csv", "out.csv")


def test_import_json_half_a_pair(folder):
    """Half a surrogate pair, which no file can contain, is written as its code."""
    values = imported("a.json", '{"results": {"t\\ud800": {"acc": 0.5}}, "model_name": "m"}')
    assert [*values.values()] == ["0.5"] and "\\ud800" in str(values)


def test_import_without_scipy(folder):
    """Names of measures are parsed, but nothing is computed."""
    Path("a.md").write_text("|A|MAP|nDCG@10|\n|-|-|-|\n|a|.1|.2|\n")
    program = (
        "import atexit, sys\nsys.argv = ['everycell', 'import', 'a.md']\n"
        "atexit.register(lambda: print('scipy' in sys.modules))\n"
        "from everycell.cli.entry import main\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "False" and done.returncode == 0


@pytest.mark.parametrize(
    "heading, keys",
    [
        ("Croatian (F1)", ("Croatian", "F1")),
        ("Dev set (macro-F1)", ("Dev set", "macro-F1")),
        ("Overall (Weighted F1)", ("Overall", "Weighted F1")),
        ("Micro (F1)", ("–", "Micro (F1)")),
        ("F1 (macro)", ("–", "F1 (macro)")),
        ("Cost (USD)", ("–", "Cost (USD)")),
    ],
)
def test_import_measure_in_brackets(folder, heading, keys):
    text = f"|Model|SQuAD (EM)|X (F1)|{heading}|\n|-|-|-|-|\n|A|1|2|3|\n|B|4|5|6|\n"
    values = imported("t.md", text)
    assert values["A", "X", "F1"] == "2" and values["A", *keys] == "3"
