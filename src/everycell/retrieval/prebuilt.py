"""Search in indexes that pyserini publishes or builds: words, impacts, vectors.

Nothing of pyserini's Python is imported to search: its wrappers bring torch and more, and its
encoders of queries do not load with transformers 5. Java classes of its jar are called directly,
as in :mod:`everycell.retrieval.lucene`; vectors are searched by faiss. Indexes by their published
names are found by :mod:`everycell.retrieval.published_indexes`.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from everycell.retrieval.java import explain_java_errors, java_classes
from everycell.retrieval.query_files import _DENSE, PrebuiltError

# Number of queries whose hits Java holds at a time: a published index stores every passage's
# text, which each hit includes.
_AT_ONCE = 64

# Passages per file to index: Anserini reads as many files at once as it has threads.
_A_FILE = 500_000


def index_texts(
    documents: Iterable[tuple[str, str]], folder: Path | str, *, threads: int = 1
) -> int:
    """Index texts as pyserini's published index of MS MARCO was made, for `search_words`.

    Anserini's own analysis (Porter's stemmer, its stop words). The texts are first written as JSON
    lines beside the index, and later removed: both need room.
    """
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"The folder {folder} is not empty: name another one, or remove it.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    java = _java()
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as beside:
        texts, unfinished = Path(beside, "texts"), Path(beside, "index")
        texts.mkdir()
        written = _write_texts(documents, texts)
        if not written:
            raise ValueError(f"The index {folder} has no texts: give one or more.")
        with explain_java_errors(f"index the texts for {folder}", PrebuiltError):
            java.IndexCollection.main(
                ["-collection", "JsonCollection", "-input", str(texts)]
                + ["-generator", "DefaultLuceneDocumentGenerator", "-index", str(unfinished)]
                + ["-threads", str(threads), "-quiet"]
            )
            with java.SimpleSearcher(str(unfinished)) as searcher:
                indexed = searcher.get_total_num_docs()
        if indexed != written:
            raise PrebuiltError(
                f"Anserini indexed {indexed} of {written} documents for {folder}: look for a "
                "reason in its output (disk space, an id that occurs twice), and index again."
            )
        os.replace(unfinished, folder)
    return written


def _write_texts(documents: Iterable[tuple[str, str]], folder: Path) -> int:
    """Write JSON lines in files of limited size; return the number of non-empty texts."""
    present = ((name, text) for name, text in documents if text.strip())
    written = 0
    while part := list(islice(present, _A_FILE)):
        with Path(folder, f"{written:09}.jsonl").open("w", encoding="utf-8") as file:
            for name, text in part:
                file.write(json.dumps({"id": name, "contents": text}) + "\n")
        written += len(part)
    return written


def search_words(
    folder: Path | str,
    queries: Mapping[str, str],
    *,
    k1: float,
    b: float,
    hits: int = 1000,
    threads: int = 1,
) -> pd.DataFrame:
    """Best documents of an index of words by BM25; queries are analysed like the documents."""
    _check_lucene(folder)
    java = _java()
    with (
        explain_java_errors(f"search {folder}", PrebuiltError),
        java.SimpleSearcher(str(folder)) as searcher,
    ):
        searcher.set_bm25(k1, b)
        return _search(searcher, queries, java.text, hits, threads)


def search_impacts(
    folder: Path | str,
    queries: Mapping[str, Mapping[str, int]],
    *,
    hits: int = 1000,
    threads: int = 1,
) -> pd.DataFrame:
    """Best documents of an index of impacts: the sum of query weight times impact over terms."""
    _check_lucene(folder)
    java = _java()
    with (
        explain_java_errors(f"search {folder}", PrebuiltError),
        java.SimpleImpactSearcher(str(folder)) as searcher,
    ):
        with java.DirectoryReader.open(
            java.FSDirectory.open(java.Paths.get(str(folder)))
        ) as reader:
            everywhere = reader.numDocs()

            @cache
            def tells(term: str) -> bool:
                frequency = reader.docFreq(java.Term("contents", java.text(term)))
                return 0 < frequency < everywhere

            def make(terms: Mapping[str, int]) -> Any:
                weights = java.HashMap()
                for term, weight in terms.items():
                    if weight > 0 and tells(term):
                        weights.put(java.text(term), java.Integer(weight))
                return weights

            return _search(searcher, queries, make, hits, threads)


def search_vectors(
    folder: Path | str,
    queries: Mapping[str, Sequence[float]],
    *,
    hits: int = 1000,
    threads: int = 1,
) -> pd.DataFrame:
    """Best documents of an index of vectors, as faiss compares (inner product as published)."""
    folder = Path(folder)
    if find_spec("faiss") is None:
        raise PrebuiltError(
            "Searching vectors needs the package faiss-cpu, which is not installed: run `make "
            "setup` again, or install envs/lucene.lock in the environment of this step."
        )
    if missing := [name for name in _DENSE if not (folder / name).is_file()]:
        raise PrebuiltError(
            f"{folder} has no file {missing[0]!r}: give the folder of an index of vectors, which "
            "has 'index' and 'docid'."
        )
    import faiss

    names = np.array((folder / "docid").read_text(encoding="utf-8").split(), dtype=object)
    vectors = np.array(list(queries.values()), dtype=np.float32, ndmin=2)
    index = faiss.read_index(str(folder / "index"))
    if index.ntotal != len(names) or index.d != vectors.shape[1]:
        raise PrebuiltError(
            f"{folder} has {index.ntotal} vectors of length {index.d} and {len(names)} ids, and "
            f"the queries have vectors of length {vectors.shape[1]}: encode the queries with the "
            "model of the index, or copy the index again."
        )
    faiss.omp_set_num_threads(threads)
    scores, positions = index.search(vectors, min(hits, index.ntotal))
    run = pd.DataFrame(
        {
            "query": np.repeat(np.array(list(queries), dtype=object), positions.shape[1]),
            "document": names[positions.ravel()],
            "score": scores.ravel().astype(float),
        }
    )
    # An approximate index says -1 where it found fewer.
    return run[positions.ravel() >= 0].reset_index(drop=True)


def _check_lucene(folder: Path | str) -> None:
    if not any(Path(folder).glob("segments_*")):
        raise PrebuiltError(
            f"{folder} is not a Lucene index: give the folder of one, or pyserini's name of it."
        )


def _search(
    searcher: Any, queries: Mapping[str, Any], make: Callable[[Any], Any], hits: int, threads: int
) -> pd.DataFrame:
    """Run of all queries, searched by Java's threads in batches."""
    java, rows = _java(), []
    names = list(queries)
    for start in range(0, len(names), _AT_ONCE):
        part = names[start : start + _AT_ONCE]
        built, keys = java.ArrayList(), java.ArrayList()
        for name in part:
            built.add(make(queries[name]))
            keys.add(java.text(name))
        results = searcher.batch_search(built, keys, hits, threads)
        for name in part:
            rows += [(name, hit.docid, hit.score) for hit in results.get(java.text(name)) or ()]
    return pd.DataFrame(rows, columns=["query", "document", "score"])


@cache
def _java() -> SimpleNamespace:
    """Java classes; starts the JVM if it is not running."""
    java = SimpleNamespace(
        **java_classes(
            {
                "io.anserini.index": "IndexCollection",
                "io.anserini.search": "SimpleImpactSearcher SimpleSearcher",
                "java.lang": "Integer String",
                "java.nio.charset": "StandardCharsets",
                "java.nio.file": "Paths",
                "java.util": "ArrayList HashMap",
                "org.apache.lucene.index": "DirectoryReader Term",
                "org.apache.lucene.store": "FSDirectory",
            }
        )
    )
    # A str that pyjnius converts itself is cut short by its characters above U+FFFF.
    java.text = lambda text: java.String(text.encode(), java.StandardCharsets.UTF_8)
    return java
