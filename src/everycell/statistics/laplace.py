"""Uncertainty of a trained ranker's scores: a Laplace approximation of its last layer.

The last layer of a ranker is linear: it turns the vector of a query-document pair into one logit
(relevant) or two (not relevant, relevant). Its weights are taken as normally distributed around
their trained values, with less variance the more information the training data hold about them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from everycell.engine.arrays import FloatArray


class LastLayer(NamedTuple):
    """A linear head: one logit, or one each for not relevant and relevant."""

    weights: FloatArray  #: shape (1 or 2, d)
    bias: FloatArray  #: shape (1 or 2,)

    def log_odds(self, vectors: npt.ArrayLike) -> FloatArray:
        """Log odds of relevance, shape (n,): the logit, or the difference of the two.

        Examples
        --------
        >>> LastLayer(np.array([[0.0, 1.0], [2.0, 0.0]]), np.zeros(2)).log_odds([[3.0, 1.0]])
        array([5.])
        """
        logits = _checked(self, vectors) @ _stacked(self).T
        return logits[:, -1] - (logits[:, 0] if logits.shape[1] == 2 else 0.0)


def fisher_diagonal(
    head: LastLayer, vectors: npt.ArrayLike, relevance: npt.ArrayLike | None = None
) -> FloatArray:
    """Fisher information of each weight, summed over the training pairs.

    Parameters
    ----------
    head : LastLayer
        Weights as trained.
    vectors : array_like of float, shape (n, d)
        Vector of each training pair before the last layer.
    relevance : array_like of int, shape (n,), optional
        1 for relevant, 0 for not: squared gradients at these labels (the *empirical* Fisher
        information, what the released code computes). If left out, the expectation over the model's
        own predictions, as in the definition.

    Returns
    -------
    numpy.ndarray of float64, shape (1 or 2, d + 1)
        For each logit the information of its weights, followed by that of its bias.

    Raises
    ------
    ValueError
        Vectors that do not fit the head or are not numbers, labels other than 0 and 1.

    Notes
    -----
    Source: heuss2025, Algorithm 4, lines 2 and 3. The algorithm writes an expectation, but the
    precision of a posterior is the *sum* over the observations; with a mean instead, the deviations
    are larger by the square root of the number of pairs.

    Examples
    --------
    A logit of 0 has the largest uncertainty: 1/2 squared, times the squared vector, for two pairs:

    >>> fisher_diagonal(LastLayer(np.zeros((1, 1)), np.zeros(1)), [[2.0], [2.0]]).tolist()
    [[2.0, 0.5]]
    """
    rows = _checked(head, vectors)
    chance = expit(head.log_odds(vectors))
    if relevance is None:
        squared = chance * (1 - chance)
    else:
        labels = np.asarray(relevance)
        if labels.shape != chance.shape or not np.isin(labels, (0, 1)).all():
            raise ValueError(
                f"The relevance of {labels.size} pairs is given for {chance.size} vectors: give 0 "
                "or 1 for each."
            )
        squared = (labels - chance) ** 2
    # The gradients of two logits differ only in sign.
    return np.tile(squared @ rows**2, (len(head.bias), 1))


def log_odds_distribution(
    head: LastLayer, fisher: npt.ArrayLike, vectors: npt.ArrayLike, *, prior: float = 1e-5
) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of the log odds of relevance, in closed form.

    Parameters
    ----------
    head : LastLayer
        Weights as trained.
    fisher : array_like of float, shape (1 or 2, d + 1)
        As from `fisher_diagonal`.
    vectors : array_like of float, shape (n, d)
        Vector of each pair to be scored.
    prior : float
        Precision of the weights before training, added to the information, above 0. The released
        code adds 1e-5, so that no weight has an infinite variance.

    Returns
    -------
    tuple of two numpy.ndarray of float64, shape (n,)
        Means, which are the log odds of the trained head, and standard deviations.

    Raises
    ------
    ValueError
        Shapes that do not fit, information below 0, a prior that is not above 0.

    Notes
    -----
    Source: a linear head makes equation 3.8 of heuss2025 exact: the variance is the sum of squared
    entries over precisions.

    Examples
    --------
    >>> head = LastLayer(np.array([[1.0]]), np.array([0.0]))
    >>> log_odds_distribution(head, [[4.0, 1.0]], [[2.0]], prior=1e-9)
    (array([2.]), array([1.41421356]))
    """
    variances = _variances(head, fisher, prior)
    return head.log_odds(vectors), np.sqrt(_checked(head, vectors) ** 2 @ variances.sum(axis=0))


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
    """Mean and standard deviation of scores over sampled heads.

    Parameters
    ----------
    head, fisher, vectors, prior
        As for `log_odds_distribution`.
    samples : int
        Heads to sample, 2 or more.
    rng : numpy.random.Generator
        Source of randomness.
    log_probability : bool
        Whether the score is the log of the probability of relevance, as in the released code,
        which has no closed form; else the log odds.

    Returns
    -------
    tuple of two numpy.ndarray of float64, shape (n,)
        Means, and standard deviations with the number of samples in the denominator.

    Raises
    ------
    ValueError
        As `log_odds_distribution`, and for fewer than 2 samples.

    Notes
    -----
    Source: heuss2025, Algorithm 4. It does not give the number of samples; the released scores used
    150, the example in the released code 50.

    Examples
    --------
    >>> head = LastLayer(np.array([[1.0]]), np.array([0.0]))
    >>> rng = np.random.default_rng(1)
    >>> sampled_distribution(head, [[4.0, 1.0]], [[2.0]], samples=50_000, rng=rng)[1].round(1)
    array([1.4])
    """
    if samples < 2:
        raise ValueError(f"{samples} samples have no spread: ask for 2 or more.")
    rows, weights = _checked(head, vectors), _stacked(head)
    spreads = np.sqrt(_variances(head, fisher, prior))
    drawn = weights + spreads * rng.standard_normal((samples, *weights.shape))
    if len(weights) == 2:
        drawn = drawn[:, 1] - drawn[:, 0]
    else:
        drawn = drawn[:, 0]
    scores = rows @ drawn.T
    if log_probability:
        scores = -np.logaddexp(0.0, -scores)
    return scores.mean(axis=1), scores.std(axis=1)


