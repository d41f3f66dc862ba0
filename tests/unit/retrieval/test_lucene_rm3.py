"""Feedback by RM3 against plain Python, a hand-worked query and pyserini's own searcher."""

import re
from collections import Counter
from math import log

import numpy as np
import pandas as pd
import pytest

from everycell.base.errors import DataError
from everycell.retrieval import java
from everycell.retrieval.lucene import Index, build_index
from everycell.retrieval.ranking_functions import BM25, Dirichlet, JelinekMercer, Rm3
from everycell.trec.runs import trec_order

# (Importing jnius itself would start whatever Java the system has.)
pytest.importorskip("jnius_config", reason="needs Lucene: run `make setup-lucene`")

RANKER = BM25(k1=0.9, b=0.4)
OTHERS = {f"o{number}": ["other"] for number in range(17)}


def opened(folder, documents):
    build_index(documents.items(), folder, term_vectors=True)
    return Index(folder)


def bm25(documents, weights):
    """Scores of all documents that hold a term; their lengths are kept exactly, being below 40."""
    filled = sum(map(bool, documents.values()))
    average = sum(map(len, documents.values())) / filled
    holders = Counter(term for terms in documents.values() for term in set(terms))
    scores = {}
    for name, terms in documents.items():
        norm = RANKER.k1 * (1 - RANKER.b + RANKER.b * len(terms) / average)
        counts = Counter(terms)
        parts = [
            weight
            * log(1 + (filled - holders[term] + 0.5) / (holders[term] + 0.5))
            * counts[term]
            / (counts[term] + norm)
            for term, weight in weights.items()
            if counts[term] and weight
        ]
        if parts:
            scores[name] = sum(parts)
    return scores


def heaviest(weights, count):
    return dict(sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:count])


def plain_weights(documents, query, first, feedback):
    """Weights of the expanded query, by Anserini's definition.

    `first` are ids and scores of the first search, in order: the terms at the cut may differ by
    nothing but the last bit of a 32-bit sum of these.
    """
    allowed = {
        term
        for term, stored in Counter(t for terms in documents.values() for t in set(terms)).items()
        if re.fullmatch("[a-z0-9]{2,20}", term) and stored <= len(documents) / 10
    }
    total = {}
    for name, score in first:
        remaining = Counter(term for term in documents[name] if term in allowed)
        remaining = heaviest(remaining, feedback.terms)
        for term, count in remaining.items():
            share = np.float32(count) / np.float32(sum(remaining.values()))
            total[term] = total.get(term, np.float32(0)) + share * np.float32(score)
    total = heaviest(total, feedback.terms)
    weights = Counter()
    for term, weight in total.items():
        weights[term] += (1 - feedback.original_weight) * float(weight) / float(sum(total.values()))
    for term in query:
        weights[term] += feedback.original_weight / len(query)
    return weights


# Some that feedback may not take.
WORDS = np.array([f"w{rank}" for rank in range(60)] + ["##ing", "x", "Y9", "é𝑥"], object)


def random_collection(seed):
    """30 to 80 documents of 0 to 30 terms, with a few empty ones, and 12 queries."""
    rng = np.random.default_rng(seed)
    share = 1 / (5 + rng.permutation(len(WORDS)))
    share /= share.sum()
    documents = {
        f"d{number}": list(rng.choice(WORDS, length, p=share))
        for number, length in enumerate(rng.integers(0, 31, rng.integers(30, 81)))
    }
    documents |= {"empty": [], "pieces": ["##ing", "##ing", "x"]}
    queries = {f"q{number}": list(rng.choice(WORDS, rng.integers(1, 6))) for number in range(12)}
    return documents, queries | {"pieces": ["##ing", "##ing"]}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_rm3_equals_python(tmp_path, seed):
    documents, queries = random_collection(seed)
    settings = [
        Rm3(),
        Rm3(documents=3, terms=2, original_weight=0.3),
        Rm3(documents=1, terms=5, original_weight=0),
        Rm3(documents=1000, terms=1000, original_weight=0.8),
    ]
    changed = 0
    with opened(tmp_path / "index", documents) as index:
        for feedback in settings:
            first = index.search(queries, RANKER, feedback.documents)
            run = index.search(queries, RANKER, 1000, feedback=feedback)
            pd.testing.assert_frame_equal(run, trec_order(run))
            for query, terms in queries.items():
                top = first[first["query"] == query][["document", "score"]]
                weights = plain_weights(
                    documents, terms, top.itertuples(index=False, name=None), feedback
                )
                changed += bool(set(weights) - set(terms))
                expected = bm25(documents, weights)
                result = run[run["query"] == query].set_index("document")["score"]
                assert set(result.index) == set(expected)
                np.testing.assert_allclose(
                    result, [expected[name] for name in result.index], rtol=1e-4
                )
    # Or the seed would compare nothing but BM25.
    assert changed > len(queries)


