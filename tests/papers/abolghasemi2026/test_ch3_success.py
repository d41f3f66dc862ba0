"""Tables of generated counterfactuals: shares that flip, generators and judges, by hand."""

from __future__ import annotations

import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from everycell.collections.satisfaction_samples import SYSTEM, USER, Sample
from papers.abolghasemi2026.ch3_counterfactuals import Rewriting
from papers.abolghasemi2026.ch3_success import (
    DIFFERENCE,
    SCORES,
    first_utterance,
    flip_counts,
    flip_intervals,
    flip_shares,
    judge_generators,
    judge_scores,
    planted_dialogue,
    planted_sizes,
    train_sample_judge,
)

#: Table 3.5 as published: (Main, CF) by data set and row; the row of CF is the new label.
PUBLISHED = {
    "MultiWOZ": {"Satisfaction": (811, 19), "Dissatisfaction": (40, 524), "Total": (851, 543)},
    "SGD": {"Satisfaction": (848, 11), "Dissatisfaction": (76, 731), "Total": (924, 742)},
}


def sizes():
    rows = [
        (row, dataset, collection, count)
        for dataset, rows in PUBLISHED.items()
        for row, counts in rows.items()
        for collection, count in zip(("Main", "CF"), counts, strict=True)
    ]
    return pd.DataFrame(rows, columns=["row", "dataset", "collection", "value"])


def test_flip_shares_published_sizes():
    table = flip_shares(flip_counts(sizes())).set_index(["row", "dataset"])["value"].round(1)
    assert table.unstack().loc["Satisfaction"].tolist() == [64.6, 86.2]
    assert table.unstack().loc["Dissatisfaction"].tolist() == [47.5, 14.5]
    assert table.unstack().loc["Overall"].tolist() == [63.8, 80.3]


def test_flip_intervals_exchanged_labels():
    counts = flip_counts(sizes())
    table = flip_intervals(counts).set_index(["row", "dataset", "metric"])["value"]
    for (row, dataset), (remaining, n) in counts.items():
        low, high = proportion_confint(remaining, n, method="wilson")
        assert table[row, dataset, "low"] == pytest.approx(100 * low)
        assert table[row, dataset, "high"] == pytest.approx(100 * high)
        assert (table[row, dataset, "flipped"], table[row, dataset, "samples"]) == (remaining, n)
    assert 0 < table[DIFFERENCE, "MultiWOZ", "low"] < 17.1 < table[DIFFERENCE, "MultiWOZ", "high"]
    other = {"Satisfaction": "Dissatisfaction", "Dissatisfaction": "Satisfaction"}
    turned = {(other.get(row, row), name): item for (row, name), item in counts.items()}
    back = flip_intervals(turned).set_index(["row", "dataset", "metric"])["value"]
    for metric, opposite in (("share", "share"), ("low", "high"), ("high", "low")):
        expected = -table[DIFFERENCE, "SGD", opposite]
        assert back[DIFFERENCE, "SGD", metric] == pytest.approx(expected)


def sample(number, answer, satisfied, ending=""):
    turns = ((USER, f"Taxi {number // 2}?"), (SYSTEM, answer))
    return Sample(f"toy-{number // 2}/{number % 2}{ending}", "toy", turns, satisfied)


#: Two samples of each of six dialogues; every original satisfies, and some rewritings do too.
STILL = {1, 5, 7}
MAIN = [sample(number, "It is booked.", True) for number in range(12)]
PEOPLE = [
    sample(number, "It is booked." if number in STILL else "I cannot book it.", number in STILL)
    for number in range(12)
]


@pytest.fixture
def judge():
    return train_sample_judge(MAIN, first_utterance, folds=2, labels=PEOPLE)


def test_judge_generators_people_and_controls(judge):
    rules = [Rewriting(item, "I cannot.", "", "rule") for item in MAIN[4:8]]
    model = [Rewriting(item, "", "empty", "") for item in MAIN[4:8]]
    result = judge_generators(MAIN, PEOPLE, {"model": model, "rules": rules}, judge, seed=0)
    names = [name.removesuffix(": surrogate judge") for name in result]
    assert names == [
        "GPT-4, as released: people",
        "GPT-4, as released",
        "model",
        "rules",
        "nothing changed",
        "utterance of another dialogue",
    ]
    # The samples that the first generator rewrote, and the labels that people gave them.
    people = result["GPT-4, as released: people"]
    assert people["id"].tolist() == [item.id for item in MAIN[4:8]]
    assert people["satisfied"].tolist() == [0, 1, 0, 1]
    assert result["rules: surrogate judge"]["satisfied"].tolist() == [0, 0, 0, 0]
    assert result["model: surrogate judge"]["satisfied"].isna().all()
    assert result["nothing changed: surrogate judge"]["fault"].eq("").all()


def test_judge_scores_by_part(judge):
    table = judge_scores(MAIN, PEOPLE, judge)
    assert list(dict.fromkeys(table["metric"])) == list(SCORES)
    by = table.set_index(["judge", "test_data", "metric"])["value"]
    assert by["five phrases", "Main", "samples"] == 12 and by["five phrases", "CF", "samples"] == 9
    assert by["five phrases", "Mixed", "samples"] == 21
    assert by["five phrases", "all generated", "samples"] == 12
    # The phrases are in all that dissatisfies, and in nothing else.
    for test_data in ("Main", "CF", "Mixed", "all generated"):
        assert by["five phrases", test_data, "accuracy"] == 100


def test_planted_sizes_of_flipped_samples():
    mixed = [
        sample(number, "It is booked." if number % 2 else "I cannot book it.", number % 2 == 1)
        for number in range(12)
    ]
    of_all = train_sample_judge(mixed, planted_dialogue, folds=2)
    table = planted_sizes(mixed, of_all, seed=0).set_index(["collection", "row"])["value"]
    assert table["Main"].to_dict() == {"Satisfaction": 6, "Dissatisfaction": 6, "Total": 12}
    assert table["CF", "Satisfaction"] + table["CF", "Dissatisfaction"] == table["CF", "Total"]
    assert 0 < table["CF", "Total"] <= 12


def test_flip_intervals_newcombe_by_hand():
    """Newcombe (1998): 56/70 - 48/80, method 10: .0524 to .3339."""
    counts = {("Satisfaction", "toy"): (56, 70), ("Dissatisfaction", "toy"): (48, 80)}
    table = flip_intervals(counts).set_index(["row", "metric"])["value"][DIFFERENCE]
    assert table[["share", "low", "high"]].tolist() == pytest.approx([20, 5.24, 33.39], abs=5e-3)
