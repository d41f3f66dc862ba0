"""lajewska2025, appendix B: sizes of the data sets, on small cases."""

import pandas as pd

from papers.lajewska2025.chB import (
    answers_by_file,
    counts_by_set,
    questions_by_answerable_passages,
    set_counts,
    squad_counts,
)


def test_counts_by_set_sentences():
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


def test_set_counts_by_row():
    passages = pd.DataFrame({"turn_id": ["8_1", "8_1"], "answerable": [True, False]})
    assert list(set_counts(passages, (3, 2, 4)).values()) == [1, 1, 0, 2, 1, 1, 3, 2, 4]


def test_squad_counts_passages():
    questions = [("who?", "It rains. Ann left.", ["Ann"]), ("why?", "So.", [])]
    assert list(squad_counts(questions).values()) == [2, 1, 1, 2, 1, 1, 1, 1, 1]
