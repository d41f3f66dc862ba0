"""Lists of papers with features from TREC Fair Ranking 2019 and 2020, as released with FELIX.

A row is a paper in the list of a query, with 25 features. The last feature is the number of
citations, in which papers may be outliers.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

#: Folder of each data set, by its name in the tables.
DATASETS = {"TREC20": "TREC2020", "TREC19": "TREC2019"}
#: Registry key of each data set and part.
FILES = {
    (dataset, part): f"felix-trec-fair/{folder}/{part}.csv"
    for dataset, folder in DATASETS.items()
    for part in ("train", "test")
}
FEATURES = [f"feature_{number}" for number in range(1, 26)]
#: Feature in which papers may be outliers: the number of citations.
OUTLIER_FEATURE = FEATURES[-1]
#: Minimum size of a test list, by data set (section 2.5).
MIN_ITEMS = {"TREC20": 20, "TREC19": 10}
_COLUMNS = ["sensitive_attribute", "session", "score", *FEATURES]


def read_fair_lists(path: Path | str) -> pd.DataFrame:
    """Read lists of papers."""
    renamed = pd.read_csv(path).rename(
        columns={"session": "query", "score": "relevance", "sensitive_attribute": "group"}
    )
    return renamed[["query", "relevance", "group", *FEATURES]]


def write_fair_lists(lists: pd.DataFrame, path: Path | str) -> None:
    """Write lists of papers in the format of the released files."""
    renamed = lists.rename(
        columns={"query": "session", "relevance": "score", "group": "sensitive_attribute"}
    )
    renamed[_COLUMNS].to_csv(path, index=False)


def keep_long_lists(lists: pd.DataFrame, items: int) -> pd.DataFrame:
    """Keep the lists with at least this many items."""
    return lists[lists.groupby("query")["query"].transform("size") >= items]


def select_test_lists(lists: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Test lists of at least the minimum size."""
    return keep_long_lists(lists, MIN_ITEMS[dataset])


def select_training_lists(lists: pd.DataFrame) -> pd.DataFrame:
    """Training lists with relevant items."""
    return lists[lists.groupby("query")["relevance"].transform("sum") > 0]


def split_lists(lists: pd.DataFrame) -> list[pd.DataFrame]:
    """One frame per query, in the order of the file."""
    return [part for _, part in lists.groupby("query", sort=False)]


def fill_lists(
    lists: Sequence[pd.DataFrame], source: pd.DataFrame, items: int, seed: int
) -> list[pd.DataFrame]:
    """Fill up lists with non-relevant items of other lists, sampled with replacement.

    Sampling follows the authors' code: NumPy's legacy generator samples for one list after another
    from items that are sorted by group within each list. The authors' seed therefore yields the
    same items.
    """
    pool = pd.concat(
        [part.sort_values("group", kind="stable") for part in split_lists(source)],
        ignore_index=True,
    )
    pool = pool[pool["relevance"] == 0].reset_index(drop=True)
    # numpy.random.Generator would sample different items.
    generator = np.random.RandomState(seed)
    filled_lists = []
    for part in lists:
        missing = items - len(part)
        if missing > 0:
            additions = pool.iloc[generator.randint(0, len(pool), size=missing)]
            additions = additions.assign(query=part["query"].iloc[0])
            part = pd.concat([part, additions], ignore_index=True)
        filled_lists.append(part)
    return filled_lists
