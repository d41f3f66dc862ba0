"""A query's value depends neither on other queries nor on other measures."""

import io
import json
from pathlib import Path

import command_line
import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import everycell
from everycell.fair_ranking.reranked_runs import rerank_run
from everycell.public.pyterrier import FaIR, Felix, Pufr
from everycell.trec.runs import trec_order, write_qrels, write_run
from papers.abolghasemi2026.ch2_ranx import uncompiled_ranx
from papers.lajewska2025.ch3_pipeline import reciprocal_rank_fusion

from .test_public import MEASURES

# PyTerrier imports ranx, whose compiled functions the tests of `ranx_report` cannot use.
with uncompiled_ranx():
    pass

GRADES = st.sampled_from([[0, 0, 1], [0, 1, 2, 3], [-1, 0], [-2, -1], [0], [-1, 0, 2]])
PROPERTY = settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=12
)
#: Documents of the collection; all have counts, groups and neutralities.
DOCUMENTS = [f"d{number}" for number in range(12)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Counts, groups and a reference run with all queries."""
    path = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(0)
    counts = pd.DataFrame({"document_id": DOCUMENTS, "length": rng.integers(6, 30, 12)})
    counts = counts.assign(f=rng.integers(0, 3, 12), m=rng.integers(0, 3, 12))
    counts.to_parquet(path / "counts.parquet")
    shares = rng.integers(0, 5, 12) / 4
    groups = pd.DataFrame({"document": DOCUMENTS, "a": shares, "b": 1 - shares})
    groups[:9].to_csv(path / "groups.csv", index=False)
    write_run(random_run(rng, ["q0", "q1", "q2", "q3"]), path / "other.run", tag="t")
    return path


def random_run(rng: np.random.Generator, queries: list[str], min_length: int = 1) -> pd.DataFrame:
    """A run with ties and lists of different lengths, in random order."""
    rows = [
        (query, document, float(rng.integers(1, 5)))
        for query in queries
        for document in rng.choice(DOCUMENTS, rng.integers(min_length, 13), replace=False)
    ]
    run = pd.DataFrame(rows, columns=["query", "document", "score"])
    return run.sample(frac=1, random_state=int(rng.integers(99))).reset_index(drop=True)


def random_qrels(rng: np.random.Generator, grades: list[list[int]]) -> pd.DataFrame:
    """Judgements of one query per list of grades; the queries differ in their highest grade."""
    rows = [
        (f"q{number}", document, int(rng.choice(levels)))
        for number, levels in enumerate(grades)
        for document in rng.choice(DOCUMENTS, rng.integers(1, 13), replace=False)
    ]
    return pd.DataFrame(rows, columns=["query", "document", "relevance"])


def of_query(frame: pd.DataFrame, query: str) -> pd.DataFrame:
    return frame[frame["query"] == query].reset_index(drop=True)


def own_measures(folder: Path) -> list[str]:
    """All measures of everycell's provider, each with several values of every parameter."""
    counts, groups = (f"'{folder / name}'" for name in ("counts.parquet", "groups.csv"))
    return [
        *(f"TExFAIR(counts={counts})@{k}" for k in (1, 20)),
        *(f"AWRF(counts={counts},unknown='neutral')@{k}" for k in (1, 20)),
        *(f"NFaiRR(counts={counts},tau={tau})@{k}" for tau in (0, 2) for k in (1, 5)),
        *(f"RBO(run='{folder / 'other.run'}',p={p})@{k}" for p in (0.5, 0.9) for k in (3, 20)),
        *(f"GFR(groups={groups},max_rel={highest})@{k}" for highest in (3, 4) for k in (1, 20)),
        *(
            f"GFR(groups={groups},max_rel=3,divergence='{divergence}',utility='{utility}')@5"
            for divergence in ("JSD", "NMD", "RNOD")
            for utility in ("ERR", "iRBU")
        ),
    ]


def assert_same(joint: pd.DataFrame, alone: pd.DataFrame) -> None:
    """Equal up to the order of summation, with NaN at the same places."""
    pd.testing.assert_frame_equal(joint, alone, rtol=0, atol=1e-12)


@pytest.mark.slow
@settings(PROPERTY, max_examples=3)
@given(st.integers(0, 10_000), st.lists(GRADES, min_size=2, max_size=4))
def test_evaluate_queries_together_and_alone(seed, grades):
    rng = np.random.default_rng(seed)
    qrels = random_qrels(rng, grades)
    # A query without results, if there are four.
    run = random_run(rng, [f"q{number}" for number in range(min(len(grades), 3))])
    queries = run["query"].unique()
    # Accuracy fails if only relevant documents are retrieved.
    unjudged = pd.DataFrame({"query": queries, "document": "unjudged", "score": 9.0})
    accuracy = [name for name in MEASURES if name.startswith("Accuracy")]
    assert accuracy
    for ranked, measures in (
        (run, [name for name in MEASURES if name not in accuracy]),
        (pd.concat([run, unjudged], ignore_index=True), accuracy),
    ):
        joint = everycell.evaluate(ranked, qrels, measures)
        for query in queries:
            alone = everycell.evaluate(of_query(ranked, query), of_query(qrels, query), measures)
            assert_same(joint.loc[[query]], alone)


@pytest.mark.slow
@settings(PROPERTY, max_examples=3)
@given(st.integers(0, 10_000), st.lists(GRADES, min_size=2, max_size=4))
def test_provider_queries_and_measures_together_and_alone(folder, seed, grades):
    rng = np.random.default_rng(seed)
    qrels = random_qrels(rng, grades)
    run = random_run(rng, [f"q{number}" for number in range(min(len(grades), 3))])
    assert everycell.GFR, "registers the measures"
    measures = [ir_measures.parse_measure(name) for name in own_measures(folder)]
    names = {"query": "query_id", "document": "doc_id"}

    def values(selection, rows_of_run, rows_of_qrels):
        frames = (frame.rename(columns=names) for frame in (rows_of_qrels, rows_of_run))
        metrics = ir_measures.iter_calc(selection, *frames)
        return {(item.query_id, str(item.measure)): item.value for item in metrics}

    joint = values(measures, run, qrels)
    by_query, by_measure = {}, {}
    for query in qrels["query"].unique():
        by_query |= values(measures, of_query(run, query), of_query(qrels, query))
    for measure in measures:
        by_measure |= values([measure], run, qrels)
    assert len(joint) == len(measures) * len(grades)
    assert joint == pytest.approx(by_query, abs=1e-12, nan_ok=True)
    assert joint == pytest.approx(by_measure, abs=1e-12, nan_ok=True)


@PROPERTY
@given(
    st.integers(0, 10_000),
    st.sampled_from(["all", "run"]),
    st.sampled_from([0, 1, 3]),
    st.sampled_from([None, [0.3, 0.7]]),
    st.booleans(),
)
def test_fairness_queries_and_cutoffs_together_and_alone(
    folder, seed, background, tau, target, from_file
):
    run = random_run(np.random.default_rng(seed), ["q0", "q1", "q2"])
    path = folder / "counts.parquet"
    counts = path if from_file else pd.read_parquet(path).set_index("document_id")
    options = {"background": background, "tau": tau, "target": target, "allow_short": True}
    joint = everycell.fairness(run, counts, [1, 4, 20], **options).by_query
    for query in joint["query"].unique():
        alone = everycell.fairness(of_query(run, query), counts, [1, 4, 20], **options).by_query
        rows = joint[joint["query"] == query].reset_index(drop=True)
        assert_same(rows, alone)
    for k in (1, 4, 20):
        alone = everycell.fairness(run, counts, k, **options).by_query
        assert_same(joint[joint["k"] == k].reset_index(drop=True), alone)


@PROPERTY
@given(st.integers(0, 10_000))
def test_fusion_queries_together_and_alone(seed):
    rng = np.random.default_rng(seed)
    runs = [random_run(rng, ["q0", "q1", "q2"]) for _ in range(2)]
    joint = reciprocal_rank_fusion(runs)
    for query in ("q0", "q1", "q2"):
        alone = reciprocal_rank_fusion([of_query(run, query) for run in runs])
        assert_same(of_query(joint, query), alone)


@PROPERTY
@given(
    st.integers(0, 10_000),
    st.sampled_from([("pufr", 0.0), ("pufr", 1.0), ("fair", 0.6), ("assignment", 0.9)]),
)
def test_rerank_run_queries_together_and_alone(seed, method):
    rng = np.random.default_rng(seed)
    run = random_run(rng, ["q0", "q1", "q2"])
    neutralities = dict(zip(DOCUMENTS, rng.integers(0, 3, 12) / 2, strict=True))
    deviations = run.assign(score=rng.random(len(run)))
    joint = rerank_run(run, neutralities, *method, deviations=deviations)
    for query in ("q0", "q1", "q2"):
        alone = rerank_run(of_query(run, query), neutralities, *method, deviations=deviations)
        assert_same(of_query(joint, query), alone)


@pytest.mark.parametrize("method", ["pufr", "assignment"])
def test_rerank_run_strength_zero(method):
    """Re-ranking with strength 0 leaves the order unchanged, with ties as in trec_eval."""
    rng = np.random.default_rng(5)
    run = random_run(rng, ["q0", "q1", "q2"], min_length=8).sort_values("query", ignore_index=True)
    # These scores are equal as 32-bit floats, so trec_eval orders them by id.
    run.loc[:5, "score"] = 3.0 + rng.permutation(6) * 1e-9
    neutralities = dict(zip(DOCUMENTS, rng.integers(0, 3, 12) / 2, strict=True))
    with pytest.warns(UserWarning, match="equal as 32-bit floats"):
        reranked = rerank_run(run, neutralities, method, 0.0, deviations=run.assign(score=1.0))
        assert reranked["document"].tolist() == trec_order(run)["document"].tolist()


@pytest.mark.parametrize("reranker", [FaIR(0.6), Pufr(1.0), Felix("feature", ranks=4, seed=2)])
def test_pyterrier_queries_together_and_alone(reranker):
    rng = np.random.default_rng(3)
    run = random_run(rng, ["q0", "q1", "q2"], min_length=5)
    run = run.rename(columns={"query": "qid", "document": "docno"}).assign(
        protected=rng.random(len(run)) < 0.3,
        deviation=rng.random(len(run)),
        feature=rng.integers(0, 9, len(run)),
    )
    results = pt.model.add_ranks(run)
    joint = reranker(results)
    for query in ("q0", "q1", "q2"):
        alone = reranker(results[results["qid"] == query])
        columns = ["docno", "score", "rank"]
        pd.testing.assert_frame_equal(
            joint.loc[joint["qid"] == query, columns].reset_index(drop=True),
            alone[columns].reset_index(drop=True),
        )


def test_pyterrier_experiment_queries_together_and_alone(folder):
    rng = np.random.default_rng(4)
    qrels = random_qrels(rng, [[0, 1], [0, 3], [0, 2]])
    columns = {"query": "qid", "document": "docno", "relevance": "label"}
    results = pt.model.add_ranks(random_run(rng, ["q0", "q1", "q2"]).rename(columns=columns))
    ranker = pt.Transformer.from_df(results.assign(query="text"))
    measures = [everycell.GFR(groups=str(folder / "groups.csv"), max_rel=3) @ 5]
    measures += [ir_measures.parse_measure(name) for name in own_measures(folder)[:8]]
    topics = pd.DataFrame({"qid": ["q0", "q1", "q2"], "query": "text"})

    def values(queries):
        table = pt.Experiment(
            [ranker],
            topics[topics["qid"].isin(queries)],
            qrels[qrels["query"].isin(queries)].rename(columns=columns),
            measures,
            names=["run"],
            perquery=True,
        )
        return table.set_index(["qid", "measure"])["value"].to_dict()

    joint = values(["q0", "q1", "q2"])
    assert len(joint) == 3 * len(measures)
    alone = values(["q0"]) | values(["q1"]) | values(["q2"])
    assert joint == pytest.approx(alone, abs=1e-12, nan_ok=True)


COMMANDS = {
    "compare": ("a.run", "b.run", "qrels", "--measure", "AP", "--measure", "nDCG@5", "--k", "5"),
    "interpolate": ("a.run", "b.run", "qrels", "--measure", "AP", "--folds", "2", "--noise", "1"),
    "overlap": ("a.run", "b.run", "--depth", "5"),
    "fairness": ("a.run", "--counts", "counts.parquet", "--k", "3", "--background", "run"),
    "citations": ("answers.jsonl",),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_queries_together_and_alone(folder, tmp_path, monkeypatch, command):
    """Rows per query are those of a part of the queries; interpolated weights are tuned."""
    rng = np.random.default_rng(8)
    queries = ["q0", "q1", "q2", "q3"]
    runs = {name: random_run(rng, queries, min_length=5) for name in ("a.run", "b.run")}
    qrels = random_qrels(rng, [[0, 1], [0, 3], [0, 1, 2], [-1, 0, 1]])
    answers = [
        {"question": query, "answer": f"Yes [{n}][4].", "documents": 5, "relevant": [1]}
        for n, query in enumerate(queries, 1)
    ]
    tables = []
    for selection in (queries, queries[:2]):
        path = tmp_path / str(len(selection))
        path.mkdir()
        monkeypatch.chdir(path)
        for name, run in runs.items():
            write_run(run[run["query"].isin(selection)], path / name, tag="t")
        write_qrels(qrels[qrels["query"].isin(selection)], path / "qrels")
        (path / "counts.parquet").symlink_to(folder / "counts.parquet")
        lines = [json.dumps(answer) for answer in answers if answer["question"] in selection]
        (path / "answers.jsonl").write_text("\n".join(lines) + "\n")
        options = ("--per-query", "--format", "csv")
        code, out, err = command_line.call("measure", command, *COMMANDS[command], *options)
        assert code == 0, err
        table = pd.read_csv(io.StringIO(out))
        key = "question" if command == "citations" else "query"
        tables.append(table[table[key].isin(queries[:2])].set_index(key).sort_index())
    joint, alone = tables
    assert len(alone) == 2
    tuned = [column for column in alone if "tuned" in column]
    assert_same(joint.drop(columns=tuned), alone.drop(columns=tuned))
