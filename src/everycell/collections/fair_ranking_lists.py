"""Lists of papers with features from TREC Fair Ranking 2019 and 2020, as released with FELIX.

A row is a paper in the list of a query, with 25 features. The last feature is the number of
citations, in which papers may be outliers.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from everycell.base.csv_files import read_table, row_in_file
from everycell.base.errors import CollectionError
from everycell.base.untrusted import in_quotes

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
_COLUMNS = ["sensitive_attribute", "session", "score", *FEATURES]


def read_fair_lists(path: Path | str) -> pd.DataFrame:
    """Read lists of papers, and check all columns."""
    columns = list(read_table(Path(path), (), error=CollectionError).columns)
    if columns != _COLUMNS:
        expected = [*_COLUMNS, "no further column"]
        actual = [*columns, "no further column"]
        position = next(n for n, name in enumerate(expected) if actual[n : n + 1] != [name])
        name = in_quotes(columns[position]) if position < len(columns) else "missing"
        raise CollectionError(
            f"{path}: column {position + 1} is {name}; expected {expected[position]}: fetch "
            "the file again (delete it first)."
        )
    table = pd.read_csv(path)
    numbers = table[FEATURES].apply(pd.to_numeric, errors="coerce")
    checks = {
        "relevance": (table["score"], table["score"].isin([0, 1]), "0 or 1"),
        "group": (
            table["sensitive_attribute"],
            table["sensitive_attribute"].isin(["H", "L"]),
            "H or L",
        ),
        **{
            name: (table[name], pd.Series(np.isfinite(numbers[name])), "a finite number")
            for name in FEATURES
        },
    }
    for name, (values, is_valid, allowed) in checks.items():
        if not is_valid.all():
            row = int(np.flatnonzero(~is_valid)[0])
            raise CollectionError(
                f"{row_in_file(Path(path), row)}: {name} is {in_quotes(str(values.iloc[row]))}; "
                f"expected {allowed}: fetch the file again (delete it first)."
            )
    renamed = table.rename(
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
    if pool.empty:
        raise ValueError("All items are relevant: filling up lists requires non-relevant items.")
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
