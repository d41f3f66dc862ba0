"""Local linear models (LIME) of a score or of a ranking, over masked features."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from everycell.base.arrays import BoolArray, FloatArray
from everycell.explain.listwise import Model
from everycell.explain.value_functions import ValueFunction, ranks_of

#: Width of the kernel, relative to the square root of the number of features (Ribeiro et al.).
KERNEL_WIDTH = 0.75


def linear_weights(
    worth: Callable[[BoolArray], FloatArray], features: int, samples: int, rng: np.random.Generator
) -> FloatArray:
    """Weights of a ridge regression of the values of masked inputs on their masks.

    Parameters
    ----------
    worth : callable
        Function of masks, shape (m, features), that returns m values; True means unmasked.
    features : int
        Number of features that can be masked, 1 or more; each is masked with probability 0.5.
    samples : int
        Number of masked inputs, 2 or more; in the first, no feature is masked.
    rng : numpy.random.Generator
        Random number generator for the masks.

    Returns
    -------
    numpy.ndarray of float, shape (features,)
        Weights of the features. A sample with d masked features has the weight exp(-d / (2 w^2
        features)) with w = `KERNEL_WIDTH`, and the penalty is 1, as in the package lime.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> linear_weights(lambda mask: mask @ np.array([3.0, 1.0]), 2, 1000, rng).round(1).tolist()
    [3.0, 1.0]
    """
    # The import takes a second.
    from sklearn.linear_model import Ridge

    mask = rng.random((samples, features)) < 0.5
    mask[0] = True
    masked_features = features - mask.sum(axis=1)
    weights = np.exp(-masked_features / (2 * KERNEL_WIDTH**2 * features))
    ridge = Ridge(alpha=1).fit(mask.astype(float), worth(mask), sample_weight=weights)
    return ridge.coef_


def pointwise_lime(
    model: Model,
    documents: FloatArray,
    background: FloatArray,
    *,
    samples: int,
    rng: np.random.Generator,
) -> FloatArray:
    """LIME weights of the features for each document's score, shape (n, f).

    Parameters
    ----------
    model : callable
        Function of feature vectors, shape (m, f), that returns m scores.
    documents : numpy.ndarray of float, shape (n, f)
        Vectors to explain.
    background : numpy.ndarray of float, shape (b, f)
        Samples; for each masked input, a random one replaces the masked features.
    samples : int
        Number of masked inputs per document.
    rng : numpy.random.Generator
        Random number generator for masks and samples.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> pointwise_lime(lambda x: x.sum(axis=1), np.ones((1, 2)), np.zeros((5, 2)),
    ...     samples=1000, rng=rng).round(1).tolist()
    [[1.0, 1.0]]
    """
    weights = []
    for document in documents:

        def worth(mask: BoolArray, document: FloatArray = document) -> FloatArray:
            replacements = background[rng.integers(len(background), size=len(mask))]
            return np.asarray(model(np.where(mask, document, replacements)), dtype=float)

        weights.append(linear_weights(worth, documents.shape[1], samples, rng))
    return np.array(weights)


def listwise_lime(
    model: Model,
    documents: FloatArray,
    background: FloatArray,
    value: ValueFunction,
    *,
    samples: int,
    rng: np.random.Generator,
) -> FloatArray:
    """LIME weights for a ranking's value, with separate masks per document, shape (n, f).

    Parameters
    ----------
    model, documents, background, samples, rng
        As for `pointwise_lime`, but a masked input is a complete list, and each of its
        documents has its own random sample.
    value : callable
        A value function, see `everycell.explain.value_functions`.

    Notes
    -----
    Source: heuss2025, section 4.6, after Chowdhury et al. (RankLIME).

    Examples
    --------
    >>> from everycell.explain.value_functions import kendall
    >>> rng = np.random.default_rng(0)
    >>> weights = listwise_lime(lambda x: x[:, 0], np.array([[3.0, 1.0], [2.0, 1.0]]),
    ...     np.array([[0.0, 0.0]]), kendall([1, 2]), samples=1000, rng=rng)
    >>> bool(np.abs(weights[:, 1]).max() < 0.1 < weights[0, 0])
    True
    """
    count, features = documents.shape

    def worth(mask: BoolArray) -> FloatArray:
        masks = mask.reshape(-1, count, features)
        replacements = background[rng.integers(len(background), size=masks.shape[:2])]
        vectors = np.where(masks, documents, replacements)
        scores = np.asarray(model(vectors.reshape(-1, features)), dtype=float)
        return value(ranks_of(scores.reshape(-1, count)))

    return linear_weights(worth, count * features, samples, rng).reshape(count, features)
