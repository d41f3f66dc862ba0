"""Tables of the data of user satisfaction, by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from everycell.collections.satisfaction_samples import SYSTEM, USER
from papers.abolghasemi2026.ch3 import (
    AGREEMENT,
    BEHIND_3_2,
    READINGS,
    collect_ratings,
    collection_sizes,
    counts_by_rule,
    part_sizes,
    rater_agreement,
    shared_histories,
)
from papers.abolghasemi2026.ch3_data import RULES, RatedDialogue
from papers.abolghasemi2026.ch3_predictions import number_trainings


def dialogue(name, ratings, overall=(3, 3, 3)):
    """Return a dialogue with ratings of the user's utterances only."""
    turns, inputs = [], []
    for number, rated in enumerate(ratings):
        turns += [(USER, f"{name} asks {number}"), (SYSTEM, f"answer {number}")]
        inputs += [rated, ()]
    return RatedDialogue(tuple(turns), tuple(inputs), overall)


def test_collect_ratings_of_users_and_dialogues():
    result = collect_ratings([dialogue("a", [(3, 2, 3), (1, 1, 2)], overall=(4, 4, 5))])
    assert result == [(3, 2, 3), (1, 1, 2), (4, 4, 5)]


def test_counts_by_rule():
    ratings = [(3, 2, 2), (2, 3, 3), (3, 3, 4), (5, 5, 5)]
    table = counts_by_rule(ratings).set_index(["rule", "metric"])["value"]
    assert table[BEHIND_3_2, "rating 2"] == 1 and table[BEHIND_3_2, "rating 3"] == 2
    assert set(table.index.get_level_values("rule")) == set(RULES)
    for rule in RULES:
        counts = table[rule]
        assert counts["Dissatisfaction"] + counts["Satisfaction"] == len(ratings)


def test_rater_agreement_perfect():
    table = rater_agreement([(2, 2, 2), (3, 3, 3), (4, 4, 4)])
    values = table.set_index(["scale", "metric"])["value"].unstack()
    assert list(AGREEMENT) == table["metric"].unique().tolist()
    assert (values["ratings"] == 3).all()
    np.testing.assert_allclose(values[["Cohen kappa", "Fleiss kappa"]], 1)
    # 3 and 4 are one class.
    apart = rater_agreement([(2, 2, 2), (3, 4, 4), (4, 3, 3)])
    agreed = apart.set_index(["scale", "metric"])["value"]
    assert agreed["five ratings", "percent agreement"] == pytest.approx(100 / 3)
    assert agreed["binary", "percent agreement"] == 100


def test_part_sizes_by_reading():
    rated = [
        dialogue(name, [(3, 3, 3), *[(low, low, 3)] * 5])
        for name, low in (("a", 2), ("b", 3), ("c", 2), ("d", 3))
    ]
    stored = [[item.turns[:number] for number in (7, 9)] for item in rated[:2]]
    table = part_sizes(rated, stored, "toy")
    assert table["reading"].unique().tolist() == list(READINGS)
    sizes = table.set_index(["reading", "part", "row"])["value"]["as in the table"]
    assert sizes["valid"].to_dict() == {"Satisfaction": 0, "Dissatisfaction": 2, "Total": 2}
    assert sizes["test"].to_dict() == {"Satisfaction": 2, "Dissatisfaction": 0, "Total": 2}
    totals = table[table["row"] == "Total"].set_index(["reading", "part"])["value"]
    for reading in READINGS:
        parts = table[(table["reading"] == reading) & (table["row"] != "Total")]
        assert parts.groupby("part")["value"].sum().to_dict() == totals[reading].to_dict()


def test_collection_sizes_test_sets():
    tests = pd.DataFrame(
        [
            ("toy", "main", True),
            ("toy", "main", False),
            ("toy", "cf", False),
            ("toy", "plain", True),
        ],
        columns=["benchmark", "part", "satisfied"],
    )
    table = collection_sizes(tests).set_index(["collection", "row"])["value"]
    assert table["Main"].to_dict() == {"Satisfaction": 1, "Dissatisfaction": 1, "Total": 2}
    assert table["CF"].to_dict() == {"Satisfaction": 0, "Dissatisfaction": 1, "Total": 1}
    assert set(table.index.get_level_values("collection")) == {"Main", "CF"}


def test_shared_histories_of_all_and_confirmed_pairs():
    pairs = pd.DataFrame({"confirmed": [True, False], "same": [False, True]})
    table = shared_histories(pairs.assign(same_without_apologies=True))
    assert table["value"].tolist() == [2, 1, 2, 1, 0, 1]


def test_number_trainings_of_separate_files():
    numbered = number_trainings([pd.DataFrame({"seed": [0]})] * 4, 2)
    assert [frame["seed"].item() for frame in numbered] == [0, 1, 0, 1]
