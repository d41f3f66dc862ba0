"""Simulated lists in which a few items stand out."""

from __future__ import annotations

import numpy as np
import pandas as pd

from everycell.collections.fair_ranking_lists import FEATURES

#: Features that say something of an item's relevance; the others are noise.
TELLING = 6
#: Outliers of a list, least and most; the most of a list of 36 items is three. Where more items
#: stand out, they hide each other in the whole list, too.
OUTLIERS, ITEMS_OF_ONE = (2, 4), 12
#: Sizes of test lists: as the released ones that are long enough.
TEST_SIZES = {"TREC20": (20, 60), "TREC19": (10, 50)}
#: Sizes of training lists.
TRAIN_SIZES = (10, 60)


def planted_lists(
    lists: int, sizes: tuple[int, int], rng: np.random.Generator, first: int = 0
) -> pd.DataFrame:
    """Draw lists of items with planted outliers.

    A third of a list's items is relevant. Some features separate them, with noise; the others
    are noise. What items stand out by is close to 1, and 10 for the two to four planted ones, half
    of which are relevant (rounded up). One of them among ten shown items lies 2.8 standard
    deviations from their mean, two of them only 2, so that they hide each other.
    """
    return pd.concat(
        [_planted_list(first + number, sizes, rng) for number in range(lists)], ignore_index=True
    )


def _planted_list(query: int, sizes: tuple[int, int], rng: np.random.Generator) -> pd.DataFrame:
    items = int(rng.integers(sizes[0], sizes[1], endpoint=True))
    relevance = np.zeros(items, dtype=int)
    relevance[rng.permutation(items)[: -(-items // 3)]] = 1
    features = rng.normal(size=(items, len(FEATURES)))
    features[:, :TELLING] += 0.5 * relevance[:, None]
    features[:, -1] = 1 + 0.05 * features[:, -1]
    fewest, limit = OUTLIERS
    limit = max(fewest, min(limit, items // ITEMS_OF_ONE))
    outliers = int(rng.integers(fewest, limit, endpoint=True))
    of_relevant = -(-outliers // 2)
    for value, number in ((1, of_relevant), (0, outliers - of_relevant)):
        features[rng.permutation(np.flatnonzero(relevance == value))[:number], -1] = 10.0
    frame = pd.DataFrame(features, columns=FEATURES)
    frame.insert(0, "query", query)
    frame.insert(1, "relevance", relevance)
    frame.insert(2, "group", np.where(rng.random(items) < 0.5, "H", "L"))
    return frame
