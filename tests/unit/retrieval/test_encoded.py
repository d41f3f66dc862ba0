"""Encoded collections: written and read again, scored like plain arithmetic, broken files."""

import resource
import zipfile
from dataclasses import replace
from io import BytesIO
from unittest.mock import ANY, patch

import numpy as np
import pandas as pd
import pytest
from data_errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from everycell.base.errors import DataError
from everycell.retrieval.encoded import (
    Encoded,
    likelihood_scores,
    read_encoded,
    term_weight_scores,
    vector_scores,
    write_encoded,
)
from everycell.trec.runs import trec_order

SCORERS = [likelihood_scores, term_weight_scores, vector_scores]


def dictionaries(matrix):
    """Column -> value of each row, zeros left out."""
    return [{int(j): float(row[j]) for j in np.flatnonzero(row)} for row in matrix]


def reference(documents, queries, query_rows, document_rows):
    """Sum over the query's terms of count x the document's value, 0 where it has none."""
    documents, queries = dictionaries(documents), dictionaries(queries)
    return np.array(
        [
            sum(count * documents[d].get(term, 0.0) for term, count in queries[q].items())
            for q, d in zip(query_rows, document_rows, strict=True)
        ]
    )


def scored(scorer, documents, queries, *rows):
    """The same dense arrays through any of the three functions, each in its own format."""
    if scorer is not vector_scores:
        queries = sparse.csr_array(queries)
    if scorer is term_weight_scores:
        documents = sparse.csr_array(documents)
    return scorer(documents, queries, *(np.array(part, dtype=np.int64) for part in rows))


def data(seed, d=40, q=6, v=50):
    """Documents with a third of the columns, queries with a tenth, and 200 pairs of them."""
    rng = np.random.default_rng(seed)
    documents = (-rng.random((d, v)) * 8 * (rng.random((d, v)) < 1 / 3)).astype(np.float32)
    queries = (rng.integers(1, 5, (q, v)) * (rng.random((q, v)) < 0.1)).astype(np.float32)
    return documents, queries, rng.integers(q, size=200), rng.integers(d, size=200)


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_score_equals_dictionaries(scorer, layout, dtype):
    documents, queries, *rows = data(0)
    result = scored(scorer, layout(documents.astype(dtype)), queries, *rows)
    assert result.dtype == np.float64
    np.testing.assert_allclose(result, reference(documents, queries, *rows), rtol=0, atol=1e-6)


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
@pytest.mark.parametrize("scorer", [likelihood_scores, vector_scores])
def test_score_half_precision(scorer, layout):
    documents, queries, *rows = data(1)
    half = layout(documents.astype(np.float16))
    expected = reference(half.astype(np.float64), queries, *rows)
    np.testing.assert_allclose(scored(scorer, half, queries, *rows), expected, rtol=0, atol=1e-6)


@settings(max_examples=60, deadline=None)
@given(
    hnp.arrays(np.int64, (4, 5), elements=st.integers(-8, 8)),
    hnp.arrays(np.int64, (3, 5), elements=st.integers(0, 3)),
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=12),
)
def test_score_whole_numbers(documents, queries, pairs):
    rows = [[q for q, _ in pairs], [d for _, d in pairs]]
    expected = reference(documents, queries, *rows)
    for scorer in SCORERS:
        result = scored(scorer, documents.astype(np.float64), queries.astype(np.float64), *rows)
        np.testing.assert_array_equal(result, expected)


@settings(max_examples=30, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 200), st.integers(1, 300))
def test_score_independent_of_other_pairs(random, size, block_size):
    documents, queries, query_rows, document_rows = data(2)
    selection = random.sample(range(200), size)
    for scorer in SCORERS:
        with patch("everycell.retrieval.encoded._BLOCK", block_size):
            alone = scored(
                scorer, documents, queries, query_rows[selection], document_rows[selection]
            )
        together = scored(scorer, documents, queries, query_rows, document_rows)
        np.testing.assert_array_equal(alone, together[selection])


@pytest.mark.parametrize("scorer", SCORERS)
def test_score_query_without_terms(scorer):
    documents, queries, *_ = data(4)
    queries[1] = 0
    assert scored(scorer, documents, queries, [1, 1], [0, 5]).tolist() == [0.0, 0.0]
    assert scored(scorer, documents, queries, [], []).shape == (0,)


def test_score_document_without_terms():
    documents, queries, *_ = data(5)
    documents[3] = 0
    assert scored(term_weight_scores, documents, queries, [0, 1], [3, 3]).tolist() == [0.0, 0.0]


def test_score_duplicate_entries():
    twice = sparse.csr_array(([1.0, 1.0], [2, 2], [0, 2]), shape=(1, 4))
    values, row = np.array([[1.0, 2.0, -3.0, 4.0]]), np.array([0])
    assert likelihood_scores(values, twice, row, row).tolist() == [-6.0]
    assert term_weight_scores(sparse.csr_array(values), twice, row, row).tolist() == [-6.0]
    assert term_weight_scores(twice, sparse.csr_array(values), row, row).tolist() == [-6.0]


