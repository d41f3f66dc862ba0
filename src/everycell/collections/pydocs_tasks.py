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
    """Tasks whose queries are docstrings: cite, co-cite, coupling.

    A query has up to 5 relevant documents and 25 negatives, which are not relevant in any of the
    three tasks and not near-duplicates of the query. All tasks share one split: no pair of a test
    or validation query, in any task or direction, is among the relevant pairs for training.
    """
    return linked_benchmark(
        citation_tasks(collection.links),
        _in_both_directions(collection.near_duplicates),
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
    """Known-item search: short queries with one relevant document and 29 negatives.

    There are no training queries. If a document has several queries, one is sampled, so that topics
    are independent. Negatives are sampled as if the target document were the query, and exclude its
    near-duplicates.
    """
    known = known_items(collection).sort_values("query_id", ignore_index=True)
    generator = np.random.default_rng(seed)
    groups = known.groupby("document_id").indices
    sample = known.loc[[int(generator.choice(rows)) for _, rows in sorted(groups.items())]]
    positives = sample.assign(task=KNOWN_ITEM)
    split = split_queries(positives, test=test, validation=validation, seed=seed)
    queries = split[split["split"] != "train"].merge(
        sample.rename(columns={"document_id": "origin_id"}), on="query_id"
    )
    near_duplicates = _in_both_directions(collection.near_duplicates)
    excluded = queries[["query_id", "origin_id"]].merge(
        near_duplicates.rename(columns={"query_id": "origin_id"}), on="origin_id"
    )
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


def _in_both_directions(pairs: pd.DataFrame) -> pd.DataFrame:
    """Pairs of documents as query and document, in both directions."""
    forward = pairs.rename(columns={"left_id": "query_id", "right_id": "document_id"})
    backward = pairs.rename(columns={"right_id": "query_id", "left_id": "document_id"})
    return pd.concat([forward, backward[["query_id", "document_id"]]], ignore_index=True)
