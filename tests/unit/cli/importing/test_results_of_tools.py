"""`everycell import`: results of lm-evaluation-harness, HELM, MLflow and Weights & Biases."""

import json
from pathlib import Path

import pytest
from command_line import call, refused
from unit.cli.importing.examples import imported

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


def test_import_json_half_a_pair(folder):
    """Half a surrogate pair, which no file can contain, is written as its code."""
    values = imported("a.json", '{"results": {"t\\ud800": {"acc": 0.5}}, "model_name": "m"}')
    assert [*values.values()] == ["0.5"] and "\\ud800" in str(values)
