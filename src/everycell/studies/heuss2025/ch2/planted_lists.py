"""Simulated lists with planted outliers."""

from __future__ import annotations

import numpy as np
import pandas as pd

from everycell.collections.fair_ranking_lists import FEATURES

#: Number of features that depend on relevance; the others are noise.
INFORMATIVE = 6
#: Minimum and maximum number of outliers in a list.
OUTLIERS = (2, 4)
#: Minimum number of items per outlier, for three or four outliers; too many mask each other.
ITEMS_PER_OUTLIER = 12
#: Minimum and maximum size of test lists, as in the released lists that are long enough.
TEST_SIZES = {"TREC20": (20, 60), "TREC19": (10, 50)}
#: Minimum and maximum size of training lists.
TRAIN_SIZES = (10, 60)


def planted_lists(
    lists: int, sizes: tuple[int, int], rng: np.random.Generator, first: int = 0
) -> pd.DataFrame:
    """Draw lists of items with planted outliers.

    A third of the items in a list is relevant; the informative features separate these from the
    others, with noise. The outlier feature is close to 1, but 10 for the two to four planted
    outliers, half of which are relevant (rounded up). A single outlier among ten displayed items is
    3 standard deviations from their mean. Two outliers are only 2 standard deviations from it, so
    they mask each other.
    """
    return pd.concat(
        [_planted_list(first + number, sizes, rng) for number in range(lists)], ignore_index=True
    )


def _planted_list(query: int, sizes: tuple[int, int], rng: np.random.Generator) -> pd.DataFrame:
    items = int(rng.integers(sizes[0], sizes[1], endpoint=True))
    relevance = np.zeros(items, dtype=int)
    relevance[rng.permutation(items)[: -(-items // 3)]] = 1
    features = rng.normal(size=(items, len(FEATURES)))
    features[:, :INFORMATIVE] += 0.5 * relevance[:, None]
    features[:, -1] = 1 + 0.05 * features[:, -1]
    minimum, maximum = OUTLIERS
    maximum = max(minimum, min(maximum, items // ITEMS_PER_OUTLIER))
    outliers = int(rng.integers(minimum, maximum, endpoint=True))
    relevant_outliers = -(-outliers // 2)
    for value, number in ((1, relevant_outliers), (0, outliers - relevant_outliers)):
        features[rng.permutation(np.flatnonzero(relevance == value))[:number], -1] = 10.0
    frame = pd.DataFrame(features, columns=FEATURES)
    frame.insert(0, "query", query)
    frame.insert(1, "relevance", relevance)
    frame.insert(2, "group", np.where(rng.random(items) < 0.5, "H", "L"))
    return frame
