"""Loops that numba compiles at their first use and caches on disk.

Importing this module imports numba, which takes a second, so callers import it only when needed.
"""

from __future__ import annotations

import numba
import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic

#: LightGBM treats values this close to 0 as missing, if a split says that 0 is missing.
ZERO = 1e-35


@intrinsic
def _lowest_bit(_context, _word):
    """Position of the lowest set bit of a word."""

    def code(_context, builder, _signature, arguments):
        return builder.cttz(arguments[0], cgutils.false_bit)

    return types.uint64(types.uint64), code


@numba.njit(cache=True)
def add_leaves(documents, samples, holds, features, roots, lefts, rights, leaves, found):
    """Add the leaves that each coalition reaches to ``found``, shape (b, n, c).

    ``documents`` and ``samples`` tell for each node whether a vector goes to the left, shape (m,
    nodes); ``holds`` has the coalitions that contain a feature as bits, shape (f + 1, words), and
    all coalitions in its last row. Where document and sample go the same way, so do all coalitions.
    A stack holds the nodes at which they split. The first leaf of a tree is added to all coalitions
    at once (`common`), and for those that reach another leaf, the difference is added.
    """
    words = holds.shape[1]
    stack = np.empty(len(lefts) + 2, dtype=np.int64)
    bits = np.empty((len(lefts) + 2, words), dtype=np.uint64)
    for b in range(len(samples)):
        for d in range(len(documents)):
            kept, other = documents[d], samples[b]
            scores = found[b, d]
            scores[:] = 0
            common = 0
            for root in roots:
                node = root
                while node >= 0 and kept[node] == other[node]:
                    node = lefts[node] if kept[node] else rights[node]
                if node < 0:
                    common += leaves[~node]
                    continue
                stack[0] = node
                bits[0] = holds[-1]
                top = 0
                base = 0
                first = True
                while top >= 0:
                    node = stack[top]
                    while node >= 0 and kept[node] == other[node]:
                        node = lefts[node] if kept[node] else rights[node]
                    if node >= 0:
                        # Coalitions with the feature go the document's way, the others the
                        # sample's.
                        with_it = holds[features[node]]
                        lacking, holding = np.uint64(0), np.uint64(0)
                        for word in range(words):
                            here = bits[top, word]
                            bits[top, word] = here & ~with_it[word]
                            bits[top + 1, word] = here & with_it[word]
                            lacking |= bits[top, word]
                            holding |= bits[top + 1, word]
                        if not lacking:
                            bits[top] = bits[top + 1]
                            stack[top] = lefts[node] if kept[node] else rights[node]
                            continue
                        stack[top] = lefts[node] if other[node] else rights[node]
                        if holding:
                            top += 1
                            stack[top] = lefts[node] if kept[node] else rights[node]
                        continue
                    value = leaves[~node]
                    if first:
                        base = value
                        common += value
                        first = False
                    else:
                        for word in range(words):
                            here = bits[top, word]
                            while here:
                                scores[word * 64 + _lowest_bit(here)] += value - base
                                here &= here - np.uint64(1)
                    top -= 1
            scores += common


@numba.njit(cache=True)
def add_own_leaves(vectors, features, thresholds, zero_goes, roots, lefts, rights, leaves, found):
    """Add the leaves that each vector reaches to ``found``, shape (m,)."""
    for row in range(len(vectors)):
        vector = vectors[row]
        total = 0
        for root in roots:
            node = root
            while node >= 0:
                value = vector[features[node]]
                if zero_goes[node] >= 0 and abs(value) <= ZERO:
                    left = zero_goes[node] == 1
                else:
                    left = value <= thresholds[node]
                node = lefts[node] if left else rights[node]
            total += leaves[~node]
        found[row] = total