def test_rm3_by_hand(tmp_path):
    """With k1 = 0 and as many holders for each term, a document scores ln(8.4) times its weights.

    First search: d2 and d1 alike. Terms of d1, cut to 2: purr 2/3, cat 1/3 (milk is behind cat in
    the alphabet); of d2: cat 1/2, milk 1/2. Sum: cat 5/6, purr 4/6, milk 3/6; cut to 2 and scaled:
    cat 5/9, purr 4/9. Half and half with the query: cat 7/9, purr 2/9.
    """
    documents = {"d1": ["cat", "purr", "milk", "purr"], "d2": ["cat", "milk"], "d3": ["purr"]}
    with opened(tmp_path / "index", documents | OTHERS) as index:
        ranker = BM25(k1=0, b=0)
        plain = index.search({"q": ["cat"]}, ranker, k=10)
        run = index.search({"q": ["cat"]}, ranker, k=10, feedback=Rm3(terms=2))
    assert plain["document"].tolist() == ["d2", "d1"]
    assert run["document"].tolist() == ["d1", "d2", "d3"]
    shares = np.array([7 / 9 + 2 / 9, 7 / 9, 2 / 9])
    np.testing.assert_allclose(run["score"], shares * log(1 + 18.5 / 2.5), rtol=1e-6)


def test_rm3_equals_pyserini(tmp_path):
    """Anserini's own search on the same index, which rounds scores to four decimals.

    (Its order of ties is another; here no tie falls between the fourth and the fifth document.)
    """
    documents, queries = random_collection(0)
    documents |= {f"o{number}": ["filler"] * 31 for number in range(100)}
    queries = {name: [t for t in terms if t.isascii()] for name, terms in queries.items()}
    with opened(tmp_path / "index", documents) as index:
        run = index.search(queries, RANKER, 1000, feedback=Rm3(documents=4, terms=6))
    from jnius import autoclass

    searcher = autoclass("io.anserini.search.SimpleSearcher")(
        str(tmp_path / "index"), java.lucene_classes().analyser
    )
    searcher.set_bm25(RANKER.k1, RANKER.b)
    searcher.set_rm3(None, 6, 4, 0.5, False, True)
    compared = 0
    for query, terms in queries.items():
        plain = searcher.search(" ".join(terms), 1000)
        expected = {hit.docid: hit.score for hit in plain}
        result = run[run["query"] == query].set_index("document")["score"]
        assert set(result.index) == set(expected)
        np.testing.assert_allclose(
            result, [expected[name] for name in result.index], rtol=0, atol=5.1e-5
        )
        compared += len(result)
    searcher.close()
    assert compared > 100


@pytest.mark.parametrize(
    ("term", "selected"),
    [
        ("ab", True),
        ("a1" * 10, True),
        ("a", False),
        ("a" * 21, False),
        ("Cat", False),
        ("##cat", False),
        ("café", False),
        ("cats'", False),
    ],
)
def test_rm3_selected_terms(tmp_path, term, selected):
    documents = {"d1": ["query", term], "d2": [term]} | OTHERS | {"empty": []}
    with opened(tmp_path / "index", documents) as index:
        run = index.search({"q": ["query"]}, RANKER, k=10, feedback=Rm3())
    assert run["document"].tolist() == (["d1", "d2"] if selected else ["d1"])


@pytest.mark.parametrize(("empty", "selected"), [(9, False), (10, True)])
def test_rm3_document_frequency(tmp_path, empty, selected):
    """Three of 29 or 30 documents hold it; empty ones count."""
    documents = {"d1": ["query", "term"], "d2": ["term"], "d3": ["term"]} | OTHERS
    documents |= {f"e{number}": [] for number in range(empty)}
    with opened(tmp_path / "index", documents) as index:
        run = index.search({"q": ["query"]}, RANKER, k=10, feedback=Rm3())
    assert set(run["document"]) == ({"d1", "d2", "d3"} if selected else {"d1"})


