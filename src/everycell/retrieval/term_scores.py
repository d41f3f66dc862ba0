"""Scores of query-document pairs from flat arrays, without a dictionary per document.

=============================  =========================  ========================================
function                       systems                    score of a pair
=============================  =========================  ========================================
:func:`likelihood_scores`      TILDE                      sum over query terms of count x log P
:func:`term_weight_scores`     TILDEv2, SPLADE            sum over shared terms of count x weight
:func:`vector_scores`          dense encoders             dot product
=============================  =========================  ========================================

All three sum in float64 and in one thread, separately for each pair and in the order of the stored
terms. So a score depends only on its pair. The first two are loops that numba compiles at first
use, in about a second, and caches on disk (next to this file, or in ``NUMBA_CACHE_DIR``).
`bench/term_scoring.py` measures their speed.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
from scipy import sparse

from everycell.base.arrays import FloatArray, IntArray
from everycell.base.compiling import compiled


def likelihood_scores(
    log_probabilities: FloatArray,
    queries: sparse.csr_array | sparse.csr_matrix,
    query_rows: npt.ArrayLike,
    document_rows: npt.ArrayLike,
) -> FloatArray:
    """Log-likelihood of queries given documents (TILDE)."""
    values, decoded = log_probabilities, None
    if values.dtype == np.float16:
        # numba does not support float16, so its 65,536 values are looked up by their bits.
        values, decoded = values.view(np.uint16), _float16_values()
    _check_columns(values.shape[1], queries.shape[1])
    pairs = _check_pairs(query_rows, document_rows, (queries.shape[0], values.shape[0]))
    order, starts = _sort_by_query(pairs[0])
    sums = np.zeros(len(order))
    compiled(_add_likelihoods)(
        sums, values, decoded, *_csr_arrays(queries), pairs[0][order], pairs[1][order], starts
    )
    return _check_finite(_restore_order(sums, order), *pairs)


def term_weight_scores(
    documents: sparse.csr_array | sparse.csr_matrix,
    queries: sparse.csr_array | sparse.csr_matrix,
    query_rows: npt.ArrayLike,
    document_rows: npt.ArrayLike,
) -> FloatArray:
    """Sum of the weights of the terms that a query and a document share (TILDEv2, SPLADE)."""
    documents = documents.tocsr()
    _check_columns(documents.shape[1], queries.shape[1])
    pairs = _check_pairs(query_rows, document_rows, (queries.shape[0], documents.shape[0]))
    order, starts = _sort_by_query(pairs[0])
    sums = np.zeros(len(order))
    compiled(_add_weights)(
        sums,
        *(documents.indptr, documents.indices, documents.data),
        *_csr_arrays(queries),
        pairs[0][order],
        pairs[1][order],
        starts,
        np.zeros(queries.shape[1]),
    )
    return _check_finite(_restore_order(sums, order), *pairs)


def vector_scores(
    documents: FloatArray,
    queries: FloatArray,
    query_rows: npt.ArrayLike,
    document_rows: npt.ArrayLike,
    *,
    block_size: int = 1024,
) -> FloatArray:
    """Dot products of dense vectors: cosines if the vectors have length 1."""
    if block_size < 1:
        raise ValueError(f"block_size is {block_size}: it must be 1 or more.")
    _check_columns(documents.shape[1], queries.shape[1])
    pairs = _check_pairs(query_rows, document_rows, (queries.shape[0], documents.shape[0]))
    scores = np.zeros(len(pairs[0]))
    for start in range(0, len(scores), block_size):
        block = slice(start, start + block_size)
        left, right = queries[pairs[0][block]], documents[pairs[1][block]]
        scores[block] = np.vecdot(left.astype(np.float64), right.astype(np.float64))
    return _check_finite(scores, *pairs)


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


def _check_columns(documents: int, queries: int) -> None:
    if documents != queries:
        raise ValueError(
            f"The documents have {documents} columns and the queries {queries}: both must have "
            "the same vocabulary or dimensions."
        )


def _check_pairs(
    query_rows: npt.ArrayLike, document_rows: npt.ArrayLike, shape: tuple[int, int]
) -> tuple[IntArray, IntArray]:
    """Check row numbers against (queries, documents), and return arrays of the same length."""
    arrays = [np.asarray(rows) for rows in (query_rows, document_rows)]
    sizes = [rows.shape for rows in arrays]
    if max(map(len, sizes)) > 1 or (sizes[0] != sizes[1] and () not in sizes):
        raise ValueError(
            f"The rows of the queries have the shape {sizes[0]} and those of the documents "
            f"{sizes[1]}: give two lists of the same length, or one number and a list."
        )
    for name, rows, size in zip(("query", "document"), arrays, shape, strict=True):
        # numpy converts an empty list to float64.
        if rows.size and not np.issubdtype(rows.dtype, np.integer):
            raise ValueError(f"The {name} rows are of type {rows.dtype}: give whole numbers.")
        outside = rows[(rows < 0) | (rows >= size)]
        if outside.size:
            raise ValueError(
                f"The {name} row {outside.flat[0]} does not exist: rows go from 0 to {size - 1}."
            )
    queries, documents = np.broadcast_arrays(*(np.atleast_1d(rows) for rows in arrays))
    return queries.astype(np.int64), documents.astype(np.int64)


def _sort_by_query(query_rows: IntArray) -> tuple[IntArray, IntArray]:
    """Order that sorts the pairs by query, and the start of each query, followed by the end."""
    order = np.argsort(query_rows, kind="stable")
    _, starts = np.unique(query_rows[order], return_index=True)
    return order, np.append(starts, len(order))


def _restore_order(values: FloatArray, order: IntArray) -> FloatArray:
    scores = np.empty_like(values)
    scores[order] = values
    return scores


def _check_finite(scores: FloatArray, query_rows: IntArray, document_rows: IntArray) -> FloatArray:
    is_invalid = ~np.isfinite(scores)
    if is_invalid.any():
        row = int(np.argmax(is_invalid))
        raise ValueError(
            f"The score of query row {query_rows[row]} and document row {document_rows[row]} "
            f"is {scores[row]}: check that the values of both are finite."
        )
    return scores
