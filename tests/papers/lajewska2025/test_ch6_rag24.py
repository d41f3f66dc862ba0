"""Responses to TREC RAG 2024: requests, and the length limit of the track."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from chapter_jobs import FunctionJob

from everycell.language_models.generation import Answer
from everycell.language_models.settings import Decoding
from everycell.language_models.templates import read_template
from papers.lajewska2025.ch6 import mean_nugget_scores, shared_facts, strict_scores, write_parts
from papers.lajewska2025.ch6_autonuggetizer import read_prompt
from papers.lajewska2025.ch6_judging import (
    assign_topic_nuggets,
    create_topic_nuggets,
    judge_responses,
)
from papers.lajewska2025.ch6_labels import PARTS, SYSTEMS
from papers.lajewska2025.ch6_nuggets import SLOTS, TEMPLATE, detect_spans
from papers.lajewska2025.ch6_rag24 import (
    BASELINES,
    RUNS,
    rag_responses,
    responses_to_judge,
    select_by_size,
)
from papers.lajewska2025.ch6_scores import covered_share
from papers.lajewska2025.ch6_writing import Writer, write_responses

NUGGETS = 9


class Model:
    """Writes ten words a sentence, and keeps the last message of each request."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def answer_all(self, requests):
        self.asked += [request.prompt[-1].content for request in requests]
        texts = []
        for request in requests:
            if '"Answer:"' in request.prompt[0].content:
                texts.append("Facts: one. Answer: two.\nAnswer: Steps lead here.")
            else:
                texts.append(" ".join(["word"] * 9) + " end.")
        return [Answer(text=text, finish="stop") for text in texts]


def frames(topic: str, kinds: list[str]) -> list[pd.DataFrame]:
    """Nuggets that are a cluster each; the last one is ranked first."""
    keys = pd.DataFrame(
        [("GPT-4", kind, topic, n) for kind in kinds for n in range(1, NUGGETS + 1)],
        columns=["detection", "input", "topic", "nugget"],
    )
    nuggets = keys.assign(text="nugget " + keys["nugget"].astype(str))
    clusters, ranks = [], []
    for clustering in ("BERTopic", "LSA"):
        clusters.append(keys.assign(clustering=clustering, cluster=keys["nugget"] - 1))
        for ranking in ("DuoT5", "BM25"):
            ranks.append(
                keys.drop(columns="nugget").assign(
                    clustering=clustering,
                    ranking=ranking,
                    cluster=keys["nugget"] - 1,
                    score=keys["nugget"].astype(float),
                )
            )
    return [nuggets, pd.concat(clusters), pd.concat(ranks)]


@pytest.fixture
def written(monkeypatch):
    kinds = ["top5", "top10", "top20"]
    # Topic "2" has passages and no nugget.
    passages = pd.DataFrame(
        [(kind, topic, f"why {topic}?", "text") for kind in kinds for topic in ("1", "2")],
        columns=["input", "topic", "question", "text"],
    )
    # Room for six sentences of ten words, in rounds of three.
    monkeypatch.setattr("papers.lajewska2025.ch6_rag24.WORD_LIMIT", 65)
    for name, run in RUNS.items():
        if run.word_limit is not None:
            changed = run._replace(word_limit=65)
            monkeypatch.setitem(RUNS, name, changed)
    model = Model()
    decoding = Decoding(max_tokens=50)
    writer = Writer(model, decoding, decoding, {}, clusters=3, sentences=3, words=22)
    return rag_responses(writer, passages, *frames("1", kinds)), model


def test_runs_of_both_tables():
    every = {*BASELINES, *RUNS, *(run.fluent_run for run in RUNS.values() if run.fluent_run)}
    assert every == {*SYSTEMS.values(), *PARTS.values()}


def test_rag_responses_word_limit(written):
    responses, _ = written
    first = responses[responses["topic"] == "1"].groupby("system").size()
    assert first["ginger-fluency_top_5"] == 3
    assert first[[name for name, run in RUNS.items() if run.word_limit]].unique().tolist() == [6]
    # In the order of the ranking, each with its nugget.
    own = responses[(responses["system"] == "ginger_lsa_bm25") & (responses["topic"] == "1")]
    assert [list(item) for item in own["nuggets"]] == [[9], [8], [7], [6], [5], [4]]


