"""Test lists of Tables 2.2 and 2.3, scored by rankers trained on other lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from everycell.collections.fair_ranking_lists import (
    FEATURES,
    OUTLIER_FEATURE,
    fill_lists,
    split_lists,
)
from everycell.studies.heuss2025.ch2.list_counts import select_test_lists, select_training_lists
from everycell.studies.heuss2025.ch2.ranked_lists import RankedList, best_items

#: Data set -> size to which shorter test lists are filled up.
FILLED_SIZES = {"TREC19": 50}
#: Share of the training lists that is held out for validation.
VALIDATION = 0.2


def lists_to_rank(
    train: pd.DataFrame, test: pd.DataFrame, dataset: str, draw: int
) -> list[pd.DataFrame]:
    """Test lists of a data set for which policies are computed (section 2.5)."""
    lists = split_lists(select_test_lists(test, dataset))
    if dataset in FILLED_SIZES:
        lists = fill_lists(lists, train, FILLED_SIZES[dataset], draw)
    return lists


def score_lists(
    train: pd.DataFrame,
    lists: Sequence[pd.DataFrame],
    *,
    readings: Mapping[str, int],
    seeds: int,
    seed: int,
) -> pd.DataFrame:
    """Score test lists by rankers of several seeds, each with its own training split.

    A training run yields two rankers: that of the text, which stops early, and that of the authors'
    code, which trains for a fixed number of epochs. The text does not specify the criterion of
    early stopping; here it is the lowest validation loss.
    """
    # torch takes seconds to import, and jobs that only read these scores do not need it.
    from everycell.learning.listnet import train_and_score

    labelled = split_lists(select_training_lists(train))
    features = [part[FEATURES].to_numpy() for part in labelled]
    relevance = [part["relevance"].to_numpy() for part in labelled]
    frame = pd.concat(
        [part.assign(query=number) for number, part in enumerate(lists)], ignore_index=True
    )
    items = frame[["query", "relevance", OUTLIER_FEATURE]].rename(
        columns={OUTLIER_FEATURE: "outlying"}
    )
    (text, max_epochs), (code, fixed) = readings.items()
    frames = []
    for run in range(seeds):
        run_seed = seed + run
        order = np.random.default_rng(run_seed).permutation(len(labelled))
        validation, training = np.split(order, [int(VALIDATION * len(labelled))])
        scores = train_and_score(
            [features[i] for i in training],
            [relevance[i] for i in training],
            [part[FEATURES].to_numpy() for part in lists],
            epochs=[max_epochs, fixed],
            seed=run_seed,
            validation=(
                [features[i] for i in validation],
                [relevance[i] for i in validation],
            ),
            stop_by=max_epochs,
        )
        frames += [
            items.assign(epochs=name, run=run, score=np.concatenate(scores[key]))
            for name, key in ((text, None), (code, fixed))
        ]
    columns = ["epochs", "run", "query", "score", "relevance", "outlying"]
    return pd.concat(frames, ignore_index=True)[columns]


def ranked_lists(
    frame: pd.DataFrame, items: int
) -> Iterator[tuple[Mapping[str, Any], list[RankedList]]]:
    """Lists per training run and interpretation, from a frame of :func:`score_lists`."""
    for (epochs, run), part in frame.groupby(["epochs", "run"], sort=False):
        yield (
            {"epochs": epochs, "run": int(run)},
            [
                best_items(rows["score"], rows["relevance"], rows["outlying"], items)
                for _, rows in part.groupby("query", sort=False)
            ],
        )
