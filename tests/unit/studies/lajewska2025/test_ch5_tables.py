"""lajewska2025, Tables 5.2, 5.3 and 5.6: what their scripts compute, on small cases."""

import numpy as np
import pandas as pd
import pytest

from everycell.dialogue.answerability import THRESHOLDS
from everycell.studies.lajewska2025.ch5.accuracy import (
    CHATGPT,
    accuracy,
    accuracy_cells,
    chatgpt_accuracy,
    chatgpt_cases,
    classifier_cases,
    constant_accuracy,
    system_tests,
    tune_thresholds,
    unanswerable_cells,
)
from everycell.studies.lajewska2025.ch5.accuracy_tables import (
    NAMES,
    PUBLISHED,
    WORDS,
    accuracy_tables,
)
from everycell.studies.lajewska2025.ch5.similarity import READINGS, sentence_pairs, similarity
from papers.lajewska2025.annotations import agreement_gaps


@pytest.fixture
def passages():
    """Two questions with three passages of one or two sentences; of the first one has an answer."""
    return pd.DataFrame(
        {
            "turn_id": ["8_1"] * 3 + ["8_2"] * 3,
            "passage_id": ["p1", "p2", "p3"] * 2,
            "question": ["why?"] * 3 + ["how?"] * 3,
            "sentences": [["a", "b"], ["c"], ["d"], ["e"], ["f"], ["g"]],
            "answerable": [True, False, False, False, False, False],
        }
    )


@pytest.fixture
def labelled(passages):
    pairs = [
        (question, sentence)
        for question, sentences in passages[["question", "sentences"]].values
        for sentence in sentences
    ]
    frame = pd.DataFrame(pairs, columns=["question", "sentence"])
    return frame.assign(answers=frame["sentence"] == "b")


def scores(labelled, **high):
    """0.1 for every sentence but those that are named."""
    result = labelled.set_index(["question", "sentence"])
    return pd.Series(
        [high.get(sentence, 0.1) for _, sentence in result.index], index=result.index, dtype=float
    )


@pytest.fixture
def decisions(passages, labelled):
    return {
        "right": classifier_cases(passages, labelled, scores(labelled, b=0.9), THRESHOLDS),
        "wrong": classifier_cases(passages, labelled, scores(labelled, e=0.9), THRESHOLDS),
    }


def test_a_right_sentence_is_right_at_every_level(decisions):
    cells = accuracy_cells(decisions).set_index(
        ["row", "level", "passage_aggregation", "ranking_aggregation"]
    )["value"]
    assert cells["right", "sentence", "", ""] == 1
    assert cells["right", "passage", "Max", ""] == cells["right", "ranking", "Max", "Max"] == 1
    # Six of seven sentences have no answer; the one that is called one is none.
    assert cells["wrong", "sentence", "", ""] == pytest.approx(5 / 7)
    assert cells["wrong", "passage", "Max", ""] == pytest.approx(4 / 6)
    assert cells["wrong", "ranking", "Max", "Max"] == 0
    assert len(cells) == 2 * (1 + 2 + 4)


def test_saying_always_the_same_is_counted_at_every_level(decisions):
    result = {(row, level): value for row, level, value in constant_accuracy(decisions["right"])}
    assert result["nothing has an answer", "sentence"] == pytest.approx(6 / 7)
    assert result["everything has one", "ranking (max, then max)"] == 0.5
    assert all(
        result["nothing has an answer", level] + result["everything has one", level]
        == pytest.approx(1)
        for _, level in result
    )


def test_thresholds_are_those_that_decide_best(passages, labelled):
    low = scores(labelled, b=0.3) - 0.05
    selection = tune_thresholds(passages, low)
    assert 0.05 < selection["max"] <= 0.25
    result = classifier_cases(passages, labelled, low, selection)
    _, truth, message = result["passage", "max", ""]
    assert accuracy(truth, message) == 1


def test_chatgpt_decides_rankings_by_the_mean_of_passages(passages):
    predicted = passages[["turn_id", "passage_id", "answerable"]].assign(
        predicted=[True, True, False, False, False, True]
    )
    cells, readings = chatgpt_accuracy(predicted, [0.33, 0.66])
    values = cells.set_index(["level", "ranking_aggregation"])["value"]
    assert values["passage", ""] == pytest.approx(4 / 6)
    # One of three: the second question is called answerable too. Two of three: it is not.
    assert values["ranking", "T=0.33"] == 0.5 and values["ranking", "T=0.66"] == 1
    assert set(cells["row"]) == {CHATGPT}
    assert len(readings) == 3 * 3


def test_systems_are_tested_in_pairs_and_with_chatgpt(passages, decisions):
    predicted = passages[["turn_id", "passage_id", "answerable"]].assign(
        predicted=passages["answerable"]
    )
    of_chatgpt = chatgpt_cases(passages, predicted, 0.33)
    tests = system_tests(decisions, of_chatgpt)
    cell = tests.set_index(["first", "second", "decided", "metric"])["value"]
    assert cell["right", "wrong", "sentence", "only_first"] == 2
    assert cell["right", "wrong", "sentence", "only_second"] == 0
    assert cell["right", CHATGPT, "passage (max)", "only_first"] == 0
    assert cell["wrong", CHATGPT, "passage (max)", "only_second"] == 2
    levels = tests.loc[tests["second"] == "wrong", "decided"].nunique()
    assert len(tests) == 4 * (levels + 2 * 2)