def test_rag_responses_number_of_summaries(written):
    _, model = written
    summaries = [item for item in model.asked if "Pieces of information" in item]
    # Five runs have room for six of nine clusters and are asked in rounds of three; two rounds
    # leave room for half a sentence, so a third is asked for. The sixth run has three sentences.
    assert len(summaries) == 5 * 9 + 3


def test_responses_to_judge_without_reasoning(written):
    responses, _ = written
    complete = responses_to_judge(responses, {"1": "why 1?", "2": "why 2?"})
    full = complete.set_index(["run", "topic"])["text"]
    assert full["baseline_top_5_cot", "2"] == "Steps lead here."
    assert full["ginger_top_5", "2"] == full["ginger_lsa_duot5", "2"] == ""


RELEASED = pd.DataFrame(
    [("j", "a", "1", 1, "owls", "vital", "support")],
    columns=["judge", "run", "topic", "nugget", "text", "importance", "support"],
)


def test_judge_responses_unreleased_topic():
    responses = pd.DataFrame({"run": ["a"], "topic": ["9"], "question": ["why?"], "text": ["So."]})
    with pytest.raises(ValueError, match="topic '9', which the released labels do not have"):
        judge_responses(RELEASED, responses, lambda prompts: [], topics=1, known_topics={"1"})


def test_judge_responses_topic_without_facts():
    responses = pd.DataFrame(
        {"run": "ginger_top_5", "topic": ["1", "9"], "question": "why?", "text": ["Owls.", "So."]}
    )
    released = RELEASED.assign(run="ginger_top_5")
    result = judge_responses(
        released, responses, lambda prompts: ["1: support"], topics=2, known_topics={"1", "9"}
    )
    assert result["nugget"].tolist() == [1, 0]
    scores = strict_scores({"GPT4o": result.assign(judge="GPT4o")})
    assert scores[["topic", "value"]].values.tolist() == [["1", 1.0], ["9", 0.0]]


def test_detect_spans_empty_passage():
    output = pd.DataFrame(
        {
            "input": "top5",
            "topic": "1",
            "question": "Q?",
            "passage_id": list("ab"),
            "text": ["", "Owls."],
        }
    )
    requests = []

    def ask(prompts):
        requests.extend(prompts)
        return ["<IN>Owls.</IN> <IN>Ships.</IN>"]

    template = read_template(TEMPLATE, SLOTS, last="passage")
    result = detect_spans(output, template, ask)
    assert result.spans == {("top5", "1", "a"): (), ("top5", "1", "b"): ((0, 5),)}
    assert (result.marks, result.strays, result.unmarked, len(requests)) == (2, 1, 1, 1)


def test_mean_nugget_scores_of_created_facts():
    passages = pd.DataFrame({"topic": ["1", "1"], "question": "Q?", "text": ["a", "b"]})
    replies = iter([["- owls hunt\n- owls eat"], ["1: vital\n2: okay"]])
    nuggets = create_topic_nuggets(passages, lambda prompts: next(replies), {}).assign(
        judge="GPT4o"
    )
    responses = pd.DataFrame(
        {"run": list(BASELINES), "topic": "1", "question": "Q?", "text": ["They hunt.", ""]}
    )
    labels = assign_topic_nuggets(nuggets, responses, lambda _: ["1: partial_support\n2: support"])
    every = responses[["run", "topic"]].assign(judge="GPT4o")
    result = mean_nugget_scores(labels.assign(judge="GPT4o"), every)
    table = result.pivot(index="row", columns="metric", values="value")
    # By hand: the vital fact in part, the other one wholly.
    expected = {"V_strict": 0, "V": 1 / 2, "A_strict": 1 / 2, "A": 3 / 4, "W_strict": 1 / 3}
    expected["W"] = (1 / 2 + 1 / 2) / (3 / 2)
    assert table.loc["baseline-top5"].to_dict() == pytest.approx(expected)
    assert (table.loc["baseline_CoT-top5"] == 0).all()


