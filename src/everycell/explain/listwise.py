"""The game of a ranked list: features are players, and a coalition is worth what its ranking is.

Features outside a coalition are taken from background samples, in all documents of the list at
once. What is left is ranked, and a value function says what the ranking is worth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from everycell.explain.value_functions import Ties, ValueFunction, ranks_of

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
#: From feature vectors, shape (m, f), to m scores.
Model = Callable[[FloatArray], npt.ArrayLike]

#: Feature vectors that a model scores at once, at most: a bound of the memory.
_VECTORS = 200_000


@dataclass(frozen=True)
class ListwiseGame:
    """Worth of coalitions of features for one list of documents.

    Parameters
    ----------
    model : callable
        From feature vectors, shape (m, f), to m scores. It may be called with many at once.
    documents : numpy.ndarray of float, shape (n, f)
        Feature vectors of the list, n of 1 or more.
    background : numpy.ndarray of float, shape (b, f)
        Samples that stand in for features outside a coalition, b of 1 or more.
    value : callable
        A value function, see `everycell.explain.value_functions`.
    ties : {"first", "last"}
        Which of documents with one score ranks higher.

    Raises
    ------
    ValueError
        For arrays of other shapes or with values that are no finite numbers.

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
        """Refuse arrays that no game can be made of."""
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
        """Worth of coalitions, mean over the background.

        Parameters
        ----------
        coalitions : numpy.ndarray of bool, shape (c, f)
            Features that keep their values.

        Returns
        -------
        numpy.ndarray of float, shape (c,) or (c, k)
            By the number of values of the value function.
        """
        samples, documents = len(self.background), len(self.documents)
        at_once = max(1, _VECTORS // (samples * documents))
        parts = []
        for start in range(0, len(coalitions), at_once):
            kept = coalitions[start : start + at_once, None, None, :]
            masked = np.where(kept, self.documents[None, None], self.background[None, :, None])
            scores = np.asarray(self.model(masked.reshape(-1, self.features)), dtype=float)
            ranks = ranks_of(scores.reshape(-1, documents), self.ties)
            values = self.value(ranks)
            parts.append(values.reshape(-1, samples, *values.shape[1:]).mean(axis=1))
        return np.concatenate(parts)


def _checked(name: str, values: FloatArray) -> None:
    given = np.asarray(values)
    if given.ndim != 2 or not all(given.shape):
        raise ValueError(
            f"The shape of the {name} is {given.shape}: give a row or more of a feature or more."
        )
    wrong = np.argwhere(~np.isfinite(given))
    if len(wrong):
        row, column = wrong[0]
        raise ValueError(
            f"Row {row + 1} of the {name} has {given[row, column]} as feature {column + 1}: give "
            "finite numbers, such as 0 for what is missing."
        )
