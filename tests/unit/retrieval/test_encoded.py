"""Encoded collections: written and read again, scored like plain arithmetic, broken files."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from everycell.retrieval.encoded import Encoded, read_encoded, write_encoded
from everycell.trec.runs import trec_order

PAIRS = pd.DataFrame({"query": ["r", "q", "q"], "document": ["a", "c", "a"]})
RANDOM = np.random.default_rng(3)
QUERIES = np.array([[1.0, 0, 2, 0], [0, 0, 1, 0]])
DOCUMENTS = RANDOM.random((3, 4)) * (RANDOM.random((3, 4)) < 0.7)


def encoded(kind):
    documents = sparse.csr_array(DOCUMENTS) if kind == "term_weights" else DOCUMENTS
    queries = QUERIES if kind == "vectors" else sparse.csr_array(QUERIES)
    return Encoded(kind, documents, queries, ["a", "b", "c"], ["q", "r"])


@pytest.mark.parametrize("kind", ["likelihoods", "term_weights", "vectors"])
def test_scores_are_sums_of_products_before_and_after_a_file(kind, tmp_path):
    write_encoded(encoded(kind), tmp_path / "x.npz")
    expected = [DOCUMENTS[0] @ QUERIES[1], DOCUMENTS[2] @ QUERIES[0], DOCUMENTS[0] @ QUERIES[0]]
    for result in (encoded(kind), read_encoded(tmp_path / "x.npz")):
        run = result.score(PAIRS)
        assert run[["query", "document"]].equals(PAIRS)
        np.testing.assert_allclose(run["score"], expected, rtol=1e-6)


def test_the_same_content_gives_the_same_bytes(tmp_path):
    for name in ("x", "y"):
        write_encoded(encoded("term_weights"), tmp_path / name)
    assert (tmp_path / "x").read_bytes() == (tmp_path / "y").read_bytes()


def test_proposed_terms_are_kept(tmp_path):
    likely = np.array([[3, 0], [1, 2], [0, 3]], dtype=np.int32)
    plain = encoded("likelihoods")
    write_encoded(replace(plain, proposed=likely), tmp_path / "x.npz")
    assert (read_encoded(tmp_path / "x.npz").proposed == likely).all()
    write_encoded(plain, tmp_path / "y.npz")
    assert read_encoded(tmp_path / "y.npz").proposed is None


@pytest.mark.parametrize(("column", "name"), [("query", "s"), ("document", "z")])
def test_what_was_not_encoded_is_named(column, name):
    pairs = PAIRS.assign(**{column: [*PAIRS[column][:2], name]})
    with pytest.raises(ValueError, match=f"The {column} '{name}' was not encoded"):
        encoded("vectors").score(pairs)


def test_an_id_that_stands_twice_is_named():
    twice = Encoded("vectors", DOCUMENTS, QUERIES, ["a", "b", "a"], ["q", "r"])
    with pytest.raises(ValueError, match="The document 'a' was encoded twice"):
        twice.score(PAIRS)


def test_a_cut_or_foreign_file_is_refused(tmp_path):
    path = tmp_path / "x.npz"
    write_encoded(encoded("vectors"), path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(ValueError, match="is not an encoded collection"):
        read_encoded(path)
    np.savez(path, kind="vectors")
    with pytest.raises(ValueError, match="is not an encoded collection"):
        read_encoded(path)


@pytest.mark.parametrize("kind", ["likelihoods", "term_weights", "vectors"])
def test_a_search_finds_what_has_the_highest_scores_of_all_pairs(kind):
    collection = encoded(kind)
    pairs = pd.DataFrame({"query": ["r"] * 3 + ["q"] * 3, "document": list("abc") * 2})
    expected = trec_order(collection.score(pairs))
    result = collection.search(["r", "q"], 9)
    pd.testing.assert_frame_equal(result, expected, check_dtype=False)
    first = expected.groupby("query", sort=False).head(1)["document"].tolist()
    assert collection.search(["r", "q"], 1)["document"].tolist() == first


def test_equal_scores_are_cut_as_trec_eval_orders_them():
    ones = np.ones((4, 1))
    result = Encoded("vectors", ones, ones[:1], ["d9", "d10", "e", "D"], ["q"]).search(["q"], 3)
    assert result["document"].tolist() == ["e", "d9", "d10"]


def test_a_search_without_queries_finds_nothing():
    result = encoded("vectors").search([], 3)
    assert result.empty and list(result) == ["query", "document", "score"]


def test_a_search_of_an_unknown_query_or_for_nothing_is_refused():
    with pytest.raises(ValueError, match="The query 'x' was not encoded"):
        encoded("vectors").search(["x"], 1)
    with pytest.raises(ValueError, match="k is 0: it must be 1 or more"):
        encoded("vectors").search(["q"], 0)


@pytest.mark.fault("bomb")
def test_an_archive_that_unpacks_to_a_hundred_times_its_size_is_refused(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", kind="vectors", documents=np.zeros((10_000, 1_000)))
    with pytest.raises(ValueError, match="x.npz .*unpacks to"):
        read_encoded(tmp_path / "x.npz")
