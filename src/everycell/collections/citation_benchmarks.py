"""Query by example on CACM: long abstracts are queries, linked records are relevant."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from everycell.collections.benchmark import Benchmark, linked_benchmark
from everycell.collections.cacm import linked_tasks
from everycell.collections.smart import Collection

#: Settings of the candidate lists; the first is the main one, also used for training lists. Half of
#: the records have only a title, but four out of five relevant records have an abstract, and most
#: are from the time of the query, so random negatives would be easy to distinguish from them.
CACM_SETTINGS = ("mixed", "random")
#: The first year whose records have subject categories.
CATEGORIES_SINCE = 1968


def cacm_groups(collection: Collection, issues: pd.DataFrame) -> pd.DataFrame:
    """Records of CACM with the groups from which negatives are sampled.

    Negatives are not selected with a ranker, which would put systems similar to it at a
    disadvantage.
    """
    records = collection.documents.merge(issues, on="document_id", how="left")
    if records["year"].isna().any():
        first = records.loc[records["year"].isna(), "document_id"].iloc[0]
        raise ValueError(
            f"Record {first} has no issue: read documents and issues from the same archive."
        )
    form = records["abstract"].ne("").map({True: "abstract", False: "title only"})
    late = records["year"] >= CATEGORIES_SINCE
    era = late.map({True: f"since {CATEGORIES_SINCE}", False: f"before {CATEGORIES_SINCE}"})
    in_year = form + ", " + records["year"].astype(int).astype(str)
    return records[["document_id", "text"]].assign(
        package=form + ", " + era,
        parent=records["category"].where(records["category"] != "", in_year),
    )


def cacm_query_by_example(
    collection: Collection,
    links: pd.DataFrame,
    issues: pd.DataFrame,
    *,
    min_words: int = 50,
    test: int = 150,
    validation: int = 100,
    seed: int = 0,
    settings: Sequence[str] = CACM_SETTINGS,
) -> Benchmark:
    """Tasks whose queries are records of CACM: cite, co-cite, coupling.

    A query has up to 5 relevant documents and 25 negatives. Links have no direction, so "cite"
    means cites or is cited by. All tasks share one split: no pair of a test or validation query, in
    any task or direction, is among the relevant pairs for training.
    """
    positives = linked_tasks(links, collection.documents, min_words=min_words)
    return linked_benchmark(
        positives,
        _same_text(positives, collection.documents),
        cacm_groups(collection, issues),
        test=test,
        validation=validation,
        seed=seed,
        settings=settings,
    )


def _same_text(positives: pd.DataFrame, documents: pd.DataFrame) -> pd.DataFrame:
    """Pairs of a query and a document with the text of one of the query's relevant documents."""
    texts = documents[["document_id", "text"]]
    relevant = positives[["query_id", "document_id"]].merge(texts, on="document_id")
    return relevant[["query_id", "text"]].drop_duplicates().merge(texts, on="text")
