"""Queries, training pairs and candidate lists of the collection `pydocs`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from everycell.collections.benchmark import Benchmark, linked_benchmark
from everycell.collections.pydocs import KNOWN_ITEM, PyDocs, known_items
from everycell.collections.query_by_example import (
    candidate_lists,
    citation_tasks,
    split_queries,
)

#: Settings of the test and validation lists; the first is the main one.
MAIN_SETTINGS = ("package", "mixed")


def query_by_example(
    collection: PyDocs,
    *,
    test: int = 300,
    validation: int = 200,
    seed: int = 0,
    settings: Sequence[str] = MAIN_SETTINGS,
) -> Benchmark:
    """Tasks where a docstring is the query: cite, co-cite, coupling.

    Up to 5 relevant documents per query and 25 negatives, which are relevant in none of the three
    tasks and are not near-duplicates of the query. There is one split for all tasks: no pair of a
    test or validation query, in any task or direction, is among the relevant pairs for training.
    """
    return linked_benchmark(
        citation_tasks(collection.links),
        _both_ways(collection.alike),
        collection.documents,
        test=test,
        validation=validation,
        seed=seed,
        settings=settings,
    )


def known_item_search(
    collection: PyDocs,
    *,
    test: int = 300,
    validation: int = 200,
    seed: int = 0,
    settings: Sequence[str] = MAIN_SETTINGS,
) -> Benchmark:
    """Short queries, each for one document among 30; nothing is trained on them.

    From a document with several queries one query is drawn, so that topics are independent. No
    negative is a near-duplicate of the target document, whose package and parent are used.
    """
    known = known_items(collection).sort_values("query_id", ignore_index=True)
    draw = np.random.default_rng(seed)
    drawn = known.loc[
        [int(draw.choice(rows)) for _, rows in sorted(known.groupby("document_id").indices.items())]
    ]
    positives = drawn.assign(task=KNOWN_ITEM)
    split = split_queries(positives, test=test, validation=validation, seed=seed)
    queries = split[split["split"] != "train"].merge(
        drawn.rename(columns={"document_id": "origin_id"}), on="query_id"
    )
    alike = _both_ways(collection.alike).rename(columns={"query_id": "origin_id"})
    excluded = queries[["query_id", "origin_id"]].merge(alike, on="origin_id")
    lists = [
        candidate_lists(
            queries,
            positives,
            excluded,
            collection.documents,
            setting=setting,
            seed=seed,
            negatives=29,
        )
        for setting in settings
    ]
    return Benchmark(queries, pd.concat(lists, ignore_index=True))


def _both_ways(alike: pd.DataFrame) -> pd.DataFrame:
    """Pairs as queries and documents, in both directions."""
    forward = alike.rename(columns={"left_id": "query_id", "right_id": "document_id"})
    back = alike.rename(columns={"right_id": "query_id", "left_id": "document_id"})
    return pd.concat([forward, back[["query_id", "document_id"]]], ignore_index=True)
