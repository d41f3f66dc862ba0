"""Training examples from candidate lists: a query, a relevant document and negatives."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from datasets import Dataset, Features, List, Value
from datasets.arrow_writer import ArrowWriter

from everycell.base.errors import DataError
from everycell.collections.benchmark import check_texts

_TEXT = Value("string")
_FEATURES = Features({"query": _TEXT, "positive": _TEXT, "negatives": List(_TEXT)})


def ranking_examples(
    queries: pd.DataFrame,
    documents: pd.DataFrame,
    candidates: pd.DataFrame,
    file: Path,
    *,
    pairs: int,
    negatives: int,
    seed: int,
    tasks: Collection[str] | None = None,
) -> Dataset:
    """Draw training examples.

    Texts are repeated in many examples (several gigabytes for all pairs of SciDocs), so the
    examples are written to a file and memory-mapped.
    """
    check_texts(documents, queries, candidates)
    is_training = candidates["split"] == "train"
    if tasks is not None:
        is_training &= candidates["task"].isin(tasks)
    lists = candidates[is_training].sort_values(["task", "query", "document_id"], kind="stable")
    relevant = lists[lists["relevance"] > 0].drop_duplicates(["query", "document_id"])
    if relevant.empty:
        raise DataError(
            fault="There is no relevant pair to train on in the split 'train'",
            fix="draw fewer test and validation queries",
        )
    generator = np.random.default_rng(seed)
    sampled_pairs = relevant.iloc[generator.permutation(len(relevant))[:pairs]]
    irrelevant = lists[lists["relevance"] == 0].groupby(["task", "query"])["document_id"]
    pools = {key: ids.to_numpy() for key, ids in irrelevant}
    query_text = queries.drop_duplicates("query").set_index("query")["text"]
    text = documents.set_index("document_id")["text"]

    with ArrowWriter(path=str(file), features=_FEATURES) as writer:
        for row in _generate_rows(sampled_pairs, pools, query_text, text, negatives, generator):
            writer.write(row)
        writer.finalize()
    return Dataset.from_file(str(file))


def _generate_rows(
    sampled_pairs: pd.DataFrame,
    pools: dict[tuple[str, str], np.ndarray],
    query_text: pd.Series,
    text: pd.Series,
    negatives: int,
    generator: np.random.Generator,
) -> Iterator[dict[str, str | list[str]]]:
    """One example per pair, with negatives drawn from the pool of its list."""
    for pair in sampled_pairs.itertuples(index=False):
        pool = pools.get((pair.task, pair.query), np.array([]))
        if len(pool) < negatives:
            raise DataError(
                row=f"query {pair.query!r} of task {pair.task!r}",
                fault=f"has {len(pool)} non-relevant documents",
                expected=f"{negatives} or more",
                fix="use fewer negatives",
            )
        sampled = generator.choice(pool, negatives, replace=False)
        yield {
            "query": query_text[pair.query],
            "positive": text[pair.document_id],
            "negatives": [text[document] for document in sampled],
        }
