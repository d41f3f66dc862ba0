"""The game of a ranked list: features are players, and a coalition has the value of its ranking.

Features outside a coalition are replaced by those of background samples, in all documents of the
list. The list is ranked again, and a value function returns the value of the new ranking.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from everycell.base.arrays import BoolArray, FloatArray, IntArray
from everycell.base.errors import DataError, require
from everycell.explain.forests import Forest
from everycell.explain.shapley import all_coalitions, shapley_values
from everycell.explain.value_functions import Ties, ValueFunction, ranks_of

#: Function of feature vectors, shape (m, f), that returns m scores. If a model has a method
#: `masked_scores`, like `everycell.explain.forests.Forest`, that method is called with coalitions.
Model = Callable[[FloatArray], npt.ArrayLike]

#: Largest number of masked vectors in memory, and of scores for models with `masked_scores`, which
#: do not need the vectors.
_VECTORS, _SCORES = 200_000, 4_000_000
#: Length up to which ranks of a list are computed faster by counting than by sorting.
_COUNTED = 200
#: Whether numba is installed, which not all installations need.
_IS_COMPILED = find_spec("numba") is not None


@dataclass(frozen=True)
class ListwiseGame:
    """Values of coalitions of features for one list of documents.

    Parameters
    ----------
    model : callable
        Function of feature vectors, shape (m, f), that returns m scores.
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
        For arrays with wrong shapes or values that are not finite. A forest accepts NaN, for
        missing values.

    Notes
    -----
    Source: heuss2025, equation 4.2 and Algorithm 5; the same sample replaces the masked features of
    all documents.

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
        """Check the arrays of documents and background."""
        accepts_missing = hasattr(self.model, "masked_scores")
        check_vectors("documents", self.documents, accepts_missing=accepts_missing)
        check_vectors("background", self.background, accepts_missing=accepts_missing)
        features = self.documents.shape[1], self.background.shape[1]
        expected = "the same in both"
        require(
            features[0] == features[1], "features of documents and background", features, expected
        )

    @property
    def features(self) -> int:
        """Number of players."""
        return self.documents.shape[1]

    def __call__(self, coalitions: BoolArray) -> FloatArray:
        """Values of coalitions (c, f), averaged over the background: (c,) or (c, k)."""
        limit = score_limit(self.model)
        # Numbers in memory per coalition: a score per document, or the values for all samples.
        ranking = np.arange(1, len(self.documents) + 1)[None]
        numbers = max(len(self.documents), len(self.background) * self.value(ranking).size)
        return np.concatenate(
            [self._mean_values(rows, limit) for rows in split_rows(coalitions, limit // numbers)]
        )

    def _mean_values(self, coalitions: BoolArray, limit: int) -> FloatArray:
        """Values of coalitions, averaged over the background."""
        values_by_sample = []
        scores_per_sample = max(1, len(coalitions) * len(self.documents))
        for samples in split_rows(self.background, limit // scores_per_sample):
            scores = masked_scores(self.model, self.documents, samples, coalitions)
            values = self.value(_ranks(scores.reshape(-1, len(self.documents)), self.ties))
            values_by_sample.append(
                values.reshape(len(samples), len(coalitions), *values.shape[1:])
            )
        # With contiguous values per coalition, the bits of the mean do not depend on the split.
        return np.ascontiguousarray(np.concatenate(values_by_sample).swapaxes(0, 1)).mean(axis=1)


def _ranks(scores: FloatArray, ties: Ties) -> IntArray:
    """Ranks of documents in many rankings, shape (m, n), by sorting or, faster, by counting."""
    if scores.shape[1] > _COUNTED or not _IS_COMPILED:
        return ranks_of(scores, ties)
    # numba takes a second to import.
    from everycell.explain.compiled import put_ranks

    ranks = np.empty(scores.shape, dtype=np.int64)
    put_ranks(scores, ties == "last", ranks)
    return ranks


def score_limit(model: Model) -> int:
    """Largest number of masked scores to request from a model in one call."""
    return _SCORES if hasattr(model, "masked_scores") else _VECTORS


def split_rows(rows: npt.NDArray[Any], limit: int) -> list[npt.NDArray[Any]]:
    """Split an array into chunks of at most `limit` rows, but at least one row."""
    return np.split(rows, range(max(1, limit), len(rows), max(1, limit)))


def masked_scores(
    model: Model, documents: FloatArray, background: FloatArray, coalitions: BoolArray
) -> FloatArray:
    """Scores (b, c, n) in which samples replace the features outside coalitions.

    Source: heuss2025, equation 4.2. The model is called once.
    """
    if hasattr(model, "masked_scores"):
        return model.masked_scores(documents, background, coalitions)
    vectors = np.where(coalitions[None, :, None], documents, background[:, None, None])
    shape = vectors.shape[:-1]
    scores = np.asarray(model(vectors.reshape(-1, documents.shape[1])), dtype=float)
    if scores.shape != (np.prod(shape),) or not np.isfinite(scores).all():
        raise DataError(
            column="shape of the model's scores",
            value=scores.shape,
            expected=f"one finite number for each of {np.prod(shape)} vectors",
        )
    return scores.reshape(shape)


def check_vectors(name: str, values: FloatArray, *, accepts_missing: bool = False) -> None:
    """Check feature vectors: their shape, and that they are finite or, if accepted, NaN."""
    array = np.asarray(values)
    is_table = array.ndim == 2 and all(array.shape)
    require(is_table, f"shape of the {name}", array.shape, "rows of one or more features")
    for row, column in np.argwhere(np.isinf(array) if accepts_missing else ~np.isfinite(array)):
        where, value = f"row {row + 1}", float(array[row, column])
        raise DataError(name, where, f"feature {column + 1}", value, expected="a finite number")


@dataclass(frozen=True)
class RankGame:
    """Rank of each document when features outside a coalition are masked in that document only.

    The documents are n separate games. Ties are broken in favour of the earlier document.

    Source: heuss2025, section 4.6, after Pliatsika et al. (ShaRP, with the rank as the quantity of
    interest). Requires numba, which is not part of a light installation.
    """

    model: Model
    documents: FloatArray
    background: FloatArray

    def __call__(self, coalitions: BoolArray) -> FloatArray:
        """Values of coalitions (c, n): negative ranks, so that higher values are better."""
        # numba takes a second to import.
        from everycell.explain.compiled import add_ranks

        own_scores = np.asarray(self.model(self.documents), dtype=float)
        sums = np.zeros((len(coalitions), len(own_scores)))
        limit = score_limit(self.model) // max(1, sums.size)
        for samples in split_rows(self.background, limit):
            scores = masked_scores(self.model, self.documents, samples, coalitions)
            add_ranks(scores, own_scores, sums)
        return -sums / len(self.background)


def pointwise_shapley_values(
    model: Model, documents: FloatArray, background: FloatArray
) -> FloatArray:
    """Shapley values (n, f) of each document's score, by enumeration of coalitions.

    Source: heuss2025, definition 4.3.1. Each row sums to the document's score minus the mean score
    of the background.
    """
    scores = masked_scores(model, documents, background, all_coalitions(documents.shape[1]))
    return shapley_values(scores.mean(axis=0)).T


def tree_shapley_values(
    forest: Forest, documents: FloatArray, background: FloatArray
) -> FloatArray:
    """Exact Shapley values (n, f) of each document's score by a forest.

    They are the interventional values of the package `shap`, which does not follow LightGBM where
    0 is missing: such forests are an error. Each row sums to the document's score minus the mean
    score of the background.
    """
    check_vectors("documents", documents)
    check_vectors("background", background)
    # With other numbers of features, the package reads memory outside the arrays.
    features, numbers = len(forest.names), (documents.shape[1], background.shape[1])
    require(set(numbers) == {features}, "numbers of features", numbers, f"{features} in both")
    if (forest.zeros_left != (forest.thresholds >= 0)).any():
        fault = "The forest treats 0 as missing, which the tree explainer does not support"
        fix = "use another explainer, or train without `zero_as_missing`"
        raise DataError(fault=fault, fix=fix)
    # The imports take seconds.
    import lightgbm
    import shap

    model = lightgbm.Booster(model_str=forest.text)
    explainer = shap.TreeExplainer(model, background, feature_perturbation="interventional")
    return np.asarray(explainer.shap_values(documents, check_additivity=False))
