"""Re-rankers in pipelines of PyTerrier, which runs them without Java."""

import pandas as pd
import pyterrier as pt
import pytest

import everycell
from everycell.public.pyterrier import FaIR, Felix, Pufr
from everycell.trec.runs import write_run

RESULTS = pd.DataFrame(
    [(q, f"text of {q}", f"d{d}", 5.0 - d) for q in ("q1", "q2") for d in range(5)],
    columns=["qid", "query", "docno", "score"],
)
TOPICS = RESULTS[["qid", "query"]].drop_duplicates()
bm25 = pt.Transformer.from_df(RESULTS)
protect = pt.apply.protected(lambda row: row["docno"] in ("d3", "d4"))


def order(results: pd.DataFrame, query: str = "q1") -> list[str]:
    return results[results["qid"] == query].sort_values("rank")["docno"].tolist()


@pytest.mark.parametrize(
    ("pipeline", "expected"),
    [
        (bm25 >> protect >> FaIR(0.9), ["d3", "d0", "d4", "d1", "d2"]),
        (
            bm25 >> protect >> pt.apply.deviation(lambda row: 0.9) >> Pufr(1.0),
            ["d0", "d1", "d3", "d2", "d4"],
        ),
    ],
)
def test_rerankers_equal_functions(pipeline, expected):
    results = pipeline(TOPICS)
    assert order(results) == order(results, "q2") == expected
    assert results["score"].tolist() == [5, 4, 3, 2, 1] * 2
    assert results["rank"].tolist() == [*range(5)] * 2
    assert (results["query"] == "text of " + results["qid"]).all()


def test_felix_seed_and_query():
    citations = pt.apply.citations(lambda row: 100.0 if row["docno"] == "d0" else 1.0)
    draws = [
        order((bm25 >> citations >> Felix("citations", ranks=3, seed=seed))(TOPICS))
        for seed in range(20)
    ]
    assert {len(set(ranking)) for ranking in draws} == {3} and len(set(map(tuple, draws))) > 1
    alone = (bm25 >> citations >> Felix("citations", ranks=3, seed=4))(TOPICS.head(1))
    assert order(alone) == draws[4]


def test_fair_empty_frame_and_missing_column():
    assert FaIR(0.5)(RESULTS.assign(protected=True).head(0)).empty
    with pytest.raises(pt.validate.InputValidationError, match="protected"):
        FaIR(0.5)(RESULTS)


def test_experiment_with_own_measure(tmp_path):
    write_run(everycell.as_run(RESULTS), tmp_path / "bm25.run", tag="t")
    measure = everycell.RBO(run=str(tmp_path / "bm25.run")) @ 5
    qrels = pd.DataFrame({"qid": ["q1", "q2"], "docno": ["d0", "d4"], "label": 1})
    table = pt.Experiment(
        [bm25, bm25 >> protect >> FaIR(0.9)], TOPICS, qrels, [measure], names=["bm25", "fair"]
    )
    bm25_value, fair_value = table[str(measure)]
    assert bm25_value == pytest.approx(1) and 0 < fair_value < 1


def test_fair_ties_keep_order():
    results = pd.DataFrame(
        [("q1", "text of q1", f"d{d}", 1.0 + d % 2) for d in range(100)],
        columns=["qid", "query", "docno", "score"],
    )
    pipeline = pt.Transformer.from_df(results) >> pt.apply.protected(lambda row: False) >> FaIR(0.1)
    expected = [f"d{d}" for d in (*range(1, 100, 2), *range(0, 100, 2))]
    assert order(pipeline(results[["qid", "query"]].drop_duplicates())) == expected
