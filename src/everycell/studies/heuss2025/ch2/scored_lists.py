"""Test lists of Tables 2.2 and 2.3 with the scores of rankers that were trained on other lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from everycell.collections.fair_ranking_lists import (
    FEATURES,
    OUTLYING,
    fill_up,
    split_lists,
)
from everycell.studies.heuss2025.ch2.list_counts import select_test_lists, select_training_lists
from everycell.studies.heuss2025.ch2.ranked_lists import RankedList, best_items

#: Items that test lists are filled up to, where they are too short.
FILLED_UP = {"TREC19": 50}
#: Share of the training lists that is set aside for validation.
VALIDATION = 0.2


def lists_to_rank(
    train: pd.DataFrame, test: pd.DataFrame, dataset: str, draw: int
) -> list[pd.DataFrame]:
    """Lists of a data set that policies are made for; section 2.5 of the thesis."""
    lists = split_lists(select_test_lists(test, dataset))
    if dataset in FILLED_UP:
        lists = fill_up(lists, train, FILLED_UP[dataset], draw)
    return lists


def score_lists(
    train: pd.DataFrame,
    lists: Sequence[pd.DataFrame],
    *,
    readings: Mapping[str, int],
    seeds: int,
    seed: int,
) -> pd.DataFrame:
    """Score test lists by rankers of several seeds, each trained on its own part of the lists.

    One training gives two rankers: that of the text, stopped early after at most so many epochs,
    and that of the authors' code, which trains for a fixed number. The text does not say what early
    stopping watches; here it is the loss on the lists that are set aside, which keeps the scores
    after the epoch with the lowest one.
    """
    # torch takes seconds to import, and the jobs that read these scores need none.
    from everycell.learning.listnet import train_and_score

    known = split_lists(select_training_lists(train))
    features = [part[FEATURES].to_numpy() for part in known]
    relevance = [part["relevance"].to_numpy() for part in known]
    frame = pd.concat(
        [part.assign(query=number) for number, part in enumerate(lists)], ignore_index=True
    )
    facts = frame[["query", "relevance", OUTLYING]].rename(columns={OUTLYING: "outlying"})
    (text, max_epochs), (code, fixed) = readings.items()
    frames = []
    for run in range(seeds):
        own = seed + run
        order = np.random.default_rng(own).permutation(len(known))
        aside, training = np.split(order, [int(VALIDATION * len(known))])
        scores = train_and_score(
            [features[i] for i in training],
            [relevance[i] for i in training],
            [part[FEATURES].to_numpy() for part in lists],
            epochs=[max_epochs, fixed],
            seed=own,
            validation=([features[i] for i in aside], [relevance[i] for i in aside]),
            stop_by=max_epochs,
        )
        frames += [
            facts.assign(epochs=name, run=run, score=np.concatenate(scores[key]))
            for name, key in ((text, None), (code, fixed))
        ]
    columns = ["epochs", "run", "query", "score", "relevance", "outlying"]
    return pd.concat(frames, ignore_index=True)[columns]


def ranked_lists(
    frame: pd.DataFrame, items: int
) -> Iterator[tuple[Mapping[str, Any], list[RankedList]]]:
    """Lists of each training and reading, from what :func:`score_lists` gives.

    Examples
    --------
    >>> frame = pd.DataFrame({"epochs": "10", "run": 0, "query": [0, 0], "score": [1.0, 2.0]})
    >>> [(key, lists)] = ranked_lists(frame.assign(relevance=1, outlying=5.0), items=60)
    >>> key, len(lists), lists[0].scores.tolist()
    ({'epochs': '10', 'run': 0}, 1, [1.0, 0.0001])
    """
    for (epochs, run), part in frame.groupby(["epochs", "run"], sort=False):
        yield (
            {"epochs": epochs, "run": int(run)},
            [
                best_items(rows["score"], rows["relevance"], rows["outlying"], items)
                for _, rows in part.groupby("query", sort=False)
            ],
        )
