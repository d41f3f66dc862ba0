"""Every public statistical function against a peer library, or a value by hand or in print.

The mark `compares` names the functions that a test compares. The comparisons in this file are those
that no other file has.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from harness import REPOSITORY
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.formula.api import ols
from statsmodels.stats import inter_rater

from everycell.explain.explainers import linear_weights, listwise_lime, pointwise_lime
from everycell.explain.value_functions import kendall, ranks_of
from everycell.fair_ranking.constrained import reciprocal_fairr, reciprocal_nfairr
from everycell.fair_ranking.policies import Policy, list_outliers, outlier_probability
from everycell.metrics.attribution import (
    attribution_confidence,
    paired_difference,
    pooled_confidence,
    ratio_interval,
)
from everycell.public import public_modules
from everycell.statistics.agreement import fleiss_kappa
from everycell.statistics.effect_size import (
    cohen_f,
    eta_squared,
    omega_squared,
    partial_eta_squared,
)

#: Marks of comparisons in the tests.
MARK = re.compile(r"pytest\.mark\.compares\(([^)]*)\)")
#: Modules of the public library that compute no statistic, and some whose measures are not public.
OTHERS = {
    *("explain.attributed_lists", "explain.forests"),
    *("metrics.ir_measures_provider", "metrics.run_measure"),
    *("metrics.term_counts", "metrics.word_lists", "rag.citations", "trec.conversion"),
    *("public.pyterrier",),
}
FURTHER = ("retrieval.significance", "retrieval.reproducibility", "retrieval.evaluation")
#: Names of functions that check input, or prepare it.
HELPERS = {
    *("checked_weights", "checked_ideal", "checked_gains", "checked_merits", "checked_lists"),
    *("check_lists", "checked_target", "checked_counts", "check_tau", "check_attribute_sets"),
    *("ranked_counts", "arrange", "check_vectors", "masked_scores", "score_limit", "split_rows"),
    *("check_ranks", "check_numbers", "check_arguments", "rbo_of_prefixes"),
    *(
        "checked_rank_weights",
        "checked_scores",
        "checked_flags",
        "checked_marginals",
        "register_measures",
    ),
    *("check_level", "parse_measures", "parse_measure", "select_topics", "sum_last_axis"),
    "read_predictions",
}


def public_functions() -> set[str]:
    """Names of the public functions that compute a number from data."""
    names = {module.removeprefix("everycell.") for module in public_modules()} - OTHERS
    functions = set()
    for name in sorted(names | set(FURTHER)):
        module = import_module(f"everycell.{name}")
        functions |= {
            name
            for name, function in vars(module).items()
            if inspect.isfunction(function) and function.__module__ == module.__name__
            if not name.startswith("_")
        }
    return functions - HELPERS


def test_public_functions_compared() -> None:
    texts = (path.read_text(encoding="utf-8") for path in (REPOSITORY / "tests").rglob("test_*.py"))
    marks = (mark for text in texts for mark in MARK.findall(text))
    assert set(re.findall(r"\w+", " ".join(marks))) == public_functions()


@pytest.mark.compares("fleiss_kappa")
@given(
    st.integers(2, 5).flatmap(
        lambda people: st.lists(
            st.lists(st.integers(0, 3), min_size=people, max_size=people), min_size=2, max_size=20
        )
    )
)
def test_fleiss_kappa_equals_statsmodels(labels: list[list[int]]) -> None:
    if len({label for case in labels for label in case}) == 1:
        assert np.isnan(fleiss_kappa(labels))
        return
    counts, _ = inter_rater.aggregate_raters(np.array(labels))
    assert fleiss_kappa(labels) == pytest.approx(inter_rater.fleiss_kappa(counts))


@pytest.mark.compares("omega_squared", "eta_squared", "partial_eta_squared", "cohen_f")
@given(st.integers(0, 10_000))
def test_effect_sizes_equal_their_definitions(seed: int) -> None:
    """From the table of statsmodels, by the textbook's sums of squares."""
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": np.repeat(range(3), 20), "b": np.tile(range(2), 30)})
    frame["y"] = draw.normal(size=60) + 0.5 * frame["a"]
    one = sm.stats.anova_lm(ols("y ~ C(a)", frame).fit())
    (between, within), (df, df_within) = one["sum_sq"], one["df"]
    total = ((frame["y"] - frame["y"].mean()) ** 2).sum()
    f, mse = one.loc["C(a)", "F"], within / df_within
    assert eta_squared(between, total) == pytest.approx(between / (between + within))
    assert omega_squared(f, df, 60) == pytest.approx((between - df * mse) / (total + mse))
    assert cohen_f(f, df, df_within) == pytest.approx(np.sqrt(between / within))
    two = sm.stats.anova_lm(ols("y ~ C(a) + C(b)", frame).fit())["sum_sq"]
    partial = partial_eta_squared(two[["C(a)", "C(b)"]], two["Residual"])
    assert partial == pytest.approx(
        [two[name] / (two[name] + two["Residual"]) for name in ("C(a)", "C(b)")]
    )
    assert eta_squared(two, total).sum() == pytest.approx(1)


@pytest.mark.compares("ratio_interval")
def test_ratio_interval_of_two_queries_by_hand() -> None:
    """Resamples: the first query twice (1/4), both (1/2), the second query twice (1/4)."""
    sums, counts = [1.8, 0.4], [2, 1]
    assert ratio_interval(sums, counts, seed=1) == pytest.approx((0.4, 0.9))
    # The quantiles .3 and .7 are both within the half of the resamples that have both queries.
    assert ratio_interval(sums, counts, seed=1, confidence=0.4) == pytest.approx((2.2 / 3,) * 2)
    # The quantiles .2 and .8 are not.
    assert ratio_interval(sums, counts, seed=1, confidence=0.6) == pytest.approx((0.4, 0.9))
    result = paired_difference([1, 0.5], [0, 0.5], seed=1, confidence=0.4)
    assert (result.low, result.high) == (0.5, 0.5)
    result = paired_difference([1, 0.5], [0, 0.5], seed=1)
    assert (result.low, result.high) == (0, 1)


