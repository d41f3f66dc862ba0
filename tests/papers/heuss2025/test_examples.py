"""Figures 2.1, 3.1, 4.1 and 5.5: numbers of the worked examples by hand."""

import numpy as np
import pytest
from chapter_jobs import FunctionJob
from harness import REPOSITORY

from everycell.fair_ranking.fair_exposure import logarithmic_rank_weights
from everycell.records.cells import read_cells
from papers.heuss2025.ch2_examples import ITEMS, draw_policies, example_policies, shows_pair
from papers.heuss2025.ch3_examples import draw_steps, example_list
from papers.heuss2025.ch4_examples import model_boxes
from papers.heuss2025.ch4_talent_search import TalentModel, candidates, universities
from papers.heuss2025.ch5_attributed import OracleReader, WordMatcher
from papers.heuss2025.ch5_examples import (
    ANSWER,
    DOCUMENTS,
    QUESTION,
    cite_last,
    injection_boxes,
    scenario_boxes,
    scenarios,
)


@pytest.fixture(scope="module")
def policies():
    return example_policies([1.0, 0.9, 0.8, 0.7], 2, 20, 1)


def test_example_policies_same_exposures(policies):
    weights = logarithmic_rank_weights(2)
    exposures = {
        panel: [
            sum(
                row.probability * weights[row.ranking.index(item)]
                for row in rows.itertuples()
                if item in row.ranking
            )
            for item in ITEMS
        ]
        for panel, rows in policies.groupby("panel")
    }
    first, second = exposures.values()
    assert first == pytest.approx(second, abs=1e-8)
    # Exposure is proportional to merit.
    assert np.array(first) / first[0] == pytest.approx([1.0, 0.9, 0.8, 0.7], abs=1e-6)


def test_example_policies_unknown_exposure(policies):
    assert policies.groupby("panel")["probability"].sum().tolist() == pytest.approx([1, 1])
    unknown = policies[policies["unknown"]].groupby("panel")["probability"].sum()
    assert unknown["Resampling"] < 0.15 < 0.9 < unknown["One decomposition"]
    is_pair = policies["ranking"].map(set).isin([set("AB"), set("CD")])
    assert (is_pair == policies["unknown"]).all()


def test_shows_pair_of_one_item():
    assert shows_pair(np.array([[0, 1], [0, 2], [3, 2]])).tolist() == [True, False, True]


def test_draw_policies_shares(policies):
    titles = [axes.get_title() for axes in draw_policies(policies).axes]
    assert "94.6 %" in titles[0] and "10.7 %" in titles[1]


def test_example_list_by_hand():
    rows = example_list([3.0, 2.6, 1.0], [0.3, 0.4, 0.2], [False, True, False], 1.0)
    assert rows["moved"].tolist() == pytest.approx([2.7, 3.0, 0.8])
    assert rows["low"].tolist() == pytest.approx([2.7, 2.2, 0.8])
    assert rows["new_rank"].tolist() == [2, 1, 3] and rows["rank"].tolist() == [1, 2, 3]


def test_draw_steps_new_ranking():
    rows = example_list([3.0, 2.6], [0.3, 0.4], [False, True], 1.0)
    *_, last = draw_steps(rows).axes
    assert [text.get_text() for text in last.texts] == ["D1 (was 1)", "D2 (was 2)"]
    assert [text.get_position()[1] for text in last.texts] == [2, 1]


@pytest.fixture(scope="module")
def talent():
    """Universities and candidates as published."""
    folder = REPOSITORY / "published" / "heuss2025"
    people, schools = (read_cells(folder / f"table_4_A_{number}.csv") for number in (1, 2))
    schools = universities(schools)
    return schools, candidates(people, schools)


@pytest.mark.parametrize(
    ("name", "biased", "steps"),
    [
        ("qual-biased", True, ["times 0.9 for the university", "times 1 for the requirements"]),
        ("qual-biased", False, ["times 1 for the requirements"]),
        (
            "privileged",
            True,
            [
                "times 1 for the university",
                "times 1 for the requirements (waived for the university)",
            ],
        ),
        ("privileged", False, ["times 0.25 for the requirements"]),
    ],
)
def test_model_boxes_factors(talent, name, biased, steps):
    schools, people = talent
    model = TalentModel(schools, biased=biased)
    boxes = model_boxes(model, people[name])
    assert boxes.loc[boxes["text"].str.startswith("times"), "text"].tolist() == steps
    values = {box: text.split("\n")[-1] for box, text in boxes[["box", "text"]].to_numpy()}
    assert float(values["score"]) == pytest.approx(model(people[name][None])[0], rel=0.005)
    parts = [float(values[part]) for part in ("skills", "experience", "grade")]
    assert sum(parts) == pytest.approx(float(values["sum"]), abs=0.01)


def test_injection_boxes_answerers():
    matcher = WordMatcher({QUESTION: ANSWER})
    reader = OracleReader({QUESTION: ANSWER}, {QUESTION: frozenset(DOCUMENTS[:1])})
    matched, read = (
        injection_boxes(part.answer, 1).set_index("box")["text"] for part in (matcher, reader)
    )
    assert matched["forged"].endswith(ANSWER) and matched["forged"].startswith("Document 3")
    assert matched["first"].endswith(f"{ANSWER} [1]") and read["first"] == matched["first"]
    # Only the answerer that searches afterwards cites the forged document, and needs no document.
    assert matched["second"].endswith("[1] [3]") and read["second"].endswith(f"{ANSWER} [1]")
    assert "cites the forged" in matched["outcome"] and "is given again" in matched["outcome"]
    assert "does not cite" in read["outcome"] and "is not given again" in read["outcome"]


def test_scenarios_all_kinds():
    job = FunctionJob()
    scenarios(job)
    panels = job.figures[""]["panel"].str.partition(":")[0].unique().tolist()
    assert panels == [
        "Correct and faithful",
        "Not correct, but faithful",
        "Correct, but not faithful",
        "Neither correct nor faithful",
    ]


def test_scenario_boxes_of_last_document():
    text = scenario_boxes(cite_last, "toy").set_index("box")["text"]
    assert text["answer"] == f"Answer\n{ANSWER} [2]"
    assert text["correct"] == "not correct: document 2 does not state the answer"
    assert text["faithful"] == "not faithful: without document 2, the answer is given"
