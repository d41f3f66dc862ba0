"""Attribution of the scores of single documents, the mean of which is set against listwise ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from everycell.explain.listwise import Model
from everycell.explain.shapley import all_coalitions, shapley_values

FloatArray = npt.NDArray[np.float64]


def pointwise_shapley_values(
    model: Model, documents: FloatArray, background: FloatArray
) -> FloatArray:
    """Shapley values of each document's score, by enumeration.

    Parameters
    ----------
    model : callable
        From feature vectors, shape (m, f), to m scores.
    documents : numpy.ndarray of float, shape (n, f)
        What is explained.
    background : numpy.ndarray of float, shape (b, f)
        Samples that stand in for features outside a coalition.

    Returns
    -------
    numpy.ndarray of float, shape (n, f)
        A row sums to the document's score less the mean score of the background.

    Notes
    -----
    Source: heuss2025, definition 4.3.1.

    Examples
    --------
    >>> model = lambda vectors: vectors.sum(axis=1)
    >>> pointwise_shapley_values(model, np.ones((1, 2)), np.zeros((3, 2))).tolist()
    [[1.0, 1.0]]
    """
    count, features = documents.shape
    worth = []
    for kept in all_coalitions(features):
        masked = np.where(kept, documents[None], background[:, None])
        scores = np.asarray(model(masked.reshape(-1, features)), dtype=float)
        worth.append(scores.reshape(len(background), count).mean(axis=0))
    return shapley_values(np.array(worth)).T
