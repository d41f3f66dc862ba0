"""The choice of a ranker's parameters on validation lists, by hand and by pytrec_eval."""

import numpy as np
import pandas as pd
import pytest
import pytrec_eval

from everycell.retrieval.judged_lists import search_grid

PAIRS = ["query", "document"]


def lists_of(**relevant):
    """Lists of the documents a, b, c for each query, with its relevant document."""
    return pd.DataFrame(
        [(q, d, int(d == best)) for q, best in relevant.items() for d in "abc"],
        columns=[*PAIRS, "relevance"],
    )


def rank(x, y=0.0):
    """Rank b first where x is 1 or more, else a; c is always last, and y moves nothing."""
    run = lists_of(q="a", r="a", s="a")[PAIRS]
    return run.assign(score=run["document"].map({"a": 1.0, "b": x + 0.5, "c": -1.0 - y}))


def test_search_grid_best_and_ties():
    lists = {"cite": lists_of(q="b", r="b", s="a")}
    best, table = search_grid(rank, {"x": [0.0, 1.0, 2.0]}, lists, "RR")
    assert best == {"x": 1.0}
    # Reciprocal ranks 1/2, 1/2, 1 and then 1, 1, 1/2.
    assert table["RR"].tolist() == pytest.approx([2 / 3, 2.5 / 3, 2.5 / 3])
    best, _ = search_grid(rank, {"x": [2.0, 1.0, 0.0]}, lists, "RR")
    assert best == {"x": 2.0}


def test_search_grid_order():
    requests = []

    def noted(**point):
        requests.append(point)
        return rank(**point)

    best, table = search_grid(
        noted, {"x": [1, 0], "y": [0.5, 0.25]}, {"cite": lists_of(q="b")}, "MAP"
    )
    assert requests == [{"x": x, "y": y} for x in (1, 0) for y in (0.5, 0.25)]
    assert list(table) == ["x", "y", "MAP"]
    assert table.values.tolist() == [[1, 0.5, 1], [1, 0.25, 1], [0, 0.5, 0.5], [0, 0.25, 0.5]]
    # A parameter is given back as it came.
    assert best == {"x": 1, "y": 0.5} and isinstance(best["x"], int)


def test_search_grid_task_weights():
    lists = {"cite": lists_of(q="b"), "co-cite": lists_of(q="a", r="a", s="a")}
    _, table = search_grid(rank, {"x": [0.0, 1.0]}, lists, "RR")
    assert table["RR"].tolist() == pytest.approx([(0.5 + 1) / 2, (1 + 0.5) / 2])


def test_values_are_those_of_pytrec_eval_on_the_lists_alone():
    rng = np.random.default_rng(1)
    lists = {"cite": lists_of(q="b", r="c"), "co-cite": lists_of(r="a", s="b")}
    runs = {
        x: lists_of(q="a", r="a", s="a", other="a")[PAIRS].assign(score=rng.random(12))
        for x in (0.1, 0.2, 0.3)
    }
    # Another document that would come first, were it listed.
    longer = pd.DataFrame({"query": ["q"], "document": ["x"], "score": [9.0]})
    best, table = search_grid(lambda x: pd.concat([runs[x], longer]), {"x": list(runs)}, lists)
    expected = []
    for run in runs.values():
        means = []
        for qrels in lists.values():
            judged = {
                q: dict(zip(g.document, g.relevance, strict=True))
                for q, g in qrels.groupby("query")
            }
            scores = {
                q: dict(zip(g.document, g.score, strict=True)) for q, g in run.groupby("query")
            }
            result = pytrec_eval.RelevanceEvaluator(judged, {"ndcg"}).evaluate(scores)
            means.append(np.mean([values["ndcg"] for values in result.values()]))
        expected.append(np.mean(means))
    assert table["nDCG"].tolist() == pytest.approx(expected)
    assert np.argmax(expected) > 0 and best == {"x": list(runs)[int(np.argmax(expected))]}


def test_scores_missing_candidate():
    with pytest.raises(ValueError, match="'c'"):
        search_grid(
            lambda x: rank(x).query("document != 'c'"), {"x": [1.0]}, {"t": lists_of(q="a")}
        )
