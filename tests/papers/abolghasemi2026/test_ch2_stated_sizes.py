"""Sizes that the text of chapter 2 states, counted on lists worked by hand."""

import pandas as pd
import pytest

from papers.abolghasemi2026.ch2 import text_sizes
from papers.abolghasemi2026.ch2_systems import STATED_EXPANSIONS as STATED

LISTS = pd.DataFrame(
    [
        ("cite", "test", "q", "a", 1),
        ("cite", "test", "q", "b", 0),
        ("cite", "test", "q", "c", 0),
        ("co-view", "test", "r", "a", 1),
        ("co-view", "test", "r", "b", 1),
        ("co-view", "test", "r", "c", 0),
        ("co-view", "validation", "s", "a", 1),
    ],
    columns=["task", "split", "query", "document_id", "relevance"],
)
#: The paper x is in no list, and its length counts for nothing.
TERMS = pd.DataFrame(
    {
        "document_id": ["a", "b", "c", "q", "r", "s", "x"],
        "terms": [" ".join(["w"] * size) for size in (1, 2, 3, 4, 5, 6, 500)],
    }
)
GRID = pd.DataFrame({"k1": [0.9, 2.75, 4], "b": [1, 0.75, 1], "nDCG": [0.5, 0.7, 0.7]})


@pytest.fixture
def sizes():
    added = {
        size: [pd.DataFrame({"added": [1, 3]}), pd.DataFrame({"added": [5]})] for size in STATED
    }
    table = text_sizes(LISTS, {"BERT": TERMS}, added, GRID)
    return dict(zip(table["claim"], table["value"], strict=True))


def test_stated_sizes_lists_per_task(sizes):
    assert sizes["query papers per task"] == "1"
    assert sizes["candidates per query: positives up to"] == "1-2"
    assert sizes["candidates per query: negatives"] == "1-2"
    assert sizes["SciDocs papers over the four tasks"] == "about 0"


def test_stated_sizes_lengths(sizes):
    assert float(sizes["mean tokens of abstract+title, BERT tokenizer"]) == 3.5
    assert float(sizes["90% quantile of tokens, BERT (in printed order)"]) == 5.5


def test_stated_sizes_best_parameters(sizes):
    assert (sizes["BM25 k"], sizes["BM25 b"]) == ("2.75", "0.75")


def test_stated_sizes_new_tokens(sizes):
    # (2 + 5) / 2, and not (1 + 3 + 5) / 3.
    assert {float(sizes[f"new tokens appended on average with m={m}"]) for m in STATED} == {3.5}