def _stacked(head: LastLayer) -> FloatArray:
    """Weights with the bias as their last column."""
    return np.column_stack([head.weights, head.bias])


def _checked(head: LastLayer, vectors: npt.ArrayLike) -> FloatArray:
    """Vectors with a last column of ones, for the bias."""
    rows = np.asarray(vectors, dtype=float)
    shape = np.shape(head.weights)
    if len(shape) != 2 or shape[0] not in (1, 2) or np.shape(head.bias) != shape[:1]:
        raise ValueError(
            f"The head has weights of shape {shape} and a bias of shape {np.shape(head.bias)}: "
            "give one or two logits, a bias for each."
        )
    if rows.ndim != 2 or rows.shape[1] != shape[1] or not np.isfinite(rows).all():
        raise ValueError(
            f"The vectors have the shape {rows.shape}, or hold a value that is not a number: the "
            "head "
            f"takes pairs x {shape[1]} finite numbers."
        )
    return np.column_stack([rows, np.ones(len(rows))])


def _variances(head: LastLayer, fisher: npt.ArrayLike, prior: float) -> FloatArray:
    information = np.asarray(fisher, dtype=float)
    if information.shape != _stacked(head).shape or not (information >= 0).all():
        raise ValueError(
            f"The information has the shape {information.shape}, or a value below 0: the head has "
            f"{_stacked(head).shape} weights."
        )
    if not prior > 0:
        raise ValueError(f"The prior precision is {prior}: give a number above 0.")
    return 1 / (information + prior)
