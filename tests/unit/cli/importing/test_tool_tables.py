"""`everycell import`: results as tools print them, and a measure in the corner of a table."""

from pathlib import Path

import pandas as pd
import pytest
from command_line import call, refused

TREC_EVAL = """\
runid                 \tall\tbm25 tuned
num_q                 \tall\t2
map                   \tall\t0.2087
ndcg_cut_20           \tall\t0.3877
"""
#: As versions 0.3 and 0.4 of lm-evaluation-harness print it.
OLD_HARNESS = """\
|    Task     |Version| Metric |Value|   |Stderr|
|-------------|------:|--------|----:|---|-----:|
|arc_challenge|      0|acc     |23.62|±  |  2.67|
|             |       |acc_norm|22.83|±  |  2.64|
|boolq        |      1|acc     |80.11|±  |  1.80|
"""
HARNESS = """\
|    Tasks    |Version|     Filter     |n-shot|  Metric   |   |Value |   |Stderr|
|-------------|------:|----------------|-----:|-----------|---|-----:|---|------|
|arc_challenge|      1|none            |     0|acc        |↑  |0.2362|±  |0.0267|
|             |       |none            |     0|acc_norm   |↑  |0.2283|±  |0.0264|
|wikitext     |      2|none            |     0|perplexity |↓  |12.5  |±  |   N/A|
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def imported(name: str, text: str) -> tuple[list[str], list[list[str]], str]:
    Path(name).write_text(text, encoding="utf-8")
    code, out, err = call("import", name, "out.csv")
    assert (code, err) == (0, "")
    cells = pd.read_csv("out.csv", dtype=str, keep_default_na=False)
    return list(cells), cells.to_numpy().tolist(), out


def test_import_trec_eval():
    """The first line is a value, not a heading; values per topic are left out."""
    header, rows, _ = imported("a.txt", TREC_EVAL + "map\t301\t0.4\n")
    assert header == ["system", "metric", "value"]
    assert rows[1:] == [["bm25 tuned", "map", "0.2087"], ["bm25 tuned", "ndcg_cut_20", "0.3877"]]


@pytest.mark.parametrize(
    ("name", "system"),
    [("bm25.eval", "bm25"), ("bm25.rm3.run.trec_eval", "bm25.rm3"), ("b=0.4.txt", "b=0.4")],
)
def test_import_trec_eval_without_tag(name, system):
    _, rows, _ = imported(name, "map all 0.2\nP_30 all 0.4\n")
    assert rows == [[system, "map", "0.2"], [system, "P_30", "0.4"]]


def test_import_trec_eval_per_topic():
    Path("a.eval").write_text("map\t301\t0.4\nmap\t302\t0.2\n")
    assert "a.eval" in refused("import", "a.eval")


@pytest.mark.parametrize(
    ("text", "task", "values"),
    [
        (
            OLD_HARNESS,
            "arc_challenge",
            {"acc": "23.62", "acc ±": "2.67", "acc_norm": "22.83", "acc_norm ±": "2.64"},
        ),
        (HARNESS, "wikitext", {"perplexity": "12.5"}),
        (
            HARNESS,
            "arc_challenge",
            {"acc": "0.2362", "acc ±": "0.0267", "acc_norm": "0.2283", "acc_norm ±": "0.0264"},
        ),
    ],
)
def test_import_harness_markdown(text, task, values):
    """Versions and numbers of shots are no values; a column of ± joins value and deviation."""
    header, rows, out = imported("a.md", text)
    assert header == ["collection", "metric", "value"] and "Version" in out.split("Not imported")[1]
    assert {metric: value for name, metric, value in rows if name == task} == values


@pytest.mark.parametrize(
    ("corner", "row", "header"),
    [
        ("MAP", "TREC 2018 Common Core Track Topics", ["collection", "system", "metric", "value"]),
        ("nDCG@10", "Robust04", ["collection", "system", "metric", "value"]),
        ("MAP", "tuned", ["system", "collection", "metric", "value"]),
    ],
)
def test_import_measure_in_corner(corner, row, header):
    text = f"|{corner}|BM25|BM25+RM3|\n|-|-|-|\n|{row}|.25|.31|\n"
    columns, rows, _ = imported("a.md", text)
    assert columns == header and rows[1] == [row, "BM25+RM3", corner, ".31"]


def test_import_corner_is_no_measure_of_columns():
    """With measures as headings, a corner such as MAP names only the rows."""
    columns, _, _ = imported("a.md", "|MAP|P@5|P@10|\n|-|-|-|\n|a|.25|.31|\n")
    assert columns == ["map", "metric", "value"]


def two_levels(names: list[str | None]) -> pd.DataFrame:
    """Two systems, two collections and two measures, as pandas has them."""
    columns = pd.MultiIndex.from_product([["DL31", "DL32"], ["nDCG@10", "MAP"]], names=names[1:])
    index = pd.Index(["BM25", "ANCE"], name=names[0])
    return pd.DataFrame([[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8]], index=index, columns=columns)


@pytest.mark.parametrize("names", [["model", "collection", "metric"], ["model", None, None]])
@pytest.mark.parametrize("form", ["csv", "html", "stacked"])
def test_import_pandas_levels(names, form):
    """Levels of columns are rows of the heading, below which the names of rows are written."""
    frame = two_levels(names)
    if form == "stacked":
        frame = frame.stack(0, future_stack=True)
        frame.index.names = ["model", "collection"]
        frame, form = frame.reset_index(), "html"
    header, rows, _ = imported(f"a.{form}", getattr(frame, f"to_{form}")())
    assert header == ["model", "collection", "metric", "value"]
    assert len(rows) == 8 and ["ANCE", "DL32", "MAP", "0.8"] in rows


def test_import_pandas_statistics():
    """Means and deviations are no collections."""
    frame = two_levels(["model", "collection", "metric"]).stack(0, future_stack=True)
    text = frame.groupby("model").agg(["mean", "std"]).swaplevel(axis="columns").to_csv()
    header, rows, _ = imported("a.csv", text)
    assert header == ["model", "statistic", "metric", "value"] and len(rows) == 8


def test_import_pandas_row_numbers():
    """Numbers of rows beside a row per value are no names."""
    frame = two_levels(["model", "collection", "metric"]).stack([0, 1], future_stack=True)
    header, rows, _ = imported("a.html", frame.rename("value").reset_index().to_html())
    assert header == ["model", "collection", "metric", "value"] and len(rows) == 8


@pytest.mark.parametrize(
    ("text", "header", "row"),
    [
        ("system,metric,value\nA,MAP,.5\nA,P@5,.4\n", "system,metric", "A,MAP,.5"),
        ("Value\tMetric\tRun\n.5\tMAP\tA\n.4\tP@5\tA\n", "metric,run", "MAP,A,.5"),
        ("Model;Measure;Score\nA;MAP;0,5\nB;MAP;0,25\n", "model,metric", "A,MAP,0.5"),
        ("metric,value\nMAP,.5\nP@5,.4\n", "metric", "MAP,.5"),
        (",Task,Metric,Result\n0,NQ,MAP,.5\n1,NQ,P@5,.5\n", "collection,metric", "NQ,MAP,.5"),
        # Numbers are names only if rows repeat without them.
        ("system,seed,metric,value\nA,1,MAP,.5\nA,2,MAP,.4\n", "system,seed,metric", "A,1,MAP,.5"),
        ("run,k,metric,value,std\nA,1,MAP,.5,.1\nB,1,MAP,.4,.1\n", "run,metric", "A,MAP,.5"),
        ("metric,value,prompt\nMAP,.5,few\nMAP,.4,zero\n", "metric,prompt", "MAP,few,.5"),
        ("system,metric,value,unit\nA,MAP,NaN,%\nB,MAP,.5,%\n", "system,metric", "A,MAP,–"),
    ],
)  # fmt: skip
def test_import_row_per_value(text, header, row):
    columns, rows, _ = imported("a.csv", text)
    assert columns == [*header.split(","), "value"] and rows[0] == row.split(",")
    assert len(rows) == 2


@pytest.mark.parametrize(
    ("text", "header", "count"),
    [
        ("Metric,Score,Baseline\nMAP,.5,.4\nP@5,.3,.2\n", "metric,system", 4),
        ("Metric,System A,Result\nMAP,.5,.4\nP@5,.3,.2\n", "metric,system", 4),
        ("Metric;Baseline;Score\nMAP;0,5;0,45\nP@5;0,3;0,2\n", "metric,system", 4),
        # Deviations, whole numbers and repeated names tell a row per value.
        ("Metric,Score,std\nMAP,.5,.1\nP@5,.3,.2\n", "metric", 2),
        ("Metric,Score,Topics\nMAP,.5,1\nP@5,.3,\"1,250\"\n", "metric", 2),
        ("Task,Metric,Score,Hours\nNQ,MAP,.5,1.5\nNQ,P@5,.3,2.5\n", "collection,metric", 2),
    ],
)  # fmt: skip
def test_import_scores_beside_values(text, header, count):
    """`Score` is the only column of values unless another one may be; no value is a setting."""
    columns, rows, out = imported("a.csv", text)
    assert columns == [*header.split(","), "value"] and len(rows) == count
    assert ("Not imported, beside" in out) is (count == 2)


def test_import_groups_below_levels_in_csv():
    """A group below two rows of headings is no name of rows."""
    text = ",DL31,DL31\nModel,MAP,P@5\nSparse,,\nBM25,.1,.2\nDense,,\nE5,.3,.4\n"
    assert len(imported("a.csv", text)[1]) == 4


def test_import_frame_of_harness():
    frame = pd.DataFrame(
        {"arc_easy": {"alias": "x", "acc": 0.7}, "boolq": {"alias": "y", "acc": 1}}
    )
    header, rows, _ = imported("a.html", frame.to_html())
    assert header == ["metric", "collection", "value"] and rows[0] == ["acc", "arc_easy", "0.7"]
