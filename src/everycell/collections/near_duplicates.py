"""All pairs of texts that share most of their word shingles, with exact Jaccard similarity.

MinHash would give an estimate that depends on a seed. The exact join is as fast here, since two
similar sets must share one of their rare elements (prefix filtering; Chaudhuri, Ganti and Kaushik,
ICDE 2006, section 4.1): only pairs that do are compared.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import sparse


def shingles(texts: Sequence[str], length: int = 3) -> sparse.csr_array:
    """Sets of word shingles as rows of a matrix of zeros and ones."""
    if length < 1:
        raise ValueError(f"length is {length}: a shingle has 1 word or more.")
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
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold is {threshold}: give a number above 0 and up to 1.")
    sizes = np.diff(sets.indptr)
    rare = _rarest(sets, sizes, threshold)
    shared = sparse.triu(rare @ rare.T, k=1).tocoo()
    left, right = shared.row.astype(np.int64), shared.col.astype(np.int64)
    # No product with the threshold, which rounding may lift above the size: 0.55 * 100.
    ends = sizes[left], sizes[right]
    alike = np.minimum(*ends) / np.maximum(*ends) >= threshold
    left, right = left[alike], right[alike]
    both = _intersections(sets, left, right)
    # |A and B| >= t |A or B| with the division on one side only, so that equality to t counts.
    jaccard = both / (sizes[left] + sizes[right] - both)
    pairs = pd.DataFrame({"left": left, "right": right, "jaccard": jaccard})
    pairs = pairs[pairs["jaccard"] >= threshold]
    return pairs.sort_values(["left", "right"], ignore_index=True)


def _rarest(sets: sparse.csr_array, sizes: np.ndarray, threshold: float) -> sparse.csr_array:
    """Cut rows to their rarest elements, of which similar rows must share at least one.

    Jaccard >= t means |A and B| >= t |A|, so B lacks at most |A| - ceil(t |A|) elements of A; among
    one element more, in the same order for all rows, one must be shared.
    """
    order = np.argsort(np.argsort(sets.sum(axis=0), kind="stable"), kind="stable")
    rows = np.repeat(np.arange(sets.shape[0]), sizes)
    ranks = order[sets.indices]
    by_row = np.lexsort((ranks, rows))
    position = np.arange(len(rows)) - np.repeat(sets.indptr[:-1], sizes)
    # Rounded first: 0.8 * 5 must be exactly 4.
    is_rare = position < (sizes - np.ceil(np.round(threshold * sizes, 9)) + 1)[rows]
    rows, ranks = rows[is_rare], ranks[by_row][is_rare]
    ones = np.ones(len(rows), dtype=np.int32)
    return sparse.csr_array((ones, (rows, ranks)), shape=sets.shape)


def _intersections(
    sets: sparse.csr_array, left: np.ndarray, right: np.ndarray, chunk: int = 20_000
) -> np.ndarray:
    """Count the common elements of each pair of rows, in chunks that bound the memory."""
    counts = [
        sets[left[start : start + chunk]].multiply(sets[right[start : start + chunk]]).sum(axis=1)
        for start in range(0, len(left), chunk)
    ]
    return np.concatenate(counts) if counts else np.zeros(0, dtype=np.int64)


def groups(pairs: pd.DataFrame, size: int) -> np.ndarray:
    """Number the connected components of the pairs."""
    ones = np.ones(len(pairs), dtype=np.int8)
    graph = sparse.coo_array((ones, (pairs["left"], pairs["right"])), shape=(size, size))
    _, labels = sparse.csgraph.connected_components(graph, directed=False)
    _, first = np.unique(labels, return_index=True)
    return first[labels]
