"""Released lists of TREC Fair Ranking: what is read, and how lists are filled up."""

import numpy as np
import pandas as pd
import pytest

from everycell.base.errors import CollectionError
from everycell.collections.fair_ranking_lists import (
    FEATURES,
    fill_lists,
    keep_long_lists,
    read_fair_lists,
    split_lists,
)

GOOD = {"sensitive_attribute": "L", "session": 3, "score": 0} | dict.fromkeys(FEATURES, 1.5)


def written(tmp_path, rows):
    path = tmp_path / "test.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": 2}, r"row 3: relevance is '2'"),
        ({"sensitive_attribute": "M"}, r"row 3: group is 'M'"),
        ({"feature_7": "many"}, r"row 3: feature_7 is 'many'"),
        ({"feature_25": np.nan}, r"row 3: feature_25 is 'nan'"),
    ],
)
def test_a_wrong_cell_is_named(tmp_path, change, message):
    with pytest.raises(CollectionError, match=message):
        read_fair_lists(written(tmp_path, [GOOD, GOOD | change]))


def test_other_columns_are_named(tmp_path):
    with pytest.raises(
        CollectionError, match="column 1 is 'session'; expected sensitive_attribute"
    ):
        read_fair_lists(written(tmp_path, [{"session": 1}]))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(CollectionError, match="does not exist"):
        read_fair_lists(tmp_path / "none.csv")


def frame(query, relevance, group="H"):
    count = len(relevance)
    return pd.DataFrame(
        {"query": query, "relevance": relevance, "group": group, "feature_1": range(count)}
    )


def test_filled_up_lists_keep_their_items_and_get_only_items_that_are_not_relevant():
    source = frame(1, [1, 0, 1, 0, 0])
    short, long = frame(5, [1, 1]), frame(6, [0] * 9)
    filled = fill_lists([short, long], source, 7, seed=71)
    assert [len(part) for part in filled] == [7, 9]
    assert filled[0]["relevance"].tolist() == [1, 1, 0, 0, 0, 0, 0]
    assert set(filled[0]["query"]) == {5}
    assert set(filled[0]["feature_1"][2:]) <= {1, 3, 4}


def test_the_draw_goes_on_from_list_to_list_and_items_of_group_h_come_first():
    source = pd.concat([frame(1, [0, 0], ["L", "H"]), frame(2, [0], ["H"]).assign(feature_1=9)])
    lists = [frame(5, [1]), frame(6, [1])]
    drawn = np.random.RandomState(3)
    expected = [[0, *np.array([1, 0, 9])[drawn.randint(0, 3, size=4)]] for _ in lists]
    filled = fill_lists(lists, source, 5, seed=3)
    assert [part["feature_1"].tolist() for part in filled] == expected


def test_nothing_to_fill_up_with():
    with pytest.raises(ValueError, match="All items are relevant"):
        fill_lists([frame(1, [1])], frame(2, [1, 1]), 3, seed=1)


def test_lists_stay_in_the_order_of_the_file():
    lists = pd.concat([frame(9, [0, 1]), frame(2, [1]), frame(4, [0, 0, 0])])
    remaining = split_lists(keep_long_lists(lists, 2))
    assert [part["query"].iloc[0] for part in remaining] == [9, 4]
