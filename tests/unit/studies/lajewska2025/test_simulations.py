"""lajewska2025, chapters 4 and 7: planted effects are found, and nothing else."""

import numpy as np
import pytest

from everycell.statistics.effect_size import CULPEPPER
from everycell.studies.lajewska2025.ch4.simulation import simulate
from everycell.studies.lajewska2025.ch7.simulation import (
    PLANTED,
    simulated_power,
    simulated_study,
)


def p_values(cells, *keys):
    """p-value of each term, by the key columns."""
    cells = cells[cells["metric"] == "p_value"]
    return cells.set_index(list(keys))["value"].astype(float)


@pytest.mark.filterwarnings(
    "ignore:The design:everycell.statistics.designs.RankDeficientDesignWarning"
)
def test_chapter_4_plants_effects_in_the_viewpoints_study_alone():
    cells, rates = simulate(
        2.0, [0.0, 1.0], studies=20, alpha=0.05, scale=CULPEPPER, rng=np.random.default_rng(1)
    )
    p = p_values(cells, "study", "dependent_variable", "independent_variable")
    assert p["Viewpoints", "Diversity", "Contr. Diversity"] < 0.001
    assert p["Answerability"].min() > 0.001
    assert rates["panel"].nunique() == 4
    own = rates[rates["term"] == rates["planted_factor"]]
    rejected = own.groupby("planted_effect")["rejection_rate"].mean()
    assert rejected[0.0] < 0.3 < rejected[1.0]


def test_chapter_7_plants_effects_in_the_ratings_that_the_paper_finds_moved():
    p = p_values(
        simulated_study(2.0, CULPEPPER, np.random.default_rng(1)),
        "row",
        "conditions",
        "dependent_variable",
    )
    quality = p.sort_index()["Response Quality", "EC1-EC10"]
    assert set(quality[quality < 1e-6].index) == PLANTED["response_quality"]


def test_chapter_7_raters_who_differ_reject_too_often():
    rates = simulated_power(
        [0.0], studies=40, alpha=0.05, worker_sd=2.0, rng=np.random.default_rng(1)
    )
    independent, differing = rates.groupby("ratings", sort=False)["rejection_rate"].mean()
    assert independent < 0.2 < differing
