"""Questions with one gold document, their labels under every arm, and what answers come to."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.base.errors import DataError
from everycell.rag.prompts import Question, pick_questions
from papers.abolghasemi2026.ch5_answers import collect_answers
from papers.abolghasemi2026.ch5_arms import (
    INFORMED_AGAINST_VANILLA,
    MIXED_AGAINST_VANILLA,
    MIXED_ARMS,
    PLAIN_ARMS,
    PRECISION,
    RECALL,
    Arm,
    present_questions,
    study_settings,
)
from papers.abolghasemi2026.ch5_comparisons import biases, sensitivities
from papers.abolghasemi2026.ch5_controls import PlantedControl
from papers.abolghasemi2026.ch5_published import bias_cells
from papers.abolghasemi2026.ch5_requests import Benchmark

RUN = pd.DataFrame(
    [(f"q{q}", f"d{d}", float(10 - d)) for q in range(5) for d in range(6)],
    columns=["query", "document", "score"],
)
GOLD = pd.DataFrame(
    [("q0", "d0"), ("q1", "d2"), ("q2", "d5"), ("q3", "d1"), ("q3", "d2"), ("q9", "d1")],
    columns=["query", "document"],
)
ARMS = (*PLAIN_ARMS, *MIXED_ARMS)


def test_pick_questions_one_gold_document():
    result, faults = pick_questions(RUN, GOLD, k=3)
    assert result == [
        Question("q0", ("d0", "d1", "d2"), 1),
        Question("q1", ("d0", "d1", "d2"), 3),
    ]
    # q2: at place 6; q3: two; q4: none; q9: nothing was retrieved.
    assert faults == {"not retrieved": 1, "several gold": 1, "no gold": 1, "too few documents": 1}


def test_pick_questions_ties():
    run = RUN.assign(score=1.0)
    assert pick_questions(run, GOLD, k=6)[0][0].documents == ("d5", "d4", "d3", "d2", "d1", "d0")


@given(st.integers(1, 6), st.integers(0, 50))
def test_pick_questions_random_place(k, seed):
    result, faults = pick_questions(RUN, GOLD, k=k, gold_position="random", seed=seed)
    assert [question.id for question in result][:3] == ["q0", "q1", "q2"]
    for question, gold in zip(result, ["d0", "d2", "d5"], strict=False):
        further = [name for name in question.documents if name != gold]
        assert question.documents[question.gold - 1] == gold and len(question.documents) == k
        assert further == [f"d{d}" for d in range(6) if f"d{d}" != gold][: k - 1]
    assert faults["several gold"] == faults["no gold"] == 1


def test_pick_questions_seeds():
    run = pd.concat([RUN.query("query == 'q0'").assign(query=f"r{n}") for n in range(40)])
    gold = pd.DataFrame({"query": [f"r{n}" for n in range(40)], "document": "d5"})
    positions = [
        [
            question.gold
            for question in pick_questions(run, gold, k=5, gold_position="random", seed=seed)[0]
        ]
        for seed in (0, 0, 1)
    ]
    assert positions[0] == positions[1] != positions[2]
    assert set(positions[0]) == {1, 2, 3, 4, 5}


@pytest.mark.parametrize(
    ("options", "column", "value"),
    [({"k": 0}, "k", 0), ({"k": 2, "gold_position": "last"}, "gold_position", "last")],
)
def test_pick_questions_invalid(options, column, value):
    with pytest.raises(DataError) as caught:
        pick_questions(RUN, GOLD, **options)
    assert (caught.value.column, caught.value.value) == (column, value)


def test_present_labels_of_every_arm():
    question = Question("q1", ("a", "b", "c"), gold=2)
    labels = {arm: arm.labels(question) for arm in ARMS}
    assert len(ARMS) == len(labels) == 16
    assert labels[Arm("Human", "LLM", "Informed", "Informed")] == ["LLM", "Human", "LLM"]
    assert labels[Arm("Human", "LLM", "CF-informed", "CF-informed")] == ["Human", "LLM", "Human"]
    assert labels[Arm("LLM", "LLM", "CF-informed", "Informed")] == ["LLM", "Human", "LLM"]
    assert labels[Arm("LLM", "LLM", "CF-informed", "CF-informed")] == ["Human"] * 3
    for arm, message in labels.items():
        assert (message == [""] * 3) == (arm.mode_relevant == "Vanilla")


@pytest.fixture(scope="module")
def planted():
    generator = PlantedControl(1.5)
    questions = [Question(f"q{n}", tuple("abcde"), n % 5 + 1) for n in range(60)]
    requests = present_questions(study_settings(5, [])[:1], lambda setting, arm: questions)
    texts = {letter: f"{letter} is a letter." for letter in "abcde"}
    return collect_answers(generator, requests, Benchmark("toy", {"Human": texts}))


def mean_quality(answers):
    means = answers.groupby(list(Arm._fields), sort=False)[[PRECISION, RECALL]].mean() * 100
    return means.reset_index().melt(list(Arm._fields), var_name="metric")


def test_biases_equal_bias_cells(planted):
    """Means of differences against differences of means, by two separate ways."""
    result = biases(planted, seed=1)
    table = mean_quality(planted).assign(dataset="toy", generator="toy")
    mixed = table["relevant_author"] == table["nonrelevant_author"]
    plain = table[~mixed].rename(columns={"mode_relevant": "rag_mode"})
    further = [bias_cells(plain.drop(columns="mode_nonrelevant")), bias_cells(table[mixed])]
    both = result.merge(
        pd.concat(further),
        on=["relevant_author", "nonrelevant_author", "metric"],
        suffixes=("", "_table"),
    )
    assert len(both) == len(result) == 8
    np.testing.assert_allclose(both["value"], both["value_table"], atol=1e-9)
    assert (result["low"] < result["value"]).all() and (result["value"] < result["high"]).all()
    assert (result["value"] > 0).all() and (result["p"] < 0.05).all()


def test_biases_missing_arms(planted):
    part = planted[planted["mode_relevant"] != "CF-informed"]
    assert biases(part, seed=1).empty


def test_sensitivities_at_least_change_of_means(planted):
    table = mean_quality(planted).set_index([*Arm._fields, "metric"])["value"]
    for pairs in (INFORMED_AGAINST_VANILLA, MIXED_AGAINST_VANILLA):
        result = sensitivities(planted, seed=1, pairs=pairs)
        assert len(result) == 2 * len(pairs)
        for position, (labelled, plain) in enumerate(pairs):
            for row in result.iloc[2 * position : 2 * position + 2].itertuples():
                metric = row.metric.replace("CAS delta", "attribution")
                change = table[(*labelled, metric)] - table[(*plain, metric)]
                assert abs(change) <= row.value + 1e-9
                assert row.low <= row.value <= row.high
