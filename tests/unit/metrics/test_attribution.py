"""Precision, recall, CAS, CAB and AC: hand-worked, against peers, and what must always hold."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from sklearn.metrics import precision_score, recall_score

from everycell.metrics.attribution import (
    Difference,
    Quality,
    attribution_confidence,
    cab,
    cas,
    citation_quality,
    direction,
    paired_difference,
)

SHARES = st.integers(2, 30).flatmap(
    lambda n: st.tuples(*(arrays(float, n, elements=st.floats(0, 1)) for _ in range(2)))
)


@given(st.sets(st.integers(1, 10)), st.sets(st.integers(1, 10), min_size=1))
def test_precision_and_recall_are_scikit_learns(cited, relevant):
    truth, created = (
        [number in selection for number in range(1, 11)] for selection in (relevant, cited)
    )
    result = citation_quality(sorted(cited), relevant)
    assert result.precision == pytest.approx(precision_score(truth, created, zero_division=0))
    assert result.recall == pytest.approx(recall_score(truth, created))


def test_a_stray_number_is_a_wrong_citation():
    assert citation_quality([1, 99], [1]) == Quality(0.5, 1.0)


def test_two_relevant_documents():
    assert citation_quality([1, 2], [2, 3]) == Quality(0.5, 0.5)


def test_no_relevant_document_is_refused():
    with pytest.raises(ValueError, match="leave the query out"):
        citation_quality([1], [])


@given(SHARES)
def test_what_always_holds(pair):
    first, second = pair
    assert cas(first, first) == 0
    assert cas(first, second) == cas(second, first) <= 1
    human = cab(first, second, relevant="Human", nonrelevant="LLM")
    assert human == -cab(first, second, relevant="LLM", nonrelevant="Human")
    assert human == cab(second, first, relevant="LLM", nonrelevant="Human")
    assert abs(human) <= cas(first, second) + 1e-12


def test_by_hand():
    """Four queries, relevant documents by machines: informed, CF-informed and vanilla recalls."""
    informed, counterfactual, vanilla = [0, 0, 1, 0], [1, 0, 1, 1], [1, 0, 0, 0]
    assert cas(informed, vanilla) == 0.5
    assert cab(informed, counterfactual, relevant="LLM", nonrelevant="Human") == 0.5


@pytest.mark.parametrize("labels", [("Human", "Human"), ("LLM", "LLM"), ("Human", ""), ("x", "y")])
def test_labels_that_make_no_bias(labels):
    with pytest.raises(ValueError, match="use 'Human' for one and 'LLM'"):
        direction(*labels)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([], [], "at least one query"),
        ([1, 0], [1], "the shapes"),
        ([[1, 0]], [[1, 0]], "the shapes"),
        ([50.0], [0.5], "divide percentages by 100"),
        ([0.5], [math.nan], "nan at position 0"),
    ],
)
def test_bad_values_are_named(first, second, message):
    with pytest.raises(ValueError, match=message):
        cas(first, second)


def test_paired_difference_is_scipys():
    draw = np.random.default_rng(5)
    first, second = draw.integers(0, 2, (2, 200)).astype(float)
    result = paired_difference(first, second, seed=3)
    peer = stats.ttest_rel(first, second)
    assert (result.t, result.p) == (peer.statistic, peer.pvalue)
    assert result.mean == (first - second).mean()
    assert result.low < result.mean < result.high
    assert result == paired_difference(first, second, seed=3)


def test_equal_answers_differ_by_nothing():
    assert paired_difference([1, 0, 1], [1, 0, 1], seed=1) == Difference(0, 0, 0, 0, 1)


def test_confidence_by_hand():
    logprobs = [[math.log(0.5), math.log(0.25)], [], [math.log(1.0)]]
    assert attribution_confidence(logprobs, [[True, False], [], [True]]) == pytest.approx(0.75)
    assert attribution_confidence(logprobs, [[False, True], [], [False]]) == pytest.approx(0.25)
    assert attribution_confidence(logprobs, [[False, False], [], [False]]) is None


@pytest.mark.parametrize(
    ("logprobs", "inside", "message"),
    [
        ([[-1.0]], [], "log-probabilities of 1 queries and set memberships of 0"),
        ([[-1.0]], [[True, False]], "Query 0 has 1 log-probabilities and 2 set memberships"),
        ([[0.5]], [[False]], "must be 0 or less"),
        ([[math.nan]], [[True]], "must be 0 or less"),
    ],
)
def test_bad_probabilities_are_named(logprobs, inside, message):
    with pytest.raises(ValueError, match=message):
        attribution_confidence(logprobs, inside)