def test_rm3_weight_1(tmp_path):
    documents, queries = random_collection(1)
    with opened(tmp_path / "index", documents) as index:
        for ranker in (RANKER, JelinekMercer(weight=0.1), Dirichlet(mu=100)):
            plain = index.search(queries, ranker, k=1000)
            run = index.search(queries, ranker, k=1000, feedback=Rm3(original_weight=1))
            lengths = plain["query"].map({name: len(terms) for name, terms in queries.items()})
            both = plain.merge(run, on=["query", "document"], validate="1:1")
            assert len(both) == len(plain) == len(run)
            np.testing.assert_allclose(both["score_y"], both["score_x"] / lengths, rtol=1e-5)
            pd.testing.assert_frame_equal(run, trec_order(run))


def test_rm3_no_terms(tmp_path):
    """In an index of 9 documents every term is too frequent; nothing is found by an empty query."""
    documents = {"d1": ["cat", "purr"], "d2": ["cat"]} | dict(list(OTHERS.items())[:7])
    queries = {"cat": ["cat", "cat", "purr"], "empty": [], "strange": ["nowhere"]}
    with opened(tmp_path / "index", documents) as index:
        plain = index.search(queries, RANKER, k=10)
        run = index.search(queries, RANKER, k=10, feedback=Rm3(original_weight=0.6))
        alone = index.search(queries, RANKER, k=10, feedback=Rm3(original_weight=0))
    assert set(plain["query"]) == {"cat"}
    pd.testing.assert_frame_equal(
        run, plain.assign(score=plain["score"] * 0.6 / 3), rtol=1e-6, check_exact=False
    )
    assert len(alone) == 0


def test_documents_of_score_0_give_no_term(tmp_path):
    """Dirichlet cuts the only hit's score at 0, so its terms would have the weight 0 / 0."""
    ranker, queries = Dirichlet(mu=2000), {"q": ["xx"]}
    documents = {"long": ["xx"] + ["yy"] * 4000, "yy": ["yy"]} | OTHERS
    with opened(tmp_path / "index", documents) as index:
        plain = index.search(queries, ranker, k=5)
        assert plain[["document", "score"]].values.tolist() == [["long", 0.0]]
        pd.testing.assert_frame_equal(index.search(queries, ranker, k=5, feedback=Rm3()), plain)
    with opened(tmp_path / "index", documents | {"many": ["xx"] * 4000}) as index:
        run = index.search(queries, ranker, k=5, feedback=Rm3())
    assert run["document"].tolist() == ["many", "long"]


def test_rm3_ties(tmp_path):
    """The feedback documents are cut by it too: of the tied, the greatest id gives its term."""
    documents = {f"d{number}": ["query", f"term{number}"] for number in (3, 1, 2)}
    documents |= {"x1": ["term3"], "x3": ["term3"], "x2": ["term3"]}
    documents |= {f"o{number}": ["other"] for number in range(60)}
    with opened(tmp_path / "index", documents) as index:
        feedback = Rm3(documents=1)
        run = index.search({"q": ["query"]}, RANKER, k=100, feedback=feedback)
        assert run["document"].tolist() == ["d3", "d2", "d1", "x3", "x2", "x1"]
        for k in range(1, 7):
            cut = index.search({"q": ["query"]}, RANKER, k=k, feedback=feedback)
            pd.testing.assert_frame_equal(cut, run.head(k))


@pytest.mark.slow
def test_rm3_threads(tmp_path):
    documents, _ = random_collection(2)
    queries = {f"q{number}": [f"w{number % 60}", f"w{number % 7}"] for number in range(300)}
    with opened(tmp_path / "index", documents) as index:
        pd.testing.assert_frame_equal(
            index.search(queries, RANKER, 20, feedback=Rm3(), threads=3),
            index.search(queries, RANKER, 20, feedback=Rm3()),
        )


def test_rm3_term_vectors(tmp_path):
    documents, queries = random_collection(3)
    lean = build_index(documents.items(), tmp_path / "lean")
    full = build_index(documents.items(), tmp_path / "full", term_vectors=True)
    assert lean == full
    with Index(tmp_path / "lean") as index, Index(tmp_path / "full") as other:
        plain = index.search(queries, RANKER, 100)
        pd.testing.assert_frame_equal(plain, other.search(queries, RANKER, 100))
        with pytest.raises(DataError) as error:
            index.search(queries, RANKER, 100, feedback=Rm3())
        assert error.value.path == tmp_path / "lean"
