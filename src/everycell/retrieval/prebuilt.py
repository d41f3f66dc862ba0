"""Search in pyserini's indexes of words, impacts or vectors, and files of encoded queries.

pyserini's Python code is not used: its wrappers require torch and more, and its query encoders do
not load with transformers 5. Java classes in its jar are called directly, as in
:mod:`everycell.retrieval.lucene`, and faiss searches vectors.
:mod:`everycell.retrieval.published_indexes` finds indexes by their published names.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from everycell.base.errors import DataError
from everycell.base.text_files import text_lines
from everycell.base.untrusted import in_quotes, parse_json
from everycell.retrieval.java import explain_java_errors, java_classes

_DENSE = ("index", "docid")


# Stop words that DeepImpact removes from queries, from the authors' code (DI4IR/SIGIR2021,
# src/utils2.py, Apache-2.0), without apostrophes.
_STOP_WORDS = frozenset(
    """
    a about also am an and another any anyone are arent as at be been being but by despite did
    didnt do does doesnt doing done dont each etc every everyone for from further had hadnt has
    hasnt have havent having he hed hell her here heres hers herself hes him himself his however i
    id if ill im in into is isnt it its itself ive just lets like lot may me might mightnt my
    myself no nor not of on onto or other ought oughtnt our ours ourselves out over shall shant she
    shed shell shes since so some something such than that thats the their theirs them themselves
    then there theres these they theyd theyll theyre theyve this those through tht to too usually
    very via was wasnt we wed well were werent weve will with without wont would wouldnt yes yet
    you youd youll your youre yours yourself yourselves youve
    """.split()
)


def deepimpact_query(text: str) -> dict[str, int]:
    """DeepImpact query for a text: the number of occurrences of each of its words.

    A document's score is the sum of the impacts of the query's words in it (Mallia et al., SIGIR
    2021). Words are split as in the authors' code (DI4IR/SIGIR2021, ``cleanQ`` in
    ``src/utils2.py``). They consist of ASCII letters and digits in lower case. A word is split at
    dots unless all its parts are single letters, and at hyphens unless any of its parts is a single
    letter. Stop words are removed from queries only. pyserini counts repeated words in the same
    way.
    """
    # Before lower-casing, which turns the Kelvin sign into a k.
    words = re.sub(r"[^0-9A-Za-z.-]", " ", text).lower().split()
    for mark, extreme in ((".", max), ("-", min)):
        split = [word.split(mark) for word in words]
        joined = ((" " if extreme(map(len, parts)) > 1 else "").join(parts) for parts in split)
        words = " ".join(joined).split()
    return dict(Counter(word for word in words if word not in _STOP_WORDS))


def write_encoded_queries(
    path: Path | str, queries: Mapping[str, str], vectors: Iterable[Vector]
) -> None:
    """Write encoded queries, one JSON object per line."""
    lines = [
        json.dumps({"id": query, "contents": text, "vector": vector}) + "\n"
        for (query, text), vector in zip(queries.items(), vectors, strict=True)
    ]
    Path(path).write_text("".join(lines), encoding="utf-8")


def read_encoded_queries(path: Path | str, queries: Mapping[str, str]) -> dict[str, Any]:
    """Read encoded queries, matched by text as in pyserini."""
    path, vectors = Path(path), {}
    if not path.is_file():
        raise PrebuiltError(f"The file {path} does not exist: give a file of encoded queries.")
    for number, line in text_lines(path, PrebuiltError):
        try:
            entry = parse_json(line)
            vectors[entry["contents"].strip()] = entry["vector"]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise PrebuiltError(
                f"{path}, line {number} is not a JSON object with 'contents' and 'vector': "
                "encode the queries again."
            ) from None
    for query, text in queries.items():
        if text.strip() not in vectors:
            raise PrebuiltError(
                f"{path} has no vector for query {query}, {in_quotes(text)}: encode all queries."
            )
    return {query: vectors[text.strip()] for query, text in queries.items()}


Vector = Mapping[str, int] | Sequence[float]


class PrebuiltError(Exception):
    """An index or its encoded queries cannot be used."""


# Number of queries per batch, which limits memory: each hit contains the text of its passage.
_BATCH_SIZE = 64

# Number of passages per file to index. Each of Anserini's threads reads one file at a time.
_PASSAGES_PER_FILE = 500_000


def index_texts(
    documents: Iterable[tuple[str, str]], folder: Path | str, *, threads: int = 1
) -> int:
    """Index texts like pyserini's published index of MS MARCO, for `search_words`.

    Anserini analyses the texts (Porter's stemmer and its own stop words). They are first written as
    JSON lines to a temporary folder next to the index, so there must be disk space for both.
    """
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(folder, fault="is not an empty folder", fix="choose another path")
    folder.parent.mkdir(parents=True, exist_ok=True)
    java = _java()
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as temporary:
        texts, unfinished = Path(temporary, "texts"), Path(temporary, "index")
        texts.mkdir()
        n_texts = _write_texts(documents, texts)
        if not n_texts:
            raise DataError(folder, fault="has no texts to index", fix="give one or more")
        with explain_java_errors(f"index the texts for {folder}", PrebuiltError):
            java.IndexCollection.main(
                ["-collection", "JsonCollection", "-input", str(texts)]
                + ["-generator", "DefaultLuceneDocumentGenerator", "-index", str(unfinished)]
                + ["-threads", str(threads), "-quiet"]
            )
            with java.SimpleSearcher(str(unfinished)) as searcher:
                n_indexed = searcher.get_total_num_docs()
        if n_indexed != n_texts:
            raise PrebuiltError(
                f"Anserini indexed {n_indexed} of {n_texts} documents for {folder}: look for the "
                "reason in its output (disk space, duplicate ids), and index the texts again."
            )
        os.replace(unfinished, folder)
    return n_texts


def _write_texts(documents: Iterable[tuple[str, str]], folder: Path) -> int:
    """Write JSON lines in files of limited size; return the number of non-empty texts."""
    non_empty = ((name, text) for name, text in documents if text.strip())
    count = 0
    while batch := list(islice(non_empty, _PASSAGES_PER_FILE)):
        with Path(folder, f"{count:09}.jsonl").open("w", encoding="utf-8") as file:
            for name, text in batch:
                file.write(json.dumps({"id": name, "contents": text}) + "\n")
        count += len(batch)
    return count


def search_words(
    folder: Path | str,
    queries: Mapping[str, str],
    *,
    k1: float,
    b: float,
    hits: int = 1000,
    threads: int = 1,
) -> pd.DataFrame:
    """Search an index of words with BM25; queries are analysed like the documents."""
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
    """Search an index of impacts; a score sums query weight times impact over the terms."""
    _check_lucene(folder)
    java = _java()
    with (
        explain_java_errors(f"search {folder}", PrebuiltError),
        java.SimpleImpactSearcher(str(folder)) as searcher,
    ):
        with java.DirectoryReader.open(
            java.FSDirectory.open(java.Paths.get(str(folder)))
        ) as reader:
            n_documents = reader.numDocs()

            @cache
            def is_discriminative(term: str) -> bool:
                frequency = reader.docFreq(java.Term("contents", java.text(term)))
                return 0 < frequency < n_documents

            def build_query(terms: Mapping[str, int]) -> Any:
                weights = java.HashMap()
                for term, weight in terms.items():
                    if weight > 0 and is_discriminative(term):
                        weights.put(java.text(term), java.Integer(weight))
                return weights

            return _search(searcher, queries, build_query, hits, threads)


def search_vectors(
    folder: Path | str,
    queries: Mapping[str, Sequence[float]],
    *,
    hits: int = 1000,
    threads: int = 1,
) -> pd.DataFrame:
    """Search an index of vectors with faiss (published indexes use the inner product)."""
    folder = Path(folder)
    if find_spec("faiss") is None:
        raise PrebuiltError(
            "Searching vectors needs the package faiss-cpu, which is not installed: run `make "
            "setup` again, or install envs/lucene.lock in the environment of this step."
        )
    if missing := [name for name in _DENSE if not (folder / name).is_file()]:
        raise PrebuiltError(
            f"{folder} has no file {missing[0]!r}: give the folder of an index of vectors, which "
            "contains 'index' and 'docid'."
        )
    import faiss

    names = np.array((folder / "docid").read_text(encoding="utf-8").split(), dtype=object)
    vectors = np.array(list(queries.values()), dtype=np.float32, ndmin=2)
    index = faiss.read_index(str(folder / "index"))
    if index.ntotal != len(names) or index.d != vectors.shape[1]:
        raise PrebuiltError(
            f"{folder} has {index.ntotal} vectors of length {index.d} and {len(names)} ids, but "
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
    # An approximate index returns -1 if it finds fewer documents.
    return run[positions.ravel() >= 0].reset_index(drop=True)


def _check_lucene(folder: Path | str) -> None:
    if not any(Path(folder).glob("segments_*")):
        raise PrebuiltError(
            f"{folder} is not a Lucene index: give the folder of an index, or its name in pyserini."
        )


def _search(
    searcher: Any, queries: Mapping[str, Any], build: Callable[[Any], Any], hits: int, threads: int
) -> pd.DataFrame:
    """Search for all queries in batches, with Java's threads."""
    java, rows = _java(), []
    names = list(queries)
    for start in range(0, len(names), _BATCH_SIZE):
        batch = names[start : start + _BATCH_SIZE]
        built, keys = java.ArrayList(), java.ArrayList()
        for name in batch:
            built.add(build(queries[name]))
            keys.add(java.text(name))
        results = searcher.batch_search(built, keys, hits, threads)
        for name in batch:
            rows += [(name, hit.docid, hit.score) for hit in results.get(java.text(name)) or ()]
    return pd.DataFrame(rows, columns=["query", "document", "score"])


@cache
def _java() -> SimpleNamespace:
    """Java classes of this module; starts the JVM if necessary."""
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
    # pyjnius truncates strings with characters above U+FFFF if it converts them itself.
    java.text = lambda text: java.String(text.encode(), java.StandardCharsets.UTF_8)
    return java
