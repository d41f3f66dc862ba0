"""lajewska2025, chapter 7: usefulness of explanations, on ratings made for the tests."""

import numpy as np
import pandas as pd
import pytest
from chapter_jobs import FunctionJob

from everycell.statistics.anova import anova, cluster_means_anova
from everycell.statistics.effect_size import CULPEPPER
from papers.lajewska2025 import ch7
from papers.lajewska2025.ch7 import interaction_table, one_way_table, worker_table
from papers.lajewska2025.ch7_usefulness import differences
from papers.lajewska2025.user_study_data import TRANSPARENCY_FACTORS


@pytest.fixture
def ratings() -> pd.DataFrame:
    """Thirty workers of five conditions, who rate six queries each."""
    rng = np.random.default_rng(3)
    worker = np.repeat(np.arange(30), 6)
    frame = pd.DataFrame({"Worker": worker, "Query": np.tile(list("abcdef"), 30)})
    for factor in TRANSPARENCY_FACTORS:
        if factor != "Query":
            frame[factor] = rng.integers(1, 4, 30)[worker].astype(str)
    frame["Explanation Quality"] = np.array(["Good", "Flawed", "None"])[worker % 3]
    frame["Presentation Mode"] = np.where(
        frame["Explanation Quality"] == "None", "None", np.array(["V", "T"])[worker // 3 % 2]
    )
    frame["Response Quality"] = np.array(["Good", "Flawed"])[worker // 6 % 2]
    frame["Topic Familiarity"] = rng.integers(1, 5, len(worker)).astype(str)
    for rating in ("Usefulness", "Satisfaction"):
        frame[rating] = rng.integers(1, 5, len(worker)) + (worker % 2)
    for rating in ("Source", "Confidence", "Limitations"):
        frame[rating] = rng.integers(1, 5, 30)[worker]
    return frame


def cells(table: pd.DataFrame, **key: str) -> dict[str, float]:
    """Values of one row of the table by metric."""
    for column, value in key.items():
        table = table[table[column] == value]
    return dict(zip(table["metric"], table["value"], strict=True))


@pytest.mark.slow
def test_worker_table_rows_and_p_values(ratings):
    published_form = one_way_table(ratings, ["Usefulness"], CULPEPPER)
    beside = worker_table(ratings, ["Usefulness"])
    keys = ["row", "conditions"]
    assert set(map(tuple, published_form[keys].to_numpy())) == set(
        map(tuple, beside[keys].to_numpy())
    )
    for row, conditions in set(map(tuple, published_form[keys].to_numpy())):
        key = {"row": row, "conditions": conditions}
        assert cells(beside, **key)["p ratings"] == cells(published_form, **key)["p_value"]


@pytest.mark.slow
def test_worker_table_means_of_workers(ratings):
    table = worker_table(ratings, ["Usefulness"])
    result = cells(table, row="Response Quality", conditions="EC1-EC10")
    expected = cluster_means_anova(ratings, "Usefulness", "Response Quality", "Worker")["p"]
    assert result["p worker means"] == expected and "p mixed model" in result
    assert set(cells(table, row="Query")) == {"p ratings", "p mixed model", "ICC"}


def test_worker_table_ratings_given_once(ratings):
    result = cells(worker_table(ratings, ["Source"]), row="Presentation Mode", conditions="EC1-EC8")
    assert set(result) == {"p ratings", "p worker means", "ICC"} and result["ICC"] == pytest.approx(
        1
    )


def test_one_way_table_conditions_with_explanations(ratings):
    table = one_way_table(ratings, ["Usefulness"], CULPEPPER)
    explained = ratings[ratings["Explanation Quality"] != "None"]
    expected = one_way_table(explained, ["Usefulness"], CULPEPPER)
    key = {"row": "Presentation Mode"}
    assert cells(table, conditions="EC1-EC8", **key) == cells(
        expected, conditions="EC1-EC10", **key
    )


def test_interaction_table_rows(ratings):
    table = interaction_table(ratings, CULPEPPER)
    rows = table[["row", "interaction_with"]].drop_duplicates()
    assert rows["interaction_with"].value_counts().to_dict() == {"Query": 8, "Topic Familiarity": 3}
    assert set(table["dependent_variable"]) == {
        "Usefulness",
        "Satisfaction",
        "Explanation: Source",
        "Explanation: Confidence",
        "Explanation: Limitations",
    }


def test_differences_over_ratings_and_workers(ratings):
    result = cells(differences(ratings), rating="Confidence", comparison="accurate - noisy")
    sides = [ratings[ratings["Explanation Quality"] == level] for level in ("Good", "Flawed")]
    assert result["difference"] == pytest.approx(
        sides[0]["Confidence"].mean() - sides[1]["Confidence"].mean()
    )
    explained = pd.concat(sides)
    expected = anova(explained, "Confidence", ["Explanation Quality"])["p"].iloc[0]
    assert result["p ratings"] == pytest.approx(expected)
    # One value a worker, repeated six times over the rows: fewer workers, a larger p.
    assert result["p worker means"] > result["p ratings"]
    assert result["low"] < result["difference"] < result["high"]


def test_differences_crossover(ratings):
    table = differences(ratings)
    accurate, noisy = (
        cells(table, rating="Usefulness", comparison="visual - textual", among=among)["difference"]
        for among in ("accurate", "noisy")
    )
    result = cells(table, comparison="crossover")
    assert result["difference"] == pytest.approx(accurate - noisy)
    assert 0 <= result["p ratings"] <= 1 and 0 <= result["p worker means"] <= 1


@pytest.fixture
def pilot():
    return pd.DataFrame(
        {
            "Worker": [f"w{number // 2}" for number in range(12)],
            "Condition": ["EC3"] * 4 + ["EC4"] * 4 + ["EC7"] * 4,
            "Usefulness": [1, 2, 2, 3, 2, 3, 3, 4, 4, 4, 3, 4],
        }
    )


def test_power_analysis_workers_and_ratings(pilot):
    power = ch7.power_analysis(pilot, 0.05, 0.8).set_index(["question", "unit", "metric"])["value"]
    question = "explanation quality"
    assert power[question, "workers", "F"] == power[question, "ratings", "F"] > 0
    # The same F from fewer units is a larger effect and needs fewer units.
    assert power[question, "workers", "cohen_f"] > power[question, "ratings", "cohen_f"]
    needed = (power[question, unit, "per_group_needed"] for unit in ("workers", "ratings"))
    assert next(needed) <= next(needed)


def test_text_numbers_counts(pilot):
    ratings = pd.DataFrame({"Worker": ["a", "b", "c"], "Condition": ["EC1", "EC1", "EC2"]})
    answers = pd.DataFrame({column: ["option_4", "option_4"] for _, column in ch7.OPTIONS})
    comments = pd.DataFrame({column: [f" {entry} ", None] for column, entry in ch7.THEMES.values()})
    power = ch7.power_analysis(pilot, 0.05, 0.8)
    cells = ch7.text_numbers(pilot, power, ratings, answers, comments)
    values = cells.set_index(["part", "item"])["value"]
    assert values["pilot", "all conditions"].tolist() == [6, 3]
    assert values["study", "one condition"] == 1
    assert (values["gender", "other"], values["gender", "male"]) == (2, 0)
    assert [values["comments", theme] for theme in ch7.THEMES] == [1, 1, 1]


def test_failing_workers_none():
    failed = pd.Series([True, False, True, True, False, False])
    workers = pd.Series(["a", "a", "b", "b", "c", "c"])
    table = ch7.failing_workers(failed, workers, 3)
    assert table.set_index("failed checks")["value"].to_dict() == {0: 1, 1: 1, 2: 1, 3: 0}


def test_themes_by_condition_without_a_theme():
    marks = dict(zip(ch7.THEMES, (("x", None), (None, None), (None, "other remark")), strict=True))
    columns = {ch7.THEMES[theme][0]: entries for theme, entries in marks.items()}
    comments = pd.DataFrame({"answers_ids": ["EC2", "EC10"], **columns}, dtype=object)
    cells = ch7.themes_by_condition(comments).set_index(["theme", "condition"])["value"]
    assert cells["explanations helped to see limits"].to_dict() == {"EC2": 1, "EC10": 0}
    assert cells.sum() == 1


PARAMS = {"seed": 1, "alpha": 0.05, "worker_sd": 2.0, "scale": "culpepper_zero"}


def test_simulation_planted_effects():
    job = FunctionJob(params=PARAMS | {"studies": 2, "planted": 2.0, "effects": [1.0]})
    ch7.simulation(job)
    table = job.tables[""].query("metric == 'p_value'")
    p = table.set_index(["row", "conditions", "dependent_variable"])["value"].astype(float)
    quality = p.sort_index()["Response Quality", "EC1-EC10"]
    assert set(quality[quality < 1e-6].index) == ch7.PLANTED["response_quality"]


def test_simulation_correlated_ratings():
    job = FunctionJob(params=PARAMS | {"studies": 40, "planted": 0.0, "effects": [0.0]})
    ch7.simulation(job)
    rates = job.figures["power"].groupby("ratings", sort=False)["rejection_rate"].mean()
    independent, differing = rates
    assert independent < 0.2 < differing
