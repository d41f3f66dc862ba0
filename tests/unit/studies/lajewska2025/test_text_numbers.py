"""lajewska2025: what Tables 5.1, 5.4 and B.1 count, on small cases."""

import pandas as pd
import pytest

from everycell.studies.lajewska2025.ch5.snippet_tables import (
    count_tokens,
    effort_rows,
    snippet_lengths,
)
from everycell.studies.lajewska2025.chB.data_sets import (
    answers_by_file,
    counts_by_set,
    questions_by_answerable_passages,
    set_counts,
    squad_counts,
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


def test_a_set_counts_sentences_by_whether_their_passage_has_an_answer():
    labels = pd.DataFrame(
        {
            "dataset": ["CAsT-snippets"] * 3 + ["CAsT-unanswerable"],
            "turn_id": ["8_1", "8_1", "8_2", "9_1"],
            "answerable": [True, True, False, False],
        }
    )
    pairs = {
        "CAsT-snippets": pd.DataFrame({"answers": [True, True, False]}),
        "CAsT-unanswerable": pd.DataFrame({"answers": [False, False]}),
    }
    sentences = pd.DataFrame(
        {"answers": [True, False, False, False], "answerable": [True, True, True, False]}
    )
    counts = counts_by_set(labels, pairs, sentences)
    assert list(counts["CAsT-snippets"].values()) == [2, 1, 1, 3, 2, 1, 2, 2, 1]
    assert list(counts["CAsT-unanswerable"].values()) == [1, 0, 1, 1, 0, 1, 0, 0, 2]
    questions = questions_by_answerable_passages(labels)
    assert questions["value"].tolist() == [1, 1, 1, 1]
    by_file = answers_by_file(pairs["CAsT-snippets"], sentences)
    assert by_file["value"].tolist() == [2, 1, 1, 3]


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


def test_set_counts_by_row():
    passages = pd.DataFrame({"turn_id": ["8_1", "8_1"], "answerable": [True, False]})
    assert list(set_counts(passages, (3, 2, 4)).values()) == [1, 1, 0, 2, 1, 1, 3, 2, 4]


def test_squad_counts_one_passage_per_question():
    questions = [("who?", "It rains. Ann left.", ["Ann"]), ("why?", "So.", [])]
    assert list(squad_counts(questions).values()) == [2, 1, 1, 2, 1, 1, 1, 1, 1]
