"""lajewska2025: what Tables 5.1 and 5.4 count, on small cases."""

import pandas as pd
import pytest

from everycell.studies.lajewska2025.ch5.snippet_tables import (
    count_tokens,
    effort_rows,
    snippet_lengths,
)


def test_lengths_are_of_the_released_text_and_of_what_was_marked():
    annotations = pd.DataFrame(
        {
            "text": ["Owls – at night – eat mice.", "Nothing."],
            "spans": [[(0, 15), (18, 26)], []],
            # The released text of a snippet lacks what is not ASCII.
            "snippets": [["Owls  at night", "eat mice"], []],
        }
    )
    cells, readings = snippet_lengths(annotations)
    assert cells.set_index("metric")["value"].to_dict() == {
        "avg_snippet_length_tokens": 2.5,
        "snippets_per_annotation": 1,
    }
    values = readings.set_index(["text", "per"])["value"]
    assert values["marked characters", "snippet"] == 3
    assert values["released text", "annotation with snippets"] == 5
    assert values["released text", "annotation"] == 2.5


@pytest.mark.parametrize(("fee", "numbers"), [(None, 3), (0.2, 6)])
def test_costs_are_of_groups_with_a_fee(fee, numbers):
    tasks = pd.DataFrame(
        {
            "turn_id": ["8_1", "8_1", "9_1", "9_1"],
            "passage_id": ["p1", "p1", "p2", "p2"],
            "seconds": [10.0, 20.0, 30.0, 40.0],
            "reward": [0.1, 0.1, 0.1, 0.1],
        }
    )
    rows = list(effort_rows([tasks], 2, fee))
    assert len(rows) == numbers
    assert ("cost_usd" in {metric for _, metric, _ in rows}) == (fee is not None)


def test_count_tokens_without_those_of_marks_only():
    assert count_tokens(pd.Series([["owls eat mice"], [], ["at", "night - late"]])) == 7
