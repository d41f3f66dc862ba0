"""Simulated studies: their designs, and whether the ANOVAs find what was planted."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from everycell.statistics.simulation import rejection_rates, simulate_ratings
from papers.lajewska2025.designs import (
    answerability_study,
    transparency_study,
    viewpoints_study,
)

STUDIES = [answerability_study(), viewpoints_study(), transparency_study()]


def rates(study, effects, seed=1, **options) -> pd.DataFrame:
    return rejection_rates(study, effects, rng=np.random.default_rng(seed), **options)


@pytest.mark.parametrize(
    ("study", "rows", "workers", "conditions"),
    [(STUDIES[0], 960, 96, 4), (STUDIES[1], 270, 27, 3), (STUDIES[2], 1600, 160, 10)],
)
def test_user_study_sizes(study, rows, workers, conditions):
    design = study.design
    assert len(design) == rows
    assert design["worker"].nunique() == workers
    assert design["condition"].nunique() == conditions
    # Each worker rates each of the ten queries once; conditions and queries are crossed evenly.
    assert (design.groupby("worker")["query"].nunique() == 10).all()
    assert (design.groupby("worker").size() == 10).all()
    assert design.groupby(["condition", "query"]).size().nunique() == 1


def test_user_study_transparency_conditions():
    design = transparency_study().design.drop_duplicates("condition").set_index("condition")
    assert (design["response_quality"] == "Good").sum() == 5
    assert design["explanation_quality"].value_counts().to_dict() == {
        "Good": 4, "Flawed": 4, "None": 2,
    }  # fmt: skip
    assert (design.loc[["EC9", "EC10"], "presentation_mode"] == "None").all()
    assert (design.loc[["EC1", "EC3", "EC5", "EC7"], "presentation_mode"] == "V").all()


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_simulate_ratings_shares(study, spread):
    ratings = simulate_ratings(
        study,
        {},
        200,
        np.random.default_rng(3),
        worker_sd=spread,
        query_sd=spread,
    )
    shares = np.bincount(ratings.ravel(), minlength=5)[1:] / ratings.size
    np.testing.assert_allclose(shares, study.shares, atol=0.03)
    assert sum(study.shares) == pytest.approx(1)


def test_simulate_ratings_seed():
    study = viewpoints_study()
    draws = [
        simulate_ratings(study, {"balance": 0.3}, 3, np.random.default_rng(seed))
        for seed in (5, 5, 6)
    ]
    assert (draws[0] == draws[1]).all()
    assert (draws[0] != draws[2]).any()


@pytest.mark.parametrize("study", [STUDIES[0], STUDIES[2]], ids=lambda study: study.name)
def test_rejection_rates_expected_power(study):
    """Five standard errors of 1,000 studies, and never fewer rejections for a larger effect."""
    table = rates(study, [0.0, 0.1, 0.2, 0.3], n_studies=1000)
    error = 5 * np.sqrt(table["expected_power"] * (1 - table["expected_power"]) / 1000)
    assert ((table["rejection_rate"] - table["expected_power"]).abs() < error + 0.01).all()
    planted = table[table["term"] == next(iter(study.contrasts))]
    assert planted["rejection_rate"].is_monotonic_increasing
    assert planted["mean_omega_sq"].to_numpy() == pytest.approx(
        planted["expected_omega_sq"].to_numpy(), abs=0.001
    )
    nothing = table[table["planted_effect"] == 0]
    assert nothing["expected_power"].to_numpy() == pytest.approx(0.05)


@pytest.mark.filterwarnings("ignore::everycell.statistics.fast_anova.RankDeficientDesignWarning")
def test_rejection_rates_empty_cells():
    """The printed analysis of the viewpoints study cannot see an effect of balance as such."""
    options = {"factor": "balance", "n_studies": 500}
    minimum_norm = rates(viewpoints_study(), [0.6], **options, solution="minimum_norm")
    minimum_norm = minimum_norm.set_index("term")
    assert minimum_norm.loc["balance", "rejection_rate"] == 0
    assert minimum_norm.loc["diversity:balance", "rejection_rate"] > 0.9
    # Half of the effect of balance is booked on diversity.
    assert minimum_norm.loc["diversity", "rejection_rate"] > 0.5
    assert minimum_norm["expected_power"].isna().all()

    supported = rates(viewpoints_study(), [0.6], **options, solution="supported").set_index("term")
    assert supported.loc["balance", "rejection_rate"] > 0.9
    assert supported.loc["diversity", "low"] < 0.05 < supported.loc["diversity", "high"] + 0.02
    untestable = supported.loc["diversity:balance", ["rejection_rate", "low", "expected_power"]]
    assert untestable.isna().all()


def test_rejection_rates_worker_effects():
    """They raise the false positives between workers (chapter 7), not within them (chapter 4)."""
    between = rates(transparency_study(), [0.0], worker_sd=0.9).iloc[0]
    within = rates(answerability_study(), [0.0], worker_sd=0.9).iloc[0]
    assert between["low"] > 0.2
    assert within["high"] < 0.06
    assert np.isnan(between["expected_power"])


def test_rejection_rates_intervals():
    for interval in ("wilson", "beta"):
        table = rates(answerability_study(), [0.0, 1.0], interval=interval)
        assert (table["low"] < table["rejection_rate"]).all()
        assert (table["high"] >= table["rejection_rate"]).all()
        assert table[["low", "high"]].min(axis=None) >= 0
        assert table[["low", "high"]].max(axis=None) <= 1


@pytest.mark.parametrize("interval", ["wilson", "beta"])
@pytest.mark.parametrize("confidence", [0.8, 0.99])
def test_rejection_rates_interval_equals_statsmodels(interval, confidence):
    table = rates(
        answerability_study(), [0.2], interval=interval, confidence=confidence, n_studies=200
    )
    count = (200 * table["rejection_rate"]).round()
    low, high = proportion_confint(count, 200, alpha=1 - confidence, method=interval)
    np.testing.assert_allclose(table[["low", "high"]], np.column_stack([low, high]), atol=1e-12)


def test_rejection_rates_at_another_level():
    """Without an effect, a test at level .3 rejects in 30 % of the studies."""
    table = rates(answerability_study(), [0.0], alpha=0.3, n_studies=1000)
    assert table["expected_power"].to_numpy() == pytest.approx(0.3)
    # Five standard errors.
    assert table["rejection_rate"].to_numpy() == pytest.approx(0.3, abs=0.073)
