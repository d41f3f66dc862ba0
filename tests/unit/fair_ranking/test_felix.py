"""FELIX in one call: exposures as required, few outliers, bad input."""

import numpy as np
import pytest
from data_errors import refused

from everycell.fair_ranking.fair_exposure import fair_exposure, logarithmic_rank_weights
from everycell.fair_ranking.felix import felix
from everycell.fair_ranking.policies import outlier_probability


@pytest.mark.compares("felix")
@pytest.mark.parametrize("items", [6, 40])
def test_felix_exposures_and_outliers(items):
    rng = np.random.default_rng(7)
    merits, citations = rng.uniform(0.01, 1, items), np.exp(2 * rng.normal(size=items))
    weights = logarithmic_rank_weights(min(items, 10))
    once, policy = (felix(merits, citations, iterations=number) for number in (1, 20))
    expected = fair_exposure(merits, weights)
    np.testing.assert_allclose(policy.exposures(items, weights), expected, atol=1e-9)
    assert outlier_probability(policy, citations) <= outlier_probability(once, citations) + 1e-12
    np.testing.assert_array_equal(felix(merits, citations).rankings, policy.rankings)


def test_felix_invalid_values():
    with refused("shapes of merits and feature", ((2,), (3,))):
        felix([1.0, 2.0], [1, 2, 3])
    with refused("merit", 0, row="item 1"):
        felix([1.0, 0.0], [1, 2])