def test_assign_topic_nuggets_no_facts():
    nuggets = pd.DataFrame(columns=["topic", "nugget", "text", "importance"])
    responses = pd.DataFrame({"run": ["a"], "topic": "1", "question": "Q?", "text": ["So."]})
    assert assign_topic_nuggets(nuggets, responses, lambda prompts: []).empty


def test_shared_facts_both_ways_and_chance():
    created = pd.DataFrame(
        {"topic": ["1", "1", "2"], "text": ["owls eat small mice", "rain falls", "ships sail"]}
    )
    released = pd.DataFrame(
        {"topic": ["1", "1", "2", "3"], "text": ["owls eat mice", "owls nest", "ships sink", "x"]}
    )
    result = shared_facts(created, released)
    assert result == {
        # "owls nest" has one of its two words in the first fact, as "ships sink" has.
        "created": 1.5,
        "released": 1.5,
        "found": 1.0,
        "known": 0.75,
        "topics": 2.0,
        "found by chance": 0.0,
    }
    assert np.isnan(covered_share([], ["owls"])) and covered_share(["owls"], []) == 0


def test_write_parts_mean_of_judges():
    rows = [
        (judge, run, topic, value + number / 10)
        for judge in ("GPT4o", "avg LLM")
        for number, run in enumerate(
            [
                "GINGER-top20 wo/ rewriting",
                "GINGER-top10 wo/ rewriting",
                "GINGER-top20, BERTopic + BM25",
                "GINGER-top20, LSA + DuoT5",
                "GINGER-top20, LSA + BM25",
            ]
        )
        for topic, value in (("1", 0.1), ("2", 0.2 + number**2 / 100), ("3", 0.4))
    ]
    scores = pd.DataFrame(rows, columns=["judge", "run", "topic", "value"])
    job = FunctionJob()
    write_parts(job, scores)
    assert len(job.tables[""]) == 4 and set(job.tables[""]["metric"]) == {"V_strict avg LLM"}
    assert set(job.tables["changes"]["change"]) == {
        "BM25 for DuoT5",
        "LSA for BERTopic",
        "both",
        "10 passages for 20",
    }


def test_write_responses_names_on_cast():
    passages = pd.DataFrame(
        [("relevant", "1", "why?", "text")], columns=["input", "topic", "question", "text"]
    )
    decoding = Decoding(max_tokens=50)
    writer = Writer(Model(), decoding, decoding, {}, clusters=3, sentences=3, words=22)
    created = frames("1", ["relevant"])
    result = write_responses(writer, passages, *created, ["1"], chain_of_thought=True)
    assert result.groupby("system", sort=False).size().to_dict() == {
        "Baseline": 1,
        "Baseline CoT": 1,
        "GINGER -fluency": 3,
        "GINGER": 1,
    }
    plain = result[result["system"] == "GINGER -fluency"]
    assert [list(item) for item in plain["nuggets"]] == [[9], [8], [7]]
    assert "Baseline CoT" not in set(write_responses(writer, passages, *created, ["1"])["system"])


def test_create_topic_nuggets_own_prompts(tmp_path):
    words = {"create": "Mine: $question $facts $passages", "importance": "Rate: $question $facts"}
    prompts = {}
    for name, text in words.items():
        (tmp_path / name).write_text(text)
        prompts[name] = read_prompt(name, tmp_path / name)
    requests = []

    def ask(messages):
        requests.extend(item[-1].content for item in messages)
        return ["- owls hunt\n1: okay"] * len(messages)

    passages = pd.DataFrame({"topic": ["1"], "question": "Q?", "text": ["They hunt."]})
    result = create_topic_nuggets(passages, ask, prompts)
    assert requests == ["Mine: Q? (none) 1. They hunt.", "Rate: Q? 1. owls hunt"]
    assert result[["text", "importance"]].values.tolist() == [["owls hunt", "okay"]]


def test_select_by_size_top_passages():
    selected = select_by_size(pd.DataFrame({"topic": "1", "rank": range(1, 13)}))
    sizes = selected.groupby("input", sort=False).size().to_dict()
    assert sizes == {"top5": 5, "top10": 10, "top20": 12}
