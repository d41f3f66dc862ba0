"""`everycell import`: which rows and headings become systems, collections and measures."""

from pathlib import Path

import pytest
from unit.cli.importing.examples import imported


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
