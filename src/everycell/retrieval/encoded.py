"""Documents and queries encoded as arrays, and scores of query-document pairs.

============  ===================================  =============================================
kind          documents; queries                   score of a pair
============  ===================================  =============================================
likelihoods   log P of terms, dense; term counts,  sum over query terms of count x log P
              CSR (TILDE)
term_weights  term weights, CSR; counts (TILDEv2)  sum over shared terms of count x weight
              or weights (SPLADE)
vectors       dense vectors                        dot product
============  ===================================  =============================================

All sums are in float64 and in one thread, separately for each pair and in the order of the stored
terms. So a score depends only on its pair. The first two kinds are loops that numba compiles at
first use, in about a second, and caches on disk (next to this file, or in ``NUMBA_CACHE_DIR``).
`bench/term_scoring.py` measures their speed.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from everycell.base.arrays import FloatArray, IntArray, compiled
from everycell.base.errors import DataError
from everycell.base.text_files import check_regular
from everycell.base.untrusted import max_unpacked_size
from everycell.trec.runs import id_order

# Number of pairs whose vectors are in memory at a time.
_BLOCK = 1024


def likelihood_scores(
    log_probabilities: FloatArray,
    queries: sparse.csr_array | sparse.csr_matrix,
    query_rows: IntArray,
    document_rows: IntArray,
) -> FloatArray:
    """Log-likelihood of queries given documents (TILDE)."""
    values, decoded = log_probabilities, None
    if values.dtype == np.float16:
        # numba does not support float16, so its 65,536 values are looked up by their bits.
        values, decoded = values.view(np.uint16), _float16_values()
    order, starts = _sort_by_query(query_rows)
    sums = np.zeros(len(order))
    compiled(_add_likelihoods)(
        sums,
        values,
        decoded,
        *_csr_arrays(queries),
        query_rows[order],
        document_rows[order],
        starts,
    )
    return _restore_order(sums, order)


def term_weight_scores(
    documents: sparse.csr_array | sparse.csr_matrix,
    queries: sparse.csr_array | sparse.csr_matrix,
    query_rows: IntArray,
    document_rows: IntArray,
) -> FloatArray:
    """Sum of the weights of the terms that a query and a document share (TILDEv2, SPLADE)."""
    documents = documents.tocsr()
    order, starts = _sort_by_query(query_rows)
    sums = np.zeros(len(order))
    compiled(_add_weights)(
        sums,
        *(documents.indptr, documents.indices, documents.data),
        *_csr_arrays(queries),
        query_rows[order],
        document_rows[order],
        starts,
        np.zeros(queries.shape[1]),
    )
    return _restore_order(sums, order)


def vector_scores(
    documents: FloatArray,
    queries: FloatArray,
    query_rows: IntArray,
    document_rows: IntArray,
) -> FloatArray:
    """Dot products of dense vectors: cosines if the vectors have length 1."""
    scores = np.zeros(len(query_rows))
    for start in range(0, len(scores), _BLOCK):
        block = slice(start, start + _BLOCK)
        left, right = queries[query_rows[block]], documents[document_rows[block]]
        scores[block] = np.vecdot(left.astype(np.float64), right.astype(np.float64))
    return scores


def _add_likelihoods(
    scores, values, decoded, pointers, columns, counts, query_rows, document_rows, starts
):
    """Add count x value to the scores, term by term; pairs are sorted by query."""
    for group in range(len(starts) - 1):
        query = query_rows[starts[group]]
        for term in range(pointers[query], pointers[query + 1]):
            count, column = counts[term], columns[term]
            for pair in range(starts[group], starts[group + 1]):
                value = values[document_rows[pair], column]
                if decoded is not None:
                    value = decoded[value]
                scores[pair] += count * value


def _add_weights(
    scores,
    document_pointers,
    document_columns,
    weights,
    pointers,
    columns,
    counts,
    query_rows,
    document_rows,
    starts,
    spread,
):
    """Add count x weight to the scores, pair by pair; `spread` holds one query's counts."""
    for group in range(len(starts) - 1):
        query = query_rows[starts[group]]
        for term in range(pointers[query], pointers[query + 1]):
            spread[columns[term]] += counts[term]
        for pair in range(starts[group], starts[group + 1]):
            document = document_rows[pair]
            total = 0.0
            for position in range(document_pointers[document], document_pointers[document + 1]):
                total += spread[document_columns[position]] * weights[position]
            scores[pair] = total
        for term in range(pointers[query], pointers[query + 1]):
            spread[columns[term]] = 0.0


