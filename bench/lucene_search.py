"""Speed of Lucene: searches on two threads, and scoring of given pairs.

Run ``python bench/lucene_search.py [--documents 5000] [--queries 100]``, after ``make
setup-lucene``. Texts are random words with Zipf's frequencies. Both sides of a ratio take turns in
one process, after a first round that warms up Java and checks that they agree:

- search: the top 100 documents for queries of 5 and of 300 terms, on one thread and on two;
- pairs: BM25 of 30 candidates per query with one search per query (``score_pairs``), on one thread
  and on two, and with one call per pair (the Java method behind ``compute_query_document_score``
  of pyserini, which parses and weighs the query again for each candidate).
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from everycell.retrieval.java import start_java
from everycell.retrieval.lucene import Index, build_index
from everycell.retrieval.ranking_functions import BM25

RANKER = BM25(k1=2.75, b=1)


def texts(count, length, rng, words=30_000):
    """Lists of `length` random words."""
    share = 1 / np.arange(1, words + 1)
    ranks = rng.choice(words, (count, length), p=share / share.sum())
    return [[f"w{rank}" for rank in row] for row in ranks]


def in_turn(rounds, **calls):
    """Median seconds of each call; calls take turns, and the first round is a warm-up."""
    seconds = {name: [] for name in calls}
    for turn in range(rounds + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            if turn:
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def single_pair_scorer(folder):
    """Function for the BM25 score of one query and one document, by Anserini."""
    from jnius import autoclass, cast

    analyser = cast(
        "org.apache.lucene.analysis.Analyzer",
        autoclass("org.apache.lucene.analysis.core.WhitespaceAnalyzer")(),
    )
    similarity = cast(
        "org.apache.lucene.search.similarities.Similarity",
        autoclass("org.apache.lucene.search.similarities.BM25Similarity")(RANKER.k1, RANKER.b),
    )
    tools = autoclass("io.anserini.index.IndexReaderUtils")
    reader = cast("org.apache.lucene.index.IndexReader", tools.getReader(str(folder)))
    score = tools.computeQueryDocumentScoreWithSimilarityAndAnalyzer
    return lambda text, name: score(reader, name, text, similarity, analyser)


def main():
    """Print one line per comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=5000)
    parser.add_argument("--queries", type=int, default=100)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    folder = Path(tempfile.mkdtemp()) / "index"
    documents = [(f"d{i}", text) for i, text in enumerate(texts(options.documents, 150, rng))]
    start_java()
    start = time.perf_counter()
    build_index(documents, folder)
    rate = options.documents / (time.perf_counter() - start)
    print(f"index: {rate:,.0f} documents of 150 terms per second, without a warm-up of Java")

    with Index(folder) as index:
        for length in (5, 300):
            queries = {f"q{i}": text for i, text in enumerate(texts(options.queries, length, rng))}

            def search(threads, queries=queries):
                return index.search(queries, RANKER, 100, threads=threads)

            pd.testing.assert_frame_equal(search(1), search(2))
            times = in_turn(5, one=lambda: search(1), two=lambda: search(2))
            print(
                f"search, {length} terms: {options.queries / times['one']:,.0f} queries per "
                f"second; two threads {times['one'] / times['two']:.2f} times as fast"
            )

        pairs = pd.DataFrame(
            [
                (query, f"d{document}")
                for query in queries
                for document in rng.choice(options.documents, 30, replace=False)
            ],
            columns=["query", "document"],
        )
        lines = {query: " ".join(terms) for query, terms in queries.items()}
        score = single_pair_scorer(folder)

        def single():
            return [score(lines[query], name) for query, name in pairs.itertuples(index=False)]

        def grouped(threads):
            return index.score_pairs(queries, pairs, RANKER, threads=threads)

        np.testing.assert_allclose(grouped(1)["score"], single(), rtol=1e-5)
        times = in_turn(3, single=single, one=lambda: grouped(1), two=lambda: grouped(2))
    print(
        f"pairs, 300 terms, 30 candidates: {options.queries / times['one']:,.0f} queries per "
        f"second; {times['single'] / times['one']:.1f} times as fast as one call per pair; "
        f"two threads {times['one'] / times['two']:.2f} times as fast as one"
    )


if __name__ == "__main__":
    main()
