"""Chapter 6 of lajewska2025, full tier: an endpoint detects and writes, a tiny model infers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
import torch
from language_model_server import Server, reply_of
from tiny_bert import SPECIAL, tiny_bert, write_bert
from tiny_t5 import write_t5
from transformers import BertForSequenceClassification
from workflow.endpoint_runs import KEY, check_key, name_endpoint
from workflow.project import Project

from everycell.text.sentences import sentence_spans

RESULTS = "results/full/lajewska2025"
SECRET = "sk-writes-4711"


def write(handler: object, body: dict) -> dict:
    """Mark the first sentence of a passage and a text that is not there, or write some words."""
    prompt = body["messages"][-1]["content"]
    if "Passage:" in prompt:
        passage = prompt.rpartition("Passage: ")[2]
        start, end = sentence_spans(passage)[0]
        marked = f"{passage[:start]}<IN>{passage[start:end]}</IN>{passage[end:]}"
        return reply_of(f"{marked} <IN>no words of it at all</IN>")
    if '"Answer:"' in body["messages"][0]["content"]:
        return reply_of("Facts: owls eat mice.\nChoice: food.\n**Answer:** Mice are eaten.")
    if "Statements:" in prompt:
        return reply_of("1: yes")
    if prompt.startswith("Text:"):
        return reply_of("- What do owls eat?\n- Why?")
    if "- " in body["messages"][0]["content"] and "statements" in body["messages"][0]["content"]:
        return reply_of("- One thing is so.\n- Another is not.")
    words = re.findall(r"\w+", prompt)[-6:]
    return reply_of(" ".join(words).capitalize() + ".")


def write_inference(folder: Path) -> None:
    words = [*SPECIAL, "the", "of", "and"]
    made = tiny_bert(BertForSequenceClassification, words=len(words), positions=512)
    torch.manual_seed(0)
    made.classifier = torch.nn.Linear(8, 3)
    made.num_labels = 3
    made.config.id2label = dict(enumerate(("contradiction", "entailment", "neutral")))
    made.config.label2id = {name: place for place, name in made.config.id2label.items()}
    write_bert(folder, made, words)


@pytest.mark.slow
def test_an_endpoint_detects_and_writes(
    clean: Project, mirror: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean = Project(clean.folder, mirror)
    monkeypatch.setenv(KEY, SECRET)
    write_inference(clean.folder / "nli")
    write_t5(clean.folder / "duo", ["true", "false", "the", "of"])
    clean.edit(
        "config.yaml",
        "    model: null\n    duo: null\n    inference: cross-encoder/nli-roberta-base",
        "    model: mine\n    duo: duo\n    inference: nli",
    )
    clean.edit("config.yaml", "    questions: 38", "    questions: 3")
    # All sentences of all passages are encoded: only their first word pieces are, here.
    clean.edit("config.yaml", "{sentences: 2500, length: 24}", "{sentences: 250, length: 8}")
    clean.edit("config.yaml", "  length: 128\n  max_tokens: 96", "  length: 8\n  max_tokens: 96")
    name_endpoint(clean, server)
    server.replies = [write]
    names = [
        "table_6_1",
        "table_6_4",
        "table_6_6",
        "table_C_3",
        "table_C_4",
        "table_C_5",
        "table_C_6",
        "table_C_7",
    ]
    clean.build("--cores", "2", *(f"{RESULTS}/{name}.verdicts.json" for name in names))

    def table(name: str) -> pd.DataFrame:
        return pd.read_csv(clean.folder / f"{RESULTS}/{name}.csv")

    work = clean.folder / "work/ginger/full/mine"
    nuggets = pd.read_parquet(work / "nuggets.parquet")
    passages = pd.read_parquet(clean.folder / "work/ginger/released/passages.parquet")
    shown = passages[passages["topic"].isin(passages["topic"].unique()[:3])]
    detected = nuggets[nuggets["detection"] == "GPT-4"]
    # A nugget of each passage, its first sentence, and nothing that is not there.
    assert len(detected) == len(shown)
    texts = shown.set_index(["input", "topic", "passage_id"])["text"]
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
    # The answer of a chain of thought stands without what led to it.
    reasoned = responses[responses["system"] == "Baseline CoT"]
    assert set(reasoned["input"]) == {"relevant", "irrelevant"}
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
        (row, kind) for row in ("Baseline", "GINGER") for kind in ("Relevant", "Irrelevant")
    }
    # Of two statements that a response has, the first is supported.
    ragas = inputs.set_index("metric")["value"]
    assert (ragas["Faithfulness mean"] == 0.5).all() and (ragas["Faithfulness sd"] == 0).all()
    assert ragas["Answer rel mean"].between(-1, 1).all()
    complete = table("table_C_6")
    assert set(complete["metric"]) == {
        f"{name} {kind}" for name in ("Faithfulness", "Answer rel") for kind in ("mean", "sd")
    }
    printed = pd.read_csv(clean.folder / "published/lajewska2025/table_C_6.csv")
    assert set(complete["row"]) == set(printed["row"])
    assert table("table_6_1")["value"].between(0, 1).all()
    # Table 6.1 is the relevant half of Table 6.4, without these.
    own = inputs[~inputs["metric"].str.contains(" ")].query("input == 'Relevant'")
    own = own.sort_values(["row", "metric"])["value"]
    first = table("table_6_1").sort_values(["row", "metric"])["value"]
    assert own.tolist() == first.tolist()
    receipt = json.loads((clean.folder / f"{RESULTS}/table_6_1.receipt.json").read_text())
    assert receipt["parameters"]["language_models"][0]["model"]["name"] == "gpt-9"
    check_key(clean, server, SECRET)


def test_what_the_pipeline_needs_is_said(clean: Project) -> None:
    done = clean.snakemake("-n", f"{RESULTS}/table_6_1.csv")
    assert done.returncode != 0
    assert "`ginger.full.model` is null; this tier needs a language model that" in done.stdout
