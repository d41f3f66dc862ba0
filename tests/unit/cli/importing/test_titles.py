"""`everycell import`: titles above the heading, measures as rows, and columns of deviations."""

from pathlib import Path

import pandas as pd
import pytest
from command_line import call
from unit.cli.importing.examples import imported

TITLE = "Read as a title, not as a key: "
#: Rows of a table with the heading and values below a title.
BODY = (("Lang", "Orig", "Full"), ("DE", "0.147", "0.000"), ("EN", "0.224", "0.007"))
VALUES = {
    ("DE", "Orig"): "0.147",
    ("DE", "Full"): "0.000",
    ("EN", "Orig"): "0.224",
    ("EN", "Full"): "0.007",
}


@pytest.fixture(autouse=True)
def _folder(folder) -> Path:
    return folder


def notes(name: str) -> str:
    code, out, err = call("import", name)
    assert (code, err) == (0, "")
    return out.partition("Read ")[2]


def latex(*rows: str) -> str:
    lines = [f"{' & '.join(row)} \\\\" for row in BODY]
    return "\\begin{tabular}{lcc}\n" + "\n".join([*rows, *lines]) + "\n\\end{tabular}\n"


def html(*titles: str, tag: str = "th") -> str:
    rows = [*titles, *("".join(f"<{tag}>{text}</{tag}>" for text in row) for row in BODY[:1])]
    rows += ["".join(f"<td>{text}</td>" for text in row) for row in BODY[1:]]
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def markdown(*titles: str) -> str:
    first, *more = [*titles, *("|" + "|".join(row) + "|" for row in BODY)]
    return "\n".join([first, "|-|-|-|", *more, ""])


SPAN = "\\multicolumn{3}{c}{\\textbf{mBERT}} \\\\"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.tex", latex(SPAN, "\\midrule")),
        ("a.tex", latex(SPAN)),
        ("a.tex", latex("\\toprule", SPAN, "\\cmidrule{1-3}")),
        ("a.tex", latex("mBERT & & \\\\ \\hline")),
        ("a.html", html("<th colspan=3>mBERT")),
        ("a.html", html("<td colspan=3>mBERT", tag="td")),
        ("a.html", "<table><thead><tr><th colspan=3>mBERT</thead>" + html(tag="td")[7:]),
        ("a.md", markdown("|mBERT|||")),
        ("a.md", markdown("||mBERT||")),
        ("a.csv", "mBERT,,\n" + "\n".join(",".join(row) for row in BODY)),
    ],
)
def test_import_title(name, text):
    """The heading is below the title, which a line names."""
    assert imported(name, text) == VALUES
    assert f"{TITLE}mBERT." in notes(name)


def test_import_title_of_several_rows():
    text = latex(SPAN, "\\multicolumn{3}{c}{three seeds} \\\\ \\midrule")
    assert imported("a.tex", text) == VALUES
    assert f"{TITLE}mBERT, three seeds." in notes("a.tex")


def test_import_title_above_groups():
    """A second text across all columns is the heading of a group."""
    text = latex(SPAN).replace("EN &", SPAN.replace("mBERT", "XLM") + " DE &")
    values = imported("a.tex", text)
    assert values["–", "DE", "Orig"] == "0.147" and values["XLM", "DE", "Orig"] == "0.224"


@pytest.mark.parametrize("measure", ["MAP", "nDCG@10", "MAP ↑", "MAP (\\%)"])
def test_import_title_with_measure(measure):
    """A measure above all columns names their values."""
    values = imported("a.tex", latex(SPAN.replace("mBERT", measure)))
    measure = measure.split()[0]
    assert {key: value.split()[0] for key, value in values.items()} == {
        (*key, measure): value for key, value in VALUES.items()
    }
    assert TITLE not in notes("a.tex") and "Keys: lang" in notes("a.tex")


@pytest.mark.parametrize(
    ("first", "keys"),
    [
        (" & \\multicolumn{2}{c}{mBERT}", {"Orig", "Full"}),
        (" & mBERT & XLM", {"mBERT Orig", "XLM Full"}),
    ],
)
def test_import_levels_of_headings(first, keys):
    """What spans all columns but the first is a level of headings."""
    values = imported("a.tex", latex(f"{first} \\\\ \\midrule").replace("Lang", ""))
    assert {" ".join(key[1:]) for key in values} == keys


