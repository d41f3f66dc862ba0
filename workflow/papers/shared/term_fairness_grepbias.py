"""Grep-BiasIR: queries with relevant and non-relevant documents in gendered wordings.

Source: Krieg et al., "Grep-BiasIR: a dataset for investigating gender representation bias in
information retrieval results" (CHIIR 2023).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from everycell.base.csv_files import read_columns
from everycell.collections.benchmark import Benchmark

#: Registry keys of the queries, and of the documents of each query category.
QUERIES = "gender-bias-ir/grepbiasir/queries.csv"
DOCUMENTS = tuple(
    f"gender-bias-ir/grepbiasir/queries-documents_{category}.csv"
    for category in (
        "Appearance",
        "Career",
        "Child_Care",
        "Cognitive_Capabilities",
        "Domestic_Work",
        "Physical_Capabilities",
        "Sex_and_Relationship",
    )
)
#: Wordings of a document; some documents have the wording "both" instead.
WORDINGS = ("male", "female", "neutral")
TASK = "grepbias"
SETTING = "all"

# "botrh" occurs once, a typo of "both".
_WORDING: Mapping[str, str] = {
    "M": "male",
    "F": "female",
    "N": "neutral",
    "both": "both",
    "botrh": "both",
}
# "Towards female" occurs 12 times in addition to "Towards Female".
_STEREOTYPE: Mapping[str, str] = {
    "towards female": "female",
    "towards male": "male",
    "no annotation agreement": "none",
}
_COLUMNS = (
    "q_id",
    "d_id",
    "relevant",
    "doc_title",
    "document",
    "content_gender",
    "exp_stereotype",
)


@dataclass(frozen=True)
class GrepBias:
    """Documents, queries, qrels, and the items with all wordings; ids are strings."""

    documents: pd.DataFrame
    queries: pd.DataFrame
    qrels: pd.DataFrame
    wordings: pd.DataFrame


def read_grepbias(queries: Path, documents: Iterable[Path]) -> GrepBias:
    """Read the files."""
    rows = pd.concat([_documents(path) for path in documents], ignore_index=True)
    # A query has three texts of each relevance, which are the wordings of one item.
    items = rows.groupby(["query", "relevance"])["document_id"]
    rows["item_id"] = items.transform("first")
    worded_rows = rows[rows["wording"].isin(WORDINGS)]
    stereotypes = rows[["query", "stereotype"]].drop_duplicates()
    ids = ["item_id", "query", "relevance"]
    table = worded_rows.pivot(index=ids, columns="wording", values="document_id").reindex(
        columns=WORDINGS
    )
    worded_items = rows[ids].drop_duplicates().merge(table.dropna().reset_index(), on=ids)
    names = {"q_id": "query", "category": "category", "query": "text"}
    topics = read_columns(queries, list(names)).rename(columns=names)
    topics["text"] = _normalise_space(topics["text"])
    return GrepBias(
        rows[["document_id", "item_id", "wording", "title", "body", "text"]],
        topics.merge(stereotypes)[["query", "category", "stereotype", "text"]],
        rows[["query", "document_id", "relevance"]],
        worded_items,
    )


def _documents(path: Path) -> pd.DataFrame:
    """Read a file of documents: ids, relevance, wording, stereotype, title, body, text."""
    raw = read_columns(path, list(_COLUMNS))
    title, body = _normalise_space(raw["doc_title"]), _normalise_space(raw["document"])
    return pd.DataFrame(
        {
            "document_id": raw["d_id"],
            "query": raw["q_id"],
            "relevance": raw["relevant"].astype("int64"),
            "wording": raw["content_gender"].map(_WORDING),
            "stereotype": raw["exp_stereotype"].str.strip().str.lower().map(_STEREOTYPE),
            "title": title,
            "body": body,
            "text": (title + " " + body).str.strip(),
        }
    )


def _normalise_space(texts: pd.Series) -> pd.Series:
    return texts.str.split().str.join(" ")


def all_wordings_benchmark(
    collection: GrepBias, *, seed: int = 0
) -> tuple[pd.DataFrame, Benchmark]:
    """Documents in all wordings and their benchmark, to see which wordings a system ranks first."""
    return _candidate_benchmark(
        collection.queries, collection.documents[["document_id", "text"]], collection.qrels, seed
    )


def one_wording_benchmark(
    collection: GrepBias, wording: str, *, seed: int = 0
) -> tuple[pd.DataFrame, Benchmark]:
    """Documents in one wording and their benchmark; ids are the same in all wordings."""
    items = collection.wordings
    text = collection.documents.set_index("document_id")["text"]
    documents = pd.DataFrame({"document_id": items["item_id"], "text": items[wording].map(text)})
    qrels = items.rename(columns={"item_id": "document_id"})
    return _candidate_benchmark(collection.queries, documents, qrels, seed)


def _candidate_benchmark(
    queries: pd.DataFrame, documents: pd.DataFrame, qrels: pd.DataFrame, seed: int
) -> tuple[pd.DataFrame, Benchmark]:
    """Make every document a candidate of every query, with ids in random order."""
    number = pd.Series(np.random.default_rng(seed).permutation(len(documents)), documents.index)
    width = len(str(len(documents) - 1))
    ids = number.astype(str).str.zfill(width) + "." + documents["document_id"]
    id_of = dict(zip(documents["document_id"], ids, strict=True))
    labels = {"task": TASK, "split": "test"}
    pairs = queries[["query"]].merge(documents[["document_id"]], how="cross")
    lists = pairs.merge(qrels[["query", "document_id", "relevance"]], "left")
    lists = lists.fillna({"relevance": 0}).astype({"relevance": "int64"})
    lists = lists.assign(setting=SETTING, document_id=lists["document_id"].map(id_of), **labels)
    columns = ["setting", "task", "split", "query", "document_id", "relevance"]
    benchmark = Benchmark(
        queries.assign(**labels, origin_id="")[["task", "query", "split", "origin_id", "text"]],
        lists[columns],
    )
    return documents.assign(document_id=ids), benchmark
