"""Runs of several systems on the lists of one collection, read from files."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from everycell.retrieval.evaluation import evaluate
from everycell.retrieval.interpolation import sweep
from everycell.retrieval.judged_lists import judge
from everycell.trec.runs import write_run
from papers.abolghasemi2026.ch2_runs import RankingRuns, noise_levels

TASKS = ["cite", "co-cite"]
SYSTEMS = {"BM25": "bm25", "TILDE": "tilde.{task}"}
LISTS = ["q1", "q2", "q3", "v1", "v2"]
DOCUMENTS = list("abcd")


def candidate_lists() -> pd.DataFrame:
    """Lists of two tasks in two settings; the task's place is the relevant document."""
    return pd.DataFrame(
        [
            (setting, task, "test" if query.startswith("q") else "validation", query, document)
            + (int(document == DOCUMENTS[position]),)
            for setting in ("mixed", "easy")
            for position, task in enumerate(TASKS)
            for query in LISTS
            # The easy lists lack the last document.
            for document in DOCUMENTS[: 4 if setting == "mixed" else 3]
        ],
        columns=["setting", "task", "split", "query", "document_id", "relevance"],
    )


def scored(order: str, queries: list[str], documents: list[str]) -> pd.DataFrame:
    """Run that ranks all queries in one order; documents that it does not name come last."""
    pairs = [(query, document) for query in queries for document in documents]
    run = pd.DataFrame(pairs, columns=["query", "document"])
    return run.assign(score=[-float((order + "xyz").index(d)) for d in run["document"]])


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """Return a folder with candidates and runs, the second system's one a task."""
    root = tmp_path_factory.mktemp("project")
    runs = root / "work" / "toy" / "runs"
    runs.mkdir(parents=True)
    candidate_lists().to_parquet(root / "candidates.parquet")
    # BM25's run answers a query and holds a document that are in no list.
    beyond = scored("dcba", [*LISTS, "other"], [*DOCUMENTS, "x"])
    write_run(beyond, runs / "bm25.run", tag="bm25")
    for task, order in zip(TASKS, ["abcd", "cbad"], strict=True):
        write_run(scored(order, LISTS, DOCUMENTS), runs / f"tilde.{task}.run", tag="tilde")
    return root


@pytest.fixture
def job(project, monkeypatch):
    """Return the job of a rule with lists of one collection."""
    monkeypatch.chdir(project)
    lists = {"other": None, "toy": {"setting": "mixed", "tasks": TASKS}}
    systems = [("a", "BM25", "default", SYSTEMS["BM25"]), ("b", "TILDE", "", SYSTEMS["TILDE"])]
    return SimpleNamespace(
        params=SimpleNamespace(lists=lists, systems=systems),
        input=SimpleNamespace(candidates="candidates.parquet"),
    )


@pytest.fixture
def job_runs(job):
    return RankingRuns.of_job(job)


def test_of_job_runs_by_model(job_runs):
    folder = Path("work/toy/runs")
    assert job_runs.runs == {"BM25": folder / "bm25.run", "TILDE": folder / "tilde.{task}.run"}
    assert (job_runs.setting, job_runs.tasks) == ("mixed", TASKS)


def test_run_file_per_task(job_runs):
    firsts = {
        name: [
            job_runs.run(name, task).groupby("query").first()["document"]["q1"] for task in TASKS
        ]
        for name in job_runs.runs
    }
    assert firsts == {"BM25": ["d", "d"], "TILDE": ["a", "c"]}


def test_run_is_read_once(job_runs):
    assert job_runs.run("BM25", "cite") is job_runs.run("BM25", "co-cite")


def test_values_by_hand(job_runs):
    for task, expected in {"cite": (1 / 4, 1.0), "co-cite": (1 / 3, 1 / 2)}.items():
        values = job_runs.values(task)
        assert list(values) == ["BM25", "TILDE"]
        for frame, value in zip(values.values(), expected, strict=True):
            assert frame.index.tolist() == ["q1", "q2", "q3"]
            assert frame["MAP"].tolist() == pytest.approx([value] * 3)
            assert frame["nDCG"].tolist() == pytest.approx([1 / np.log2(1 + 1 / value)] * 3)


def test_ranked_test_lists_only(job_runs):
    runs, qrels = job_runs.ranked("co-cite")
    assert set(qrels["query"]) == {"q1", "q2", "q3"} and qrels["relevance"].sum() == 3
    for run in runs.values():
        pairs = run[["query", "document"]].sort_values(["query", "document"], ignore_index=True)
        assert pairs.equals(qrels[["query", "document"]])
    pd.testing.assert_frame_equal(
        evaluate(runs["TILDE"], qrels), job_runs.values("co-cite")["TILDE"], check_exact=True
    )


def test_lists_order_of_splits(job_runs):
    assert job_runs.lists("cite").queries.tolist() == ["q1", "q2", "q3"]
    both = job_runs.lists("cite", ("validation", "test"))
    assert both.queries.tolist() == ["v1", "v2", "q1", "q2", "q3"]


def test_pairings_of_the_first_system(job_runs):
    pairings = job_runs.pairings("query")
    assert {other: list(by_task) for other, by_task in pairings.items()} == {"TILDE": TASKS}
    both = pairings["TILDE"]["cite"]
    assert both.validation.queries.tolist() == ["v1", "v2"]
    lists = job_runs.lists("cite")
    scores = [lists.scores(job_runs.run(name, "cite"), outside="drop") for name in SYSTEMS]
    expected = sweep(lists, *scores, ("MAP", "nDCG"), over="query")
    assert both.test.queries.tolist() == lists.queries.tolist()
    for measure, values in expected.values.items():
        np.testing.assert_array_equal(both.test.values[measure], values)
    # Alpha weighs the first system: all of it is BM25 alone.
    assert both.test.topic_values(1.0)["MAP"].tolist() == pytest.approx([1 / 4] * 3)
    assert both.test.topic_values(0.0)["MAP"].tolist() == pytest.approx([1.0] * 3)


def test_noise_of_the_first_system(job_runs):
    noise = job_runs.noise("run", 3)
    assert list(noise) == TASKS
    qrels = job_runs.ranked("cite")[1]
    lists = judge(qrels, qrels)
    scores = lists.scores(job_runs.run("BM25", "cite"), outside="drop")
    expected = noise_levels(lists, scores, ("MAP", "nDCG"), over="run", seeds=range(3))
    pd.testing.assert_frame_equal(noise["cite"], expected)


def test_lists_unknown_task(job_runs):
    with pytest.raises(ValueError, match="setting mixed, task recommend, split test"):
        job_runs.values("recommend")