@cache
def _float16_values() -> FloatArray:
    return np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float64)


def _csr_arrays(
    queries: sparse.csr_array | sparse.csr_matrix,
) -> tuple[IntArray, IntArray, FloatArray]:
    """Arrays of a CSR matrix with fixed types, so that the loops are compiled only once."""
    rows = queries.tocsr()
    return (
        rows.indptr.astype(np.int64),
        rows.indices.astype(np.int64),
        rows.data.astype(np.float64),
    )


def _sort_by_query(query_rows: IntArray) -> tuple[IntArray, IntArray]:
    """Order that sorts the pairs by query, and the start of each query, followed by the end."""
    order = np.argsort(query_rows, kind="stable")
    _, starts = np.unique(query_rows[order], return_index=True)
    return order, np.append(starts, len(order))


def _restore_order(values: FloatArray, order: IntArray) -> FloatArray:
    scores = np.empty_like(values)
    scores[order] = values
    return scores


Kind = Literal["likelihoods", "term_weights", "vectors"]
Matrix = FloatArray | sparse.csr_array
_SCORE_FUNCTIONS = {
    "likelihoods": likelihood_scores,
    "term_weights": term_weight_scores,
    "vectors": vector_scores,
}


@dataclass(frozen=True)
class Encoded:
    """Documents and queries of a collection as encoded by one ranker.

    Rows of `documents` and `queries` are in the order of their ids, which have no duplicates. The
    rows of `proposed` (TILDE only) are the most likely vocabulary entries of each document, best
    first.
    """

    kind: Kind
    documents: Matrix
    queries: Matrix
    document_ids: Sequence[str]
    query_ids: Sequence[str]
    proposed: npt.NDArray[np.int32] | None = None

    def score(self, pairs: pd.DataFrame) -> pd.DataFrame:
        """Score query-document pairs."""
        rows = [
            _find_rows(pairs[column], ids, column)
            for column, ids in (("query", self.query_ids), ("document", self.document_ids))
        ]
        scores = _SCORE_FUNCTIONS[self.kind](self.documents, self.queries, *rows)
        return pairs[["query", "document"]].reset_index(drop=True).assign(score=scores)

    def search(self, queries: Sequence[str], k: int) -> pd.DataFrame:
        """Find the k best of all encoded documents for each query."""
        rows = _find_rows(pd.Series(list(queries), dtype="str"), self.query_ids, "query")
        ties, names = id_order(pd.Series(self.document_ids)), np.array(self.document_ids, object)
        # In float64, like the scores of pairs.
        documents, vectors = (part.astype(np.float64) for part in (self.documents, self.queries))
        parts = []
        for query, row in zip(queries, rows, strict=True):
            scores = documents @ vectors[[row]].T
            scores = np.ravel(scores.toarray() if sparse.issparse(scores) else scores)
            # Ties are decided in float32, as in trec_eval.
            order = np.lexsort((ties, -scores.astype(np.float32)))[:k]
            parts.append(
                pd.DataFrame({"query": query, "document": names[order], "score": scores[order]})
            )
        empty = pd.DataFrame({"query": [], "document": [], "score": np.empty(0)})
        return pd.concat(parts or [empty], ignore_index=True)


def _find_rows(names: pd.Series, ids: Sequence[str], kind: str) -> IntArray:
    index = pd.Index(ids)
    rows = index.get_indexer(names)
    if (rows < 0).any():
        raise DataError(
            column=kind,
            value=names.iloc[int(np.argmin(rows))],
            fault="which was not encoded",
            fix="encode the collection that contains it",
        )
    return rows


