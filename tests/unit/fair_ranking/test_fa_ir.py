"""FA*IR: the published table, enumeration, and rankings that satisfy the table."""

from itertools import product
from math import comb

import numpy as np
import pytest
from data_errors import refused
from hypothesis import given
from hypothesis import strategies as st

from everycell.fair_ranking.fa_ir import (
    adjusted_significance,
    fa_ir,
    failure_probability,
    minimum_protected,
)


@pytest.mark.compares("minimum_protected")
@pytest.mark.parametrize(
    ("share", "needed"),  # Zehlike et al. (2017), table 1: significance 0.1
    [
        (0.1, [0] * 12),
        (0.3, [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2]),
        (0.5, [0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 4]),
        (0.7, [0, 1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 6]),
    ],
)
def test_minimum_protected_published_table(share, needed):
    assert minimum_protected(12, share).tolist() == needed


@pytest.mark.parametrize("share", [0.25, 0.5, 0.9])
@pytest.mark.parametrize("significance", [0.0625, 0.1, 0.25])
def test_minimum_protected_strict(share, significance):
    for k, needed in enumerate(minimum_protected(30, share, significance), start=1):

        def at_most(m, k=k):
            return sum(comb(k, i) * share**i * (1 - share) ** (k - i) for i in range(m + 1))

        assert at_most(needed) > significance
        assert needed == 0 or at_most(needed - 1) <= significance


def test_minimum_protected_boundary():
    # P(X <= 0) of four fair draws is 0.0625, no more than the significance: one is needed.
    assert minimum_protected(4, 0.5, 0.0625).tolist() == [0, 0, 0, 1]


@pytest.mark.compares("failure_probability")
@pytest.mark.parametrize("share", [0.3, 0.6])
def test_failure_probability_by_enumeration(share):
    needed = minimum_protected(9, share)
    chance = sum(
        np.prod([share if drawn else 1 - share for drawn in draw])
        for draw in product([0, 1], repeat=9)
        if (np.cumsum(draw) < needed).any()
    )
    assert failure_probability(needed, share) == pytest.approx(chance)


@pytest.mark.compares("adjusted_significance")
@pytest.mark.parametrize("share", [0.3, 0.5, 0.8])
def test_adjusted_significance_largest(share):
    selection = adjusted_significance(40, share, 0.1)
    assert 0 < selection < 0.1
    assert failure_probability(minimum_protected(40, share, selection), share) <= 0.1
    above = minimum_protected(40, share, min(selection + 2e-6, 0.1))
    assert failure_probability(above, share) > 0.1


@pytest.mark.compares("fa_ir")
@given(
    st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=25),
    st.sampled_from([0.2, 0.5, 0.8, 0.95]),
)
def test_fa_ir_prefixes(documents, share):
    scores, protected = map(np.array, zip(*documents, strict=True))
    needed = minimum_protected(len(scores), share)
    order = fa_ir(scores, protected, needed)
    assert sorted(order.tolist()) == list(range(len(scores)))
    have = np.cumsum(protected[order])
    assert (have >= np.minimum(needed, protected.sum())).all()
    for group in (True, False):
        assert (np.diff(scores[order][protected[order] == group]) <= 0).all()


def test_fa_ir_ties():
    order = fa_ir([1, 3, 3, 2], [True, False, True, False], [0] * 4)
    assert order.tolist() == [2, 1, 3, 0]


@pytest.mark.parametrize("protected", [[True] * 3, [False] * 3])
def test_fa_ir_one_group(protected):
    assert fa_ir([1, 3, 2], protected, minimum_protected(3, 0.9)).tolist() == [1, 2, 0]


@pytest.mark.parametrize(
    ("call", "column", "value"),
    [
        (lambda: minimum_protected(5, 1.0), "share", 1.0),
        (lambda: minimum_protected(5, 0.5, 0), "significance", 0),
        (lambda: minimum_protected(-1, 0.5), "ranks", -1),
        (lambda: fa_ir([1, 2], [True], [0, 0]), "number of scores", 2),
        (lambda: fa_ir([1, np.inf], [True, False], [0, 0]), "score", np.inf),
        (lambda: fa_ir([1, 2], [True, False], [0]), "number of minima", 1),
    ],
)
def test_fa_ir_invalid_values(call, column, value):
    with refused(column, value):
        call()


@pytest.mark.parametrize(
    ("ranks", "share", "significance", "needed"),
    [(1, 0.95, 0.05, [1]), (1, 0.99, 0.01, [1]), (1, 0.7, 0.3, [1]), (2, 0.7, 0.09, [0, 1])],
)
def test_minimum_protected_equal_probability(ranks, share, significance, needed):
    assert minimum_protected(ranks, share, significance).tolist() == needed
