"""Weights of ranks, exposure of groups and AWRF in both definitions."""

import math

import numpy as np
import pytest
from data_errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from scipy.stats import geom

from everycell.metrics.awrf import awrf, group_exposure
from everycell.metrics.ranked_groups import alignments, rank_weights

ranked = st.integers(2, 4).flatmap(
    lambda groups: st.lists(
        st.lists(st.integers(0, 3), min_size=groups, max_size=groups), min_size=1, max_size=6
    )
)


@pytest.mark.compares("rank_weights")
def test_rank_weights_schemes():
    assert rank_weights(3)[2] == 1 / math.log2(4)
    assert rank_weights(4, "TREC").tolist() == [1, 1, 1 / math.log2(3), 0.5]
    np.testing.assert_allclose(rank_weights(5, "geometric", stop=0.3), geom.pmf(range(1, 6), 0.3))


@pytest.mark.compares("awrf", "group_exposure", "group_shares", "absolute_distance")
@settings(max_examples=40)
@given(counts=ranked)
def test_awrf_trec_equals_scipy(counts):
    weights = rank_weights(len(counts), "TREC")
    alignment = alignments(counts, "none")
    target = np.arange(1, len(counts[0]) + 1) / sum(range(1, len(counts[0]) + 1))
    result = awrf([alignment], target, definition="TREC", weights=weights)[0, -1]
    exposure = sum(weight * a for weight, a in zip(weights, alignment, strict=True))
    if not exposure.sum():
        assert math.isnan(result)
    else:
        # SciPy returns NaN if rounding makes the divergence negative.
        expected = 1 - np.nan_to_num(jensenshannon(exposure, target)) ** 2
        assert result == pytest.approx(expected, abs=1e-9)
        assert 1 - math.log(2) <= result <= 1


@settings(max_examples=40)
@given(counts=ranked)
def test_awrf_range(counts):
    alignment = alignments([counts])
    groups = alignment.shape[2]
    assert (awrf(alignment) <= 2 * (1 - 1 / groups) + 1e-12).all()
    assert (awrf(alignment, distance="JSD") <= 1).all()
    exposure = group_exposure(alignment)[0, -1]
    target = exposure / exposure.sum()
    assert awrf(alignment, target)[0, -1] == pytest.approx(0, abs=1e-12)
    assert awrf(alignment, target, definition="TREC")[0, -1] == pytest.approx(1)


@settings(max_examples=40)
@given(counts=ranked, data=st.data())
def test_awrf_swapped_groups(counts, data):
    order = data.draw(st.permutations(range(len(counts[0]))))
    alignment = alignments([counts])
    np.testing.assert_allclose(awrf(alignment), awrf(alignment[:, :, order]), atol=1e-12)


@settings(max_examples=40)
@given(counts=ranked)
def test_group_exposure_cutoffs(counts):
    alignment = alignments([counts])
    exposure = group_exposure(alignment)[0]
    assert (np.diff(exposure, axis=0) >= 0).all()
    ends = np.arange(len(counts)) < (len(counts) + 1) // 2
    short = group_exposure(alignment, listed=ends[None])[0]
    np.testing.assert_array_equal(short[ends], exposure[ends])
    assert (short[~ends] == short[ends][-1]).all()


@pytest.mark.compares("alignments")
def test_alignments_without_terms():
    counts = [[[4, 0], [0, 0]]]
    assert awrf(alignments(counts))[0, 1] == pytest.approx(1 / (1 + 1 / math.log2(3)))
    assert awrf(alignments(counts, "none"))[0, 1] == 1
    assert np.isnan(awrf(alignments([[[0, 0]]], "none"))).all()


def test_alignments_number_of_terms():
    """Counterexample of the thesis (section 4.6): one name balances many."""
    few, many = alignments([[[1, 0], [0, 1]]]), alignments([[[1, 0], [0, 9]]])
    np.testing.assert_array_equal(awrf(few), awrf(many))


@pytest.mark.parametrize(
    ("call", "column", "value"),
    [
        (lambda: rank_weights(0), "depth", 0),
        (lambda: rank_weights(3, "linear"), "scheme", "linear"),
        (lambda: rank_weights(3, "geometric", stop=0), "stop", 0),
        (lambda: alignments([1, 2], "half"), "without_terms", "half"),
        (lambda: alignments([-1, 2]), "count", -1),
        (lambda: awrf([[[1, 0]]], definition="TREC 2019"), "definition", "TREC 2019"),
        (lambda: awrf([[[1, 0]]], distance="L2"), "distance", "L2"),
        (lambda: awrf([[[1, 0]]], [0.7, 0.7]), "target", [0.7, 0.7]),
        (lambda: group_exposure([[1, 0]]), "shape of the alignments", (1, 2)),
        (lambda: group_exposure(np.zeros((1, 0, 2))), "shape of the alignments", (1, 0, 2)),
        (lambda: group_exposure([[[np.inf, 0]]]), "value in the alignments", np.inf),
    ],
)
def test_awrf_invalid_values(call, column, value):
    with refused(column, value):
        call()
