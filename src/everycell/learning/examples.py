"""Training examples from candidate lists: a query, a relevant document and others."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd
from datasets import Dataset

from everycell.collections.benchmark import check_texts


def ranking_examples(
    queries: pd.DataFrame,
    documents: pd.DataFrame,
    candidates: pd.DataFrame,
    *,
    pairs: int,
    negatives: int,
    seed: int,
    tasks: Collection[str] | None = None,
) -> Dataset:
    """Draw training examples.

    Parameters
    ----------
    queries, candidates : pandas.DataFrame
        As in `everycell.collections.benchmark.Benchmark`; only the split "train" is used.
    documents : pandas.DataFrame
        Columns `document_id`, `text`.
    pairs : int
        Relevant pairs to draw, without replacement; all of them where there are fewer. A pair that
        stands in several tasks counts once.
    negatives : int
        Documents of the same list that are not relevant, drawn anew for each pair (abolghasemi2026,
        section 2.3.1, draws 2); 1 or more.
    seed : int
        0 or more.
    tasks : collection of str, optional
        Only these.

    Returns
    -------
    datasets.Dataset
        Columns `query`, `positive` (text) and `negatives` (list of texts), in random order.

    Raises
    ------
    ValueError
        No training pair at all, a list with too few documents that are not relevant, or what
        `everycell.collections.benchmark.check_texts` refuses.

    Examples
    --------
    >>> queries = pd.DataFrame({"query_id": ["q"], "text": ["a query"], "split": ["train"]})
    >>> documents = pd.DataFrame({"document_id": ["d", "e"], "text": ["good", "bad"]})
    >>> candidates = pd.DataFrame({
    ...     "task": "cite", "split": "train", "query_id": "q",
    ...     "document_id": ["d", "e"], "relevance": [1, 0]})
    >>> ranking_examples(queries, documents, candidates, pairs=9, negatives=1, seed=0)[0]
    {'query': 'a query', 'positive': 'good', 'negatives': ['bad']}
    """
    check_texts(documents, queries, candidates)
    wanted = candidates["split"] == "train"
    if tasks is not None:
        wanted &= candidates["task"].isin(tasks)
    lists = candidates[wanted].sort_values(["task", "query_id", "document_id"], kind="stable")
    relevant = lists[lists["relevance"] > 0].drop_duplicates(["query_id", "document_id"])
    if relevant.empty:
        raise ValueError(
            "There is no relevant pair to train on: the candidate lists have none in the split "
            "'train'; draw fewer test and validation queries."
        )
    generator = np.random.default_rng(seed)
    drawn = relevant.iloc[generator.permutation(len(relevant))[:pairs]]
    others = lists[lists["relevance"] == 0].groupby(["task", "query_id"])["document_id"]
    pools = {key: ids.to_numpy() for key, ids in others}
    query_text = queries.drop_duplicates("query_id").set_index("query_id")["text"]
    text = documents.set_index("document_id")["text"]
    rows = []
    for pair in drawn.itertuples(index=False):
        pool = pools.get((pair.task, pair.query_id), np.array([]))
        if len(pool) < negatives:
            raise ValueError(
                f"Query {pair.query_id!r} of task {pair.task!r} has {len(pool)} documents that are "
                f"not relevant: {negatives} are needed; ask for fewer."
            )
        chosen = generator.choice(pool, negatives, replace=False)
        rows.append(
            {
                "query": query_text[pair.query_id],
                "positive": text[pair.document_id],
                "negatives": [text[document] for document in chosen],
            }
        )
    return Dataset.from_list(rows)
