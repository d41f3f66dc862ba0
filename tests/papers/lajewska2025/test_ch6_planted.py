"""lajewska2025, chapter 6: planted responses and judge of Table 6.1."""

from __future__ import annotations

import numpy as np
import pytest

from papers.lajewska2025.ch6_judging import inference_scores
from papers.lajewska2025.ch6_planted import (
    Study,
    marked_shares,
    plant_responses,
    planted_judge,
    planted_truth,
    truth_table,
)
from papers.lajewska2025.ch6_response_tables import relevant_table

STUDY = Study(
    topics=44,
    nuggets=11,
    stated=0.35,
    gain=0.2,
    denied=0.1,
    complete=0.3,
    agreement=0.1,
    error=0.1,
    certainty=0.9,
)
#: Large enough that a planted difference is found.
LARGE = STUDY._replace(topics=500)


def scores_of(study: Study, seed: int = 0):
    rng = np.random.default_rng(seed)
    responses, nuggets = plant_responses(study, rng)
    return inference_scores(responses, nuggets, planted_judge(study, rng))


def test_planted_judge_without_error():
    infer = planted_judge(STUDY._replace(error=0.0), np.random.default_rng(0))
    response = "It states fact 1-Gold-1. It denies fact 1-Gold-11. It mentions fact 1-Gold-2."
    nuggets = ["fact 1-Gold-1", "fact 1-Gold-11", "fact 1-Gold-2"]
    probabilities = infer([(response, nugget) for nugget in nuggets])
    assert probabilities == pytest.approx(np.full((3, 3), 0.05) + 0.85 * np.eye(3))


@pytest.mark.parametrize("error", [0.0, 0.1, 0.4])
def test_truth_table_expected_within_interval(error):
    study = LARGE._replace(error=error)
    truth = truth_table(study, scores_of(study))
    cells = truth.pivot(index=["row", "measure"], columns="metric", values="value")
    width = cells["high"] - cells["low"]
    assert (width > 0).all()
    # Six intervals of 95 %, each made half as wide again.
    assert (abs(cells["measured"] - cells["expected"]) < 0.75 * width).all()


def test_planted_truth_perfect_judge():
    truth = planted_truth(STUDY._replace(error=0.0, certainty=1.0))
    assert truth["expected"].tolist() == pytest.approx(truth["planted"].tolist())


@pytest.mark.parametrize("gain", [0.0, 0.2])
def test_relevant_table_marks_planted_difference(gain):
    table = relevant_table(scores_of(LARGE._replace(gain=gain), seed=1))
    marked = table.loc[table["marker"] == "*", ["row", "metric"]]
    assert marked.to_numpy().tolist() == ([["GINGER", "Ent"]] if gain else [])


def test_marked_shares_of_test():
    shares = marked_shares(STUDY, 2000, np.random.default_rng(0)).set_index("planted gain")["value"]
    assert shares["0.00"] == pytest.approx(0.05, abs=0.02)
    assert shares["0.20"] > 0.9