@pytest.mark.compares("pooled_confidence")
@given(
    st.lists(
        st.lists(st.tuples(st.floats(-5, 0), st.booleans()), max_size=4), min_size=1, max_size=6
    )
)
def test_pooled_confidence_equals_attribution_confidence(answers: list) -> None:
    """Answers with more citations weigh more: a mean over citations, not over answers."""
    logprobs = [[value for value, _ in answer] for answer in answers]
    inside = [[is_inside for _, is_inside in answer] for answer in answers]
    selected = [[np.exp(value) for value, is_inside in answer if is_inside] for answer in answers]
    result = pooled_confidence([sum(part) for part in selected], [len(part) for part in selected])
    expected = attribution_confidence(logprobs, inside)
    assert result is expected is None or result == pytest.approx(expected)


def weighted_ridge(mask: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Coefficients by the normal equations; lime's kernel has the squared distance d and f.

    The kernel of the package lime is sqrt(exp(-D² / w²)) with w = .75 sqrt(f). D² is the number of
    masked features.
    """
    features = mask.shape[1]
    width = 0.75 * np.sqrt(features)
    weights = np.sqrt(np.exp(-(((1 - mask) ** 2).sum(axis=1)) / width**2))
    design = mask - np.average(mask, axis=0, weights=weights)
    target = values - np.average(values, weights=weights)
    penalty = np.eye(features)
    return np.linalg.solve(
        design.T @ (weights[:, None] * design) + penalty, design.T @ (weights * target)
    )


@pytest.mark.compares("linear_weights")
@pytest.mark.parametrize("features", [1, 3, 8])
def test_linear_weights_equal_closed_form(features: int) -> None:
    masks = []

    def worth(mask: np.ndarray) -> np.ndarray:
        masks.append(mask)
        # Not linear, so that the weights of the samples count.
        return mask.prod(axis=1) + mask @ np.arange(1.0, features + 1) ** 2

    result = linear_weights(worth, features, 40, np.random.default_rng(3))
    (mask,) = masks
    assert mask[0].all() and mask.shape == (40, features)
    assert result == pytest.approx(weighted_ridge(mask.astype(float), worth(mask)))


@pytest.mark.compares("pointwise_lime")
def test_pointwise_lime_equals_linear_weights() -> None:
    """With one background sample, the masked vectors are known."""
    documents, background = np.array([[1.0, 2.0, -1.0]]), np.array([[0.5, 0.0, 3.0]])

    def model(vectors: np.ndarray) -> np.ndarray:
        return vectors[:, 0] * vectors[:, 1] - vectors[:, 2]

    result = pointwise_lime(model, documents, background, samples=50, rng=np.random.default_rng(1))
    expected = linear_weights(
        lambda mask: model(np.where(mask, documents, background)), 3, 50, np.random.default_rng(1)
    )
    assert result == pytest.approx(expected[None])


@pytest.mark.compares("listwise_lime")
def test_listwise_lime_equals_linear_weights() -> None:
    documents = np.array([[3.0, 1.0], [2.0, 1.5], [0.0, 4.0]])
    background = np.array([[1.0, 1.0]])

    def model(vectors: np.ndarray) -> np.ndarray:
        return vectors @ np.array([1.0, 0.5])

    def worth(mask: np.ndarray) -> np.ndarray:
        vectors = np.where(mask.reshape(-1, 3, 2), documents, background)
        scores = model(vectors.reshape(-1, 2)).reshape(-1, 3)
        return kendall([1, 2, 3])(ranks_of(scores))

    result = listwise_lime(
        model,
        documents,
        background,
        kendall([1, 2, 3]),
        samples=60,
        rng=np.random.default_rng(2),
    )
    expected = linear_weights(worth, 6, 60, np.random.default_rng(2))
    assert result == pytest.approx(expected.reshape(3, 2))


@pytest.mark.compares("list_outliers", "outlier_probability")
def test_outlier_measures_by_hand() -> None:
    """Of ten values, one that differs is 3 population standard deviations from the mean."""
    for sign in (1, -1):
        scores = sign * np.array([0.0] * 9 + [1.0])
        assert list_outliers(scores) == pytest.approx([0] * 9 + [3 * sign])
        assert list_outliers(scores, threshold=3.1).tolist() == [0] * 10
        # Only the first ranking displays the item within nine ranks.
        policy = Policy(np.array([[9, *range(9)], list(range(10))]), np.array([0.3, 0.7]))
        assert outlier_probability(policy, scores, displayed=9) == pytest.approx(0.3)
        assert outlier_probability(policy, scores) == pytest.approx(1)


@pytest.mark.compares("reciprocal_fairr", "reciprocal_nfairr")
def test_reciprocal_fairness_by_hand() -> None:
    assert reciprocal_fairr([1, 0, 0.5], 2) == 1
    assert reciprocal_fairr([1, 0, 0.5], 9) == pytest.approx(1 + 0.5 / 3)
    # Best order: 1, .5, 0.
    assert reciprocal_nfairr([0, 1, 0.5], 3) == pytest.approx((1 / 2 + 0.5 / 3) / (1 + 0.5 / 2))
    assert np.isnan(reciprocal_nfairr([0, 0], 2))
