"""lajewska2025, Tables 5.1 to 5.4: snippets of annotators, on small cases."""

import numpy as np
import pandas as pd
import pytest

from papers.lajewska2025.ch5 import (
    READINGS,
    agreement_gaps,
    count_tokens,
    effort_rows,
    mean_similarity,
    sentence_pairs,
    snippet_lengths,
)


def test_snippet_lengths_released_and_marked():
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
def test_effort_rows_costs(fee, numbers):
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
def test_sentence_pairs_found(reading):
    workers = annotated("p1--1", "Ann left.", ((0, 3),), ((0, 8),))
    experts = annotated("p1", "It rains. Ann left.", ((10, 13),), ((0, 2),), ((10, 19),))
    ((theirs, reference),) = sentence_pairs(workers, experts, reading)
    assert theirs.shape[0] == 2 and reference.shape[0] == 3
    assert theirs.shape[1] == reference.shape[1]
    # "Ann" is marked by the first of both; the second expert marked another sentence.
    assert (theirs[0] == reference[0]).all() and not reference[1].any()


def test_sentence_pairs_missing_sentence():
    workers = annotated("p1--7", "Ann left.", ((0, 3),), ((0, 8),))
    experts = annotated("p1", "It rains. Ann left.", ((10, 13),))
    assert not list(sentence_pairs(workers, experts, "ascii"))


def test_mean_similarity_by_aggregation():
    same = np.array([[True, False]] * 2)
    other = np.array([[False, True]] * 2)
    result = mean_similarity([(same, same), (same, other)], "Prolific", "Paragraph-based", "ascii")
    assert result.loc[result["metric"] == "texts", "value"].tolist() == [2]
    assert result.loc[result["part"] == "f1", "value"].tolist() == [0.5] * 3


def test_agreement_gaps_common_measures():
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
