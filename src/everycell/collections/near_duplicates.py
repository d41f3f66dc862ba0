"""Near-duplicate texts by the exact Jaccard similarity of their word shingles.

Unlike MinHash, the result does not depend on a seed. The exact join is as fast here because only
pairs of sets that share a rare element are compared (prefix filtering; Chaudhuri, Ganti and
Kaushik, ICDE 2006, section 4.1).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import sparse


def shingles(texts: Sequence[str], length: int = 3) -> sparse.csr_array:
    """Sets of word shingles as rows of a matrix of zeros and ones."""
    columns: dict[tuple[str, ...], int] = {}
    indices: list[int] = []
    starts = [0]
    for text in texts:
        words = text.lower().split()
        last = max(len(words) - length, 0) if words else -1
        row = {
            columns.setdefault(tuple(words[start : start + length]), len(columns))
            for start in range(last + 1)
        }
        indices.extend(sorted(row))
        starts.append(len(indices))
    ones = np.ones(len(indices), dtype=np.int32)
    return sparse.csr_array((ones, indices, starts), shape=(len(texts), len(columns)))


def similar_pairs(sets: sparse.csr_array, threshold: float) -> pd.DataFrame:
    """All pairs of rows whose Jaccard similarity reaches a threshold."""
    sizes = np.diff(sets.indptr)
    prefixes = _rarest_elements(sets, sizes, threshold)
    candidates = sparse.triu(prefixes @ prefixes.T, k=1).tocoo()
    left, right = candidates.row.astype(np.int64), candidates.col.astype(np.int64)
    # Divide the sizes, since rounding may lift a product such as 0.55 * 100 above the size.
    size_pairs = sizes[left], sizes[right]
    is_possible = np.minimum(*size_pairs) / np.maximum(*size_pairs) >= threshold
    left, right = left[is_possible], right[is_possible]
    shared = _intersection_sizes(sets, left, right)
    jaccard = shared / (sizes[left] + sizes[right] - shared)
    pairs = pd.DataFrame({"left": left, "right": right, "jaccard": jaccard})
    pairs = pairs[pairs["jaccard"] >= threshold]
    return pairs.sort_values(["left", "right"], ignore_index=True)


def _rarest_elements(
    sets: sparse.csr_array, sizes: np.ndarray, threshold: float
) -> sparse.csr_array:
    """Reduce rows to their rarest elements; similar rows must share at least one of them.

    Jaccard >= t implies |A and B| >= t |A|, so B lacks at most |A| - ceil(t |A|) elements of A. The
    first |A| - ceil(t |A|) + 1 elements, in an order common to all rows, therefore include a shared
    one.
    """
    order = np.argsort(np.argsort(sets.sum(axis=0), kind="stable"), kind="stable")
    rows = np.repeat(np.arange(sets.shape[0]), sizes)
    ranks = order[sets.indices]
    by_row = np.lexsort((ranks, rows))
    position = np.arange(len(rows)) - np.repeat(sets.indptr[:-1], sizes)
    # Rounded because 0.8 * 5 must be exactly 4.
    is_rare = position < (sizes - np.ceil(np.round(threshold * sizes, 9)) + 1)[rows]
    rows, ranks = rows[is_rare], ranks[by_row][is_rare]
    ones = np.ones(len(rows), dtype=np.int32)
    return sparse.csr_array((ones, (rows, ranks)), shape=sets.shape)


def _intersection_sizes(
    sets: sparse.csr_array, left: np.ndarray, right: np.ndarray, chunk: int = 20_000
) -> np.ndarray:
    """Count the common elements of each pair of rows, in chunks to limit memory."""
    counts = [
        sets[left[start : start + chunk]].multiply(sets[right[start : start + chunk]]).sum(axis=1)
        for start in range(0, len(left), chunk)
    ]
    return np.concatenate(counts) if counts else np.zeros(0, dtype=np.int64)


def group_numbers(pairs: pd.DataFrame, size: int) -> np.ndarray:
    """Number of each row's connected component: the index of the component's first row."""
    ones = np.ones(len(pairs), dtype=np.int8)
    graph = sparse.coo_array((ones, (pairs["left"], pairs["right"])), shape=(size, size))
    _, labels = sparse.csgraph.connected_components(graph, directed=False)
    _, first = np.unique(labels, return_index=True)
    return first[labels]
