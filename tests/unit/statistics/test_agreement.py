"""Agreement: worked by hand, against the peer libraries, and what must never change it."""

import numpy as np
import pytest
from data_errors import refused
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa as peer_kappa
from statsmodels.stats.inter_rater import to_table

from everycell.statistics.agreement import cohens_kappa, fleiss_kappa, percent_agreement

pairs = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=30)
#: Fleiss (1971), the worked example as it is usually given: 10 cases, 14 people, 5 classes.
FLEISS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


@pytest.mark.compares("percent_agreement")
def test_percent_agreement_by_hand():
    """Of 50 cases they agree on 35; chance gives .5, so kappa is (.7 - .5) / (1 - .5)."""
    first = [1] * 25 + [0] * 25
    second = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert percent_agreement(first, second) == 70
    assert cohens_kappa(first, second) == pytest.approx(0.4)


def test_fleiss_kappa_published():
    labels = [np.repeat(range(5), counts) for counts in FLEISS]
    assert fleiss_kappa(labels) == pytest.approx(0.210, abs=0.0005)


@pytest.mark.compares("cohens_kappa")
@given(pairs)
def test_cohens_kappa_equals_statsmodels(drawn):
    first, second = np.array(drawn).T
    result = cohens_kappa(first, second)
    if len(set(first) | set(second)) == 1:
        assert np.isnan(result)
        return
    table, _ = to_table(np.array(drawn))
    assert result == pytest.approx(peer_kappa(table, return_results=False))
    assert cohens_kappa(second, first) == pytest.approx(result)
    assert percent_agreement(first, second) == percent_agreement(second, first)


@given(pairs, st.randoms(use_true_random=False))
def test_fleiss_kappa_swapped_people(drawn, dice):
    turned = [dice.sample(pair, 2) for pair in drawn]
    assert fleiss_kappa(turned) == pytest.approx(fleiss_kappa(drawn), nan_ok=True)


@pytest.mark.parametrize("measure", [percent_agreement, cohens_kappa])
@pytest.mark.parametrize("labels", [([], []), ([1], [1, 0]), ([[1]], [[1]])])
def test_cohens_kappa_different_cases(measure, labels):
    with refused("labels", labels):
        measure(*labels)


@pytest.mark.parametrize("labels", [[], [[1], [0]], [1, 0], [[1, 0], [1]]])
def test_fleiss_kappa_no_table(labels):
    with refused("labels", labels):
        fleiss_kappa(labels)