def write_encoded(encoded: Encoded, path: Path) -> None:
    """Write to a NumPy archive, with the same bytes for the same content."""
    arrays = {
        "kind": np.array(encoded.kind),
        "document_ids": np.array(list(encoded.document_ids), dtype=np.str_),
        "query_ids": np.array(list(encoded.query_ids), dtype=np.str_),
    }
    for part in ("documents", "queries"):
        matrix = getattr(encoded, part)
        if sparse.issparse(matrix):
            arrays |= {
                f"{part}_{name}": getattr(matrix, name) for name in ("data", "indices", "indptr")
            }
            arrays[f"{part}_shape"] = np.array(matrix.shape)
        else:
            arrays[part] = matrix
    if encoded.proposed is not None:
        arrays["proposed"] = encoded.proposed
    with path.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


#: Whether documents and queries of a kind are sparse.
_SPARSE = {
    "likelihoods": (False, True),
    "term_weights": (True, True),
    "vectors": (False, False),
}


def read_encoded(path: Path) -> Encoded:
    """Read an archive written by `write_encoded`."""
    try:
        check_regular(path)
        limit = max_unpacked_size(path)
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > limit:
            raise ValueError(f"it unpacks to {size} bytes, more than any encoded collection needs")
        with np.load(path, allow_pickle=False) as arrays:
            kind = cast(Kind, str(_array(arrays, "kind", str, 0)))
            if kind not in get_args(Kind):
                raise ValueError(f"the kind is {kind!r}")
            documents, queries = (
                _matrix(arrays, part, is_sparse)
                for part, is_sparse in zip(("documents", "queries"), _SPARSE[kind], strict=True)
            )
            document_ids, query_ids = (
                _array(arrays, name, str, 1).tolist() for name in ("document_ids", "query_ids")
            )
            proposed = _array(arrays, "proposed", np.int32, 2) if "proposed" in arrays else None
        columns = documents.shape[1]
        # Scoring makes a row of all columns.
        if columns > limit or any(
            part.shape != (len(ids), columns)
            for part, ids in ((documents, document_ids), (queries, query_ids))
        ):
            raise ValueError(f"its arrays have the shapes {documents.shape} and {queries.shape}")
        if proposed is not None and (len(proposed) != len(document_ids) or (proposed < 0).any()):
            raise ValueError("its proposed terms are not entries of a vocabulary per document")
    # numpy, scipy and zipfile raise errors without a common base for a damaged file.
    except Exception as error:
        raise DataError(
            path,
            fault=f"is not an encoded collection ({str(error)[:200]})",
            fix="delete it and encode the collection again",
        ) from None
    return Encoded(kind, documents, queries, document_ids, query_ids, proposed)


def _matrix(arrays: np.lib.npyio.NpzFile, part: str, is_sparse: bool) -> Matrix:
    if not is_sparse:
        return _array(arrays, part, np.float64, 2)
    data = _array(arrays, f"{part}_data", np.float64, 1)
    indices, pointers, shape = (
        _array(arrays, f"{part}_{name}", np.int64, 1) for name in ("indices", "indptr", "shape")
    )
    matrix = sparse.csr_array((data, indices, pointers), shape=tuple(shape.tolist()))
    matrix.check_format(full_check=True)
    return matrix


def _array(arrays: np.lib.npyio.NpzFile, name: str, kind: type, dimensions: int) -> Any:
    """An array of texts, or of numbers that a type can represent, in this machine's byte order."""
    array = arrays[name]
    # Texts without a letter take no bytes, however many there are.
    is_valid = (
        array.dtype.kind == "U" and array.itemsize
        if kind is str
        else np.can_cast(array.dtype, kind)
    )
    if not is_valid or array.ndim != dimensions:
        raise ValueError(f"{name} has the type {array.dtype} and the shape {array.shape}")
    return array.astype(array.dtype.newbyteorder("="), copy=False)
