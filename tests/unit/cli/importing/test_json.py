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
    *names, value = cells
    return names, {tuple(key): text for *key, text in cells.to_numpy().tolist()}, out


def test_import_json_models():
    names, values, out = imported(json.dumps(MODELS | {"seed": 42, "host": "a"}))
    assert names == ["system", "metric"] and len(values) == 4
    assert values["org/hate", "f1_macro"] == "0.6"
    assert "short_name, confusion, ok, host, seed (6 entries)" in out


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
    assert "ci, per (2 entries)" in out and "since they are empty: lr (1 entry)" in out


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
        ('{"a":' * 12 + "1" + "}" * 12, "objects in each other"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "nested too deeply"),
        ('{"m": {"a": [1, 2]}}', "a list of objects"),
        ('[{"m": "a", "x": 1}, {"m": "a", "x": 2.5}]', "the same name"),
    ],
    ids=range(8),
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
