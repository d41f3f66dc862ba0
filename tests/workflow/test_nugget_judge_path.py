"""Chapter 6 of lajewska2025, full tier: an endpoint judges the released responses again."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from language_model_server import Server, reply_of
from workflow.endpoint_runs import KEY, check_key, name_endpoint
from workflow.project import Project

TABLE = "results/full/lajewska2025/table_6_7"
SECRET = "sk-judge-4711"


def label_all(handler: object, body: dict) -> tuple:
    """Support for the odd facts, and no label for the tenth of a prompt."""
    facts = re.findall(r"^(\d+)\. ", body["messages"][-1]["content"].rpartition("Facts:")[2], re.M)
    labels = [
        f"{number}: {'support' if int(number) % 2 else 'not_support'}"
        for number in facts
        if number != "10"
    ]
    return 200, {}, reply_of("\n".join(labels))


@pytest.mark.slow
def test_an_endpoint_judges_again(
    clean: Project, mirror: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean = Project(clean.folder, mirror)
    monkeypatch.setenv(KEY, SECRET)
    clean.edit("config.yaml", "judges: {}\n    topics: 301", "judges: {mine: GPT4o}\n    topics: 2")
    name_endpoint(clean, server)
    server.replies = [label_all]
    clean.build("--cores", "1", f"{TABLE}.verdicts.json")

    table = pd.read_csv(clean.folder / f"{TABLE}.csv")
    assert set(table["metric"]) == {"V_strict GPT4o"}
    assert len(table) == 5 and table["value"].between(0, 1).all()
    again = pd.read_csv(clean.folder / f"{TABLE}.again.csv").set_index("metric")["value"]
    labels = pd.read_parquet(clean.folder / "work/ginger/full/judged/mine.parquet")
    assert again["facts"] == len(labels) and labels["run"].nunique() == 8
    assert again["without a label"] == pytest.approx((labels["support"] == "").mean())
    # By hand: of a run and topic, vital facts with an odd place in their prompt.
    own = labels[(labels["run"] == "baseline_top_5")]
    shares = [
        ((rows["nugget"] - 1) % 10 % 2 == 0)[rows["importance"] == "vital"].mean()
        for _, rows in own.groupby("topic")
    ]
    row = table.set_index("row").at["baseline-top5", "value"]
    assert row == pytest.approx(sum(shares) / 2)

    verdicts = json.loads((clean.folder / f"{TABLE}.verdicts.json").read_text())
    states = pd.DataFrame(verdicts["cells"]).groupby("verdict").size()
    assert states["not_run"] > 0
    receipt = json.loads((clean.folder / f"{TABLE}.receipt.json").read_text())
    assert receipt["parameters"]["language_models"][0]["model"]["name"] == "gpt-9"
    check_key(clean, server, SECRET)


def test_what_the_judge_needs_is_said(clean: Project) -> None:
    done = clean.snakemake("-n", f"{TABLE}.csv")
    assert done.returncode != 0
    assert "`ginger.full.judges` is empty; this tier needs language models" in done.stdout
    clean.edit(
        "config.yaml",
        "judges: {}\n    topics: 301",
        "judges: {smollm2: GPT4o, zephyr: GPT4o}\n    topics: 2",
    )
    done = clean.snakemake("-n", f"{TABLE}.csv")
    assert "two models stand for GPT4o" in done.stdout
