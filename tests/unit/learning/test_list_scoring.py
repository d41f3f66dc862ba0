"""Lists are scored in parts, or by folds, as if all pairs were scored at once."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.learning.list_scoring import score_by_fold, score_in_parts

PAIRS = st.lists(st.tuples(st.sampled_from("abcdef"), st.text(max_size=3)), unique=True)


def lists_of(pairs):
    return pd.DataFrame(pairs, columns=["query", "document"], dtype="object")


def score(pairs):
    return [hash(pair) / 1e18 for pair in pairs]


@given(PAIRS, st.integers(1, 7))
def test_parts_change_no_score(pairs, at_once):
    requests = []

    def counted(part):
        requests.append({query for query, _ in part})
        return score(part)

    result = score_in_parts(lists_of(pairs), counted, at_once=at_once)
    expected = dict(zip(pairs, score(pairs), strict=True))
    assert {
        (query, document): value for query, document, value in result.itertuples(index=False)
    } == expected
    assert len(result) == len(pairs)
    # No query is parted, and no part is larger than it may be.
    assert max(map(len, requests), default=0) <= at_once
    assert sum(map(len, requests)) == len({query for query, _ in pairs})


def test_each_list_is_scored_by_the_model_that_did_not_see_it():
    lists = lists_of([("q", "a"), ("r", "a"), ("q", "b")])
    scorers = [
        ({"r", "no list"}, lambda pairs: [10.0] * len(pairs)),
        ({"q"}, lambda pairs: [float(ord(document)) for _, document in pairs]),
    ]
    result = score_by_fold(lists, scorers)
    assert result.drop(columns="score").equals(lists)
    assert result["score"].tolist() == [97, 10, 98]


@pytest.mark.parametrize(
    ("folds", "query", "count"), [([{"q"}], "r", 0), ([{"q", "r"}, {"q"}], "q", 2)]
)
def test_a_query_that_is_not_held_out_once_is_named(folds, query, count):
    scorers = [(fold, score) for fold in folds]
    with pytest.raises(ValueError, match=f"'{query}' was held out from {count} models"):
        score_by_fold(lists_of([("q", "a"), ("r", "a")]), scorers)


def test_models_are_asked_for_one_by_one():
    events = []

    def scorers():
        for query in "qr":
            events.append(f"load {query}")
            yield {query}, lambda pairs: events.append(f"score {pairs[0][0]}") or [0.0]

    score_by_fold(lists_of([("q", "a"), ("r", "a")]), scorers())
    assert events == ["load q", "score q", "load r", "score r"]
