"""The full tier of Table 3.6 of abolghasemi2026: models by name, and what a run would do."""

from __future__ import annotations

import pytest

TABLE = "results/full/abolghasemi2026/table_3_6.csv"


def test_the_hub_model_is_planned_without_files_of_its_own(tree):
    plan = tree.planned(TABLE)
    assert plan["abolghasemi2026_ch3_train"] == 2
    assert plan["abolghasemi2026_ch3_estimators"] == plan["abolghasemi2026_ch3_samples"] == 1
    # Neither the small encoders nor the small language model, nor generated dialogues.
    assert not {"fetch_weights", "fetch_minilm", "fetch_splade-tiny", "convert_gguf"} & plan.keys()
    assert "abolghasemi2026_ch3_planted" not in plan
    # Zephyr and MistralIF.
    assert plan["abolghasemi2026_ch3_few_shot"] == 2


@pytest.mark.parametrize(
    ("model", "said"),
    [("published", "`user_satisfaction.full.model` is 'published', which has no config.json")],
)
def test_a_folder_without_a_model_is_named_in_one_sentence(clean, model, said):
    clean.edit(
        "config.yaml",
        "  full:\n    model: bert-base-uncased\n    revision: null\n    bert:",
        f"  full:\n    model: {model}\n    revision: null\n    bert:",
    )
    done = clean.snakemake("-n", TABLE)
    assert done.returncode != 0 and done.stdout.count(f"config.yaml: {said}") == 1


@pytest.mark.parametrize("tier", ["embedded", "released"])
def test_small_estimators_take_few_jobs(tree, tier):
    plan = tree.planned(f"results/{tier}/abolghasemi2026/table_3_6.csv")
    assert plan["abolghasemi2026_ch3_train"] == 2
    assert plan["abolghasemi2026_ch3_estimators"] == plan["abolghasemi2026_ch3_few_shot"] == 1
