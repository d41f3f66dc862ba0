"""lajewska2025, Table 5.6: accuracy of systems at all levels, on small cases."""

import pandas as pd
import pytest

from papers.lajewska2025.ch5_aggregation import THRESHOLDS
from papers.lajewska2025.ch5_answerability import (
    CHATGPT,
    NAMES,
    PUBLISHED,
    WORDS,
    accuracy_cells,
    accuracy_tables,
    chatgpt_accuracy,
    chatgpt_cases,
    classifier_cases,
    constant_accuracy,
    share_correct,
    system_tests,
    tune_thresholds,
    unanswerable_cells,
)


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


def test_accuracy_cells_all_levels(decisions):
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


def test_constant_accuracy_all_levels(decisions):
    result = {(row, level): value for row, level, value in constant_accuracy(decisions["right"])}
    assert result["nothing has an answer", "sentence"] == pytest.approx(6 / 7)
    assert result["everything has one", "ranking (max, then max)"] == 0.5
    assert all(
        result["nothing has an answer", level] + result["everything has one", level]
        == pytest.approx(1)
        for _, level in result
    )


def test_tune_thresholds_best(passages, labelled):
    low = scores(labelled, b=0.3) - 0.05
    selection = tune_thresholds(passages, low)
    assert 0.05 < selection["max"] <= 0.25
    result = classifier_cases(passages, labelled, low, selection)
    _, truth, message = result["passage", "max", ""]
    assert share_correct(truth, message) == 1


def test_chatgpt_accuracy_mean_of_passages(passages):
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


def test_system_tests_pairs(passages, decisions):
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


def test_chatgpt_cases_duplicate_passage(passages):
    predicted = passages[["turn_id", "passage_id", "answerable"]].assign(predicted=True)
    other = predicted.iloc[:1].assign(predicted=False)
    with pytest.raises(pd.errors.MergeError):
        chatgpt_cases(passages, pd.concat([predicted, other]), 0.33)


def test_unanswerable_cells_two_classifiers():
    scored = pd.DataFrame({"a": [(0.9, 0.1)] * 6, "b": [(0.1, 0.1)] * 6})
    result = unanswerable_cells(scored, ["a", "b"]).set_index(["row", "aggregation", "metric"])
    assert result.loc[("a", "max", "accuracy"), "value"] == 0
    assert result.loc[("b", "max", "accuracy"), "value"] == 1
    assert result.loc[("McNemar's test of the two", "max", "p"), "value"] == pytest.approx(2**-5)


def test_accuracy_tables_trainings(passages, labelled):
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
