"""heuss2025, chapter 5: measures of the desiderata for attributions."""

import pandas as pd
import pytest

from everycell.rag.interventions import CitedAnswer, Statement
from papers.heuss2025.ch5_desiderata import faithfulness, quality
from papers.heuss2025.ch5_planted import PlantedQuestion

QUESTION = PlantedQuestion(
    name="q1",
    claims=(("red", "the door is red"), ("blue", "the wall is blue")),
    documents=("The door is red.", "A red car. The wall is blue.", "Nothing here."),
)


def test_quality_of_a_wrong_and_a_missing_citation():
    # Document 1 only has the word of the first claim, and document 2 no claim at all.
    answer = CitedAnswer((Statement("red", (0, 1, 2)), Statement("blue", ())))
    values = quality([QUESTION], [answer])
    assert values["Correctness"] == pytest.approx(100 / 3)
    assert values["Appropriateness"] == pytest.approx(200 / 3)
    assert values["Comprehensiveness"] == 50


def test_faithfulness_relative_to_repeated_statements():
    rows = [
        ("random", "recovered", 40),
        ("random", "statement removed", 10),
        ("other statement", "statement removed", 40),
    ]
    outcomes = pd.DataFrame(rows, columns=["kind", "metric", "count"])
    assert faithfulness(outcomes) == 75
