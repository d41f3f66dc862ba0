"""Local linear models (LIME) of a score or of a ranking, over masked features."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from everycell.base.arrays import BoolArray, FloatArray
from everycell.explain.games import Model
from everycell.explain.value_functions import ValueFunction, ranks_of

#: Width of the kernel, relative to the square root of the number of features (Ribeiro et al.).
KERNEL_WIDTH = 0.75


def linear_weights(
    worth: Callable[[BoolArray], FloatArray], features: int, samples: int, rng: np.random.Generator
) -> FloatArray:
    """Weights of a ridge regression of the values of masked inputs on their masks.

    A feature is masked with probability 0.5; in the first sample, none is. A sample with d masked
    features has the weight exp(-d / (2 w^2 features)) with w = `KERNEL_WIDTH`, and the penalty is
    1, as in the package lime.
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

    For each masked input, a random sample of the background replaces the masked features.
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
    """LIME weights for a ranking's value, with separate masks per document (n, f).

    A masked input is a complete list, and each of its documents has its own random sample
    (heuss2025, section 4.6, after Chowdhury et al., RankLIME).
    """
    count, features = documents.shape

    def worth(mask: BoolArray) -> FloatArray:
        masks = mask.reshape(-1, count, features)
        replacements = background[rng.integers(len(background), size=masks.shape[:2])]
        vectors = np.where(masks, documents, replacements)
        scores = np.asarray(model(vectors.reshape(-1, features)), dtype=float)
        return value(ranks_of(scores.reshape(-1, count)))

    return linear_weights(worth, count * features, samples, rng).reshape(count, features)
