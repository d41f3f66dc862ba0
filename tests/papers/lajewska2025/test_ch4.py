"""lajewska2025, chapter 4: user studies on the limitations of responses."""

import pandas as pd
import pytest
from chapter_jobs import FunctionJob

from everycell.base.errors import DataError
from papers.lajewska2025 import ch4
from papers.lajewska2025.counts import exact_quotient


@pytest.mark.filterwarnings(
    "ignore:The design:everycell.statistics.fast_anova.RankDeficientDesignWarning"
)
def test_simulation_effects():
    params = {"seed": 1, "studies": 20, "planted": 2.0, "effects": [0.0, 1.0], "alpha": 0.05}
    job = FunctionJob(params=params | {"scale": "culpepper"})
    ch4.simulation(job)
    cells = job.tables[""].query("metric == 'p_value'")
    keys = ["study", "dependent_variable", "independent_variable"]
    p = cells.set_index(keys)["value"].astype(float)
    assert p["Viewpoints", "Diversity", "Contr. Diversity"] < 0.001
    assert p["Answerability"].min() > 0.001
    rates = job.figures["power"]
    assert rates["panel"].nunique() == 4
    own = rates[rates["term"] == rates["planted_factor"]]
    rejected = own.groupby("planted_effect")["rejection_rate"].mean()
    assert rejected[0.0] < 0.3 < rejected[1.0]


def test_summarise_ratings_per_query_and_over_queries():
    ratings = pd.DataFrame({"query": [1, 1, 2, 2], "rating": [1, 3, 3, 4]})
    summary = ch4.summarise_ratings(ratings.assign(study="A", dimension="Balance"))
    values = summary.set_index(["query", "metric"])["value"]
    assert values["all", "percent high"] == 75 and values["1", "percent high"] == 50
    assert values["all", "median"] == 3 and values["2", "median"] == 3.5


def test_exact_quotient_refuses_a_remainder():
    assert exact_quotient(960, 10) == 96
    with pytest.raises(DataError, match="961"):
        exact_quotient(961, 10)


@pytest.mark.parametrize(("shift", "is_reached"), [(0.1, False), (2, True)])
def test_power_analysis_size_of_effect(shift, is_reached):
    ratings = pd.DataFrame(
        {"Condition": ["A1"] * 10 + ["A2"] * 10, "Diversity": [1, 2, 3, 4, 2] * 4}
    )
    ratings["Diversity"] += shift * (ratings["Condition"] == "A2")
    values = ch4.power_analysis(ratings, "Diversity", alpha=0.05, power=0.8)
    assert (values["achieved_power"] >= 0.8) == is_reached
    assert (values["per_group_needed"] <= 10) == is_reached
