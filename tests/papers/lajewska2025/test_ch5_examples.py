"""Figures 5.1 to 5.4 and B.2: numbers of toy texts and scores by hand."""

import pandas as pd
import pytest

from papers.lajewska2025.ch5_aggregation import decide_levels
from papers.lajewska2025.ch5_examples import (
    PARTS,
    SCORES,
    TEXT,
    aggregation_boxes,
    measure_agreement,
    select_passage,
    spans_of,
    text_of_people,
)
from papers.lajewska2025.ch5_squad_example import QUESTIONS, label_boxes


def test_measure_agreement_by_hand():
    # Of ten letters, the two mark 4 and 6, and share 2; four letters differ in each direction.
    values = list(measure_agreement([[(0, 4)], [(2, 8)]], 10).values())
    assert values[:2] == [2 / 8, 2 / 8]
    # Agreement 4/10; marks 10 of 20, so chance agreement is 1/2.
    assert values[2] == pytest.approx((0.4 - 0.5) / 0.5)


def test_measure_agreement_of_toy_text():
    values = measure_agreement([spans_of(TEXT, parts) for parts in PARTS.values()], len(TEXT))
    everyone, two, kappa = values.values()
    # The point of the figure: kappa is below chance, although most marks have a second person.
    assert kappa < 0 < everyone < 0.5 < two


def test_spans_of_parts():
    spans = spans_of("owls eat mice", ["eat", "owls"])
    assert spans == [(5, 8), (0, 4)]
    with pytest.raises(ValueError):
        spans_of("owls", ["mice"])


def lines_of(boxes: pd.DataFrame, box: str) -> list[str]:
    return boxes.set_index("box").loc[box, "text"].split("\n")


def test_aggregation_boxes_by_hand():
    boxes = aggregation_boxes({"first": [0.2, 0.8], "second": [0.1, 0.0]})
    assert lines_of(boxes, "first") == ["first", "max 0.80: answer", "mean 0.50: answer"]
    assert lines_of(boxes, "second") == ["second", "max 0.10: no answer", "mean 0.05: no answer"]
    # The thresholds are 0.5 for the maximum and 0.25 for the mean.
    assert lines_of(boxes, "ranking")[1:] == [
        "max of max 0.80: answer",
        "mean of max 0.45: answer",
        "max of mean 0.50: answer",
        "mean of mean 0.28: answer",
    ]


def test_aggregation_boxes_decisions_of_table():
    passages = pd.DataFrame(
        {"turn_id": "1_1", "passage_id": list(SCORES), "answerable": [True, True, False]}
    )
    levels = decide_levels(passages, list(SCORES.values()))
    decisions = {
        (level.rankings, level.passages): bool(level.predicted[0])
        for level in levels
        if level.level == "ranking"
    }
    lines = lines_of(aggregation_boxes(SCORES), "ranking")[1:]
    displayed = {tuple(line.split()[0:3:2]): not line.endswith("no answer") for line in lines}
    assert displayed == decisions and len(set(decisions.values())) == 2


def test_select_passage_with_marks():
    annotations = pd.DataFrame(
        {
            "turn_id": ["1_1", "1_1", "1_2"],
            "passage_id": ["p", "q", "p"],
            "text": ["owls", "mice", "rain"],
            "spans": [((0, 2),), (), ()],
        }
    )
    rows = select_passage(annotations, "1_1", "p")
    assert rows["text"].tolist() == ["owls"]
    text = text_of_people("toy", rows, "expert")
    assert (text.text, text.marks) == ("owls", {"expert 1": [(0, 2)]})


@pytest.mark.parametrize("seed", range(3))
def test_label_boxes_balanced(seed):
    boxes = label_boxes(QUESTIONS, seed)
    labels = boxes[boxes["text"].str.startswith("label")].set_index("panel")["text"]
    assert labels.to_dict() == {
        "Question with an answer": "label 1",
        "Question without an answer": "label 0",
    }
    [box] = boxes.loc[boxes["text"] == "label 1", "after"]
    sentences = boxes[boxes["panel"] == "Question with an answer"].set_index("box")["text"]
    assert "1991" in sentences[box]
    assert (boxes["text"] == "not used").sum() == 4
