"""Explainers of a forest's ranked lists: attributions of the features that it uses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from everycell.engine.arrays import FloatArray, IntArray
from everycell.explain.forests import Forest
from everycell.explain.kernel_shap import kernel_shapley_values
from everycell.explain.lime import listwise_lime, pointwise_lime
from everycell.explain.listwise import ListwiseGame
from everycell.explain.pointwise import tree_shapley_values
from everycell.explain.selection import greedy_selection
from everycell.explain.single_documents import RankGame
from everycell.explain.value_functions import ValueFunction, kendall, ranks_of

#: Documents at the top whose pointwise attributions are averaged; heuss2025, section 4.6.
TOP = 5


@dataclass(frozen=True)
class ExplainedList:
    """A list of documents, the forest that ranks it and a background.

    Features without a split cannot change a ranking and have the attribution 0, so the explainers
    deal only with the others (`read`).

    Parameters
    ----------
    forest : Forest
        Its scores rank the list.
    documents : numpy.ndarray of float, shape (n, f)
        Feature vectors, n of 2 or more.
    background : numpy.ndarray of float, shape (b, f)
        Samples that replace masked features.
    """

    forest: Forest
    documents: FloatArray
    background: FloatArray

    @cached_property
    def read(self) -> IntArray:
        """Columns that the forest uses, ascending."""
        return np.unique(self.forest.features)

    @cached_property
    def narrow(self) -> ExplainedList:
        """The same, restricted to the columns that the forest uses."""
        forest = self.forest._replace(
            names=[self.forest.names[column] for column in self.read],
            features=np.searchsorted(self.read, self.forest.features),
        )
        return ExplainedList(forest, self.documents[:, self.read], self.background[:, self.read])

    @cached_property
    def ranks(self) -> IntArray:
        """Ranks of the documents, shape (n,)."""
        return ranks_of(self.forest(self.documents))

    def game(self, value: ValueFunction) -> ListwiseGame:
        """Game over the features that the forest uses."""
        narrow = self.narrow
        return ListwiseGame(narrow.forest, narrow.documents, narrow.background, value)

    def for_all_features(self, values: FloatArray) -> FloatArray:
        """Attributions of all features, from those of the features that the forest uses."""
        attributions = np.zeros(self.documents.shape[1])
        attributions[self.read] = values
        return attributions


def ranking_shap(
    explained: ExplainedList,
    value: ValueFunction | None = None,
    rng: np.random.Generator | None = None,
    *,
    select: bool = False,
) -> FloatArray:
    """RankingSHAP: Shapley values of a ranked list's features, by KernelSHAP.

    Source: heuss2025, equations 4.2 to 4.5.

    Parameters
    ----------
    explained : ExplainedList
        The list, the forest that ranks it, and the samples that replace masked features.
    value : callable, optional
        From ranks, shape (c, n), to the values of c rankings; Kendall's tau with the list's own
        ranking if left out.
    rng : numpy.random.Generator, optional
        Source of the sampled coalitions; seeded with 0 if left out.
    select : bool
        Whether a lasso (AIC) sets small values to 0, as in the released code.

    Returns
    -------
    numpy.ndarray of float, shape (f,)
        They sum to the value of the list's own ranking minus that with all features masked.

    Examples
    --------
    >>> from everycell.explain.forests import forest_of
    >>> stump = forest_of([({"split_feature": 0, "threshold": 0.5, "decision_type": "<=",
    ...     "missing_type": "None", "default_left": True, "left_child": {"leaf_value": -1.0},
    ...     "right_child": {"leaf_value": 1.0}})], ["length"])
    >>> given = ExplainedList(stump, np.array([[0.2], [0.7]]), np.array([[0.1], [0.9]]))
    >>> ranking_shap(given).tolist()
    [2.0]
    """
    value = kendall(explained.ranks) if value is None else value
    rng = np.random.default_rng(0) if rng is None else rng
    game = explained.game(value)
    if game.features == 1:
        return explained.for_all_features(np.diff(game(np.array([[False], [True]]))))
    return explained.for_all_features(
        kernel_shapley_values(game, game.features, rng=rng, select=select)
    )


def greedy(explained: ExplainedList, value: ValueFunction, limit: int) -> FloatArray:
    """Greedy selection: `limit` for the first feature, one less for the next; shape (f,)."""
    game = explained.game(value)
    attributions = np.zeros(game.features)
    order = greedy_selection(game, game.features, limit)
    attributions[order] = limit - np.arange(len(order))
    return explained.for_all_features(attributions)


def pointwise_shap(explained: ExplainedList, top: int = TOP) -> FloatArray:
    """Mean Shapley values of the scores of the first documents, shape (f,)."""
    documents = explained.documents[explained.ranks <= top]
    return tree_shapley_values(explained.forest, documents, explained.background).mean(axis=0)


def sharp(explained: ExplainedList, rng: np.random.Generator) -> FloatArray:
    """Mean over documents of Shapley values of a document's rank (ShaRP), shape (f,)."""
    narrow = explained.narrow
    game = RankGame(narrow.forest, narrow.documents, narrow.background)
    # Shapley values are linear: those of the mean rank are the mean over the documents.
    values = kernel_shapley_values(
        lambda coalitions: game(coalitions).mean(axis=1), len(narrow.read), rng=rng
    )
    return explained.for_all_features(values)


def mean_pointwise_lime(
    explained: ExplainedList, rng: np.random.Generator, samples: int, top: int = TOP
) -> FloatArray:
    """Mean absolute weights of the scores of the first documents, shape (f,)."""
    narrow = explained.narrow
    documents = narrow.documents[explained.ranks <= top]
    weights = pointwise_lime(narrow.forest, documents, narrow.background, samples=samples, rng=rng)
    return explained.for_all_features(np.abs(weights).mean(axis=0))


def mean_listwise_lime(
    explained: ExplainedList, rng: np.random.Generator, samples: int
) -> FloatArray:
    """Mean over documents of the weights of Kendall's tau, shape (f,)."""
    narrow = explained.narrow
    weights = listwise_lime(
        narrow.forest,
        narrow.documents,
        narrow.background,
        kendall(explained.ranks),
        samples=samples,
        rng=rng,
    )
    return explained.for_all_features(weights.mean(axis=0))
