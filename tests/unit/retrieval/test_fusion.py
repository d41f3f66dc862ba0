"""Fusion by ranx, against sums worked out here."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everycell.retrieval.fusion import fuse
from everycell.trec.runs import trec_order


def run_of(seed, documents, queries=("q2", "q10", "q1"), levels=4):
    """A run full of ties over the given documents of each query, rows in random order."""
    rng = np.random.default_rng(seed)
    rows = [(q, f"d{d}", float(rng.integers(levels))) for q in queries for d in documents]
    frame = pd.DataFrame(rows, columns=["query", "document", "score"])
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True)


def by_hand(runs, gain):
    """Sum over the runs of the gain of a document's rank."""
    total = {}
    for run in runs:
        ranks = {}
        for row in trec_order(run).itertuples():
            rank = ranks[row.query] = ranks.get(row.query, 0) + 1
            key = row.query, row.document
            total[key] = total.get(key, 0.0) + gain(rank)
    return total


def scores(run):
    return {(row.query, row.document): row.score for row in run.itertuples()}


RUNS = [run_of(0, range(25)), run_of(1, range(10, 40)), run_of(2, range(5))]


@pytest.mark.parametrize("k", [60, 1, 0.5])
def test_reciprocal_rank_fusion_is_the_sum_over_trec_ranks(k):
    assert scores(fuse(RUNS, "rrf", k=k)) == pytest.approx(by_hand(RUNS, lambda r: 1 / (k + r)))


def test_sixty_is_the_default():
    pd.testing.assert_frame_equal(fuse(RUNS), fuse(RUNS, "rrf", k=60))


def test_rank_biased_centroid_is_the_sum_over_trec_ranks():
    expected = by_hand(RUNS, lambda rank: 0.2 * 0.8 ** (rank - 1))
    assert scores(fuse(RUNS, "rbc", phi=0.8)) == pytest.approx(expected)


def test_inverse_square_ranks_count_the_runs_that_hold_a_document():
    total, stored = by_hand(RUNS, lambda rank: rank**-2), by_hand(RUNS, lambda rank: 1)
    expected = {key: total[key] * stored[key] for key in total}
    assert scores(fuse(RUNS, "isr")) == pytest.approx(expected)
    expected = {key: total[key] * np.log(stored[key]) for key in total}
    assert scores(fuse(RUNS, "log_isr")) == pytest.approx(expected)
    expected = {key: total[key] * np.log(stored[key] + 0.25) for key in total}
    assert scores(fuse(RUNS, "logn_isr", sigma=0.25)) == pytest.approx(expected)


def test_borda_shares_what_is_left_among_unranked_documents():
    first = pd.DataFrame({"query": "q", "document": list("abc"), "score": [3.0, 2, 1]})
    second = pd.DataFrame({"query": "q", "document": ["d"], "score": [1.0]})
    result = scores(fuse([first, second], "bordafuse"))
    # Four documents: 4, 3, 2 points and 1 for d; then 4 for d and (3 + 2 + 1) / 3 for the others.
    assert result == {("q", "a"): 6, ("q", "b"): 5, ("q", "c"): 4, ("q", "d"): 5}


@pytest.mark.parametrize(
    ("method", "expected"),
    [("sum", [1.0, 1.0, 1.0]), ("max", [1.0, 0.5, 1.0]), ("mnz", [1.0, 2.0, 1.0])],
)
def test_scores_are_combined_after_min_max(method, expected):
    first = pd.DataFrame({"query": "q", "document": ["a", "b", "x"], "score": [30.0, 20, 10]})
    second = pd.DataFrame({"query": "q", "document": ["c", "b", "y"], "score": [3.0, 2, 1]})
    result = scores(fuse([first, second], method, normalise="min-max"))
    assert [result["q", document] for document in "abc"] == pytest.approx(expected)


def test_weights_are_those_of_the_runs_in_their_order():
    first = pd.DataFrame({"query": "q", "document": ["a", "b"], "score": [2.0, 1]})
    second = pd.DataFrame({"query": "q", "document": ["b", "a"], "score": [2.0, 1]})
    result = fuse([first, second], "wsum", normalise="min-max", weights=[0.75, 0.25])
    assert result.values.tolist() == [["q", "a", 0.75], ["q", "b", 0.25]]


def test_ranks_as_normalised_scores_follow_trec_order_as_well():
    tied = pd.DataFrame({"query": "q", "document": ["a", "b", "c"], "score": 1.0})
    result = scores(fuse([tied, tied.iloc[::-1]], "sum", normalise="rank"))
    assert result == pytest.approx({("q", "c"): 2.0, ("q", "b"): 4 / 3, ("q", "a"): 2 / 3})


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["rrf", "isr", "bordafuse", "sum"]))
def test_the_order_of_rows_means_nothing(seed, method):
    normalise = "zmuv" if method == "sum" else None
    shuffled = [
        run.set_index("query")
        .groupby(level=0, sort=False)
        .sample(frac=1, random_state=seed)
        .reset_index()
        for run in RUNS
    ]
    pd.testing.assert_frame_equal(
        fuse(shuffled, method, normalise=normalise), fuse(RUNS, method, normalise=normalise)
    )


def test_the_fused_run_stands_in_trec_order_with_the_queries_of_the_first_run():
    fused = fuse(RUNS)
    pd.testing.assert_frame_equal(fused, trec_order(fused))
    assert list(fused["query"].unique()) == list(RUNS[0]["query"].unique())


def test_numba_compiles_again_afterwards():
    import numba

    fuse(RUNS)
    assert not numba.config.DISABLE_JIT
    square = numba.njit(lambda x: x * x)
    assert square(3) == 9 and square.signatures


@pytest.mark.parametrize(
    ("runs", "method", "choices", "message"),
    [
        (RUNS[:1], "rrf", {}, "fewer than two runs"),
        (RUNS, "condorcet", {}, "fusion method 'condorcet' is unknown"),
        (RUNS, "rrf", {"phi": 0.5}, "'rrf' has no parameter 'phi': it accepts \\['k'\\]"),
        (RUNS, "isr", {"k": 1}, "'isr' has no parameter 'k': it accepts none"),
        (RUNS, "rrf", {"k": 0}, "k is 0: it must be a number above 0"),
        (RUNS, "rbc", {}, "'rbc' requires phi: pass phi=."),
        (RUNS, "rbc", {"phi": 1.5}, "phi is 1.5: it must be a number from 0 to 1"),
        (RUNS, "rrf", {"normalise": "zmuv"}, "'rrf' .* `normalise`"),
        (RUNS, "sum", {}, "normalise is None for the fusion method 'sum'"),
        (RUNS, "wsum", {"normalise": "max", "weights": [1]}, "weights are \\[1\\] for 3 runs"),
        ([RUNS[0], run_of(0, [1], ["q1", "q2"])], "rrf", {}, "'q10' is in run 0 but not"),
        ([run_of(0, [1], ["q1"]), run_of(0, [1], ["q1", "x"])], "rrf", {}, "'x' is in run 1 but"),
    ],
)
def test_what_cannot_be_fused_says_why(runs, method, choices, message):
    with pytest.raises(ValueError, match=message):
        fuse(runs, method, **choices)
