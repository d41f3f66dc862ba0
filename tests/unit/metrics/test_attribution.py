"""Precision, recall, CAS, CAB and AC: by hand, against peers, and properties."""

import math

import numpy as np
import pytest
from data_errors import refused
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


@pytest.mark.compares("citation_quality")
@given(st.sets(st.integers(1, 10)), st.sets(st.integers(1, 10), min_size=1))
def test_citation_quality_equals_scikit_learn(cited, relevant):
    truth, created = (
        [number in selection for number in range(1, 11)] for selection in (relevant, cited)
    )
    result = citation_quality(sorted(cited), relevant)
    assert result.precision == pytest.approx(precision_score(truth, created, zero_division=0))
    assert result.recall == pytest.approx(recall_score(truth, created))


def test_citation_quality_stray_number():
    assert citation_quality([1, 99], [1]) == Quality(0.5, 1.0)


def test_citation_quality_two_relevant_documents():
    assert citation_quality([1, 2], [2, 3]) == Quality(0.5, 0.5)


def test_citation_quality_without_relevant_document():
    with refused("relevant", set()):
        citation_quality([1], [])


@given(SHARES)
def test_cas_and_cab_bounds(pair):
    first, second = pair
    assert cas(first, first) == 0
    assert cas(first, second) == cas(second, first) <= 1
    human = cab(first, second, relevant="Human", nonrelevant="LLM")
    assert human == -cab(first, second, relevant="LLM", nonrelevant="Human")
    assert human == cab(second, first, relevant="LLM", nonrelevant="Human")
    assert abs(human) <= cas(first, second) + 1e-12


@pytest.mark.compares("cas", "cab", "direction")
def test_cas_and_cab_by_hand():
    """Four queries, relevant documents by machines: informed, CF-informed and vanilla recalls."""
    informed, counterfactual, vanilla = [0, 0, 1, 0], [1, 0, 1, 1], [1, 0, 0, 0]
    assert cas(informed, vanilla) == 0.5
    assert cab(informed, counterfactual, relevant="LLM", nonrelevant="Human") == 0.5


@pytest.mark.parametrize("labels", [("Human", "Human"), ("LLM", "LLM"), ("Human", ""), ("x", "y")])
def test_direction_invalid_labels(labels):
    with refused("pair of labels", labels):
        direction(*labels)


@pytest.mark.parametrize(
    ("first", "second", "column", "value"),
    [
        ([], [], "pair of shapes", [(0,), (0,)]),
        ([1, 0], [1], "pair of shapes", [(2,), (1,)]),
        ([[1, 0]], [[1, 0]], "pair of shapes", [(1, 2)] * 2),
        ([0.5, 50.0], [0.5, 0.1], "value", 50.0),
        ([0.5], [math.nan], "value", math.nan),
    ],
)
def test_cas_invalid_values(first, second, column, value):
    with refused(column, value):
        cas(first, second)


def test_cas_position_of_a_percentage():
    with refused("value", 50.0, row="position 1", fix="divide percentages by 100"):
        cas([0.5, 50.0], [0.5, 0.1])


@pytest.mark.compares("paired_difference")
def test_paired_difference_equals_scipy():
    draw = np.random.default_rng(5)
    first, second = draw.integers(0, 2, (2, 200)).astype(float)
    result = paired_difference(first, second, seed=3)
    peer = stats.ttest_rel(first, second)
    assert (result.t, result.p) == (peer.statistic, peer.pvalue)
    assert result.mean == (first - second).mean()
    assert result.low < result.mean < result.high
    assert result == paired_difference(first, second, seed=3)


def test_paired_difference_equal_answers():
    assert paired_difference([1, 0, 1], [1, 0, 1], seed=1) == Difference(0, 0, 0, 0, 1)


@pytest.mark.compares("attribution_confidence")
def test_attribution_confidence_by_hand():
    logprobs = [[math.log(0.5), math.log(0.25)], [], [math.log(1.0)]]
    assert attribution_confidence(logprobs, [[True, False], [], [True]]) == pytest.approx(0.75)
    assert attribution_confidence(logprobs, [[False, True], [], [False]]) == pytest.approx(0.25)
    assert attribution_confidence(logprobs, [[False, False], [], [False]]) is None


@pytest.mark.parametrize(
    ("logprobs", "inside", "column", "value"),
    [
        ([[-1.0]], [], "numbers of log-probabilities", [1]),
        ([[-1.0]], [[True, False]], "numbers of log-probabilities", [1]),
        ([[0.5]], [[False]], "log-probability", 0.5),
        ([[math.nan]], [[True]], "log-probability", math.nan),
    ],
)
def test_attribution_confidence_invalid_values(logprobs, inside, column, value):
    with refused(column, value):
        attribution_confidence(logprobs, inside)
