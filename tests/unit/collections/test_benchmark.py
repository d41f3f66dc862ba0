"""Benchmarks: listed pairs, texts by id, and ids that do not fit together."""

from __future__ import annotations

import pandas as pd
import pytest
from data_errors import refused

from everycell.collections.benchmark import check_texts, listed_pairs, texts_by_id


def test_listed_pairs_are_distinct():
    lists = pd.DataFrame(
        {
            "setting": ["package", "mixed", "mixed"],
            "task": "cite",
            "split": "test",
            "query": "q",
            "document_id": ["d", "d", "e"],
            "relevance": 0,
        }
    )
    pairs = listed_pairs(lists, splits=["test"])
    assert pairs.to_numpy().tolist() == [["q", "d"], ["q", "e"]]
    assert len(listed_pairs(lists, splits=["test"], settings=["package"])) == 1
    assert len(listed_pairs(lists, splits=["test"], tasks=["co-cite"])) == 0


def test_texts_by_id_of_two_tasks():
    queries = pd.DataFrame({"query": ["q", "q"], "task": ["a", "b"], "text": "bees"})
    assert texts_by_id(queries, "query") == {"q": "bees"}


@pytest.mark.parametrize(
    ("documents", "queries", "pairs", "column", "value"),
    [
        ([("d", "a"), ("d", "b")], [], [], "document_id", "d"),
        ([("d", "a")], [("q", "x"), ("q", "y")], [], "query", "q"),
        ([("d", "a")], [("q", "x")], [("q", "e")], "document_id", "e"),
        ([("d", "a")], [("q", "x")], [("r", "d")], "query", "r"),
    ],
)
def test_check_texts_invalid_ids(documents, queries, pairs, column, value):
    frames = (
        pd.DataFrame(documents, columns=["document_id", "text"]),
        pd.DataFrame(queries, columns=["query", "text"]),
        pd.DataFrame(pairs, columns=["query", "document_id"]),
    )
    with refused(column, value):
        check_texts(*frames)
