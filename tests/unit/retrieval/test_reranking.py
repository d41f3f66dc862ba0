"""Second stages: re-ordered heads of lists, and scores from preferences."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everycell.retrieval.reranking import (
    aggregate_preferences,
    ordered_pairs,
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


def test_the_best_documents_break_ties_as_trec_eval_does():
    assert top_documents(RUN, 2).values.tolist() == [
        ["r", "x", 1.0],
        ["q", "a", 3.0],
        ["q", "c", 2.0],
    ]
    assert len(top_documents(RUN, 9)) == len(RUN)
    with pytest.raises(ValueError, match="depth is 0: it must be 1 or more"):
        top_documents(RUN, 0)


def test_rescored_documents_come_first_and_the_others_keep_their_order():
    scores = pd.DataFrame({"query": "q", "document": ["b", "a"], "score": [-1.0, -2]})
    result = rerank(RUN, scores)
    assert result.values.tolist() == [
        ["r", "x", 1.0],
        ["q", "b", 3.0],
        ["q", "a", 2.0],
        ["q", "c", 1.0],
    ]


def test_a_document_of_another_list_is_refused():
    other = pd.DataFrame({"query": ["q", "r"], "document": ["a", "a"], "score": [1.0, 2]})
    with pytest.raises(ValueError, match="'a' has a new score for query 'r', but is not in"):
        rerank(RUN, other)


def test_pairs_are_of_one_query():
    assert ordered_pairs(RUN[RUN["document"] != "c"]).values.tolist() == [
        ["q", "a", "b"],
        ["q", "b", "a"],
    ]
    assert ordered_pairs(RUN[:0]).empty
    with pytest.raises(ValueError, match="Row [0-9] of the run: document is"):
        ordered_pairs(pd.concat([RUN, RUN[1:2]]))


def test_scores_by_hand():
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


def test_certain_preferences_have_finite_logarithms():
    result = aggregate_preferences(preferences([[0, 1], [0, 0]]), "log")
    assert result["document"].tolist() == ["d0", "d1"]
    assert np.isfinite(result["score"]).all()


@pytest.mark.parametrize("choice", CHOICES)
@given(st.lists(st.floats(-5, 5).map(lambda x: round(x, 1)), min_size=2, max_size=6, unique=True))
@settings(max_examples=40)
def test_preferences_of_a_total_order_give_that_order(choice, strengths):
    values = np.array(strengths)
    p = 1 / (1 + np.exp(values[None, :] - values[:, None]))
    assert order(p, *choice) == [f"d{position}" for position in np.argsort(-values)]


@pytest.mark.parametrize("symmetric", [True, False])
@given(st.integers(2, 5), st.integers(0, 10_000))
@settings(max_examples=40)
def test_turned_preferences_turn_the_order(symmetric, size, seed):
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
def test_a_symmetric_score_of_consistent_preferences_is_twice_the_other(size, seed):
    p = np.triu(np.random.default_rng(seed).uniform(0.01, 0.99, (size, size)), 1)
    p += np.tril(1 - p.T, -1)
    for how in ("sum", "log"):
        both, one = (
            aggregate_preferences(preferences(p), how, symmetric=symmetric).set_index("document")
            for symmetric in (True, False)
        )
        assert both["score"].to_dict() == pytest.approx((2 * one["score"]).to_dict())


FINE = preferences([[0, 0.9], [0.4, 0]])


@pytest.mark.parametrize(
    ("frame", "how", "message"),
    [
        (FINE, "mean", "how is 'mean': it must be 'sum' or 'log'"),
        (FINE.assign(probability=[0.9, 1.5]), "sum", "Row 1 .*probability is .*1.5"),
        (FINE.assign(probability=[math.nan, 0.5]), "sum", "Row 0 .*probability is .*nan"),
        (
            FINE.assign(second="d0"),
            "sum",
            "'d0', 'd0' of query 'q' compares a document with",
        ),
        (pd.concat([FINE, FINE[:1]]), "log", "Row 2 .*second is 'd1'"),
        (FINE[:1], "sum", "'d0' of query 'q' is not compared with every other document in both"),
    ],
)
def test_faults_of_preferences(frame, how, message):
    with pytest.raises(ValueError, match=message):
        aggregate_preferences(frame, how)