@pytest.mark.parametrize(
    "row", ["|alias|see text|later|", "|alias|✓|–|", "|Sparse|||", "|BM25|.1|.2|"]
)
def test_import_heading_is_no_title(row):
    """A heading with two labels has rows of words below it, not another heading."""
    text = f"|Model|MAP||\n|-|-|-|\n{row}\n|A|.3|.4|\n|B|.5|.6|\n"
    values = imported("a.md", text)
    assert values["A", "MAP"] == ".3" and TITLE not in notes("a.md")


@pytest.mark.parametrize("heading", ["Model", "System", "Method"])
def test_import_heading_of_systems_is_no_title(heading):
    text = f"|{heading}|||\n|-|-|-|\n|alias|see text|later|\n|A|.3|.4|\n|B|.5|.6|\n"
    assert imported("a.md", text)["A", "column 2"] == ".3"
    assert "rows without numbers: alias" in notes("a.md")


def test_import_one_column_is_no_title():
    text = "||MAP|\n|-|-|\n|alias|see text|\n|A|.3|\n|B|.5|\n"
    assert imported("a.md", text) == {("A", "MAP"): ".3", ("B", "MAP"): ".5"}
    assert "rows without numbers: alias" in notes("a.md")


@pytest.mark.parametrize(
    "heading",
    ["Métrica", "Metrica", "MÉTRICAS", "Métrique", "Metrik", "Maß", "Medida", "Mesure", "Metric"],
)
@pytest.mark.parametrize("name", ["MAP (mean)", "Acurácia"])
def test_import_measures_in_rows_by_heading(heading, name):
    text = f"|{heading}|BM25|KNN|\n|-|-|-|\n|{name}|.1|.2|\n|Total|.3|.4|\n"
    assert (name, "BM25") in imported("a.md", text)
    assert list(pd.read_csv("out.csv")) == ["metric", "system", "value"]


@pytest.mark.parametrize(
    ("names", "is_metric"),
    [
        (["P@5 (Precisão no Top-5)", "MAP (Mean Average Precision)"], True),
        (["P@5: precision", "nDCG@10 – gain", "Time"], True),
        (["MAP [%]", "Time"], False),
        (["MAPE (error)", "Small (P@5)"], False),
    ],
)
def test_import_measures_in_rows_by_content(names, is_metric):
    """Most names begin with a measure, whatever the heading is."""
    rows = "".join(f"|{name}|.{n}1|.{n}2|\n" for n, name in enumerate(names))
    imported("a.md", "|Indicador|BM25|KNN|\n|-|-|-|\n" + rows)
    keys = ["metric", "system"] if is_metric else ["indicador", "metric"]
    assert list(pd.read_csv("out.csv")) == [*keys, "value"]


@pytest.mark.parametrize("headings", ["Metric,Measure", "métrica,metric", "Metric,Métrique"])
def test_import_two_columns_of_measures(headings):
    """Keys with different headings have different names."""
    values = imported("a.csv", f"{headings},Value\nMAP,BM25,.3\nMAP,QL,.2\nP@5,BM25,.4\n")
    assert values == {("MAP", "BM25"): ".3", ("MAP", "QL"): ".2", ("P@5", "BM25"): ".4"}
    assert list(pd.read_csv("out.csv"))[:2] == headings.lower().split(",")


def test_import_two_columns_of_collections():
    values = imported("a.md", "|Corpus|Dataset|MAP|\n|-|-|-|\n|a|x|.3|\n|b|x|.2|\n|a|y|.4|\n")
    assert values["a", "x", "MAP"] == ".3" and len(values) == 3
    assert list(pd.read_csv("out.csv"))[:2] == ["collection_1", "collection_2"]


