"""Simulated lists whose labels depend on a few features with known weights."""

from __future__ import annotations

import numpy as np
import pandas as pd

#: Number of features, and weights of the informative ones, largest first.
FEATURES, WEIGHTS = 20, (1.0, 0.7, 0.5, 0.35, 0.25, 0.15)
#: Documents per list.
DOCUMENTS = 20
#: Shares of documents below the labels 1 to 4.
_SHARES = (0.5, 0.75, 0.9, 0.97)
#: Standard deviation of the noise that is added to weighted sums of features.
_NOISE = 0.1


def planted_weights() -> np.ndarray:
    """Weight of each feature, shape (FEATURES,), which an explanation should recover.

    Informative features are spread over the columns, so that column order does not reveal them.
    """
    weights = np.zeros(FEATURES)
    weights[FEATURES - 3 :: -3] = [*WEIGHTS, *[0] * (len(weights[FEATURES - 3 :: -3]) - 6)]
    return weights


def planted_features(lists: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw lists of documents.

    Features are uniform from 0 to 1. Labels from 0 to 4 depend on quantiles of the weighted sum of
    features plus noise.
    """
    vectors = rng.random((lists * DOCUMENTS, FEATURES))
    gains = vectors @ planted_weights() + _NOISE * rng.normal(size=len(vectors))
    labels = np.searchsorted(np.quantile(gains, _SHARES), gains)
    table = pd.DataFrame(vectors, columns=[f"feature_{n}" for n in range(1, FEATURES + 1)])
    table.insert(0, "relevance", labels.astype(float))
    table.insert(0, "query", np.repeat(np.arange(1, lists + 1), DOCUMENTS).astype(str))
    return table
