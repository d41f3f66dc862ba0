"""Second stages: re-ordered heads of lists, and scores from preferences."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everycell.trec.runs import trec_order
from papers.abolghasemi2026.ch2_ranx import ranx_run, uncompiled_ranx
from papers.lajewska2025.ch3_pipeline import (
    aggregate_preferences,
    ordered_pairs,
    reciprocal_rank_fusion,
    rerank,
    top_documents,
)

RUN = pd.DataFrame(
    {"query": ["r", "q", "q", "q"], "document": ["x", "a", "b", "c"], "score": [1.0, 3, 2, 2]}
)
CHOICES = [(how, symmetric) for how in ("sum", "log") for symmetric in (True, False)]


def preferences(p):
    """Frame of a matrix of probabilities, whose diagonal is left out."""
    names = [f"d{position}" for position in range(len(p))]
    pairs = ordered_pairs(pd.DataFrame({"query": "q", "document": names}))
    first, second = (pairs[side].str[1:].astype(int) for side in ("first", "second"))
    return pairs.assign(probability=np.asarray(p, dtype=float)[first, second])


def order(p, *choice):
    how, symmetric = choice
    return aggregate_preferences(preferences(p), how, symmetric=symmetric)["document"].tolist()


def test_top_documents_ties():
    assert top_documents(RUN, 2).values.tolist() == [
        ["r", "x", 1.0],
        ["q", "a", 3.0],
        ["q", "c", 2.0],
    ]
    assert len(top_documents(RUN, 9)) == len(RUN)


def test_rerank_order():
    scores = pd.DataFrame({"query": "q", "document": ["b", "a"], "score": [-1.0, -2]})
    result = rerank(RUN, scores)
    assert result.values.tolist() == [
        ["r", "x", 1.0],
        ["q", "b", 3.0],
        ["q", "a", 2.0],
        ["q", "c", 1.0],
    ]


def test_ordered_pairs_within_queries():
    assert ordered_pairs(RUN[RUN["document"] != "c"]).values.tolist() == [
        ["q", "a", "b"],
        ["q", "b", "a"],
    ]
    assert ordered_pairs(RUN[:0]).empty


def test_aggregate_preferences_by_hand():
    p = [[0, 0.9, 0.2], [0.4, 0, 0.5], [0.7, 0.5, 0]]
    expected = {
        ("sum", False): {"d0": 1.1, "d1": 0.9, "d2": 1.2},
        ("sum", True): {"d0": 1.1 + 0.6 + 0.3, "d1": 0.9 + 0.1 + 0.5, "d2": 1.2 + 0.8 + 0.5},
        ("log", False): {
            "d0": math.log(0.9 * 0.2),
            "d1": math.log(0.4 * 0.5),
            "d2": math.log(0.7 * 0.5),
        },
        ("log", True): {
            "d0": math.log(0.9 * 0.2 * 0.6 * 0.3),
            "d1": math.log(0.4 * 0.5 * 0.1 * 0.5),
            "d2": math.log(0.7 * 0.5 * 0.8 * 0.5),
        },
    }
    for (how, symmetric), scores in expected.items():
        result = aggregate_preferences(preferences(p), how, symmetric=symmetric)
        assert dict(zip(result["document"], result["score"], strict=True)) == pytest.approx(scores)


def test_aggregate_preferences_certain():
    result = aggregate_preferences(preferences([[0, 1], [0, 0]]), "log")
    assert result["document"].tolist() == ["d0", "d1"]
    assert np.isfinite(result["score"]).all()


@pytest.mark.parametrize("choice", CHOICES)
@given(st.lists(st.floats(-5, 5).map(lambda x: round(x, 1)), min_size=2, max_size=6, unique=True))
@settings(max_examples=40)
def test_aggregate_preferences_total_order(choice, strengths):
    values = np.array(strengths)
    p = 1 / (1 + np.exp(values[None, :] - values[:, None]))
    assert order(p, *choice) == [f"d{position}" for position in np.argsort(-values)]


@pytest.mark.parametrize("symmetric", [True, False])
@given(st.integers(2, 5), st.integers(0, 10_000))
@settings(max_examples=40)
def test_aggregate_preferences_reversed(symmetric, size, seed):
    """Reversed preferences give mirrored sums."""
    p = np.random.default_rng(seed).uniform(0, 1, (size, size))
    forth, back = (
        aggregate_preferences(preferences(x), symmetric=symmetric).set_index("document")
        for x in (p, 1 - p)
    )
    total = (1 + symmetric) * (size - 1)
    assert (total - forth["score"]).to_dict() == pytest.approx(back["score"].to_dict())


@pytest.mark.slow
@given(st.integers(2, 5), st.integers(0, 10_000))
@settings(max_examples=40)
def test_aggregate_preferences_symmetric(size, seed):
    p = np.triu(np.random.default_rng(seed).uniform(0.01, 0.99, (size, size)), 1)
    p += np.tril(1 - p.T, -1)
    for how in ("sum", "log"):
        both, one = (
            aggregate_preferences(preferences(p), how, symmetric=symmetric).set_index("document")
            for symmetric in (True, False)
        )
        assert both["score"].to_dict() == pytest.approx((2 * one["score"]).to_dict())


def random_run(seed, documents, queries=("q2", "q10", "q1"), levels=4):
    """A run full of ties over the given documents of each query, rows in random order."""
    rng = np.random.default_rng(seed)
    rows = [(q, f"d{d}", float(rng.integers(levels))) for q in queries for d in documents]
    frame = pd.DataFrame(rows, columns=["query", "document", "score"])
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True)


RUNS = [random_run(0, range(25)), random_run(1, range(10, 40)), random_run(2, range(5))]


@pytest.mark.parametrize("k", [60, 1, 0.5])
def test_reciprocal_rank_fusion_is_the_sum_over_trec_ranks(k):
    expected = {}
    for run in RUNS:
        for query, documents in trec_order(run).groupby("query")["document"]:
            for rank, document in enumerate(documents, start=1):
                key = query, document
                expected[key] = expected.get(key, 0.0) + 1 / (k + rank)
    fused = reciprocal_rank_fusion(RUNS, k)
    assert {(row.query, row.document): row.score for row in fused.itertuples()} == expected
    pd.testing.assert_frame_equal(fused, trec_order(fused))
    first = trec_order(RUNS[0])
    assert fused["query"].unique().tolist() == first["query"].unique().tolist()


def test_reciprocal_rank_fusion_equals_ranx():
    with uncompiled_ranx() as ranx:
        # Without ties, since ranx breaks them otherwise.
        runs = [run.assign(score=np.random.default_rng(1).permutation(len(run))) for run in RUNS]
        expected = ranx.fuse(
            [ranx_run(run.astype({"score": float})) for run in runs],
            method="rrf",
            params={"k": 60},
        ).to_dict()
    fused = reciprocal_rank_fusion(runs)
    assert {query: dict(zip(part["document"], part["score"], strict=True))
            for query, part in fused.groupby("query")} == expected  # fmt: skip


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_reciprocal_rank_fusion_order_of_rows_means_nothing(seed):
    shuffled = [
        run.set_index("query")
        .groupby(level=0, sort=False)
        .sample(frac=1, random_state=seed)
        .reset_index()
        for run in RUNS
    ]
    pd.testing.assert_frame_equal(reciprocal_rank_fusion(shuffled), reciprocal_rank_fusion(RUNS))
