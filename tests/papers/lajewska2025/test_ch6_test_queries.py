"""Test queries of chapter 6 of lajewska2025, inferred from numbers of nuggets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from papers.lajewska2025.answerability_data import hold_out
from papers.lajewska2025.ch6_test_queries import matching_topics, sizes_by_topic, union_spans
from papers.lajewska2025.spans import mark_characters


def test_union_spans_touching_and_apart():
    people = mark_characters([[(0, 4)], [(4, 6), (9, 12)], [(10, 11)]], 15)
    assert union_spans(people) == ((0, 6), (9, 12))


@given(arrays(bool, st.tuples(st.integers(1, 3), st.integers(0, 20))))
def test_union_spans_cover_what_anyone_marked(people):
    covered = np.zeros(people.shape[1], dtype=bool)
    spans = union_spans(people)
    for start, end in spans:
        assert start < end
        covered[start:end] = True
    assert (covered == people.any(axis=0)).all()
    assert all(end < start for (_, end), (start, _) in zip(spans, spans[1:], strict=False))


def test_sizes_by_topic():
    marks = {
        ("1_1", "a"): mark_characters([[(0, 3)], [(5, 9)]], 10),
        ("1_2", "a"): mark_characters([[]], 10),
        ("12_1", "b"): mark_characters([[(2, 4)]], 10),
    }
    sizes = sizes_by_topic(["1_1", "1_1", "1_2", "12_1"], marks)
    assert sizes.loc["1"].to_dict() == {"nuggets": 2, "characters": 7, "queries": 2}
    assert sizes.loc["12"].to_dict() == {"nuggets": 1, "characters": 2, "queries": 1}


@pytest.mark.parametrize(
    ("length", "sets", "remaining"),
    [("10.00", [("a", "b")], 1), ("10.0", [("a", "b"), ("a", "c")], 2), ("11", [], 0)],
)
def test_matching_topics_steps(length, sets, remaining):
    sizes = pd.DataFrame(
        {
            "nuggets": [2, 3, 3, 3],
            "characters": [20, 30, 30.2, 31],
            "queries": [1, 2, 2, 3],
        },
        index=["a", "b", "c", "d"],
    )
    search = matching_topics(sizes, topics=2, queries=3, nuggets=5, length=length)
    assert search.sets == sets
    assert list(search.steps.values()) == [6, 2, 2, remaining]


def test_hold_out_moves_questions_between_partitions():
    passages = pd.DataFrame(
        {
            "turn_id": ["1_1", "2_1", "3_1", "4_1"],
            "question": ["a", "b", "c", "d"],
            "partition": ["train", "test", "validation", "train"],
        }
    )
    labelled = passages.drop(columns="turn_id")
    for frame in hold_out(passages, labelled, ["1_1", "3_1"]):
        assert frame["partition"].tolist() == ["test", "train", "test", "train"]
