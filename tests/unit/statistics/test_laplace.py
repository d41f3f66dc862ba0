"""Laplace approximation of a last layer: against torch's gradients, sampling, and by hand."""

import numpy as np
import pytest
import torch
from scipy.special import expit

from everycell.base.errors import DataError
from everycell.statistics.laplace import (
    LastLayer,
    fisher_diagonal,
    log_odds_distribution,
    sampled_distribution,
)

RNG = np.random.default_rng(5)
VECTORS = RNG.normal(size=(30, 4))
RELEVANCE = RNG.integers(0, 2, 30)
HEADS = [LastLayer(RNG.normal(size=(c, 4)), RNG.normal(size=c)) for c in (1, 2)]


def gradients(head, vector, label):
    """Of the log probability of a label, by torch."""
    layer = torch.nn.Linear(4, len(head.bias), dtype=torch.float64)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(head.weights))
        layer.bias.copy_(torch.tensor(head.bias))
    logits = layer(torch.tensor(vector))
    if len(head.bias) == 2:
        loss = torch.log_softmax(logits, 0)[int(label)]
    else:
        loss = torch.nn.functional.logsigmoid(logits if label else -logits).sum()
    loss.backward()
    return np.column_stack([layer.weight.grad, layer.bias.grad])


@pytest.mark.compares("fisher_diagonal")
@pytest.mark.parametrize("head", HEADS, ids=["one logit", "two logits"])
def test_fisher_diagonal_equals_squared_gradients(head):
    squared = [[gradients(head, vector, y) ** 2 for y in (0, 1)] for vector in VECTORS]
    at_labels = sum(pair[y] for pair, y in zip(squared, RELEVANCE, strict=True))
    np.testing.assert_allclose(fisher_diagonal(head, VECTORS, RELEVANCE), at_labels)
    chances = expit(head.log_odds(VECTORS))
    expected = sum(
        (1 - p) * pair[0] + p * pair[1] for pair, p in zip(squared, chances, strict=True)
    )
    np.testing.assert_allclose(fisher_diagonal(head, VECTORS), expected)


@pytest.mark.compares("log_odds_distribution", "sampled_distribution")
@pytest.mark.parametrize("head", HEADS, ids=["one logit", "two logits"])
def test_sampled_distribution_equals_closed_form(head):
    fisher = fisher_diagonal(head, VECTORS)
    exact = log_odds_distribution(head, fisher, VECTORS[:6])
    result = sampled_distribution(
        head, fisher, VECTORS[:6], samples=200_000, rng=np.random.default_rng(0)
    )
    np.testing.assert_allclose(result[0], exact[0], atol=0.02)
    np.testing.assert_allclose(result[1], exact[1], rtol=0.01)


def test_sampled_distribution_log_probability():
    head, fisher = HEADS[1], fisher_diagonal(HEADS[1], VECTORS)
    centre, spread = log_odds_distribution(head, fisher, VECTORS[:4])
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    values = -np.logaddexp(0, -(centre[:, None] + spread[:, None] * nodes))
    mean = values @ weights / weights.sum()
    deviation = np.sqrt((values**2) @ weights / weights.sum() - mean**2)
    result = sampled_distribution(
        head,
        fisher,
        VECTORS[:4],
        samples=200_000,
        rng=np.random.default_rng(1),
        log_probability=True,
    )
    np.testing.assert_allclose(result[0], mean, atol=0.01)
    np.testing.assert_allclose(result[1], deviation, rtol=0.02)


def test_log_odds_distribution_twice_the_data():
    head = HEADS[0]
    once = log_odds_distribution(head, fisher_diagonal(head, VECTORS), VECTORS, prior=1e-12)[1]
    doubled = np.concatenate([VECTORS, VECTORS])
    twice = log_odds_distribution(head, fisher_diagonal(head, doubled), VECTORS, prior=1e-12)[1]
    np.testing.assert_allclose(once / twice, np.sqrt(2))


ONES = np.ones((1, 5))


@pytest.mark.parametrize(
    ("call", "column"),
    [
        (lambda: fisher_diagonal(HEADS[0], [[1.0, 2.0]]), "vectors"),
        (lambda: fisher_diagonal(HEADS[0], [[1, 2, 3, np.nan]]), "vectors"),
        (lambda: fisher_diagonal(HEADS[0], VECTORS, [2] * 30), "relevance"),
        (lambda: fisher_diagonal(HEADS[0], VECTORS, [1]), "relevance"),
        (lambda: log_odds_distribution(HEADS[0], [[1.0]], VECTORS), "fisher"),
        (lambda: log_odds_distribution(HEADS[0], -ONES, VECTORS), "fisher"),
        (lambda: log_odds_distribution(HEADS[0], ONES, VECTORS, prior=0), "prior"),
        (lambda: sampled_distribution(HEADS[0], ONES, VECTORS, samples=1, rng=RNG), "samples"),
        (lambda: LastLayer(np.ones((3, 4)), np.ones(3)).log_odds(VECTORS), "head"),
        (lambda: LastLayer(np.full((1, 4), np.nan), np.ones(1)).log_odds(VECTORS), "head"),
    ],
)
def test_log_odds_distribution_invalid_values(call, column):
    with pytest.raises(DataError) as caught:
        call()
    assert caught.value.column == column
