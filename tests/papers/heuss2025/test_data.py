"""Lists of TREC Fair Ranking: how lists are filled up."""

import numpy as np
import pandas as pd

from papers.heuss2025.data import (
    fill_lists,
    keep_long_lists,
    split_lists,
)


def frame(query, relevance, group="H"):
    count = len(relevance)
    return pd.DataFrame(
        {"query": query, "relevance": relevance, "group": group, "feature_1": range(count)}
    )


def test_fill_lists_nonrelevant_items():
    source = frame(1, [1, 0, 1, 0, 0])
    short, long = frame(5, [1, 1]), frame(6, [0] * 9)
    filled = fill_lists([short, long], source, 7, seed=71)
    assert [len(part) for part in filled] == [7, 9]
    assert filled[0]["relevance"].tolist() == [1, 1, 0, 0, 0, 0, 0]
    assert set(filled[0]["query"]) == {5}
    assert set(filled[0]["feature_1"][2:]) <= {1, 3, 4}


def test_fill_lists_order_of_samples():
    source = pd.concat([frame(1, [0, 0], ["L", "H"]), frame(2, [0], ["H"]).assign(feature_1=9)])
    lists = [frame(5, [1]), frame(6, [1])]
    drawn = np.random.RandomState(3)
    expected = [[0, *np.array([1, 0, 9])[drawn.randint(0, 3, size=4)]] for _ in lists]
    filled = fill_lists(lists, source, 5, seed=3)
    assert [part["feature_1"].tolist() for part in filled] == expected


def test_split_lists_order():
    lists = pd.concat([frame(9, [0, 1]), frame(2, [1]), frame(4, [0, 0, 0])])
    remaining = split_lists(keep_long_lists(lists, 2))
    assert [part["query"].iloc[0] for part in remaining] == [9, 4]