def test_score_other_sparse_formats():
    documents, queries, *rows = data(6)
    expected = scored(term_weight_scores, documents, queries, *rows)
    wide = sparse.csr_array(documents)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for stored in (sparse.csc_array(documents), sparse.csr_matrix(documents), wide):
        result = term_weight_scores(stored, sparse.coo_array(queries), *rows)
        np.testing.assert_array_equal(result, expected)


PAIRS = pd.DataFrame({"query": ["r", "q", "q"], "document": ["a", "c", "a"]})
RANDOM = np.random.default_rng(3)
QUERIES = np.array([[1.0, 0, 2, 0], [0, 0, 1, 0]])
DOCUMENTS = RANDOM.random((3, 4)) * (RANDOM.random((3, 4)) < 0.7)


def encoded(kind):
    documents = sparse.csr_array(DOCUMENTS) if kind == "term_weights" else DOCUMENTS
    queries = QUERIES if kind == "vectors" else sparse.csr_array(QUERIES)
    return Encoded(kind, documents, queries, ["a", "b", "c"], ["q", "r"])


@pytest.mark.parametrize("kind", ["likelihoods", "term_weights", "vectors"])
def test_read_encoded_same_scores(kind, tmp_path):
    write_encoded(encoded(kind), tmp_path / "x.npz")
    expected = [DOCUMENTS[0] @ QUERIES[1], DOCUMENTS[2] @ QUERIES[0], DOCUMENTS[0] @ QUERIES[0]]
    for result in (encoded(kind), read_encoded(tmp_path / "x.npz")):
        run = result.score(PAIRS)
        assert run[["query", "document"]].equals(PAIRS)
        np.testing.assert_allclose(run["score"], expected, rtol=1e-6)


def test_write_encoded_same_bytes(tmp_path):
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
def test_score_unknown_id(column, name):
    pairs = PAIRS.assign(**{column: [*PAIRS[column][:2], name]})
    with refused(column, name):
        encoded("vectors").score(pairs)


def test_search_unknown_query():
    with refused("query", "x"):
        encoded("vectors").search(["x"], 1)


def test_read_encoded_damaged(tmp_path):
    path = tmp_path / "x.npz"
    write_encoded(encoded("vectors"), path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DataError) as error:
        read_encoded(path)
    assert error.value.path == path
    np.savez(path, kind="vectors")
    with pytest.raises(DataError) as error:
        read_encoded(path)
    assert error.value.path == path


@pytest.mark.parametrize("kind", ["likelihoods", "term_weights", "vectors"])
def test_search_best_of_all(kind):
    collection = encoded(kind)
    pairs = pd.DataFrame({"query": ["r"] * 3 + ["q"] * 3, "document": list("abc") * 2})
    expected = trec_order(collection.score(pairs))
    result = collection.search(["r", "q"], 9)
    pd.testing.assert_frame_equal(result, expected, check_dtype=False)
    first = expected.groupby("query", sort=False).head(1)["document"].tolist()
    assert collection.search(["r", "q"], 1)["document"].tolist() == first


def test_search_ties():
    ones = np.ones((4, 1))
    result = Encoded("vectors", ones, ones[:1], ["d9", "d10", "e", "D"], ["q"]).search(["q"], 3)
    assert result["document"].tolist() == ["e", "d9", "d10"]


def test_search_no_queries():
    result = encoded("vectors").search([], 3)
    assert result.empty and list(result) == ["query", "document", "score"]


