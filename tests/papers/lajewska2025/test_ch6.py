"""lajewska2025, Table 6.7: scores of systems by judge, from labels of nuggets."""

import itertools

import numpy as np
import pandas as pd
import pytest

from papers.lajewska2025.ch6 import READINGS, judge_tables, released_scores
from papers.lajewska2025.ch6_judging import inference_scores
from papers.lajewska2025.ch6_labels import JUDGES, SYSTEMS, NuggetLabels
from papers.lajewska2025.ch6_response_tables import mark_means, spread_cells
from papers.lajewska2025.ch6_systems import FAITHFUL

RUNS = dict(list(SYSTEMS.items())[:2]) | {
    name: run for name, run in SYSTEMS.items() if name.startswith("GINGER-top5")
}


@pytest.fixture(scope="module")
def labels():
    """Two vital facts per topic; each system has one more than the one before, or none."""
    responses, nuggets = [], []
    for judge, (position, run), topic in itertools.product(
        JUDGES.values(), enumerate(RUNS.values()), ("1", "2", "3")
    ):
        responses.append((judge, run, topic, 0.0))
        for nugget in (1, 2):
            result = nugget <= (position + int(topic)) % 3
            # The authors' code does not read the label `Vital` of one judge.
            importance = "Vital" if judge == "claude" and nugget == 2 else "vital"
            support = "support" if result else "not_support"
            text = f"{'owls eat mice' if nugget == 1 else judge} {topic}"
            nuggets.append((judge, run, topic, nugget, text, importance, support))
    columns = ["judge", "run", "topic", "nugget", "text", "importance", "support"]
    return NuggetLabels(
        pd.DataFrame(responses, columns=["judge", "run", "topic", "released"]),
        pd.DataFrame(nuggets, columns=columns),
    )


@pytest.fixture(scope="module")
def tables(labels):
    return judge_tables(labels)


def test_released_scores_reproduced(labels):
    scores = released_scores(labels)
    assert list(dict.fromkeys(scores["judge"])) == list(JUDGES)
    assert scores["responses"].sum() == len(labels.responses)
    # All released scores are 0 here; each system has one, two and no fact of two.
    by_value = scores[scores["judge"] == "GPT4o"].set_index("value")["responses"]
    assert by_value.to_dict() == {0.0: len(RUNS), 0.5: len(RUNS), 1.0: len(RUNS)}


def test_table_systems_and_judges(tables):
    cells = tables.cells.set_index(["row", "metric"])["value"]
    assert set(tables.cells["row"]) == set(RUNS)
    assert len(cells) == len(RUNS) * (len(JUDGES) + 1)
    name = next(iter(RUNS))
    by_judge = [cells[name, f"V_strict {judge}"] for judge in JUDGES]
    assert cells[name, "V_strict avg LLM"] == pytest.approx(sum(by_judge) / len(JUDGES))
    # One, two and no fact of two.
    assert cells[name, "V_strict GPT4o"] == pytest.approx((0.5 + 1 + 0) / 3)


def test_readings_label_with_a_capital(tables):
    values = tables.readings.set_index(["judge", "row", "metric"])["value"]
    name = next(iter(RUNS))
    assert values["Claude", name, "any spelling"] == values["GPT4o", name, "as spelled"]
    assert values["Claude", name, "as spelled"] != values["Claude", name, "any spelling"]
    assert set(tables.readings["metric"]) == set(tables.agreement["importance"]) == set(READINGS)


def test_shared_nuggets_of_judges(tables):
    shared = tables.nuggets.set_index(["nuggets", "metric"])["value"]
    assert shared["GPT4o in Gemini", "found"] >= 0.5 and shared["GPT4o in Gemini", "topics"] == 3
    assert len(shared) == 3 * 2 * 3


def test_rewriting_tests_by_judge(tables):
    assert set(tables.rewriting["judge"]) == {*JUDGES, "avg LLM"}


def test_spread_cells_by_hand():
    """Values of 0.5, 1 and 1: a mean of .8333, and a sample deviation of .2887."""
    scores = pd.DataFrame(
        {"system": "a", "topic": ["1", "2", "3"], "metric": FAITHFUL, "value": [0.5, 1.0, 1.0]}
    )
    cells = spread_cells(scores, "a").set_index("metric")["value"]
    assert cells.to_dict() == pytest.approx(
        {f"{FAITHFUL} mean": 2.5 / 3, f"{FAITHFUL} sd": 0.288675}, abs=1e-6
    )


def test_inference_scores_by_hand():
    responses = pd.DataFrame({"input": "relevant", "system": "a", "topic": "1", "text": ["Owl."]})
    nuggets = pd.DataFrame({"detection": ["GPT-4", "Gold"], "input": "relevant", "topic": "1"})
    probabilities = np.array([[0.7, 0.1, 0.2], [0.1, 0.6, 0.3]])
    scores = inference_scores(
        responses, nuggets.assign(text=["an owl", "a fox"]), lambda pairs: probabilities
    )
    assert scores["value"].tolist() == [0.7, 0.1, 0.0]


def test_mark_means_of_a_significant_difference():
    scores = pd.DataFrame({"system": ["a"] * 3 + ["b"] * 3, "topic": list("123") * 2})
    scores = scores.assign(metric="Entail", value=[0.1, 0.2, 0.3, 0.5, 0.6, 0.8])
    marked = mark_means(scores, "a")
    assert marked[["row", "marker"]].to_numpy().tolist() == [["a", ""], ["b", "*"]]
