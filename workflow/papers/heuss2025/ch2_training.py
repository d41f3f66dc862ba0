"""Rankers of Tables 2.2 and 2.3 of chapter 2 of heuss2025, on released or simulated lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from everycell.jobs.job import Job
from papers.heuss2025.data import (
    FEATURES,
    OUTLIER_FEATURE,
    fill_lists,
    read_fair_lists,
    select_test_lists,
    select_training_lists,
    split_lists,
    write_fair_lists,
)

#: Data set -> size to which shorter test lists are filled up.
FILLED_SIZES = {"TREC19": 50}
#: Share of the training lists that is held out for validation.
VALIDATION = 0.2
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


def train(job: Job) -> None:
    """Train ListNet with several seeds, and score the test lists of a data set."""
    # torch takes seconds to import.
    from papers.heuss2025.ch2_listnet import use_portable_arithmetic

    use_portable_arithmetic()
    params, dataset = job.params, job.wildcards.dataset
    train, test = (read_fair_lists(job.input[part]) for part in ("train", "test"))
    lists = lists_to_rank(train, test, dataset, params.draw)
    options = {"readings": params.readings, "seeds": params.seeds, "seed": params.seed}
    job.write_frame(score_lists(train, lists, **options), "scores")


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
    from papers.heuss2025.ch2_listnet import train_and_score

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


def planted(job: Job) -> None:
    """Simulated lists with planted outliers, in the format of the released lists."""
    dataset, lists = job.wildcards.dataset, job.params.lists
    rng = np.random.default_rng([job.params.seed, list(TEST_SIZES).index(dataset)])
    for part, number, sizes in (
        ("train", 3 * lists, TRAIN_SIZES),
        ("test", lists, TEST_SIZES[dataset]),
    ):
        write_fair_lists(planted_lists(number, sizes, rng), job.output[part])


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
