"""Area under the ROC curve and average precision: against scikit-learn, and by invariants."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from papers.abolghasemi2026.ch3_robustness import discrimination

#: Samples with a label, a score of few values (so that many tie), and a weight.
SAMPLES = st.lists(
    st.tuples(st.booleans(), st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=30
)


@given(SAMPLES)
def test_discrimination_equals_scikit_learn(samples):
    truth, scores, weights = map(np.array, zip(*samples, strict=True))
    result = discrimination(truth, scores, weights[None, :])
    hits, misses = weights[truth].sum(), weights[~truth].sum()
    if hits and misses:
        expected = roc_auc_score(truth, scores, sample_weight=weights)
        assert result.auroc[0] == pytest.approx(expected)
    else:
        assert np.isnan(result.auroc[0])
    if hits:
        expected = average_precision_score(truth, scores, sample_weight=weights)
        assert result.average_precision[0] == pytest.approx(expected)
    else:
        assert np.isnan(result.average_precision[0])


@given(SAMPLES)
def test_discrimination_monotone_scores(samples):
    truth, scores, _ = map(np.array, zip(*samples, strict=True))
    result = discrimination(truth, scores)
    moved = discrimination(truth, np.exp(scores / 3) - 7)
    np.testing.assert_allclose(result.auroc, moved.auroc)
    np.testing.assert_allclose(result.average_precision, moved.average_precision)
    np.testing.assert_allclose(discrimination(~truth, -scores).auroc, result.auroc)
    np.testing.assert_allclose(discrimination(truth, -scores).auroc, 1 - result.auroc)


def test_discrimination_several_weightings():
    truth, scores = [True, False, True, False], [0.9, 0.8, 0.3, 0.1]
    weights = np.array([[1, 1, 1, 1], [2, 0, 1, 1], [0, 1, 0, 1]])
    both = discrimination(truth, scores, weights)
    for row, weighting in enumerate(weights):
        alone = discrimination(truth, scores, weighting[None, :])
        np.testing.assert_equal(both.auroc[row], alone.auroc[0])
        np.testing.assert_equal(both.average_precision[row], alone.average_precision[0])