def test_a_passage_of_chatgpt_twice_must_agree_with_itself(passages):
    predicted = passages[["turn_id", "passage_id", "answerable"]].assign(predicted=True)
    other = predicted.iloc[:1].assign(predicted=False)
    with pytest.raises(pd.errors.MergeError):
        chatgpt_cases(passages, pd.concat([predicted, other]), 0.33)


def test_two_classifiers_on_passages_without_an_answer():
    scored = pd.DataFrame({"a": [(0.9, 0.1)] * 6, "b": [(0.1, 0.1)] * 6})
    result = unanswerable_cells(scored, ["a", "b"]).set_index(["row", "aggregation", "metric"])
    assert result.loc[("a", "max", "accuracy"), "value"] == 0
    assert result.loc[("b", "max", "accuracy"), "value"] == 1
    assert result.loc[("McNemar's test of the two", "max", "p"), "value"] == pytest.approx(2**-5)


def annotated(text_id, text, *spans):
    return pd.DataFrame(
        {
            "turn_id": "8_1",
            "passage_id": "p1",
            "text_id": text_id,
            "text": text,
            "spans": list(spans),
        }
    )


@pytest.mark.parametrize("reading", READINGS)
def test_a_sentence_is_found_in_its_passage(reading):
    workers = annotated("p1--1", "Ann left.", ((0, 3),), ((0, 8),))
    experts = annotated("p1", "It rains. Ann left.", ((10, 13),), ((0, 2),), ((10, 19),))
    ((theirs, reference),) = sentence_pairs(workers, experts, reading)
    assert theirs.shape[0] == 2 and reference.shape[0] == 3
    assert theirs.shape[1] == reference.shape[1]
    # "Ann" is marked by the first of both; the second expert marked another sentence.
    assert (theirs[0] == reference[0]).all() and not reference[1].any()


def test_a_sentence_that_punkt_does_not_find_is_left_out():
    workers = annotated("p1--7", "Ann left.", ((0, 3),), ((0, 8),))
    experts = annotated("p1", "It rains. Ann left.", ((10, 13),))
    assert not list(sentence_pairs(workers, experts, "ascii"))


def test_means_over_texts_of_each_aggregation():
    same = np.array([[True, False]] * 2)
    other = np.array([[False, True]] * 2)
    result = similarity([(same, same), (same, other)], "Prolific", "Paragraph-based", "ascii")
    assert result.loc[result["metric"] == "texts", "value"].tolist() == [2]
    assert result.loc[result["part"] == "f1", "value"].tolist() == [0.5] * 3


def test_gaps_are_of_measures_that_both_tasks_have():
    rows = [
        ("master", "Passage", "J", 0.5),
        ("regular", "Passage", "J", 0.2),
        ("master", "Passage", "J_3", 0.6),
        ("regular", "Passage", "J_3", 0.4),
        ("master", "Sentence", "J", 0.5),
        ("regular", "Sentence", "J", 0.4),
        ("expert", "Passage", "J", 0.9),
    ]
    result = agreement_gaps(
        pd.DataFrame(rows, columns=["row", "task", "metric", "value"]), "master", "regular"
    )
    assert result[["task", "metric"]].values.tolist() == [["Passage", "J"], ["Sentence", "J"]]
    assert result["value"].tolist() == pytest.approx([0.3, 0.1])


def test_the_published_rows_have_each_training_and_other_tables_the_first_one(passages, labelled):
    training = pd.DataFrame(
        [("where?", "no", False), ("where?", "there", True)],
        columns=["question", "sentence", "answers"],
    )
    predicted = passages.assign(predicted=True)
    predicted = predicted[["turn_id", "passage_id", "answerable", "predicted"]]
    passages = pd.concat([passages.assign(partition=name) for name in ("test", "validation")])
    labelled = labelled.assign(partition="test")
    labelled = pd.concat([labelled, training.assign(partition="train")], ignore_index=True)
    trainings = [scores(labelled, b=0.9), scores(labelled, c=0.9)]
    row, own = PUBLISHED["full"], NAMES["tiny"]
    tables = accuracy_tables(
        passages, labelled, {row: trainings, own: trainings[1:]}, predicted, 0.33
    )
    sentences = tables.by_training[tables.by_training["level"] == "sentence"]
    assert sentences["value"].tolist() == pytest.approx([1, 5 / 7]) and set(sentences["row"]) == {
        row
    }
    fixed = tables.classifiers[~tables.classifiers["thresholds"].str.endswith("tuned")]
    cells = fixed.set_index(["classifier", "metric"])["value"]
    assert cells[row, "sentence"] == 1 and cells[own, "sentence"] == pytest.approx(5 / 7)
    assert {*tables.tests["first"], *tables.tests["second"]} == {row, own, WORDS, CHATGPT}
    assert accuracy_tables(passages, labelled, {}, predicted, 0.33).by_training is None
