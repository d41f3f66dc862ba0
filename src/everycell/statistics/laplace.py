"""Uncertainty of a trained ranker's scores: a Laplace approximation of its last layer.

The last layer of a ranker is linear: it maps the vector of a query-document pair to one logit
(relevant) or two (not relevant, relevant). Its weights are assumed to be normally distributed
around their trained values, with a variance that decreases with the information in the training
data.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from everycell.base.arrays import FloatArray
from everycell.base.errors import require


class LastLayer(NamedTuple):
    """A linear head with one logit (relevant) or two (not relevant, relevant)."""

    weights: FloatArray  #: shape (1 or 2, d)
    bias: FloatArray  #: shape (1 or 2,)

    def log_odds(self, vectors: npt.ArrayLike) -> FloatArray:
        """Log odds of relevance, shape (n,): the logit, or difference of both logits."""
        logits = _with_ones(self, vectors) @ _weights_and_bias(self).T
        return logits[:, -1] - (logits[:, 0] if logits.shape[1] == 2 else 0.0)


def fisher_diagonal(
    head: LastLayer, vectors: npt.ArrayLike, relevance: npt.ArrayLike | None = None
) -> FloatArray:
    """Fisher information of each weight, summed over the training pairs.

    Parameters
    ----------
    head : LastLayer
        Trained weights.
    vectors : array_like of float, shape (n, d)
        Vector of each training pair before the last layer.
    relevance : array_like of int, shape (n,), optional
        Labels: 1 for relevant, 0 for not relevant. If given, the sum of squared gradients at these
        labels (the *empirical* Fisher information, which the released code computes). By default,
        the expectation over the model's own predictions, as in the definition.

    Returns
    -------
    numpy.ndarray of float64, shape (1 or 2, d + 1)
        For each logit, the information of its weights, followed by that of its bias.

    Raises
    ------
    ValueError
        Vectors that do not fit the head, vectors or weights that are not finite, labels other than
        0 and 1.

    Notes
    -----
    Source: heuss2025, Algorithm 4, lines 2 and 3. The algorithm states an expectation, but the
    precision of a posterior is the *sum* over the observations; with a mean, the standard
    deviations would be larger by the square root of the number of pairs.

    Examples
    --------
    For a logit of 0, each of the two pairs contributes 1/2 squared times the squared vector:

    >>> fisher_diagonal(LastLayer(np.zeros((1, 1)), np.zeros(1)), [[2.0], [2.0]]).tolist()
    [[2.0, 0.5]]
    """
    rows = _with_ones(head, vectors)
    probabilities = expit(head.log_odds(vectors))
    if relevance is None:
        squared_residuals = probabilities * (1 - probabilities)
    else:
        labels = np.asarray(relevance)
        is_valid = labels.shape == probabilities.shape and np.isin(labels, (0, 1)).all()
        require(is_valid, "relevance", labels, f"0 or 1 for each of {probabilities.size} vectors")
        squared_residuals = (labels - probabilities) ** 2
    # The gradients of two logits differ only in sign.
    return np.tile(squared_residuals @ rows**2, (len(head.bias), 1))


def log_odds_distribution(
    head: LastLayer, fisher: npt.ArrayLike, vectors: npt.ArrayLike, *, prior: float = 1e-5
) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of the log odds of relevance, in closed form.

    Parameters
    ----------
    head : LastLayer
        Trained weights.
    fisher : array_like of float, shape (1 or 2, d + 1)
        Result of `fisher_diagonal`.
    vectors : array_like of float, shape (n, d)
        Vector of each pair to score.
    prior : float
        Prior precision of the weights, above 0, which is added to the information. The released
        code adds 1e-5, so that no weight has infinite variance.

    Returns
    -------
    tuple of two numpy.ndarray of float64, shape (n,)
        Means, which are the log odds of the trained head, and standard deviations.

    Raises
    ------
    ValueError
        Shapes that do not fit, negative information, a prior that is not above 0.

    Notes
    -----
    Source: heuss2025, Eq. 3.8, which is exact for a linear head: the variance is the sum of squared
    vector entries, each divided by the precision of its weight.

    Examples
    --------
    >>> head = LastLayer(np.array([[1.0]]), np.array([0.0]))
    >>> log_odds_distribution(head, [[4.0, 1.0]], [[2.0]], prior=1e-9)
    (array([2.]), array([1.41421356]))
    """
    variances = _variances(head, fisher, prior)
    return head.log_odds(vectors), np.sqrt(_with_ones(head, vectors) ** 2 @ variances.sum(axis=0))


def sampled_distribution(
    head: LastLayer,
    fisher: npt.ArrayLike,
    vectors: npt.ArrayLike,
    *,
    samples: int,
    rng: np.random.Generator,
    prior: float = 1e-5,
    log_probability: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of scores over sampled heads, shape (n,) each.

    `log_probability` is for scores that are log probabilities of relevance, as in the released
    code; their distribution has no closed form. The standard deviation has the number of samples in
    the denominator. Source: heuss2025, Algorithm 4, which does not state that number. The released
    scores used 150, and the example in the released code uses 50.
    """
    require(samples >= 2, "samples", samples, "2 or more")
    rows, weights = _with_ones(head, vectors), _weights_and_bias(head)
    deviations = np.sqrt(_variances(head, fisher, prior))
    heads = weights + deviations * rng.standard_normal((samples, *weights.shape))
    if len(weights) == 2:
        heads = heads[:, 1] - heads[:, 0]
    else:
        heads = heads[:, 0]
    scores = rows @ heads.T
    if log_probability:
        scores = -np.logaddexp(0.0, -scores)
    return scores.mean(axis=1), scores.std(axis=1)


def _weights_and_bias(head: LastLayer) -> FloatArray:
    """Weights with the bias as the last column."""
    return np.column_stack([head.weights, head.bias])


def _with_ones(head: LastLayer, vectors: npt.ArrayLike) -> FloatArray:
    """Check vectors, and append a column of ones for the bias."""
    rows = np.asarray(vectors, dtype=float)
    shape = np.shape(head.weights)
    is_head = len(shape) == 2 and shape[0] in (1, 2) and np.shape(head.bias) == shape[:1]
    is_head = is_head and np.isfinite(_weights_and_bias(head)).all()
    expected = "finite weights of one or two logits, with a bias for each"
    require(is_head, "head", head, expected)
    is_valid = rows.ndim == 2 and rows.shape[1] == shape[1] and np.isfinite(rows).all()
    require(is_valid, "vectors", rows, f"a row of {shape[1]} finite numbers per pair")
    return np.column_stack([rows, np.ones(len(rows))])


def _variances(head: LastLayer, fisher: npt.ArrayLike, prior: float) -> FloatArray:
    information = np.asarray(fisher, dtype=float)
    expected = _weights_and_bias(head).shape
    is_valid = information.shape == expected and np.isfinite(information).all()
    is_valid = is_valid and (information >= 0).all()
    require(is_valid, "fisher", information, f"finite numbers, 0 or more, of shape {expected}")
    require(prior > 0, "prior", prior, "a number above 0")
    return 1 / (information + prior)
