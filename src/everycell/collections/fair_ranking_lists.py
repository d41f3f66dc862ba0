"""Lists of papers with features, of TREC Fair Ranking 2019 and 2020 as released with FELIX.

A row is a paper in the list of a query, with 25 features; the last feature is its number of
citations, by which it may be an outlier.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from everycell.collections.errors import CollectionError
from everycell.collections.rating_files import read_table, row_in_file
from everycell.engine.untrusted import in_quotes

#: Names of the data sets in the tables, and the folders of their files.
DATASETS = {"TREC20": "TREC2020", "TREC19": "TREC2019"}
#: Registry keys by data set and part.
FILES = {
    (dataset, part): f"felix-trec-fair/{folder}/{part}.csv"
    for dataset, folder in DATASETS.items()
    for part in ("train", "test")
}
FEATURES = [f"feature_{number}" for number in range(1, 26)]
#: Feature in which papers may be outliers: their citations.
OUTLYING = FEATURES[-1]
_COLUMNS = ["sensitive_attribute", "session", "score", *FEATURES]


def read_fair_lists(path: Path | str) -> pd.DataFrame:
    """Read lists of papers."""
    columns = list(read_table(Path(path), (), error=CollectionError).columns)
    if columns != _COLUMNS:
        expected = [*_COLUMNS, "no more"]
        position = next(
            n for n, name in enumerate(expected) if [*columns, "no more"][n : n + 1] != [name]
        )
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
    for name, (values, good, allowed) in checks.items():
        if not good.all():
            row = int(np.flatnonzero(~good)[0])
            raise CollectionError(
                f"{row_in_file(Path(path), row)}: {name} is {in_quotes(str(values.iloc[row]))}; "
                f"expected {allowed}: fetch the file again (delete it first)."
            )
    renamed = table.rename(
        columns={"session": "query", "score": "relevance", "sensitive_attribute": "group"}
    )
    return renamed[["query", "relevance", "group", *FEATURES]]


def write_fair_lists(lists: pd.DataFrame, path: Path | str) -> None:
    """Write lists of papers in the form of the released files."""
    renamed = lists.rename(
        columns={"query": "session", "relevance": "score", "group": "sensitive_attribute"}
    )
    renamed[_COLUMNS].to_csv(path, index=False)


def long_lists(lists: pd.DataFrame, items: int) -> pd.DataFrame:
    """Lists with at least this many items."""
    return lists[lists.groupby("query")["query"].transform("size") >= items]


def split_lists(lists: pd.DataFrame) -> list[pd.DataFrame]:
    """One frame per query, in the order of the file."""
    return [part for _, part in lists.groupby("query", sort=False)]


def fill_up(
    lists: Sequence[pd.DataFrame], source: pd.DataFrame, items: int, seed: int
) -> list[pd.DataFrame]:
    """Fill lists up with non-relevant items of other lists, drawn with replacement.

    The draw follows the authors' code: NumPy's legacy generator, in the order of the lists, among
    items of which the group H comes first in each list. Their seed therefore gives their items.
    """
    pool = pd.concat(
        [part.sort_values("group", kind="stable") for part in split_lists(source)],
        ignore_index=True,
    )
    pool = pool[pool["relevance"] == 0].reset_index(drop=True)
    if pool.empty:
        raise ValueError("All items are relevant: there is none to fill up lists with.")
    # numpy.random.Generator would draw other items.
    drawn = np.random.RandomState(seed)
    filled = []
    for part in lists:
        short = items - len(part)
        if short > 0:
            more = pool.iloc[drawn.randint(0, len(pool), size=short)]
            part = pd.concat([part, more.assign(query=part["query"].iloc[0])], ignore_index=True)
        filled.append(part)
    return filled