@pytest.mark.fault("bomb")
def test_read_encoded_bomb(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", kind="vectors", documents=np.zeros((10_000, 1_000)))
    with pytest.raises(DataError) as error:
        read_encoded(tmp_path / "x.npz")
    assert "unpacks to" in error.value.fault


def array_file(dtype, shape, content=b""):
    """A file of one array whose header declares a type and a shape."""
    file = BytesIO()
    header = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue() + content


def replace_array(path, kind, name, array):
    """Write a valid archive, in which one file has other bytes."""
    write_encoded(encoded(kind), path)
    with zipfile.ZipFile(path) as archive:
        files = {file: archive.read(file) for file in archive.namelist()}
    if not isinstance(array, bytes):
        np.save(file := BytesIO(), array, allow_pickle=True)
        array = file.getvalue()
    with zipfile.ZipFile(path, "w") as archive:
        for file, content in (files | {f"{name}.npy": array}).items():
            archive.writestr(file, content)


@pytest.mark.fault("bomb")
@pytest.mark.parametrize("name", ["kind", "documents", "document_ids", "query_ids", "proposed"])
@pytest.mark.parametrize(
    ("dtype", "shape"),
    [
        ("<f8", (10**12,)),
        ("<f8", (10**9, 10**9)),
        ("<U0", (10**15,)),
        ("<U1", (10**12,)),
        ("|V0", (10**15,)),
        ("<i4", (-1, -1)),
        ("<f8", (-(10**12),)),
        ("|O", (3,)),
        ([("x", "<f8", (10**9,))], (3,)),
        ("<M8[s]", (3,)),
    ],
)
def test_read_encoded_declared_shape(tmp_path, name, dtype, shape):
    replace_array(tmp_path / "x.npz", "likelihoods", name, array_file(dtype, shape))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with refused(path="x.npz", fault=ANY, fix=ANY):
        read_encoded(tmp_path / "x.npz")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


@pytest.mark.parametrize(
    "header", [b"{'descr': (", b"{", b"\x00", b"[" * 5_000, b"\n  1\n 2", b"9" * 99]
)
def test_read_encoded_damaged_header(tmp_path, header):
    for version in (b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x09\x00"):
        length = len(header).to_bytes(2 if version == b"\x01\x00" else 4, "little")
        content = b"\x93NUMPY" + version + length + header
        replace_array(tmp_path / "x.npz", "likelihoods", "documents", content)
        with refused(path="x.npz", fault=ANY, fix=ANY):
            read_encoded(tmp_path / "x.npz")


@pytest.mark.parametrize(
    ("kind", "name", "array"),
    [
        # The matrix of the queries has three values in two rows of four columns.
        ("term_weights", "queries_indices", [0, 2, 4]),
        ("term_weights", "queries_indices", [0, -1, 2]),
        ("term_weights", "queries_indices", [0, 2]),
        ("term_weights", "queries_indices", [0.0, 2.0, 2.0]),
        ("term_weights", "queries_indices", [0, 2**62, 2]),
        ("term_weights", "queries_indptr", [0, 3, 2]),
        ("term_weights", "queries_indptr", [0, 5, 3]),
        ("term_weights", "queries_indptr", [0, -1, 3]),
        ("term_weights", "queries_indptr", [1, 2, 3]),
        ("term_weights", "queries_indptr", [0, 2, 9]),
        ("term_weights", "queries_indptr", [0, 3]),
        ("term_weights", "queries_shape", [2, 10**12]),
        ("term_weights", "queries_shape", [2, 5]),
        ("term_weights", "queries_shape", [3, 4]),
        ("term_weights", "queries_shape", [-2, 4]),
        ("term_weights", "queries_shape", [8]),
        ("term_weights", "queries_shape", [2, 2, 2]),
        ("term_weights", "queries_shape", [2.0, 4.0]),
        ("term_weights", "queries_data", [1j, 2, 1]),
        ("term_weights", "queries_data", ["1", "2", "1"]),
        ("term_weights", "queries_data", np.ones(3, np.longdouble)),
        ("vectors", "documents", np.ones((2, 4))),
        ("vectors", "documents", np.ones((3, 5))),
        ("vectors", "documents", np.ones(12)),
        ("vectors", "queries", np.ones((2, 4, 1))),
        ("vectors", "document_ids", ["a", "b"]),
        ("vectors", "query_ids", [1, 2]),
        ("vectors", "kind", "likelihoods"),
        ("vectors", "kind", "term_weights"),
        ("term_weights", "kind", "vectors"),
        ("likelihoods", "proposed", [[0], [1]]),
        ("likelihoods", "proposed", [[0], [1], [-1]]),
        ("likelihoods", "proposed", [[0.0], [1.0], [2.0]]),
    ],
)  # fmt: skip
def test_read_encoded_inconsistent(tmp_path, kind, name, array):
    is_number = not isinstance(array, np.ndarray) and np.array(array).dtype == np.int64
    array = np.array(array, np.int32) if name == "proposed" and is_number else np.array(array)
    replace_array(tmp_path / "x.npz", kind, name, array)
    with refused(path="x.npz", fault=ANY, fix=ANY):
        read_encoded(tmp_path / "x.npz")


@pytest.mark.parametrize("kind", ["likelihoods", "term_weights", "vectors"])
def test_read_encoded_other_byte_order(tmp_path, kind):
    name = "documents_data" if kind == "term_weights" else "documents"
    expected = encoded(kind).score(PAIRS)
    documents = encoded(kind).documents
    values = documents.data if kind == "term_weights" else documents
    replace_array(tmp_path / "x.npz", kind, name, values.astype(">f8"))
    pd.testing.assert_frame_equal(read_encoded(tmp_path / "x.npz").score(PAIRS), expected)


@pytest.mark.parametrize("kind", ["likelihoods", "term_weights", "vectors"])
def test_read_encoded_no_documents(tmp_path, kind):
    """A collection may be empty, and an id may have no letter."""
    full = encoded(kind)
    empty = replace(full, documents=full.documents[:0], document_ids=[], query_ids=["", "q"])
    write_encoded(empty, tmp_path / "x.npz")
    again = read_encoded(tmp_path / "x.npz")
    assert again.documents.shape == (0, 4)
    assert (again.document_ids, again.query_ids) == ([], ["", "q"])
