"""`everycell init --values --rename`: names that the user maps to published ones."""

import json
import shlex
from itertools import product
from pathlib import Path

import pandas as pd
import pytest
import yaml
from command_line import call, refused

TABLE = "algorithm,reranked,metric,value\n" + "".join(
    f"{name},{mark},F1-Score,0.{number}\n"
    for number, (name, mark) in enumerate(product(("BM25", "DPR"), ("–", "✓")), 11)
)
#: Own name -> published name of everything in a file.
NAMES = {
    "Algorithm Name": "algorithm", "LLM": "reranked", "FSCORE": "F1-Score", "True": "✓",
    "False": "–", "lexical": "BM25", "two-tower=v1": "DPR",
}  # fmt: skip
RENAMES = [f"{own}={name}" for own, name in NAMES.items()]
ROWS = [*product(("lexical", "two-tower=v1"), (False, True))]
#: Name of a file -> values of the published cells under other names.
FORMS = {
    "tidy.csv": "Algorithm Name,LLM,metric,value\n"
    + "".join(f"{a},{b},FSCORE,0.{n}\n" for n, (a, b) in enumerate(ROWS, 11)),
    "wide.csv": "Algorithm Name,LLM,FSCORE\n"
    + "".join(f"{a},{b},0.{n}\n" for n, (a, b) in enumerate(ROWS, 11)),
    "score.csv": "Algorithm Name;LLM;Measure;Score;n\n"
    + "".join(f"{a};{b};FSCORE;0,{n};{n}\n" for n, (a, b) in enumerate(ROWS, 11)),
    "rows.json": json.dumps(
        [{"Algorithm Name": a, "LLM": b, "FSCORE": n / 100} for n, (a, b) in enumerate(ROWS, 11)]
    ),
    "table.md": "|Algorithm Name|LLM|FSCORE|\n|-|-|-|\n"
    + "".join(f"|{a}|{b}|0.{n}|\n" for n, (a, b) in enumerate(ROWS, 11)),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    (tmp_path / "table.csv").write_text(TABLE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def init(*options: str) -> tuple[dict[tuple[str, ...], float], str]:
    """Reproduced values of a new repository by key, and what the command says."""
    code, out, err = call("init", "--table", "table.csv", "--values", *options, "smith2026")
    assert (code, err) == (0, "")
    frame = pd.read_csv("smith2026/data/smith2026-data/values.csv", dtype=str)
    return {tuple(row[:-1]): float(row[-1]) for row in frame.to_numpy().tolist()}, out


@pytest.mark.parametrize("form", FORMS)
def test_init_rename(form):
    """Columns, systems, settings and measures; other columns are read as without renames."""
    Path(form).write_text(FORMS[form])
    values, out = init(form, "--rename", *RENAMES)
    published = pd.read_csv("table.csv", dtype=str).to_numpy().tolist()
    assert values == {tuple(row[:-1]): float(row[-1]) for row in published}
    assert "FSCORE to F1-Score (4 values)" in out and "Not run" not in out
    registry = yaml.safe_load(Path("smith2026/published/smith2026/registry.yaml").read_text())
    [entry] = registry["files"].values()
    assert "; renamed two-tower=v1 to DPR (2 values)" in entry["note"]


def test_init_values_changes():
    """The registry states all that was changed in the values, in the words of the command."""
    Path("table.csv").write_text("system,metric,value,unit\nBM25,acc,71.0,%\nDPR,acc,82.0,%\n")
    Path("a.csv").write_text("model,split,acc\nbm25,test,0.71\nDPR,test,0.82\nT5,test,0.9\n")
    _, out = init("a.csv")
    registry = yaml.safe_load(Path("smith2026/published/smith2026/registry.yaml").read_text())
    [entry] = registry["files"].values()
    for change in ("acc: multiplied by 100", "Left out: 1 value of T5", "Read: bm25 as BM25"):
        assert change in out and f"; {change}" in entry["note"]


def test_init_rename_and_key():
    """The key may follow the option, and the option may be repeated."""
    Path("a.csv").write_text(FORMS["tidy.csv"])
    options = [part for text in RENAMES for part in ("--rename", text)]
    assert call("init", "--table", "table.csv", "--values", "a.csv", *options, "smith2026")[0] == 0


@pytest.mark.parametrize("form", FORMS)
def test_init_rename_missing(form):
    """Without one of the renames, an error suggests the option; no cell gets a wrong value."""
    Path(form).write_text(FORMS[form])
    for number, own in enumerate(NAMES):
        renames = [*RENAMES[:number], *RENAMES[number + 1 :]]
        options = ("init", "--table", "table.csv", "--values", form, "--rename", *renames)
        if own == "Algorithm Name":
            # Its column is recognised by its names.
            assert call(*options, "smith2026")[0] == 0
            continue
        message = refused(*options, "smith2026")
        assert "--rename" in message and form in message


@pytest.mark.parametrize(
    ("rename", "words"),
    [
        ("FSCOR=F1-Score", ["'FSCOR'", "FSCORE"]),
        ("FSCORE=F1-score", ["'F1-score'", "F1-Score", "table.csv"]),
        ("F1-Score=FSCORE", ["write --rename FSCORE=F1-Score"]),
        ("FSCORE=BM25", ["BM25", "algorithm"]),
        ("lexical=algorithm", ["lexical", "algorithm"]),
        ("FSCORE", ["NAME=PUBLISHED"]),
        ("two-tower=DPR", ["two-tower", "two-tower=v1"]),
    ],
)
def test_init_rename_unknown(rename, words):
    Path("a.csv").write_text(FORMS["tidy.csv"])
    message = refused("init", "--table", "table.csv", "--values", "a.csv", "--rename", rename)
    assert all(word in message for word in [*words, "--rename"])


TASKS = "model,task,metric,value\nA,truthfulqa,acc,0.51\nB,truthfulqa,acc,0.42\n"
MC2 = "truthfulqa_mc2=truthfulqa"


def tasks(model: str, **values: float) -> str:
    rows = [f"{model},{task},acc,{value}\n" for task, value in values.items()]
    return "model,task,metric,value\n" + "".join(rows)


def test_init_rename_of_published_name():
    """The renamed values win; others of that name are left out, also in another file."""
    Path("table.csv").write_text(TASKS)
    Path("a.csv").write_text(tasks("A", truthfulqa=0.9, truthfulqa_mc2=0.51))
    Path("b.csv").write_text(tasks("B", truthfulqa=0.8))
    values, out = init("a.csv", "b.csv", "--rename", MC2)
    assert values == {("A", "truthfulqa", "acc"): 0.51}
    assert "Left out: 2 values of truthfulqa" in out and "Not run: B." in out


def test_init_rename_keeps_published_name():
    """A name that is renamed to itself is not left out; then one cell may have two values."""
    Path("table.csv").write_text(TASKS)
    Path("a.csv").write_text(tasks("A", truthfulqa_mc2=0.51))
    Path("b.csv").write_text(tasks("B", truthfulqa=0.8))
    names = (MC2, "truthfulqa=truthfulqa")
    values, out = init("a.csv", "b.csv", "--rename", *names)
    assert values == {("A", "truthfulqa", "acc"): 0.51, ("B", "truthfulqa", "acc"): 0.8}
    assert "Left out" not in out
    Path("a.csv").write_text(tasks("A", truthfulqa=0.9, truthfulqa_mc2=0.51))
    options = ("--table", "table.csv", "--values", "a.csv", "--rename", *names)
    assert "truthfulqa_mc2" in refused("init", *options, "jones2026")


def test_init_rename_two_to_one():
    Path("table.csv").write_text(TASKS)
    Path("a.csv").write_text(tasks("A", mc1=0.9, mc2=0.51))
    options = ("--table", "table.csv", "--values", "a.csv", "--rename")
    message = refused("init", *options, "mc1=truthfulqa", "mc2=truthfulqa")
    assert "(mc1)" in message and "(mc2)" in message
    Path("table.csv").write_text(TASKS + "A,other,acc,0.1\n")
    message = refused("init", *options, "mc1=truthfulqa", "mc1=other")
    assert "truthfulqa" in message and "other" in message


def test_init_rename_exchange():
    Path("table.csv").write_text(TASKS)
    Path("a.csv").write_text(tasks("A", truthfulqa=0.42) + "B,truthfulqa,acc,0.51\n")
    values, _ = init("a.csv", "--rename", "A=B", "B=A")
    assert values == {("B", "truthfulqa", "acc"): 0.42, ("A", "truthfulqa", "acc"): 0.51}


def test_init_rename_before_adaptation():
    """`map` would be read as MAP, but MAP is another measure of the file."""
    Path("table.csv").write_text("model,metric,value\nA,MAP,0.5\n")
    Path("a.csv").write_text("model,metric,value\nA,map,0.1\nA,AP@1000,0.5\n")
    values, out = init("a.csv", "--rename", "AP@1000=MAP")
    assert values == {("A", "MAP"): 0.5} and "Left out: 1 value of map" in out


def test_init_rename_deviation():
    """The deviation of a measure follows it, and that of another one does not take its place."""
    Path("table.csv").write_text("model,metric,value\nA,F,0.5\nA,F ±,0.1\n")
    Path("a.csv").write_text(
        "model,metric,value\nA,F,0.3\nA,F ±,0.3\nA,F macro,0.5\nA,F macro ±,0.1\n"
    )
    values, _ = init("a.csv", "--rename", "F macro=F")
    assert values == {("A", "F"): 0.5, ("A", "F ±"): 0.1}
    Path("b.csv").write_text("model,metric,value\nA,F,0.3\nA,F ±,0.3\nA,F macro,0.5\n")
    options = ("--table", "table.csv", "--values", "b.csv", "--rename", "F macro=F", "jones2026")
    assert "Not run: F ±." in call("init", *options)[1]


def test_init_rename_column():
    """A column that has the published name is left out; the name before a file still counts."""
    Path("table.csv").write_text("model,metric,value\nA,P@1,0.5\nB,P@1,0.4\n")
    Path("a.csv").write_text("model,name,metric,value\nx,A,P@1,0.5\nx,B,P@1,0.4\n")
    values, out = init("a.csv", "--rename", "name=model")
    assert values == {("A", "P@1"): 0.5, ("B", "P@1"): 0.4}
    assert "Left out: the column model of a.csv" in out
    Path("b.csv").write_text("name,metric,value\nA,P@1,0.5\n")
    options = ("--table", "table.csv", "--values", "B=b.csv", "--rename", "name=model")
    assert call("init", *options, "jones2026")[0] == 0
    path = Path("jones2026/data/jones2026-data/values.csv")
    assert path.read_text() == "model,metric,value\nB,P@1,0.5\n"
    Path("c.csv").write_text("run,name,metric,value\nx,A,P@1,0.5\n")
    options = ("--table", "table.csv", "--values", "c.csv", "--rename", "name=model", "run=model")
    message = refused("init", *options)
    assert "run" in message and "name" in message


def test_init_rename_columns_apart():
    """A name is renamed only in the column that has the published name."""
    Path("table.csv").write_text("model,shots,metric,value\n1,one,P@1,0.5\n1,five,P@1,0.4\n")
    Path("a.csv").write_text("model,shots,metric,value\n1,1,P@1,0.5\n1,5,P@1,0.4\n")
    values, _ = init("a.csv", "--rename", "1=one", "5=five")
    assert values == {("1", "one", "P@1"): 0.5, ("1", "five", "P@1"): 0.4}


@pytest.mark.parametrize(
    ("column", "own", "published", "offer"),
    [
        ("model", "SigLIP2", "SigLIP", "PUBLISHED"),
        ("model", "Llama-7B", "Llama-13B", "PUBLISHED"),
        ("model", "Llama 7B hf", "Llama 7B", "Llama 7B"),
        ("metric", "P@10 (mean)", "P@5", "PUBLISHED"),
        ("task", "qa_mc2", "qa", "qa"),
        ("task", "qa_mc2", "qa_mc1", "PUBLISHED"),
    ],
)
def test_init_rename_offer(column, own, published, offer):
    """Another size or version is another model, so that it is not offered."""
    row = {"model": "A", "task": "nq", "metric": "MAP"} | {column: published}
    Path("table.csv").write_text(f"model,task,metric,value\n{','.join(row.values())},0.3\n")
    row[column] = own
    Path("a.csv").write_text(f"model,task,metric,value\n{','.join(row.values())},0.3\n")
    message = refused("init", "--table", "table.csv", "--values", "a.csv", "smith2026")
    assert f"--rename {shlex.quote(f'{own}={offer}')}" in message
