"""`everycell import`: JSON as scripts write it, and results of MTEB."""

import json
from pathlib import Path

import pandas as pd
import pytest
from command_line import call, refused

#: Models with values, and entries beside them.
MODELS = {
    "bert": {"accuracy": 0.9, "f1_macro": 0.7, "short_name": "BERT", "confusion": [[1, 2]]},
    "org/hate": {"accuracy": 0.8, "f1_macro": 0.6, "short_name": "HateBERT", "ok": True},
}
TASKS = {"nq": {"bm25": {"ndcg@10": 0.3}, "e5": {"ndcg@10": 0.4}}}
RECORDS = [
    {"rank": 1, "Model": "A", "Test Set": "en", "F1": 0.5, "ci": [0.4, 0.6], "lr": None},
    {"rank": 2, "Model": "A", "Test Set": "hr", "F1": 0.25, "per": {"x": 1.0}, "lr": None},
    {"rank": 1, "Model": "B", "Test Set": "hr", "F1": 0.75, "lr": None},
]
MTEB = {
    "task_name": "Belebele",
    "mteb_version": "1.36",
    "evaluation_time": 75.5,
    "scores": {
        "test": [
            {"hf_subset": "hin-eng", "languages": ["hin-Deva"], "main_score": 0.048, "map": 0.1},
            {"hf_subset": "eng-hin", "languages": ["eng-Latn"], "main_score": 0.044, "map": 0.2},
        ]
    },
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def imported(text: str, *options: str) -> tuple[list[str], dict[tuple[str, ...], str], str]:
    Path("a.json").write_text(text, encoding="utf-8")
    code, out, err = call("import", "a.json", "out.csv", "--force", *options)
    assert (code, err) == (0, "")
    cells = pd.read_csv("out.csv", dtype=str, keep_default_na=False)
    cells = cells.drop(columns=["unit", "marker"], errors="ignore")
    *names, _ = cells
    return names, {tuple(key): text for *key, text in cells.to_numpy().tolist()}, out


def test_import_json_models():
    names, values, out = imported(json.dumps(MODELS | {"seed": 42, "host": "a"}))
    assert names == ["system", "metric"] and len(values) == 4
    assert values["org/hate", "f1_macro"] == "0.6"
    assert "short_name, confusion, ok, host, seed (6 values)" in out


@pytest.mark.parametrize(
    ("content", "names", "key"),
    [
        (TASKS | {"hotpotqa": TASKS["nq"]}, ["collection", "system"], ("nq", "e5")),
        ({"m": {"nq": {"RR": 0.4}, "fiqa": {"RR": 0.5}}}, ["system", "collection"], ("m", "nq")),
        ({"a": {"x": {"RR": 0.4}}, "b": {"x": {"RR": 1}}}, ["level_1", "level_2"], ("a", "x")),
        ({"bm25": {"2019": {"RR": 0.4}, "2020": {"RR": 1}}}, ["level_1", "level_2"],
         ("bm25", "2019")),
        ({"models": {"a": {"RR": 0.4}, "b": {"RR": 1}}, "n": 5}, ["system"], ("a",)),
        ({"results": {"a": {"metrics": {"RR": 0.4}}, "b": {"metrics": {"RR": 1}}}}, ["system"],
         ("a",)),
        ({"n": "x", "results": [{"model": "a", "RR": 0.4}, {"model": "b", "RR": 1}]}, ["model"],
         ("a",)),
        ({"datasets": {"x": {"RR": "0.4"}, "y": {"RR": "1"}}}, ["collection"], ("x",)),
        ({"a": {"RR": {"mean": 0.4, "std": 0.01}}, "b": {"RR": {"mean": 1}}}, ["system"], ("a",)),
        ({"model": {"0": "a", "1": "b"}, "RR": {"0": 0.4, "1": 0.5}}, ["model"], ("a",)),
    ],
)  # fmt: skip
def test_import_json_nested(content, names, key):
    """Names above values are keys; which are systems is said only if it is known."""
    header, values, _ = imported(json.dumps(content))
    assert header == [*names, "metric"]
    assert values[*key, next(iter(values))[-1]] == "0.4"


@pytest.mark.parametrize("is_lines", [False, True])
def test_import_json_records(is_lines):
    lines = "\n".join(map(json.dumps, RECORDS)) + "\n"
    names, values, out = imported(lines if is_lines else json.dumps(RECORDS))
    assert names == ["model", "collection", "metric"] and len(values) == 6
    assert values["A", "hr", "F1"] == "0.25" and values["A", "hr", "rank"] == "2"
    assert "ci, per (2 values)" in out and "since they are empty: lr." in out


@pytest.mark.parametrize("missing", [{}, {"model": None}, {"model": " "}, {"model": [1]}])
@pytest.mark.parametrize("first", ["A", "BERT"])
def test_import_json_missing_name(missing, first):
    """A name that a record lacks is not that of the record above."""
    records = [
        {"model": first, "prompt": "few", "acc": 0.1},
        {**missing, "prompt": "zero", "acc": 0.2},
        {"model": "GPT", "prompt": "few", "acc": 0.3},
        {"config": {"k": 1}},
    ]
    names, values, out = imported(json.dumps(records))
    assert names == ["model", "prompt", "metric"] and 'do not mean "as above": model' in out
    assert values["–", "zero", "acc"] == "0.2" and len(values) == 3


@pytest.mark.parametrize(
    ("value", "cells"),
    [
        ({"mean": 0.8234567890123456, "std": 0.01234567890123456},
         {"": "0.8234567890123456", " ±": "0.01234567890123456"}),
        ({"mean": 0.5, "std": 1e-05}, {"": "0.5", " ±": "1e-05"}),
        ("0.5 ± .1%", {"": "0.5", " ±": ".1"}),
        ("0.03*", {"": "0.03"}),
    ],
)  # fmt: skip
def test_import_json_number_as_text(value, cells):
    """Digits, exponents and signs of significance decide nothing."""
    _, values, _ = imported(json.dumps({"a": {"RR": value}, "b": {"RR": 0.1}}))
    assert values == {("a", f"RR{role}"): text for role, text in cells.items()} | {
        ("b", "RR"): "0.1"
    }


@pytest.mark.parametrize("other", [True, [0.1], {"x": 0.1}])
def test_import_json_cell_without_number(other):
    """Only the cell that has no number is left out, and the line counts it."""
    records = [{"seed": 1, "p": "0.03*"}, {"seed": 2, "p": "0.04"}, {"seed": 3, "p": other}]
    names, values, out = imported(json.dumps(records))
    assert (
        values == {("1", "p"): "0.03", ("2", "p"): "0.04"} and "true or false: p (1 value)" in out
    )


@pytest.mark.parametrize(
    "content",
    [
        [{"m": "a", "RR": 0.1, "_step": 5, "_f1": 0.3}, {"m": "b", "RR": 0.2}],
        {"_step": 5, "_f1": 0.3, "a": {"RR": 0.1}, "b": {"RR": 0.2}},
        {"a": {"RR": 0.1, "_timestamp": 1.5}, "b": {"RR": 0.2, "_f1": 0.3}},
        [{"m": "a", "metrics": {"RR": 0.1, "_f1": 0.3}}, {"m": "b", "metrics": {"RR": 0.2}}],
    ],
)
def test_import_json_internal_names(content):
    """Fields of scripts that are left out are named, unlike those of Weights & Biases."""
    _, values, out = imported(json.dumps(content))
    assert len(values) == 2 and "begin with _: _f1 (1 value)." in out


@pytest.mark.parametrize(
    ("beside", "names"),
    [
        ({"config": {"k": 10}}, ["system", "metric"]),
        ({"model_name": "x", "config": {"model": "x"}}, ["system", "metric"]),
        ({"versions": {"bm25": 1}}, ["system", "collection", "metric"]),
        ({"n-shot": {"bm25": 0}}, ["system", "collection", "metric"]),
    ],
)
def test_import_json_results_of_a_script(beside, names):
    """`results` and `config` do not make it a file of lm-evaluation-harness."""
    results = {"bm25": {"RR": 0.1}, "e5": {"RR": 0.2}}
    header, values, _ = imported(json.dumps({"results": results, **beside}))
    assert header == names and [*values.values()] == ["0.1", "0.2"]


NESTED = [
    {"model": "a", "metrics": {"acc": 0.25, "_step": 9}, "config": {"lr": 0.1}},
    {"model": "b", "metrics": {"acc": 0.5, "_step": 9}, "config": {"lr": 0.2}},
]


@pytest.mark.parametrize("name", ["metrics", "scores", "results", "eval"])
@pytest.mark.parametrize("position", ["list", "lines", "results", "config"])
def test_import_json_records_with_inner_measures(name, position):
    """Measures in an object of each record have its names, below a key of the file too."""
    records = [{name if key == "metrics" else key: row[key] for key in row} for row in NESTED]
    text = {
        "list": json.dumps(records),
        "lines": "\n".join(map(json.dumps, records)),
        "results": json.dumps({"results": records, "seed": 7}),
        "config": json.dumps({"config": {"lr": {"x": 0.1, "y": 2}}, "results": records}),
    }[position]
    names, values, out = imported(text)
    assert names == ["model", "metric"] and "config" in out
    assert values == {("a", "acc"): "0.25", ("b", "acc"): "0.5"}


@pytest.mark.parametrize(
    ("inner", "metrics"),
    [
        ({"dev": {"acc": 0.1}, "test": {"acc": 0.2}}, ["dev acc", "test acc"]),
        ({"metrics": {"acc": 0.1}, "time": {"s": 2}}, ["acc", "time s"]),
        ({"acc": 0.1, "metrics": {"acc": 0.2}}, ["acc", "metrics acc"]),
        ({"metrics": {"acc": {"mean": 0.1, "std": 0.2}}}, ["acc", "acc ±"]),
        ({"acc": {"mean": 0.1, "max": 0.2}}, ["acc mean", "acc max"]),
    ],
)
def test_import_json_names_of_inner_measures(inner, metrics):
    """Two measures never share a name."""
    _, values, _ = imported(json.dumps([{"model": "a", **inner}, {"model": "b", **inner}]))
    assert [key[1] for key in values if key[0] == "a"] == metrics
    assert [value for key, value in values.items() if key[0] == "b"] == [
        str(value) for value in (0.1, 2 if "time s" in metrics else 0.2)
    ]


@pytest.mark.parametrize("beside", ["significance_vs_baseline", "timing"])
@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("results", [NESTED, {row["model"]: row["metrics"] for row in NESTED}])
def test_import_json_several_blocks(beside, is_first, results):
    """If several blocks may be the table, none is read; they are listed, `results` first."""
    blocks = {beside: {"a": {"p": 0.04}, "b": {"p": 0.03}}}
    blocks = {**blocks, "results": results} if is_first else {"results": results, **blocks}
    text = json.dumps(blocks)
    Path("a.json").write_text(text)
    code, out, err = call("import", "a.json")
    assert (code, out) == (2, "") and "a.json has 2 tables" in err
    first, second, _ = err.splitlines()
    assert first.startswith("1: ") and "results: " in first
    assert second.startswith("2: ") and f"{beside}: " in second
    assert [*imported(text, "--number", "1")[1].values()] == ["0.25", "0.5"]
    assert imported(text, "--number", "2")[1] == {("a", "p"): "0.04", ("b", "p"): "0.03"}


def test_import_json_mteb():
    names, values, out = imported(json.dumps(MTEB))
    assert names == ["collection", "split", "subset", "metric"]
    assert values["Belebele", "test", "hin-eng", "main_score"] == "0.048" and len(values) == 2
    assert "beside main_score: map" in out


def test_import_json_depths():
    """Values at two depths are two tables, of which the user chooses one."""
    text = json.dumps({name: row | {"class": {"a": {"f1": 0.5}}} for name, row in MODELS.items()})
    Path("a.json").write_text(text)
    code, out, err = call("import", "a.json")
    assert code == 2 and not out and "a.json has 2 tables" in err
    assert imported(text, "--number", "1")[1]["bert", "accuracy"] == "0.9"
    assert imported(text, "--number", "2")[1]["bert", "class", "a", "f1"] == "0.5"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (json.dumps(RECORDS[0]) + "\n{", "line 2 is not JSON"),
        ("{}\n[] []", "line 2 is not JSON"),
        ('{"a":\n1}\n{"a": 1}', "is not JSON (line 3"),
        ('[{"a": 0.1}, {"a": 0.2}]', "without a name"),
        ('[{"m": "a", "x": 1}, {"x": 2.5}]', "has no name"),
        ('{"a":' * 12 + "1" + "}" * 12, "objects in each other"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "nested too deeply"),
        ('{"m": {"a": [1, 2]}}', "a list of objects"),
        ('[{"m": "a", "x": 1}, {"m": "a", "x": 2.5}]', "the same name"),
    ],
    ids=range(9),
)
def test_import_json_unread(text, message):
    Path("a.json").write_text(text)
    sentence = refused("import", "a.json", "out.csv")
    assert "a.json" in sentence and message in sentence and "Extra data" not in sentence


def test_init_json_of_models():
    """Reproduced values may be such a file; the keys match whatever the columns are called."""
    imported(json.dumps({"results": MODELS}))
    Path("values.json").write_text(json.dumps(MODELS))
    code, out, err = call("init", "smith2026", "--table", "out.csv", "--values", "values.json")
    assert (code, err) == (0, "") and "imported 4 values" in out
