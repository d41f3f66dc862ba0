"""Attribution of the scores of single documents, a baseline for listwise attributions."""

from __future__ import annotations

import numpy as np

from everycell.base.arrays import FloatArray
from everycell.explain.forests import Forest
from everycell.explain.listwise import Model, check_vectors, masked_scores
from everycell.explain.shapley import all_coalitions, shapley_values


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
    if (forest.zeros_left != (forest.thresholds >= 0)).any():
        raise ValueError(
            "The forest treats 0 as missing, which the tree explainer does not support: use "
            "another explainer, or train without `zero_as_missing`."
        )
    # The imports take seconds.
    import lightgbm
    import shap

    model = lightgbm.Booster(model_str=forest.text)
    explainer = shap.TreeExplainer(model, background, feature_perturbation="interventional")
    return np.asarray(explainer.shap_values(documents, check_additivity=False))
