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

from everycell.base.csv_files import read_table, reject_rows
from everycell.base.errors import CollectionError
from everycell.base.untrusted import in_quotes
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
    "query",
    "doc_title",
    "document",
    "content_gender",
    "exp_stereotype",
)


@dataclass(frozen=True)
class GrepBiasCounts:
    """Sizes; an item is a document in any wording, and a worded item exists in all `WORDINGS`."""

    queries: int
    documents: int
    items: int
    worded_items: int


#: Sizes of the released files. The paper has 118 queries; one of them has no documents.
COUNTS = GrepBiasCounts(queries=117, documents=702, items=234, worded_items=232)


@dataclass(frozen=True)
class GrepBias:
    """Documents, queries, qrels, and the items with all wordings; ids are strings."""

    documents: pd.DataFrame
    queries: pd.DataFrame
    qrels: pd.DataFrame
    wordings: pd.DataFrame

    @property
    def counts(self) -> GrepBiasCounts:
        """Sizes of the collection."""
        items = self.documents["item_id"].nunique()
        return GrepBiasCounts(len(self.queries), len(self.documents), items, len(self.wordings))


def read_grepbias(
    queries: Path, documents: Iterable[Path], *, counts: GrepBiasCounts | None = COUNTS
) -> GrepBias:
    """Read the files and check them."""
    documents = list(documents)
    files = ", ".join(map(str, documents))
    topics = _queries(queries)
    rows = pd.concat([_documents(path, topics) for path in documents], ignore_index=True)
    items = rows.groupby(["query_id", "relevance"])["document_id"]
    rows["item_id"] = items.transform("first")
    worded_rows = rows[rows["wording"].isin(WORDINGS)]
    stereotypes = rows[["query_id", "stereotype"]].drop_duplicates()
    _reject(files, rows, rows.duplicated("document_id"), "an earlier document has the same id")
    _reject(
        files,
        rows,
        items.transform("size") != len(WORDINGS),
        f"its query does not have {len(WORDINGS)} texts with relevance {{relevance}}",
    )
    _reject(
        files,
        worded_rows,
        worded_rows.duplicated(["item_id", "wording"]),
        "its query has two texts with relevance {relevance} and the wording {wording}",
    )
    _reject(
        files,
        rows.loc[stereotypes.index],
        stereotypes.duplicated("query_id"),
        "its query has a different exp_stereotype in an earlier row",
    )
    ids = ["item_id", "query_id", "relevance"]
    table = worded_rows.pivot(index=ids, columns="wording", values="document_id").reindex(
        columns=WORDINGS
    )
    worded_items = rows[ids].drop_duplicates().merge(table.dropna().reset_index(), on=ids)
    collection = GrepBias(
        rows[["document_id", "item_id", "wording", "title", "body", "text"]],
        topics.merge(stereotypes)[["query_id", "category", "stereotype", "text"]],
        rows[["query_id", "document_id", "relevance"]],
        worded_items,
    )
    if counts is not None and collection.counts != counts:
        raise CollectionError(
            f"{queries} and the document files contain {collection.counts}, expected {counts}; "
            "fetch them again (delete them first)."
        )
    return collection


def _reject(files: str, rows: pd.DataFrame, is_invalid: pd.Series, fault: str) -> None:
    if is_invalid.any():
        row = rows[is_invalid].iloc[0]
        raise CollectionError(
            f"{files}: document {in_quotes(row['document_id'])} of query "
            f"{in_quotes(row['query_id'])} cannot be used because {fault.format(**row)}; fetch the "
            "files again (delete them first)."
        )


def _queries(path: Path) -> pd.DataFrame:
    """Read the queries: query_id, category, text."""
    raw = read_table(path, ["q_id", "category", "query"])
    reject_rows(path, raw, "q_id", ~raw["q_id"].str.fullmatch(r"\d+"), "a number")
    reject_rows(path, raw, "q_id", raw["q_id"].duplicated(), "a unique id")
    reject_rows(path, raw, "query", raw["query"].str.strip() == "", "a non-empty text")
    columns = {"q_id": "query_id", "category": "category", "query": "text"}
    return raw[list(columns)].rename(columns=columns).assign(text=_normalise_space(raw["query"]))


def _documents(path: Path, queries: pd.DataFrame) -> pd.DataFrame:
    """Read a file of documents: ids, relevance, wording, stereotype, title, body, text."""
    raw = read_table(path, list(_COLUMNS))
    stereotype = raw["exp_stereotype"].str.strip().str.lower().map(_STEREOTYPE)
    title, body = _normalise_space(raw["doc_title"]), _normalise_space(raw["document"])
    expected = raw["q_id"].map(queries.set_index("query_id")["text"])
    differs = expected != _normalise_space(raw["query"])
    reject_rows(path, raw, "q_id", expected.isna(), "the id of a query")
    reject_rows(path, raw, "query", differs, "the text of this query in the query file")
    reject_rows(path, raw, "d_id", ~raw["d_id"].str.fullmatch(r"\d+"), "a number")
    reject_rows(path, raw, "relevant", ~raw["relevant"].isin(["0", "1"]), "0 or 1")
    allowed = ", ".join(_WORDING)
    reject_rows(path, raw, "content_gender", ~raw["content_gender"].isin(list(_WORDING)), allowed)
    reject_rows(path, raw, "exp_stereotype", stereotype.isna(), ", ".join(_STEREOTYPE))
    reject_rows(path, raw, "document", body == "", "a non-empty text")
    return pd.DataFrame(
        {
            "document_id": raw["d_id"],
            "query_id": raw["q_id"],
            "relevance": raw["relevant"].astype("int64"),
            "wording": raw["content_gender"].map(_WORDING),
            "stereotype": stereotype,
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
    if wording not in WORDINGS:
        raise ValueError(f"The wording is {wording!r}; it must be one of {', '.join(WORDINGS)}.")
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
    pairs = queries[["query_id"]].merge(documents[["document_id"]], how="cross")
    lists = pairs.merge(qrels[["query_id", "document_id", "relevance"]], "left")
    lists = lists.fillna({"relevance": 0}).astype({"relevance": "int64"})
    lists = lists.assign(setting=SETTING, document_id=lists["document_id"].map(id_of), **labels)
    columns = ["setting", "task", "split", "query_id", "document_id", "relevance"]
    benchmark = Benchmark(
        queries.assign(**labels, origin_id="")[["task", "query_id", "split", "origin_id", "text"]],
        lists[columns],
    )
    return documents.assign(document_id=ids), benchmark
