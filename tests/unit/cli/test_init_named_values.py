"""`everycell init --values`: results of one system per file, and names that tools write."""

import itertools
import json
from pathlib import Path

import pandas as pd
import pytest
import yaml
from command_line import call, refused

from everycell.base.files import sha256
from everycell.cli.originals import remove_originals
from everycell.records.papers import load_papers
from everycell.sources.fetch import OWN_FILE_NOTE, changed_data
from everycell.verdicts.record_checks import check_records

TABLE = "model,metric,value\nOurs (7B),acc,70.0\nOurs (7B),F1,61.0\nbase,acc,80.0\nbase,F1,71.0\n"


def harness(model: str | dict, task: str, acc: float, f1: float) -> str:
    """Results as version 0.4 of lm-evaluation-harness writes them."""
    results = {"alias": task, "acc,none": acc, "acc_stderr,none": 0.01, "f1,none": f1}
    return json.dumps({
        "results": {task: results | {"f1_stderr,none": "N/A"}},
        "config": {"model": "hf", "model_args": model, "batch_size": "8"},
        "versions": {task: 1.0}, "n-shot": {task: 5},
    }, indent=2)  # fmt: skip


def helm(acc: float, f1: float) -> str:
    heading = [{"value": "Model", "metadata": {}}, {"value": "acc"}, {"value": "F1"}]
    row = [{"value": "org/m"}, {"value": acc, "description": "n=3"}, {"value": f1}]
    return json.dumps({"title": "Accuracy", "header": heading, "rows": [row]})


def ranx(acc: float, f1: float) -> str:
    scores = {"scores": {"acc": acc, "f1": f1}, "comparisons": {}}
    report = {"stat_test": "fisher", "metrics": ["acc", "f1"], "model_names": ["run"]}
    return json.dumps(report | {"run": scores})


