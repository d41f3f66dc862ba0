"""The game of a ranked list: features are players, and a coalition has the value of its ranking.

Features outside a coalition are replaced by those of background samples, in all documents of the
list at once. The result is ranked, and a value function gives the value of the ranking.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from everycell.engine.arrays import BoolArray, FloatArray, IntArray
from everycell.explain.value_functions import Ties, ValueFunction, ranks_of

#: From feature vectors, shape (m, f), to m scores. A model may have a method `masked_scores`,
#: like `everycell.explain.forests.Forest`, which is then called with whole coalitions.
Model = Callable[[FloatArray], npt.ArrayLike]

#: Number of masked vectors at once, to bound memory; and of scores, for models that take
#: coalitions, for which the vectors are never built.
_VECTORS, _SCORES = 200_000, 4_000_000
#: Documents of a list up to which counting gives ranks sooner than sorting.
_COUNTED = 200


@dataclass(frozen=True)
class ListwiseGame:
    """Values of coalitions of features for one list of documents.

    Parameters
    ----------
    model : callable
        From feature vectors, shape (m, f), to m scores. It may be called with many at once.
    documents : numpy.ndarray of float, shape (n, f)
        Feature vectors of the list, n of 1 or more.
    background : numpy.ndarray of float, shape (b, f)
        Samples that replace features outside a coalition, b of 1 or more.
    value : callable
        A value function, see `everycell.explain.value_functions`.
    ties : {"first", "last"}
        Which of several documents with the same score ranks higher.

    Raises
    ------
    ValueError
        For arrays of wrong shapes or with values that are not finite numbers.

    Notes
    -----
    Source: heuss2025, equation 4.2 and Algorithm 5; the same sample masks all documents.

    Examples
    --------
    >>> from everycell.explain.value_functions import kendall
    >>> documents = np.array([[2.0, 0.0], [1.0, 5.0]])
    >>> game = ListwiseGame(lambda x: x[:, 0], documents, np.zeros((1, 2)), kendall([1, 2]))
    >>> game(np.array([[True, True], [True, False], [False, True]])).tolist()
    [1.0, 1.0, 1.0]
    """

    model: Model
    documents: FloatArray
    background: FloatArray
    value: ValueFunction
    ties: Ties = "first"

    def __post_init__(self) -> None:
        """Refuse arrays that cannot form a game."""
        _checked("documents", self.documents)
        _checked("background", self.background)
        features = self.documents.shape[1], self.background.shape[1]
        if features[0] != features[1]:
            raise ValueError(
                f"The documents have {features[0]} features and the background {features[1]}: give "
                "both the same."
            )

    @property
    def features(self) -> int:
        """Number of players."""
        return self.documents.shape[1]

    def __call__(self, coalitions: BoolArray) -> FloatArray:
        """Values of coalitions, averaged over the background.

        Parameters
        ----------
        coalitions : numpy.ndarray of bool, shape (c, f)
            Features that keep their values.

        Returns
        -------
        numpy.ndarray of float, shape (c,) or (c, k)
            Depends on the number of values of the value function.
        """
        limit = most_scores(self.model)
        # A coalition has a score for each document, and for each sample what a ranking is worth.
        ranking = np.arange(1, len(self.documents) + 1)[None]
        numbers = max(len(self.documents), len(self.background) * self.value(ranking).size)
        return np.concatenate(
            [self._worth(piece, limit) for piece in pieces(coalitions, limit // numbers)]
        )

    def _worth(self, coalitions: BoolArray, limit: int) -> FloatArray:
        of_samples = []
        scores_of_sample = max(1, len(coalitions) * len(self.documents))
        for samples in pieces(self.background, limit // scores_of_sample):
            scores = masked_scores(self.model, self.documents, samples, coalitions)
            values = self.value(_ranks(scores.reshape(-1, len(self.documents)), self.ties))
            of_samples.append(values.reshape(len(samples), len(coalitions), *values.shape[1:]))
        # The values of a coalition side by side: the bits of their mean do not depend on pieces.
        return np.ascontiguousarray(np.concatenate(of_samples).swapaxes(0, 1)).mean(axis=1)


def _ranks(scores: FloatArray, ties: Ties) -> IntArray:
    """Ranks of many rankings, shape (m, n), the faster of two ways: by sorting, or by counting."""
    if scores.shape[1] > _COUNTED:
        return ranks_of(scores, ties)
    # numba takes a second to import.
    from everycell.explain.compiled import put_ranks

    ranks = np.empty(scores.shape, dtype=np.int64)
    put_ranks(scores, ties == "last", ranks)
    return ranks


def most_scores(model: Model) -> int:
    """Number of masked scores to ask a model for at once."""
    return _SCORES if hasattr(model, "masked_scores") else _VECTORS


def pieces(rows: npt.NDArray[Any], limit: int) -> list[npt.NDArray[Any]]:
    """Split an array into pieces of so many rows at most, and of one at least.

    Examples
    --------
    >>> [piece.tolist() for piece in pieces(np.arange(5), 2)]
    [[0, 1], [2, 3], [4]]
    """
    return np.split(rows, range(max(1, limit), len(rows), max(1, limit)))


def masked_scores(
    model: Model, documents: FloatArray, background: FloatArray, coalitions: BoolArray
) -> FloatArray:
    """Scores of documents that keep some features and take the others from a background sample.

    Parameters
    ----------
    model : callable
        From feature vectors, shape (m, f), to m scores; it is called once with all of them.
    documents : numpy.ndarray of float, shape (n, f)
        Feature vectors.
    background : numpy.ndarray of float, shape (b, f)
        Samples.
    coalitions : numpy.ndarray of bool, shape (c, f)
        Features that keep their values.

    Returns
    -------
    numpy.ndarray of float, shape (b, c, n)
        Scores.

    Raises
    ------
    ValueError
        For scores that are not finite numbers, or not one per vector.

    Notes
    -----
    Source: heuss2025, equation 4.2.

    Examples
    --------
    >>> scores = masked_scores(lambda x: x.sum(axis=1), np.ones((1, 2)), np.zeros((1, 2)),
    ...     np.array([[True, False], [True, True]]))
    >>> scores.ravel().tolist()
    [1.0, 2.0]
    """
    if hasattr(model, "masked_scores"):
        return model.masked_scores(documents, background, coalitions)
    vectors = np.where(coalitions[None, :, None], documents, background[:, None, None])
    shape = vectors.shape[:-1]
    scores = np.asarray(model(vectors.reshape(-1, documents.shape[1])), dtype=float)
    if scores.shape != (np.prod(shape),) or not np.isfinite(scores).all():
        raise ValueError(
            f"The model gave scores of shape {scores.shape} for {np.prod(shape)} vectors, or some "
            "that are not finite numbers: it has to give one number per vector."
        )
    return scores.reshape(shape)


def _checked(name: str, values: FloatArray) -> None:
    array = np.asarray(values)
    if array.ndim != 2 or not all(array.shape):
        raise ValueError(
            f"The shape of the {name} is {array.shape}: give rows of one or more features."
        )
    wrong = np.argwhere(~np.isfinite(array))
    if len(wrong):
        row, column = wrong[0]
        raise ValueError(
            f"Row {row + 1} of the {name} has {array[row, column]} as feature {column + 1}: give "
            "finite numbers, such as 0 for what is missing."
        )
