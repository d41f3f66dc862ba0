"""Every public statistical function against a peer library, or a value by hand or in print.

`COMPARED` names the test that compares each function. The comparisons in this file are those that
no other file has.
"""

from __future__ import annotations

import ast
import inspect
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

from everycell.explain.explainers import (
    linear_weights,
    listwise_lime,
    pointwise_lime,
)
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

HERE = "truth/test_statistical_functions"
R = "truth/r/test_against_r"
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
    *("check_ranks", "check_numbers"),
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
#: Test file below tests/ and its test -> the functions that it compares.
COMPARED = {
    (HERE, "test_fleiss_kappa_equals_statsmodels"): "fleiss_kappa",
    (HERE, "test_effect_sizes_equal_their_definitions"): (
        "omega_squared eta_squared partial_eta_squared cohen_f"
    ),
    (HERE, "test_ratio_interval_of_two_queries_by_hand"): "ratio_interval",
    (HERE, "test_pooled_confidence_equals_attribution_confidence"): "pooled_confidence",
    (HERE, "test_linear_weights_equal_closed_form"): "linear_weights",
    (HERE, "test_pointwise_lime_equals_linear_weights"): "pointwise_lime",
    (HERE, "test_listwise_lime_equals_linear_weights"): "listwise_lime",
    (HERE, "test_outlier_measures_by_hand"): "list_outliers outlier_probability",
    (HERE, "test_reciprocal_fairness_by_hand"): "reciprocal_fairr reciprocal_nfairr",
    (R, "test_full_rank_equals_r"): "anova",
    (R, "test_supported_anova_equals_r_with_empty_cells"): "supported_anova",
    (R, "test_t_tests_and_corrections_equal_r"): "t_tests pearson",
    (R, "test_power_equals_r"): "anova_power required_per_group power_from_f",
    ("truth/repro_eval/test_against_repro_eval", ""): (
        "ranking_agreement score_agreement effect_agreement compare_runs"
    ),
    ("unit/metrics/test_satisfaction", "test_scores_equal_scikit_learn"): ("scores confusion"),
    ("unit/metrics/test_satisfaction", "test_fitting_confusions_of_rounded_scores"): (
        "fitting_confusions"
    ),
    ("unit/metrics/test_satisfaction", "test_jaccard"): "jaccard",
    ("unit/cli/test_answers", "test_satisfaction_agrees_with_scikit_learn"): "satisfaction_report",
    ("unit/metrics/test_satisfaction", "test_dissatisfaction_steps"): ("dissatisfaction_steps"),
    ("unit/explain/test_explainers", "test_kernel_shap_of_few_features_is_exact"): (
        "kernel_shapley_values"
    ),
    (
        "unit/explain/test_explainers",
        "test_ranking_shap_is_near_enumeration_and_sums_to_what_the_list_gains",
    ): "ranking_shap",
    ("unit/explain/test_explainers", "test_sharp_is_the_mean_of_each_documents_values"): "sharp",
    ("unit/explain/test_explainers", "test_mean_attributions_equal_their_parts"): (
        "mean_pointwise_lime mean_listwise_lime pointwise_shap greedy"
    ),
    (
        "unit/explain/test_explainers",
        "test_checks_take_the_first_of_equal_attributions_and_all_where_there_are_fewer",
    ): "checks",
    (
        "unit/explain/test_forests",
        "test_pointwise_values_are_those_of_the_tree_explainer",
    ): "tree_shapley_values",
    ("unit/explain/test_games", "test_pointwise_values_of_a_linear_model_have_a_closed_form"): (
        "pointwise_shapley_values"
    ),
    ("unit/explain/test_games", "test_ranks_are_those_of_scipy_with_ties_by_place"): "ranks_of",
    ("unit/explain/test_games", "test_kendall_is_that_of_scipy"): "kendall",
    ("unit/explain/test_games", "test_value_functions_by_hand"): (
        "exposure exposures weighted_rank_difference negative_rank exposure_difference"
    ),
    ("unit/explain/test_shapley", "test_values_are_mean_gains_over_all_orders"): (
        "shapley_values all_coalitions"
    ),
    ("unit/explain/test_shapley", "test_sampling_is_efficient_and_within_its_error"): (
        "sampled_shapley_values"
    ),
    ("unit/explain/test_shapley", "test_greedy_selection_ends_where_nothing_is_gained"): (
        "greedy_selection"
    ),
    ("unit/fair_ranking/test_constrained", "test_the_integer_program_finds_the_best_order"): (
        "best_by_integer_program"
    ),
    (
        "unit/fair_ranking/test_constrained",
        "test_the_price_gives_a_fair_enough_order_within_its_bound",
    ): "best_by_assignment",
    ("unit/fair_ranking/test_constrained", "test_gains_keep_the_order"): "scale_scores",
    ("unit/fair_ranking/test_decomposition", "test_by_hand"): "decompose",
    (
        "unit/fair_ranking/test_decomposition",
        "test_felix_keeps_probabilities_and_never_shows_more_outliers",
    ): "resample",
    ("unit/fair_ranking/test_fair_exposure", "test_a_linear_program_finds_the_same_exposures"): (
        "fair_exposure"
    ),
    ("unit/fair_ranking/test_fair_exposure", "test_by_hand"): (
        "exposure_blocks logarithmic_rank_weights"
    ),
    ("unit/fair_ranking/test_policy_measures", "test_exposure_error_by_hand"): "exposure_error",
    ("unit/fair_ranking/test_policy_measures", "test_ndcg_is_that_of_pytrec_eval"): ("policy_ndcg"),
    ("unit/fair_ranking/test_policy_measures", "test_outliers_by_hand"): (
        "z_scores holds_outlier outlierness_published outlierness_released"
    ),
    ("unit/fair_ranking/test_fa_ir", "test_the_printed_table"): "minimum_protected",
    ("unit/fair_ranking/test_fa_ir", "test_the_chance_of_failure_by_enumeration"): (
        "failure_probability"
    ),
    ("unit/fair_ranking/test_fa_ir", "test_adjusted_significance_is_the_largest"): (
        "adjusted_significance"
    ),
    ("unit/fair_ranking/test_fa_ir", "test_prefixes_have_enough_where_there_are_enough"): "fa_ir",
    (
        "unit/fair_ranking/test_felix",
        "test_the_policy_has_fair_exposures_and_the_fewest_outliers",
    ): "felix",
    ("unit/fair_ranking/test_marginals", "test_each_is_the_best_by_its_multipliers"): (
        "entropy_marginals centre_marginals"
    ),
    ("unit/fair_ranking/test_policies", "test_plackett_luce_has_its_probabilities"): (
        "plackett_luce"
    ),
    ("unit/fair_ranking/test_policies", "test_uniform_gives_every_item_the_same"): "uniform",
    ("unit/fair_ranking/test_policies", "test_deterministic_takes_the_first_of_equal_scores"): (
        "deterministic"
    ),
    ("unit/fair_ranking/test_policies", "test_omit_without_outliers_has_the_fair_exposures"): (
        "omit"
    ),
    ("unit/fair_ranking/test_pufr", "test_scores_are_those_of_the_algorithm"): (
        "moved_scores pufr"
    ),
    (
        "unit/fair_ranking/test_pufr",
        "test_ties_are_broken_by_the_mean_then_by_the_place",
    ): "sort_by_moved_scores",
    ("unit/fair_ranking/test_pufr", "test_intervals_are_counted_pair_by_pair"): (
        "count_crossing_intervals"
    ),
    ("unit/metrics/test_attribution", "test_precision_and_recall_are_scikit_learns"): (
        "citation_quality"
    ),
    ("unit/metrics/test_attribution", "test_by_hand"): "cas cab direction",
    ("unit/metrics/test_attribution", "test_paired_difference_is_scipys"): "paired_difference",
    ("unit/metrics/test_attribution", "test_confidence_by_hand"): "attribution_confidence",
    ("unit/metrics/test_awrf", "test_weights"): "rank_weights",
    ("unit/metrics/test_awrf", "test_awrf_of_trec_is_what_their_formula_gives_with_scipy"): (
        "awrf group_exposure group_shares absolute_distance"
    ),
    (
        "unit/metrics/test_awrf",
        "test_documents_without_group_terms_are_everyones_or_nobodys",
    ): "alignments",
    ("unit/metrics/test_gfrc", "test_jsd_agrees_with_scipy"): "jensen_shannon",
    ("unit/metrics/test_gfrc", "test_nmd_agrees_with_scipy"): "nmd",
    (
        "unit/metrics/test_gfrc",
        "test_rnod_agrees_with_a_direct_reading_of_the_definition",
    ): "rnod",
    (
        "unit/metrics/test_gfrc",
        "test_weight_falls_from_1_at_the_first_word_to_0_beyond_the_budget",
    ): "position_weight",
    ("unit/metrics/test_gfrc", "test_only_the_first_relevant_mention_counts"): (
        "without_duplicates"
    ),
    (
        "unit/metrics/test_gfrc",
        "test_independent_method_means_over_the_turn_and_cumulative_over_all_so_far",
    ): "achieved_distributions",
    ("unit/metrics/test_gfrc", "test_scores_of_a_conversation_are_made_of_their_parts"): (
        "combine gfrc group_fairness turn_similarities distribution_similarity relevance"
    ),
    ("unit/metrics/test_rbo", "test_values_of_the_package_rbo"): "rbo",
    ("unit/metrics/test_rbo", "test_crbo_is_rbo_of_every_query"): "crbo",
    ("unit/metrics/test_gfr", "test_users_who_stop"): "stopping",
    ("unit/metrics/test_gfr", "test_the_files_of_fairweb1"): "gfr",
    ("unit/metrics/test_term_fairness", "test_measures_are_the_equations_on_texts"): (
        "term_exposure group_representation rbdf ted texfair neutrality nfairr ideal_fairr "
        "divergence_and_factor apply_discount"
    ),
    ("unit/metrics/test_term_fairness", "test_the_largest_divergence_is_reached"): (
        "largest_divergence"
    ),
    ("unit/metrics/test_term_fairness", "test_the_curves_are_the_measures"): (
        "fairness_curves fairness_by_query exposure_distance document_neutrality "
        "relative_neutrality"
    ),
    (
        "unit/metrics/test_term_fairness",
        "test_correlation_is_numpys_and_leaves_queries_without_a_value_out",
    ): "correlation",
    (
        "unit/metrics/test_term_fairness",
        "test_ideal_takes_the_most_neutral_documents_and_uses_a_small_set_up",
    ): "find_most_neutral background_ideal",
    (
        "unit/metrics/test_fairness_differences",
        "test_each_test_is_that_of_scipy",
    ): "fairness_report",
    (
        "unit/retrieval/test_evaluation",
        "test_both_ways_equal_pytrec_eval_on_random_runs_full_of_ties",
    ): "evaluate measure_ranks relevant_ranks",
    ("unit/retrieval/test_significance", "test_each_pair_is_scipy_s_paired_t_test"): "paired_tests",
    ("unit/retrieval/test_significance", "test_paired_and_unpaired_tests_are_scipy_s"): (
        "compare_paired_and_unpaired"
    ),
    ("unit/retrieval/test_significance", "test_changes_of_printed_rows_are_the_printed_ranges"): (
        "change_ranges"
    ),
    ("unit/retrieval/test_significance", "test_letters_by_hand"): (
        "system_letters mark_beaten_systems"
    ),
    ("unit/statistics/test_agreement", "test_a_table_of_two_people_worked_by_hand"): (
        "percent_agreement"
    ),
    ("unit/statistics/test_agreement", "test_kappa_is_that_of_statsmodels"): "cohens_kappa",
    ("unit/statistics/test_anova", "test_design_support"): "design_support",
    ("unit/statistics/test_anova", "test_anova_cells_and_supported_cells_in_long_format"): (
        "anova_cells supported_cells"
    ),
    (
        "unit/statistics/test_repeated_ratings",
        "test_intraclass_correlation_of_the_example_of_shrout_and_fleiss",
    ): "intraclass_correlation",
    (
        "unit/statistics/test_repeated_ratings",
        "test_a_mixed_model_of_a_balanced_study_is_the_anova_of_the_means",
    ): "random_intercept_p cluster_means_anova",
    ("unit/statistics/test_laplace", "test_fisher_is_the_sum_of_squared_gradients"): (
        "fisher_diagonal"
    ),
    ("unit/statistics/test_laplace", "test_sampling_finds_the_closed_form"): (
        "log_odds_distribution sampled_distribution"
    ),
    ("unit/test_public", ""): "fairness compare",
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


def test_every_public_function_is_compared() -> None:
    compared = {name for names in COMPARED.values() for name in names.split()}
    assert compared == public_functions()


@pytest.mark.parametrize("test", COMPARED, ids=".".join)
def test_comparisons_exist(test: tuple[str, str]) -> None:
    file, name = test
    text = (REPOSITORY / "tests" / f"{file}.py").read_text(encoding="utf-8")
    functions = [
        node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)
    ]
    assert not name or name in functions


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


def test_reciprocal_fairness_by_hand() -> None:
    assert reciprocal_fairr([1, 0, 0.5], 2) == 1
    assert reciprocal_fairr([1, 0, 0.5], 9) == pytest.approx(1 + 0.5 / 3)
    # Best order: 1, .5, 0.
    assert reciprocal_nfairr([0, 1, 0.5], 3) == pytest.approx((1 / 2 + 0.5 / 3) / (1 + 0.5 / 2))
    assert np.isnan(reciprocal_nfairr([0, 0], 2))
