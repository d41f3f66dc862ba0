"""Chapter 6 of lajewska2025, full tier: an endpoint detects and writes, a tiny model infers."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from language_model_server import Server, reply_of
from rehearsal.material import responses as write_material
from rehearsal.stage import Stage
from workflow.endpoint_runs import KEY, check_key, name_endpoint
from workflow.project import Project

from everycell.text.sentences import sentence_spans

RESULTS = "results/full/lajewska2025"
SECRET = "sk-writes-4711"


@pytest.mark.slow
def test_tables_of_chapter_6_full(
    clean: Project, mirror: Path, stage: Stage, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean = Project(clean.folder, mirror)
    monkeypatch.setenv(KEY, SECRET)
    settings = write_material(stage)
    # All sentences of all passages are encoded: only their first word pieces are, here.
    vectors = {"frozen": {"sentences": 250, "length": 8}}
    clean.configure({"ginger": settings["ginger"] | {"length": 8}, "answerability": vectors})
    name_endpoint(clean, server)
    [reply] = server.replies

    def write(handler: object, body: dict) -> dict:
        """As in the rehearsal, with a mark that is not in the passage, and a chain of thought."""
        if '"Answer:"' in body["messages"][0]["content"]:
            return reply_of("Facts: owls eat mice.\nChoice: food.\n**Answer:** Mice are eaten.")
        message = reply(handler, body)
        if "Passage:" in body["messages"][-1]["content"]:
            message["choices"][0]["message"]["content"] += " <IN>no words of it at all</IN>"
        return message

    server.replies = [write]
    names = [*(f"table_6_{n}" for n in range(1, 7)), *(f"table_C_{n}" for n in range(3, 9))]
    tasks = "work/ginger/full/mine/tasks.csv"
    clean.build("--cores", "2", tasks, *(f"{RESULTS}/{name}.verdicts.json" for name in names))

    def table(name: str) -> pd.DataFrame:
        return pd.read_csv(clean.folder / f"{RESULTS}/{name}.csv")

    work = clean.folder / "work/ginger/full/mine"
    nuggets = pd.read_parquet(work / "nuggets.parquet")
    passages = pd.read_parquet(clean.folder / "work/ginger/released/passages.parquet")
    topics = passages["topic"].unique()[:3]
    released = passages[passages["topic"].isin(topics)]
    passages = pd.read_parquet(work / "passages.parquet")
    # Those of the first questions, relevant ones again in other words, and five of BM25.
    assert passages[: len(released)].equals(released.reset_index(drop=True))
    counts = passages.groupby("input").size()
    assert counts["rephrased"] == counts["relevant"] and counts["retrieved"] == 5 * 3
    output = passages
    detected = nuggets[nuggets["detection"] == "GPT-4"]
    # A nugget of each passage: its first sentence, and no text from elsewhere.
    assert len(detected) == len(output)
    texts = output.set_index(["input", "topic", "passage_id"])["text"]
    for row in detected.itertuples(index=False):
        text = texts[row.input, row.topic, row.passage_id]
        assert row.text == text[slice(*sentence_spans(text)[0])] == text[row.start : row.end]
    assert set(nuggets["detection"]) == {"GPT-4", "Gold"}

    # A random T5 ranks clusters by pairs: the scores of n clusters sum to n (n - 1).
    ranks = pd.read_parquet(work / "ranks.parquet").query("ranking == 'DuoT5'")
    of_question = ranks.groupby(["detection", "input", "topic", "clustering"])["score"]
    sums, counts = of_question.sum(), of_question.size()
    assert (sums - counts * (counts - 1)).abs().max() < 1e-9 and counts.max() > 2

    responses = pd.read_parquet(work / "responses.parquet")
    relevant = set(responses.loc[responses["input"] == "relevant", "system"])
    in_print = set(table("table_C_7").query("input == 'relevant'")["row"])
    assert relevant == in_print | {"Baseline CoT"}
    # The reasoning of a chain of thought is removed from its answer.
    reasoned = responses[responses["system"] == "Baseline CoT"]
    assert set(reasoned["input"]) == {"relevant", "irrelevant", "retrieved", "rephrased"}
    assert set(reasoned["text"]) == {"Mice are eaten."}
    beside = table("table_6_4.reasoning")
    assert set(beside["row"]) == {"Baseline", "Baseline CoT", "GINGER"}
    assert {"Baseline", "GINGER", "GINGER -fluency", "GINGER -fluency (deep)"} <= relevant
    assert set(table("table_6_6")["row"]) == {
        "GINGER",
        "-fluency",
        "-fluency w/ GTnuggets",
        "-fluency w/ BM25",
        "-fluency w/ LSA",
        "-fluency w/ BM25+LSA",
    }
    inputs = table("table_6_4")
    assert set(zip(inputs["row"], inputs["input"], strict=True)) == {
        (row, kind)
        for row in ("Baseline", "GINGER")
        for kind in ("Relevant", "Irrelevant", "Retrieved")
    }
    # Of two statements that a response has, the first is supported.
    ragas = inputs.set_index("metric")["value"]
    assert (ragas["Faithfulness mean"] == 0.5).all() and (ragas["Faithfulness sd"] == 0).all()
    assert ragas["Answer rel mean"].between(-1, 1).all()
    complete = table("table_C_6")
    assert set(complete["metric"]) == {
        f"{name} {kind}" for name in ("Faithfulness", "Answer rel") for kind in ("mean", "sd")
    }
    published = pd.read_csv(clean.folder / "published/lajewska2025/table_C_6.csv")
    assert set(complete["row"]) == set(published["row"])
    assert set(zip(complete["row"], complete["input"], strict=True)) == set(
        zip(published["row"], published["input"], strict=True)
    )
    # Five runs of a judge that always answers the same.
    runs = pd.read_parquet(work / "ragas.runs.parquet")
    assert set(runs["run"]) == {1, 2, 3, 4, 5}
    spread = table("table_C_6.runs").set_index("metric")["value"]
    assert (spread["Faithfulness mean"] == 0.5).all() and (spread["Faithfulness sd"] == 0).all()
    assert table("table_6_1")["value"].between(0, 1).all()
    # Table 6.1 is the relevant half of Table 6.4, without these.
    own = inputs[~inputs["metric"].str.contains(" ")].query("input == 'Relevant'")
    own = own.sort_values(["row", "metric"])["value"]
    first = table("table_6_1").sort_values(["row", "metric"])["value"]
    assert own.tolist() == first.tolist()
    # The crowd study: three questions in four comparisons, and votes of the same questions.
    crowd_tasks = pd.read_csv(clean.folder / tasks)
    assert len(crowd_tasks) == 2 * 3 * 4 and crowd_tasks["follow_up"].notna().all()
    assert set(crowd_tasks["query"]) == set(topics) and crowd_tasks["aspect 1"].notna().all()
    follow_ups = pd.read_parquet(work / "follow_ups.parquet")
    assert all("food of owls" in facets for facets in follow_ups["facets"])
    for name in ("table_6_2", "table_6_3", "table_6_5", "table_C_8"):
        keys = [column for column in table(name) if column not in ("value", "marker")]
        own = pd.read_csv(clean.folder / f"published/lajewska2025/{name}.csv")
        assert set(map(tuple, table(name)[keys].to_numpy())) == set(
            map(tuple, own[keys].to_numpy())
        )
    receipt = json.loads((clean.folder / f"{RESULTS}/table_6_1.receipt.json").read_text())
    assert receipt["parameters"]["language_models"][0]["model"]["name"] == "gpt-9"
    check_key(clean, server, SECRET)
