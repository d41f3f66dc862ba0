"""Significance of differences between systems: t-tests over topics, and letters for tables.

In a table, each row has a letter, and a value is followed by the letters of the rows that it
significantly exceeds. The number of comparisons for Bonferroni's correction, which papers often do
not state, is a parameter and part of the result.
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd

from everycell.statistics.hypothesis_tests import t_tests

#: Decimals of values that are tested; the last bits depend on the order of summation.
_DIGITS = 12

Comparisons = Literal["all_pairs", "others"] | int


def paired_tests(
    values: pd.DataFrame,
    pairs: Sequence[tuple[str, str]] | None = None,
    *,
    comparisons: Comparisons = "all_pairs",
    level: float = 0.05,
) -> pd.DataFrame:
    """Paired two-sided t-tests over topics, Bonferroni-corrected.

    p is multiplied by the number of pairs ("all_pairs"), by the number of other systems ("others"),
    or by a given number. Two systems with equal values get t = 0 and p = 1.
    """
    tested_pairs = list(itertools.combinations(values.columns, 2)) if pairs is None else list(pairs)
    number = _count_comparisons(comparisons, len(tested_pairs), values.shape[1])
    # Values of equal rankings may differ in their last bits because of the order of summation. Such
    # differences are tiny, but if all have the same sign, a test would call them significant.
    tests = t_tests(values.round(_DIGITS), tested_pairs, paired=True, correction="none")
    corrected = np.minimum(tests["p"].to_numpy() * number, 1.0)
    better = [
        (row.a if row.difference > 0 else row.b) if p < level else None
        for row, p in zip(tests.itertuples(), corrected, strict=True)
    ]
    tests = tests.rename(columns={"n_a": "n"}).drop(columns=["n_b", "significant"])
    tests["p_corrected"] = corrected
    tests.insert(tests.columns.get_loc("p") + 1, "comparisons", number)
    return tests.assign(better=pd.Series(better, dtype=object, index=tests.index))


def _count_comparisons(comparisons: Comparisons, n_pairs: int, n_systems: int) -> int:
    if comparisons == "all_pairs":
        return n_pairs
    if comparisons == "others":
        return n_systems - 1
    return comparisons


def compare_paired_and_unpaired(
    values: pd.DataFrame,
    pairs: Sequence[tuple[str, str]] | None = None,
    *,
    comparisons: int | None = None,
) -> pd.DataFrame:
    """Paired and unpaired two-sided t-tests of the same pairs of systems, side by side.

    Systems are evaluated on the same topics, so the paired test is appropriate. The unpaired test
    (Student's, equal variances) counts differences between topics as noise. Both are computed
    because the text and code of a paper may disagree on the test.
    """
    number: Comparisons = "all_pairs" if comparisons is None else comparisons
    paired = paired_tests(values, pairs, comparisons=number)
    tested_pairs = list(zip(paired["a"], paired["b"], strict=True))
    unpaired = t_tests(values.round(_DIGITS), tested_pairs, paired=False, correction="none")["p"]
    first = paired["mean_a"].where(paired["mean_a"] != 0)
    return paired[["a", "b", "n", "mean_a", "mean_b"]].assign(
        change_percent=100 * (paired["mean_b"] / first - 1),
        p_paired=paired["p"],
        p_unpaired=unpaired,
        p_paired_corrected=paired["p_corrected"],
        p_unpaired_corrected=np.minimum(unpaired * paired["comparisons"], 1.0),
    )


def change_ranges(
    means: pd.DataFrame, comparisons: Mapping[str, Sequence[tuple[str, str]]]
) -> pd.DataFrame:
    """Lowest and highest relative change, in percent, over the pairs of each comparison."""
    parts = []
    for name, pairs in comparisons.items():
        first, second = (means.loc[list(side)].to_numpy() for side in zip(*pairs, strict=True))
        changes = pd.DataFrame(second - first, columns=means.columns) / np.where(
            first, first, np.nan
        )
        bounds = (100 * changes).agg(["min", "max"]).set_axis(["lowest", "highest"])
        bounds = bounds.rename_axis(index="end", columns="measure").T.stack(future_stack=True)
        parts.append(bounds.rename("value").reset_index().assign(comparison=name))
    columns = ["comparison", "measure", "end", "value"]
    return pd.concat(parts, ignore_index=True)[columns]


def system_letters(systems: Sequence[str]) -> dict[str, str]:
    """Letters of a table's rows: a, b, c, ... in order."""
    return dict(zip(systems, string.ascii_lowercase, strict=False))


def mark_beaten_systems(tests: pd.DataFrame, letters: Mapping[str, str]) -> dict[str, str]:
    """Letters of the systems that each system significantly beats."""
    beaten: dict[str, set[str]] = {system: set() for system in letters}
    for row in tests[tests["better"].notna()].itertuples():
        beaten[row.better].add(row.b if row.better == row.a else row.a)
    return {
        system: "".join(letter for name, letter in letters.items() if name in names)
        for system, names in beaten.items()
    }
