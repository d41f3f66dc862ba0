"""Explainers of a forest's rankings, which attribute them to features: SHAP, LIME and others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from everycell.base.arrays import BoolArray, FloatArray, IntArray
from everycell.base.errors import DataError
from everycell.explain.forests import Forest
from everycell.explain.games import ListwiseGame, Model, RankGame, tree_shapley_values
from everycell.explain.shapley import Game, greedy_selection, kernel_shapley_values
from everycell.explain.value_functions import ValueFunction, kendall, ranks_of

#: Number of top documents whose pointwise attributions are averaged (heuss2025, section 4.6).
TOP = 5


@dataclass(frozen=True)
class ExplainedList:
    """A list of documents, the forest that ranks it, and a background.

    Features that the forest does not use have an attribution of 0, so most explainers work only on
    `used_columns`.

    Parameters
    ----------
    forest : Forest
        Forest whose scores rank the list.
    documents : numpy.ndarray of float, shape (n, f)
        Feature vectors of n documents, with n at least 2.
    background : numpy.ndarray of float, shape (b, f)
        Samples that replace masked features.
    """

    forest: Forest
    documents: FloatArray
    background: FloatArray

    @cached_property
    def used_columns(self) -> IntArray:
        """Columns that the forest uses, in ascending order."""
        return np.unique(self.forest.features)

    @cached_property
    def restricted_list(self) -> ExplainedList:
        """The list restricted to the columns that the forest uses."""
        columns = self.used_columns
        forest = self.forest._replace(
            names=[self.forest.names[column] for column in columns],
            features=np.searchsorted(columns, self.forest.features),
        )
        return ExplainedList(forest, self.documents[:, columns], self.background[:, columns])

    @cached_property
    def ranks(self) -> IntArray:
        """Ranks of the documents, shape (n,)."""
        return ranks_of(self.forest(self.documents))

    def game(self, value: ValueFunction) -> ListwiseGame:
        """Game over the features that the forest uses."""
        restricted = self.restricted_list
        return ListwiseGame(restricted.forest, restricted.documents, restricted.background, value)

    def expand_to_all_features(self, values: FloatArray) -> FloatArray:
        """Add the attribution 0 for the features that the forest does not use."""
        attributions = np.zeros(self.documents.shape[1])
        attributions[self.used_columns] = values
        return attributions


def ranking_shap(
    ranking: ExplainedList,
    value: ValueFunction | None = None,
    rng: np.random.Generator | None = None,
    *,
    select: bool = False,
) -> FloatArray:
    """RankingSHAP: Shapley values of the features of a ranked list, by KernelSHAP.

    Source: heuss2025, equations 4.2 to 4.5.

    Parameters
    ----------
    ranking : ExplainedList
        The list, the forest that ranks it, and the samples that replace masked features.
    value : callable, optional
        Function of ranks, shape (c, n), that returns the values of c rankings; by default Kendall's
        tau with the original ranking.
    rng : numpy.random.Generator, optional
        Random number generator for the coalitions; seeded with 0 by default.
    select : bool
        Whether a lasso (AIC) sets small values to 0, as in the released code.

    Returns
    -------
    numpy.ndarray of float, shape (f,)
        Shapley values, which sum to the value of the original ranking minus the mean value with all
        features masked.

    Examples
    --------
    >>> from everycell.explain.forests import forest_of
    >>> stump = forest_of([({"split_feature": 0, "threshold": 0.5, "decision_type": "<=",
    ...     "missing_type": "None", "default_left": True, "left_child": {"leaf_value": -1.0},
    ...     "right_child": {"leaf_value": 1.0}})], ["length"])
    >>> ranking = ExplainedList(stump, np.array([[0.2], [0.7]]), np.array([[0.1], [0.9]]))
    >>> ranking_shap(ranking).tolist()
    [2.0]
    """
    value = kendall(ranking.ranks) if value is None else value
    rng = np.random.default_rng(0) if rng is None else rng
    game = ranking.game(value)
    if game.features == 1:
        return ranking.expand_to_all_features(np.diff(game(np.array([[False], [True]]))))
    return ranking.expand_to_all_features(
        kernel_shapley_values(game, game.features, rng=rng, select=select)
    )


def greedy(ranking: ExplainedList, value: ValueFunction, limit: int) -> FloatArray:
    """Greedy selection, shape (f,): `limit` for the first feature, then one less per feature."""
    game = ranking.game(value)
    attributions = np.zeros(game.features)
    order = greedy_selection(game, game.features, limit)
    attributions[order] = limit - np.arange(len(order))
    return ranking.expand_to_all_features(attributions)


def pointwise_shap(ranking: ExplainedList, top: int = TOP) -> FloatArray:
    """Mean Shapley values of the scores of the top documents, shape (f,)."""
    documents = ranking.documents[ranking.ranks <= top]
    return tree_shapley_values(ranking.forest, documents, ranking.background).mean(axis=0)


def sharp(ranking: ExplainedList, rng: np.random.Generator) -> FloatArray:
    """Mean over documents of the Shapley values of their rank (ShaRP), shape (f,)."""
    restricted = ranking.restricted_list
    game = RankGame(restricted.forest, restricted.documents, restricted.background)
    # Shapley values are linear, so their mean is the Shapley value of the mean rank.
    values = kernel_shapley_values(
        lambda coalitions: game(coalitions).mean(axis=1), len(restricted.used_columns), rng=rng
    )
    return ranking.expand_to_all_features(values)


def top_lime_weights(
    ranking: ExplainedList, rng: np.random.Generator, samples: int, top: int = TOP
) -> FloatArray:
    """LIME weights for the scores of the top documents, shape (top, f)."""
    restricted = ranking.restricted_list
    documents = restricted.documents[ranking.ranks <= top]
    weights = pointwise_lime(
        restricted.forest, documents, restricted.background, samples=samples, rng=rng
    )
    return np.array([ranking.expand_to_all_features(values) for values in weights])


def mean_pointwise_lime(
    ranking: ExplainedList, rng: np.random.Generator, samples: int, top: int = TOP
) -> FloatArray:
    """Mean absolute LIME weights for the scores of the top documents, shape (f,)."""
    return np.abs(top_lime_weights(ranking, rng, samples, top)).mean(axis=0)


def mean_listwise_lime(
    ranking: ExplainedList, rng: np.random.Generator, samples: int
) -> FloatArray:
    """Mean over documents of the LIME weights for Kendall's tau, shape (f,)."""
    restricted = ranking.restricted_list
    weights = listwise_lime(
        restricted.forest,
        restricted.documents,
        restricted.background,
        kendall(ranking.ranks),
        samples=samples,
        rng=rng,
    )
    return ranking.expand_to_all_features(weights.mean(axis=0))


class Checks(NamedTuple):
    """Values of rankings per explanation and size, shape (e, sizes) or (e, sizes, k)."""

    preservation: FloatArray  #: with only the features of the explanation
    deletion: FloatArray  #: with all other features


def checks(game: Game, attributions: FloatArray, sizes: Sequence[int]) -> Checks:
    """Values of rankings with only the features of an explanation, or all others.

    Source: heuss2025, section 4.6, Preservation(e) and Deletion(e). An explanation consists of the
    features with the highest attributions; ties go to the first feature. The background of the game
    should differ from that of the explanation.
    """
    for value in attributions[~np.isfinite(attributions)]:
        raise DataError(column="attribution", value=float(value), expected="a finite number")
    attributions = np.atleast_2d(attributions)
    positions = np.argsort(np.argsort(-attributions, kind="stable"), kind="stable")
    in_explanation = positions[:, None] < np.array(sizes)[:, None]
    coalitions = np.array([in_explanation, ~in_explanation])
    # A single call, since games are faster with many coalitions per call.
    worth = game(coalitions.reshape(-1, attributions.shape[1]))
    return Checks(*worth.reshape(*coalitions.shape[:-1], *worth.shape[1:]))


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
