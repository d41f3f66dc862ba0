"""The full tier of Table 5.6 with a random BERT and a toy SQuAD: the path, not results."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from rehearsal.material import answerability
from rehearsal.stage import Stage
from workflow.identified import pass_for_the_papers
from workflow.project import Project

from everycell.records.cells import read_spreads

TABLE = "results/full/lajewska2025/table_5_6"
#: That of config.yaml, at the end of a training's name.
SEED = "seed-20261121"


@pytest.fixture
def configured_project(clean: Project, stage: Stage) -> Project:
    """Return a project whose configuration names a model and SQuAD, with settings for them."""
    clean.configure(answerability(stage))
    change(clean, seeds=1)
    pass_for_the_papers(clean.folder, "config.yaml")
    return clean


def change(project: Project, **settings: object) -> None:
    project.configure({"answerability": {"full": settings}})


@pytest.mark.slow
def test_table_5_6_full(configured_project, mirror):
    configured_project.mirror = mirror
    configured_project.build(f"{TABLE}.verdicts.json")
    sizes = {}
    for name in ("full", "squad"):
        stem = f"work/answerability/{name}.{SEED}"
        record = json.loads((configured_project.folder / f"{stem}.model/training.json").read_text())
        assert record["steps"] == 20 and record["best_step"] == 20
        scores = pd.read_parquet(configured_project.folder / f"{stem}.scores.parquet")
        assert scores["probability"].between(0, 1).all()
        assert not scores.duplicated(["question", "sentence"]).any()
        sizes[name] = record["inputs"]["examples"]
    # Two more sentences, of SQuAD, which have no scores.
    assert sizes["full"] != sizes["squad"]
    table, seeds = (
        pd.read_csv(
            configured_project.folder / f"{TABLE}{part}.csv", dtype=str, keep_default_na=False
        )
        for part in ("", ".seeds")
    )
    keys = list(table.columns[:-1])
    spread = read_spreads(seeds, keys, where="table_5_6")
    # Both classifiers; ChatGPT's released answers have no seeds of ours.
    assert len(spread) == 14 and {result.seeds for result in spread.values()} == {1}
    for *key, value in table.itertuples(index=False, name=None):
        if tuple(key) in spread:
            assert float(value) == spread[tuple(key)].mean
    report = configured_project.verdicts("lajewska2025/table_5_6", "full")
    message = {cell["why"] for cell in report["cells"] if cell["verdict"] == "different"}
    assert any("1 training run, but a tolerance requires" in str(why) for why in message)
    verdicts = [cell["verdict"] for cell in report["cells"]]
    assert len(verdicts) == 19 and verdicts.count("not run") == 2
    assert verdicts.count("equal") >= 3
    outcomes = {claim["id"]: claim["on_reproduced"] for claim in report["claims"]}
    undecided = [name for name, one in outcomes.items() if one in ("inconclusive", "not run")]
    # ChatGPT's decisions on whole rankings were never released.
    assert undecided == [
        "chatgpt_asked_for_rankings_is_worse_still",
        "direct_answers_are_significantly_worse",
    ]
    assert configured_project.everycell("verify").returncode == 0


@pytest.mark.slow
@pytest.mark.released
def test_table_b_1_full(configured_project, mirror):
    configured_project.mirror = mirror
    table = "results/full/lajewska2025/table_B_1"
    configured_project.build(f"{table}.verdicts.json")
    cells = pd.read_csv(configured_project.folder / f"{table}.csv").pivot(
        index="row", columns="dataset", values="value"
    )
    # Both files have one question with an answer, in one of two sentences, and one without.
    assert cells.loc[["# questions", "# QPP", "# sent. w/o answers in unans. QPP"], "SQuAD 2.0"
                     ].tolist() == [4, 4, 4]  # fmt: skip
    assert cells.loc["# sent. w/ answers in ans. QPP"].tolist() == [6395, 0, 2]
    report = configured_project.verdicts("lajewska2025/table_B_1", "full")
    assert len(report["cells"]) == 27
    assert "not run" not in {cell["verdict"] for cell in report["cells"]}


def test_table_5_6_hub_model(configured_project):
    change(configured_project, model="bert-base-uncased")
    plan = configured_project.planned(f"{TABLE}.csv")
    assert plan["answerability_train_full"] == plan["answerability_score_full"] == 2
    further = {"answerability_train", "answerability_frozen", "fetch_weights"}
    assert not further & plan.keys()


def test_table_5_6_released_jobs(tree):
    plan = tree.planned("results/released/lajewska2025/table_5_6.csv")
    assert plan["answerability_train"] == plan["answerability_score"] == 1
    assert plan["answerability_frozen"] == plan["lajewska2025_ch5_accuracy"] == 1
