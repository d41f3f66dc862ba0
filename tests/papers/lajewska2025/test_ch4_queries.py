"""lajewska2025, chapter 4: how the queries of the studies were chosen."""

import pandas as pd
import pytest

from papers.lajewska2025 import ch4_queries


def test_unanswered_passages_majority():
    spans = {"a": [(), (), ((0, 1),)], "b": [(), ((0, 1),), ((0, 1),)], "c": [((0, 1),)] * 3}
    annotations = pd.DataFrame(
        [("1_1", passage, marks) for passage, of_people in spans.items() for marks in of_people],
        columns=["turn_id", "passage_id", "spans"],
    )
    assert ch4_queries.unanswered_passages(annotations).to_dict() == {"1_1": 1}


@pytest.mark.parametrize(
    ("number", "queries"), [(1, ["1_1"]), (2, ["1_1", "2_2"]), (9, ["1_1", "2_2", "3_1"])]
)
def test_crowd_choice_one_per_topic(number, queries):
    scores = pd.DataFrame(
        {"broadness": [3, 5, 3.2, 3.4, 2.8, 4], "controversy": [5, 4.8, 4, 4, 5, 1]},
        index=["1_1", "1_2", "2_1", "2_2", "4_1", "3_1"],
    )
    assert ch4_queries.crowd_choice(scores, number=number, least_broadness=3) == queries


@pytest.mark.parametrize(
    ("scores", "expected", "outlier"),
    [
        ([1, 4, 4, 4, 5], "high", "a"),
        ([4, 4, 4, 4, 9], "high", None),
        ([1, 2, 2, 2, 5], "low", "e"),
        ([3, 3, 3, 3, 3], "low", None),
    ],
)
def test_furthest_outlier_sides(scores, expected, outlier):
    assert ch4_queries.furthest_outlier(pd.Series(scores, list("abcde")), expected) == outlier


def test_read_crowd_scores_means(tmp_path):
    row = {"Input.turn_id": "1_1"}
    for dimension, counts in (("broadness", [0, 1, 0, 2, 2]), ("controversy", [0, 0, 0, 0, 5])):
        row |= {f"Answer.{dimension}.option_{n}": c for n, c in enumerate(counts, start=1)}
    path = tmp_path / "scores.csv"
    pd.DataFrame([row]).to_csv(path, index=False)
    assert ch4_queries.read_crowd_scores(path).loc["1_1"].tolist() == [4, 5]
