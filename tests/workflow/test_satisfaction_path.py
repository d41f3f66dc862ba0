"""The full tier of Table 3.6 of abolghasemi2026: models by name, and what a run would do."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from language_model_server import Server, reply_of
from workflow.endpoint_runs import KEY, check_key, name_endpoint
from workflow.project import Project

TABLE = "results/full/abolghasemi2026/table_3_6.csv"


def test_table_3_6_hub_model(tree):
    plan = tree.planned(TABLE)
    # Both estimators, three seeds.
    assert plan["abolghasemi2026_ch3_train_full"] == 6
    assert plan["abolghasemi2026_ch3_estimators_full"] == plan["abolghasemi2026_ch3_samples"] == 1
    # Neither the small encoders nor the small language model, nor synthetic dialogues.
    assert not {"fetch_weights", "fetch_minilm", "fetch_splade-tiny", "convert_gguf"} & plan.keys()
    assert "abolghasemi2026_ch3_planted" not in plan
    # Zephyr and MistralIF.
    assert plan["abolghasemi2026_ch3_few_shot"] == 2


@pytest.mark.parametrize("tier", ["embedded", "released"])
def test_table_3_6_jobs(tree, tier):
    plan = tree.planned(f"results/{tier}/abolghasemi2026/table_3_6.csv")
    assert plan["abolghasemi2026_ch3_train"] == 2
    assert plan["abolghasemi2026_ch3_estimators"] == plan["abolghasemi2026_ch3_few_shot"] == 1


@pytest.mark.slow
def test_table_3_6_configured_models(clean: Project):
    clean.edit(
        "config.yaml",
        "models: {zephyr: Zephyr, mistral-if: MistralIF}",
        "models: {smollm2: Zephyr}",
    )
    plan = clean.planned(TABLE)
    assert plan["abolghasemi2026_ch3_few_shot"] == plan["convert_gguf"] == 1


@pytest.mark.slow
def test_table_3_3_labels(clean: Project):
    """The labels are the user's file, and without it the tier says what it needs."""
    table = "results/full/abolghasemi2026/table_3_3.csv"
    done = clean.snakemake("-n", table)
    assert done.returncode != 0
    assert "`counterfactuals.full.labels` is null" in done.stdout
    (clean.folder / "labels.csv").write_text("dialogue,annotator,satisfied,coherent\n")
    clean.edit("config.yaml", "actual: 100, labels: null}", "actual: 100, labels: labels.csv}")
    plan = clean.planned(table, table.replace("3_3", "3_5"))
    assert plan["abolghasemi2026_ch3_generate_full"] == plan["abolghasemi2026_ch3_pool"] == 1
    assert plan["abolghasemi2026_ch3_annotated"] == 1
    # The form needs no labels.
    clean.edit("config.yaml", "labels: labels.csv}", "labels: null}")
    plan = clean.planned("work/satisfaction/full/annotation/form.csv")
    assert plan["abolghasemi2026_ch3_pool"] == 1


@pytest.mark.slow
def test_few_shot_endpoint(clean: Project, server: Server, monkeypatch: pytest.MonkeyPatch):
    secret = "sk-very-secret-3"
    monkeypatch.setenv(KEY, secret)
    clean.edit(
        "config.yaml",
        "models: {smollm2: SmolLM2}, pairs: 50, max_tokens: 8, without_logprobs: []",
        "models: {mine: Mine}, pairs: 50, max_tokens: 5, without_logprobs: [mine]",
    )
    name_endpoint(clean, server)
    server.replies = [*map(reply_of, ("Satisfied", "dissatisfied.", "No idea", "Satisfied"))]
    answers = "work/satisfaction/embedded/few_shot/mine"
    clean.build("--cores", "1", f"{answers}.parquet")
    result = pd.read_parquet(clean.folder / f"{answers}.parquet")
    # Two pairs, and what was said of them; without log-probabilities a label is sure.
    assert result["part"].tolist() == ["main", "main", "cf", "cf"]
    assert result["probability"].fillna(-1).tolist() == [0, 1, -1, 0]
    assert set(result["model"]) == {"Mine"} and set(result["setup"]) == {"Few-shot"}
    message = json.loads((clean.folder / f"{answers}.provenance.json").read_text())
    assert (message["answers"], message["decoding"][0]["logprobs"]) == (4, False)
    assert {body["max_tokens"] for _, body, _ in server.seen} == {5}
    check_key(clean, server, secret)