#: Name of a file -> text with the results of one system, given its two values.
FORMS = {
    "harness.json": lambda a, f: harness("pretrained=org/m,dtype=float16", "t-1.1-0.3", a, f),
    "helm.json": helm,
    "mlflow_ui.csv": lambda a, f: "Start Time,Duration,Run ID,Name,Source Type,Status,lr,acc,F1\n"
    f"2023-01-01 10:00:00,1.1min,0a,bold-fox-1,LOCAL,FINISHED,1e-05,{a},{f}\n",
    "mlflow.json": lambda a, f: json.dumps({
        "info": {"run_id": "0a", "run_name": "bold-fox-1", "status": "FINISHED"},
        "data": {"metrics": {"acc": a, "F1": f}, "params": {"lr": "1e-05"}, "tags": {}},
        "inputs": {},
    }),
    "wandb.csv": lambda a, f: '"Name","State","Created","Runtime","Sweep","acc","F1"\n'
    f'"fox","finished","2023-05-02T08:56:22.000Z","345","","{a}","{f}"\n',
    "wandb-summary.json": lambda a, f: json.dumps(
        {"_timestamp": 1.68e9, "_wandb": {"runtime": 9}, "acc": a, "F1": f, "_step": 12}
    ),
    "ranx.json": ranx,
    "ranx_evaluate.json": lambda a, f: json.dumps({"acc": a, "f1": f}),
    "row.json": lambda a, f: json.dumps([{"acc": a, "model": "m", "seed": "a", "F1": f}]),
    "numbers.csv": lambda a, f: f"acc,F1\n{a},{f}\n",
    "index.csv": lambda a, f: f",acc,F1\n0,{a},{f}\n",
    "names.csv": lambda a, f: f"run,acc,F1\nm,{a},{f}\n",
    "tidy.csv": lambda a, f: f"run_name,metric,value\nm,acc,{a}\nm,F1,{f}\n",
    "trec.eval": lambda a, f: f"runid\tall\tx\nacc\tall\t{a}\nF1\tall\t{f}\n",
}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    (tmp_path / "table.csv").write_text(TABLE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def init(*values: str) -> tuple[list[list[str]], str]:
    """Reproduced values of a new repository, and what the command says."""
    code, out, err = call("init", "--table", "table.csv", "--values", *values, "smith2026")
    assert (code, err) == (0, "")
    path = "smith2026/data/smith2026-data/values.csv"
    return pd.read_csv(path, dtype=str).to_numpy().tolist(), out


@pytest.mark.parametrize("form", FORMS)
def test_init_values_with_names(form):
    """The given name is the system, whatever the file calls it; another file may have no name."""
    for name, values in (("a", (0.7, 0.61)), ("b", (0.8, 0.71))):
        Path(name).mkdir()
        Path(name, form).write_text(FORMS[form](*values))
    rows, out = init(f"Ours (7B)=a/{form}", f"base=b/{form}")
    assert "Not run" not in out
    assert [(model, metric, float(value)) for model, metric, value in rows] == [
        ("Ours (7B)", "acc", 70), ("Ours (7B)", "F1", 61), ("base", "acc", 80), ("base", "F1", 71),
    ]  # fmt: skip


def test_init_values_name_of_the_only_file():
    Path("a.json").write_text(FORMS["row.json"](0.7, 0.6))
    assert "Not run: Ours (7B)." in init("base=a.json")[1]


#: Systems that two columns name, and a column that is always the same.
TWO_KEYS = "track,model,prompt,metric,value\n" + "".join(
    f"T,{model},{prompt},{metric},0.{number}\n"
    for number, (model, prompt, metric) in enumerate(
        itertools.product(("A", "B+"), ("few", "zero"), ("MAP", "P@1")), 1
    )
)


def test_init_values_names_of_two_columns():
    """A file has the names that it lacks before it; it may have some of them itself."""
    Path("table.csv").write_text(TWO_KEYS)
    Path("a.json").write_text('{"MAP": 0.1, "P@1": 0.2}')
    Path("b.csv").write_text("prompt,metric,value\nfew,MAP,0.5\nzero,MAP,0.7\n")
    rows, out = init("A / few=a.json", "a zero=a.json", "B+=b.csv")
    assert [*map(" ".join, rows)] == [
        *("T A few MAP 0.1", "T A few P@1 0.2", "T A zero MAP 0.1", "T A zero P@1 0.2"),
        *("T B+ few MAP 0.5", "T B+ zero MAP 0.7"),
    ]
    assert "Not run: B+, P@1." in out


@pytest.mark.parametrize(
    ("values", "word"), [("A=a.json", "'A / few=a.json'"), ("C zero=a.json", "as in 'A / few'")]
)
def test_init_values_names_of_two_columns_incomplete(values, word):
    Path("table.csv").write_text(TWO_KEYS)
    Path("a.json").write_text('{"MAP": 0.1, "P@1": 0.2}')
    assert word in refused("init", "--table", "table.csv", "--values", values)


@pytest.mark.parametrize("word", ["NaN", "nan", "None", "–", "OOM"])
def test_init_values_missing(word):
    """A published dash has no number, and a cell without a reproduced number is not run."""
    Path("table.csv").write_text(TABLE + f"no,acc,{word}\nno,F1,0.1\n")
    Path("a.csv").write_text(TABLE.replace("70.0", word).replace("61.0", "61.00"))
    rows, out = init("a.csv")
    assert [value for *_, value in rows] == ["61.00", "80.0", "71.0"]
    assert "Not run: Ours (7B), acc." in out
    assert check_records(load_papers(Path("smith2026/published"))) == []
    published = pd.read_csv("smith2026/published/smith2026/table_1.csv", dtype=str)
    assert published["value"].tolist()[4] == ("OOM" if word == "OOM" else "–")


@pytest.mark.parametrize(
    "text",
    [
        ",model,metric,value\n0,base,acc,0.8\n1,base,F1,0.71\n",
        "model,metric,value,std\nbase,acc,0.8,0.1\nbase,F1,0.71,0.2\n",
        "metric,value,model\nacc,0.8,base\nF1,0.71,base\n",
        "Model;Metric;Score\nBase;acc;0,8\nBase;f1;0,71\n",
        "metric\tresult\trun\nacc\t0.8\tbase\nF1\t0.71\tbase\n",
    ],
)
def test_init_values_row_per_value(text):
    """Frames in tidy form, as programs write them."""
    Path("a.csv").write_text(text)
    rows, out = init("a.csv")
    assert [row[:2] for row in rows] == [["base", "acc"], ["base", "F1"]]
    assert [float(row[2]) for row in rows] == [80, 71] and "Not run: Ours (7B)." in out


def test_init_values_all_missing():
    Path("a.csv").write_text("model,metric,value\nbase,acc,NaN\n")
    assert "--values" in refused("init", "--table", "table.csv", "--values", "a.csv")


def test_init_values_originals():
    """The registry names the files, which are one file in the project; a check still knows it."""
    digests = {}
    for name in ("a.json", "b.json"):
        Path(name).write_text(FORMS["row.json"](0.7, 0.6))
        digests[name] = sha256(Path(name))
    init("base=a.json", "Ours (7B)=b.json")
    registry = Path("smith2026/published/smith2026/registry.yaml")
    text = registry.read_text()
    [entry] = yaml.safe_load(text)["files"].values()
    notes = [f"; read from {name} (sha256 {digest})" for name, digest in digests.items()]
    scaled = "multiplied by 100, since the published values are percentages"
    order = f"; acc: {scaled}; F1: {scaled}; in this order, values of base, Ours (7B)"
    assert entry["note"] == OWN_FILE_NOTE + "".join(notes) + order
    [entry] = yaml.safe_load(remove_originals(text))["files"].values()
    assert entry["note"] == OWN_FILE_NOTE + order
    assert changed_data(registry.parent) == {}
    Path("smith2026/data/smith2026-data/values.csv").unlink()
    assert [*changed_data(registry.parent)] == ["smith2026-data/values.csv"]


@pytest.mark.parametrize(
    ("published", "model", "is_clear"),
    [
        ("org/m-7B", "pretrained=org/m-7b", True),
        ("M 7b", "pretrained=org/m-7b,dtype=bfloat16", True),
        ("m-7b", "org/m-7b", True),
        ("m-7b", "pretrained=./models/m-7b/,revision=main", True),
        ("m-7b", {"pretrained": "org/m-7b", "dtype": "auto"}, True),
        ("gpt-4o", "model=gpt-4o,num_concurrent=1", True),
        # An adapter, another organisation, and another version make other systems.
        ("m-7b", "pretrained=org/m-7b,peft=org/lora", False),
        ("other/m-7b", "pretrained=org/m-7b", False),
        ("m", "m-3.1", False),
        ("m", "m-3.1-0.2", False),
        ("m-7b", "pretrained=org/m-7b,revision=step1000", False),
        ("m-7b", "pretrained=org/m-7b,load_in_4bit=True", False),
        ("m-7b", "pretrained=org/m-7b,load_in_8bit=False", True),
        ("m-7b", "a/b/m-7b", False),
    ],
)
def test_init_values_names_of_models(published, model, is_clear):
    Path("table.csv").write_text(
        f"model,task,metric,value\n{published},jsquad,acc,0.7\n{published},jnli,acc,0.6\n"
        "base,jsquad,acc,0.3\n"
    )
    Path("a.json").write_text(harness(model, "jsquad-1.1-0.3", 0.7, 0.6))
    if is_clear:
        assert init("a.json")[0] == [[published, "jsquad", "acc", "0.7"]]
    else:
        assert "a.json" in refused("init", "--table", "table.csv", "--values", "a.json")


def test_init_values_unclear_names():
    """Two tasks or models with one meaning are not told apart."""
    Path("table.csv").write_text("task,metric,value\njsquad,acc,0.7\n")
    for version in (1, 2):
        Path(f"{version}.json").write_text(harness("m", f"jsquad-1.{version}-0.3", 0.7, 0.6))
    message = refused("init", "--table", "table.csv", "--values", "1.json", "2.json")
    assert "1.json" in message and "2.json" in message


@pytest.mark.parametrize(
    ("values", "text", "words"),
    [
        ("Other=a.json", FORMS["row.json"](0.7, 0.6), ["Other", "table.csv", "Ours (7B), base"]),
        ("base=b.json", FORMS["row.json"](0.7, 0.6), ["b.json", "does not exist"]),
        ("base=a.json", '[{"model": "x", "acc": 1}, {"model": "y", "acc": 1}]', ["a.json", "x, y"]),
        ("a.json", '{"acc": 0.7}', ["a.json"]),
        ("base=a.json", '{"acc": {"max": 0.7}}', ["a.json"]),
        ("base=a.json", '{"acc": "x"}', ["a.json"]),
        ("base=a.json", "[3]", ["a.json"]),
        ("base=a.json", "[]", ["a.json"]),
    ],
)
def test_init_values_invalid_names(values, text, words):
    Path("a.json").write_text(text)
    message = refused("init", "smith2026", "--table", "table.csv", "--values", values)
    assert all(word in message for word in words) and not Path("smith2026").exists()


#: Columns of tasks with different measures, as of a README that lists results of several tasks.
TASKS = "|Model|ARC|MMLU|TruthfulQA|Average|\n|-|-|-|-|-|\n|m|71.0|60.0|50.0|60.3|\n"
MEASURES = ("--measure", "acc", "--measure", "ARC=acc_norm")


def tasks_file(*names: str) -> None:
    results = {
        name: {"acc,none": value, "acc_norm,none": value + 0.01, "acc_stderr,none": 0.1}
        for name, value in zip(names, (0.70, 0.60, 0.50, 0.40, 0.30), strict=False)
    }
    Path("m.json").write_text(json.dumps({"results": results, "model_name": "org/m"}))


def import_tasks(text: str = TASKS) -> None:
    Path("t.md").write_text(text)
    code, _, err = call("import", "t.md", "table.csv", "--force", *MEASURES)
    assert (code, err) == (0, "")


def test_init_values_tasks_with_parts():
    """Parts are named; other measures are left out, since all cells have a value."""
    tasks_file("arc_challenge", "mmlu", "truthfulqa_mc2", "mmlu_law")
    import_tasks(
        TASKS.replace("Average|", "").replace("|60.3", "").replace("|-|-|-|-|-|", "|-|-|-|-|")
    )
    message = refused("init", "--table", "table.csv", "--values", "m.json", "smith2026")
    assert "--rename truthfulqa_mc2=TruthfulQA" in message
    rows, out = init("m.json", "--rename", "arc_challenge=ARC", "truthfulqa_mc2=TruthfulQA")
    assert {(row[-3], row[-2]): float(row[-1]) for row in rows} == {
        ("ARC", "acc_norm"): 71, ("MMLU", "acc"): 60, ("TruthfulQA", "acc"): 50
    }  # fmt: skip
    assert "arc_challenge to ARC" in out and "Left out" in out and "Not run" not in out


@pytest.mark.parametrize("name", ["squad-2.0", "squad_v2", "squad_open", "squad_pro"])
def test_init_values_another_task(name):
    """A version alone, or another word, makes another task."""
    Path("table.csv").write_text("task,metric,value\nSQuAD,acc,0.7\n")
    Path("a.json").write_text(harness("m", name, 0.7, 0.6))
    assert "a.json" in refused("init", "--table", "table.csv", "--values", "a.json")


def test_init_values_another_system():
    """Outside models of a hub, a slash is part of a system's name."""
    Path("table.csv").write_text("system,metric,value\nRM3,MAP,0.7\nBM25,MAP,0.6\n")
    Path("a.csv").write_text("system,metric,value\nQL/RM3,MAP,0.7\nBM25,MAP,0.6\n")
    assert "QL/RM3" in refused("init", "--table", "table.csv", "--values", "a.csv")


def test_init_values_column_with_dashes():
    """A dash, which names no group, is no reason to take the column for another one."""
    Path("table.csv").write_text("group,model,metric,value\n–,a,acc,0.7\nZ,b,acc,0.6\n")
    Path("a.csv").write_text("group,run,metric,value\n–,a,acc,0.7\nZ,b,acc,0.6\n")
    assert init("a.csv")[0] == [["–", "a", "acc", "0.7"], ["Z", "b", "acc", "0.6"]]


def test_init_values_percent_of_deviations():
    """A deviation is in percent if its mean is, however small it is."""
    table = "model,metric,value\na,acc,45.1\na,acc ±,0.0\nb,acc,50.0\nb,acc ±,2.0\n"
    Path("table.csv").write_text(table)
    Path("a.csv").write_text(
        "model,metric,value\na,acc,0.451\na,acc ±,0.0002\nb,acc,0.5\nb,acc ±,0.02\n"
    )
    assert [float(row[-1]) for row in init("a.csv")[0]] == [45.1, 0.02, 50, 2]


@pytest.mark.parametrize(
    "names",
    [("arc_challenge", "mmlu", "truthfulqa_mc1", "truthfulqa_mc2"), ("arc_challenge", "mmlu")],
)
def test_init_values_leave_out_others(names):
    """A part of a task is another task; then the published cell is not run."""
    tasks_file(*names)
    import_tasks()
    message = refused("init", "--table", "table.csv", "--values", "m.json", "smith2026")
    assert "Average" in message and "--leave-out-others" in message
    renames = ("--rename", "arc_challenge=ARC")
    rows, out = init("m.json", "--leave-out-others", *renames)
    assert [row[-3:-1] for row in rows] == [["ARC", "acc_norm"], ["MMLU", "acc"]]
    assert "Not run: TruthfulQA" in out and "Not run: Average" in out


def test_init_leave_out_others_unknown_system():
    """Values of which none is published are still an error."""
    Path("a.json").write_text(FORMS["row.json"](0.7, 0.6))
    options = ("--table", "table.csv", "--values", "a.json", "--leave-out-others")
    assert "table.csv" in refused("init", *options, "smith2026")
    assert "--leave-out-others" in refused("init", "smith2026", "--leave-out-others")


@pytest.mark.parametrize("measures", [("ARC=acc_norm",), ("acc", "Arc=f1"), ("acc", "f1")])
def test_import_measure_of_columns(measures):
    Path("t.md").write_text(TASKS)
    options = [part for measure in measures for part in ("--measure", measure)]
    assert "--measure" in refused("import", "t.md", "table.csv", "--force", *options)
    assert Path("table.csv").read_text() == TABLE
