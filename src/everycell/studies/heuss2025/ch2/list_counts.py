"""Table 2.1: list sizes and numbers of relevant items."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from everycell.collections.fair_ranking_lists import DATASETS, keep_long_lists

#: Minimum size of a test list, by data set (section 2.5).
MIN_ITEMS = {"TREC20": 20, "TREC19": 10}


def list_statistics(parts: Mapping[tuple[str, str], pd.DataFrame]) -> pd.DataFrame:
    """Mean list size and mean number of relevant items, before and after pre-processing.

    Pre-processing drops short test lists. Training lists without relevant items are counted,
    although no ranker can be trained on them.
    """
    rows = []
    for (dataset, split), lists in parts.items():
        for version, version_lists in (
            ("original", lists),
            ("preprocessed", lists if split == "train" else select_test_lists(lists, dataset)),
        ):
            key = (DATASETS[dataset], split, version)
            by_query = version_lists.groupby("query")["relevance"]
            rows.append((*key, "avg_list_size", by_query.size().mean()))
            rows.append((*key, "avg_relevant_items_per_list", by_query.sum().mean()))
    return pd.DataFrame(rows, columns=["dataset", "split", "version", "metric", "value"])


def select_test_lists(lists: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Test lists of at least the minimum size."""
    return keep_long_lists(lists, MIN_ITEMS[dataset])


def select_training_lists(lists: pd.DataFrame) -> pd.DataFrame:
    """Training lists with relevant items."""
    return lists[lists.groupby("query")["relevance"].transform("sum") > 0]


def count_lists_by_size(parts: Mapping[tuple[str, str], pd.DataFrame]) -> pd.DataFrame:
    """Numbers of lists by their size, and the relevant items of long ones."""
    rows = []
    for (dataset, split), lists in parts.items():
        sizes = lists.groupby("query").size()
        counts = {
            "lists": len(sizes),
            "10 items or more": (sizes >= 10).sum(),
            "20 items or more": (sizes >= 20).sum(),
            "more than 20 items": (sizes > 20).sum(),
            "share below 40 items": (sizes < 40).mean(),
        }
        if counts["20 items or more"]:
            relevant = keep_long_lists(lists, 20).groupby("query")["relevance"].sum().mean()
            counts["relevant items per list of 20 items or more"] = relevant
        rows += [(DATASETS[dataset], split, name, float(value)) for name, value in counts.items()]
    return pd.DataFrame(rows, columns=["dataset", "split", "metric", "value"])