@pytest.mark.parametrize(
    ("value", "deviation"),
    [
        ("exam", "exam-std"),
        ("exam", "exam_sd"),
        ("exam", "exam STD"),
        ("exam", "exam (std)"),
        ("exam", "± exam"),
        ("exam_mean", "exam_std"),
        ("exam (mean)", "exam (SD)"),
        ("MAP", "MAP stdev"),
        ("MAP", "MAP SD"),
        ("acc", "acc-sd"),
    ],
)
@pytest.mark.parametrize("is_behind", [True, False])
def test_import_columns_of_deviations(value, deviation, is_behind):
    """They are read as `0.82 ± 0.05` is, wherever the column stands."""
    columns = [(value, ".5", ".6"), (deviation, ".01", "–"), ("runs", "3", "3")]
    columns = columns if is_behind else columns[::-1]
    lines = ["M,sign", "A,+/-", "B,+/-"]
    for row, line in enumerate(lines):
        lines[row] = ",".join([line, *(column[row] for column in columns)])
    values = imported("a.csv", "\n".join(lines))
    assert values["A", value] == values["B", value].replace("6", "5") == ".5"
    assert (values["A", f"{value} ±"], values["B", f"{value} ±"]) == (".01", "–")
    assert ("A", "runs") in values and len(values) == 6
    assert f"Read as deviations (±): {deviation} of {value}." in notes("a.csv")


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_import_columns_of_deviations_and_means(order):
    """A deviation is that of the mean, not of another value."""
    columns = [("acc", ".1"), ("acc_mean", ".2"), ("acc_std", ".3")]
    lines = zip(("M", "x"), *(columns[index] for index in order), strict=True)
    values = imported("a.csv", "\n".join(map(",".join, lines)))
    assert values == {("x", "acc"): ".1", ("x", "acc_mean"): ".2", ("x", "acc_mean ±"): ".3"}


def test_import_columns_of_deviations_by_collection():
    text = "<table><tr><th><th colspan=2>A<th colspan=2>B<tr><th>M"
    text += "<th>MAP<th>MAP std" * 2 + "<tr><td>x<td>.1<td>.2<td>.3<td>.4</table>"
    assert imported("a.html", text) == {
        ("x", "A", "MAP"): ".1",
        ("x", "A", "MAP ±"): ".2",
        ("x", "B", "MAP"): ".3",
        ("x", "B", "MAP ±"): ".4",
    }


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 1, 3), (1, 0, 3, 2), (2, 3, 0, 1)])
def test_import_columns_of_deviations_below_one_collection(order):
    """A collection that stands once is that of all its measures, wherever deviations stand."""
    columns = [("MAP", ".1"), ("MAP_std", ".2"), ("bias", ".3"), ("bias_std", ".4")]
    names, cells = zip(*(columns[index] for index in order), strict=True)
    lines = ["M,A,,,,B,,,", ",".join(["", *names, *names]), ",".join(["x", *cells, *cells])]
    assert imported("a.csv", "\n".join(lines)) == {
        ("x", collection, name): value
        for collection in "AB"
        for name, value in zip(
            ("MAP", "MAP ±", "bias", "bias ±"), dict(columns).values(), strict=True
        )
    }


@pytest.mark.parametrize(
    ("headings", "cells"),
    [
        # Without a column of values, and with deviations in the same cell.
        (("MAP", "P@5_std"), (".1", ".2")),
        (("MAP", "std"), (".1", ".2")),
        (("MAP", "_std"), (".1", ".2")),
        (("MAP", "±"), (".1", ".2")),
        (("MAP", "MAP_std"), (".1 ± .3", ".2")),
        # Names of systems, with self-distillation or speculative decoding.
        *((("DPR", name), (".1", ".2")) for name in ("DPR-SD", "DPR SD", "DPR-sd")),
    ],
)
def test_import_columns_without_deviations(headings, cells):
    values = imported("a.md", f"|M|{'|'.join(headings)}|\n|-|-|-|\n|x|{'|'.join(cells)}|\n")
    assert values["x", headings[1]] == ".2"


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1)])
def test_import_deviations_of_deviations(order):
    """Only one of two columns is the deviation of another."""
    columns = [("acc", ".1"), ("acc_std", ".2"), ("acc_std_std", ".3")]
    lines = zip(("M", "x"), *(columns[index] for index in order), strict=True)
    values = imported("a.csv", "\n".join(map(",".join, lines)))
    assert sorted(values.values()) == [".1", ".2", ".3"] and values["x", "acc"] == ".1"


@pytest.mark.parametrize("text", ["a ", "P@5 ", "on – ", "(sd) "])
@pytest.mark.parametrize("number", [100, 20_000])
def test_import_long_heading(text, number):
    """A heading as long as a page has no measure, which takes no time to see."""
    assert ("x", (text * number).strip()) in imported("a.csv", f"M,{text * number},z\nx,.1,.2\n")
