"""lajewska2025, chapter 7: planted effects are found, and nothing else."""

import numpy as np

from everycell.statistics.effect_size import CULPEPPER
from everycell.studies.lajewska2025.ch7.simulation import (
    PLANTED,
    simulated_power,
    simulated_study,
)


def p_values(cells, *keys):
    """p-value of each term, by the key columns."""
    cells = cells[cells["metric"] == "p_value"]
    return cells.set_index(list(keys))["value"].astype(float)


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
