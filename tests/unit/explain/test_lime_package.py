"""Our LIME against the package lime, which is not a dependency (bench/lime_peer.py)."""

from importlib import import_module

import numpy as np
import pytest
from harness import NEEDS_LIME

from everycell.explain.explainers import listwise_lime, pointwise_lime
from everycell.explain.value_functions import kendall, ranks_of

pytest.importorskip("lime.lime_tabular", reason=NEEDS_LIME)

BACKGROUND = np.random.default_rng(0).random((6, 4))
DOCUMENTS = np.random.default_rng(1).random((3, 4))


@pytest.fixture
def peer(repository, monkeypatch):
    monkeypatch.syspath_prepend(str(repository / "bench"))
    return import_module("lime_peer")


def model(vectors):
    return vectors[:, 0] * vectors[:, 1] - vectors[:, 2] ** 2 + vectors[:, 3]


def test_pointwise_lime_same_draws(peer):
    document = DOCUMENTS[:1]
    expected, masks = peer.masked_weights(model, document, BACKGROUND, 60, seed=2)
    result = pointwise_lime(model, document, BACKGROUND, samples=60, rng=peer.Replay(masks))
    assert np.ptp(expected) > 0.1
    assert result == pytest.approx(expected, abs=1e-9)


def test_listwise_lime_same_draws(peer):
    value = kendall(ranks_of(model(DOCUMENTS)))

    def predict(vectors):
        return value(ranks_of(model(vectors.reshape(-1, 4)).reshape(-1, 3)))

    expected, masks = peer.masked_weights(predict, DOCUMENTS, BACKGROUND, 60, seed=2)
    result = listwise_lime(model, DOCUMENTS, BACKGROUND, value, samples=60, rng=peer.Replay(masks))
    assert np.ptp(expected) > 0.1
    assert result == pytest.approx(expected, abs=1e-9)
