"""Benchmarks of linked documents: the split, the pairs to score, and faulty ids."""

import pandas as pd
import pytest

from everycell.collections.benchmark import check_texts, linked_benchmark, listed_pairs, texts_by_id


def test_linked_benchmark_one_query_per_split():
    ids = [f"d{number:02}" for number in range(30)]
    documents = pd.DataFrame({"document_id": ids, "text": "x", "package": "p", "parent": "q"})
    pairs = pd.DataFrame({"task": "cite", "query_id": ids[:3], "document_id": ids[3:6]})
    benchmark = linked_benchmark(
        pairs, pairs, documents, test=1, validation=1, seed=0, settings=["random"]
    )
    assert benchmark.queries["split"].tolist() == ["test", "validation", "train"]
    assert len(benchmark.candidates) == 78  # three times a relevant document and 25 others


def test_listed_pairs_are_distinct():
    lists = pd.DataFrame(
        {
            "setting": ["package", "mixed", "mixed"],
            "task": "cite",
            "split": "test",
            "query_id": "q",
            "document_id": ["d", "d", "e"],
            "relevance": 0,
        }
    )
    pairs = listed_pairs(lists, splits=["test"])
    assert pairs.to_numpy().tolist() == [["q", "d"], ["q", "e"]]
    assert len(listed_pairs(lists, splits=["test"], settings=["package"])) == 1
    assert len(listed_pairs(lists, splits=["test"], tasks=["co-cite"])) == 0


def test_texts_by_id_of_two_tasks():
    queries = pd.DataFrame({"query_id": ["q", "q"], "task": ["a", "b"], "text": "bees"})
    assert texts_by_id(queries, "query_id") == {"q": "bees"}


def test_check_texts_repeated_id():
    documents = pd.DataFrame({"document_id": ["d", "d"], "text": ["a", "b"]})
    with pytest.raises(ValueError, match="'d' occurs twice"):
        check_texts(documents, pd.DataFrame(), pd.DataFrame())
