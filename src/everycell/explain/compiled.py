"""Loops that numba compiles at their first use and caches on disk.

Importing this module imports numba, which takes a second, so callers import it only when needed.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from everycell.engine.compiling import compiled

#: LightGBM treats values this close to 0 as missing, if a split says that 0 is missing.
ZERO = 1e-35

#: Number of coalitions in a word.
_BITS = 64
#: Up to this many set bits, single additions are faster than one for the whole word.
_FEW = 6
#: Number of rankings that are processed together.
_RANKINGS = 64


@intrinsic
def _lowest_bit(_context, _word):
    """Position of the lowest set bit of a word."""

    def code(_context, builder, _signature, arguments):
        return builder.cttz(arguments[0], cgutils.false_bit)

    return types.uint64(types.uint64), code


@intrinsic
def _number_of_bits(_context, _word):
    """Number of set bits of a word."""

    def code(_context, builder, _signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), code


@intrinsic
def _add_where(_context, numbers, word, value):
    """Add a value to those of 64 numbers whose bit in a word is set, all in a few instructions."""
    numbers_of_word = ir.VectorType(ir.IntType(64), _BITS)

    def code(context, builder, signature, arguments):
        array = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0])
        pointer = builder.bitcast(array.data, numbers_of_word.as_pointer())
        mask = builder.bitcast(arguments[1], ir.VectorType(ir.IntType(1), _BITS))
        nothing = ir.Constant(numbers_of_word, None)
        first = builder.insert_element(nothing, arguments[2], ir.IntType(32)(0))
        everywhere = builder.shuffle_vector(
            first, nothing, ir.Constant(ir.VectorType(ir.IntType(32), _BITS), [0] * _BITS)
        )
        added = builder.select(mask, everywhere, nothing)
        sums = builder.add(builder.load(pointer, align=8), added)
        builder.store(sums, pointer, align=8)
        return context.get_dummy_value()

    return types.void(numbers, types.uint64, types.int64), code


@compiled
def add_leaves(
    documents, samples, holds, order, features, roots, lefts, rights, leaves, unit, outputs
):
    """Put the sum of the leaves that each coalition reaches into ``outputs``, shape (b, c, n).

    ``documents`` and ``samples`` tell for each node whether a vector goes to the left, shape (m,
    nodes); ``holds`` has the coalitions that contain a feature as bits, shape (f + 1, words), and
    all coalitions in its last row; ``order``, shape (c,), has their rows in ``outputs``. Where
    document and sample go the same way, so do all coalitions. A stack holds the nodes at which they
    split. The first leaf of a tree is added to all coalitions at once (`common`), and for those
    that reach another leaf, the difference is added.
    """
    words = holds.shape[1]
    scores = np.empty((words, _BITS), dtype=np.int64)
    stack = np.empty(len(lefts) + 2, dtype=np.int64)
    bits = np.empty((len(lefts) + 2, words), dtype=np.uint64)
    for b in range(len(samples)):
        for d in range(len(documents)):
            document, other = documents[d], samples[b]
            scores[:] = 0
            common = 0
            for root in roots:
                node = root
                while node >= 0 and document[node] == other[node]:
                    node = lefts[node] if document[node] else rights[node]
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
                    while node >= 0 and document[node] == other[node]:
                        node = lefts[node] if document[node] else rights[node]
                    if node >= 0:
                        # Coalitions with the feature go the document's way, the others the
                        # sample's.
                        with_it = holds[features[node]]
                        lacking, holding = np.uint64(0), np.uint64(0)
                        for word in range(words):
                            bits_here = bits[top, word]
                            bits[top, word] = bits_here & ~with_it[word]
                            bits[top + 1, word] = bits_here & with_it[word]
                            lacking |= bits[top, word]
                            holding |= bits[top + 1, word]
                        if not lacking:
                            bits[top] = bits[top + 1]
                            stack[top] = lefts[node] if document[node] else rights[node]
                            continue
                        stack[top] = lefts[node] if other[node] else rights[node]
                        if holding:
                            top += 1
                            stack[top] = lefts[node] if document[node] else rights[node]
                        continue
                    value = leaves[~node]
                    if first:
                        base = value
                        common += value
                        first = False
                    else:
                        for word in range(words):
                            bits_here = bits[top, word]
                            if _number_of_bits(bits_here) > _FEW:
                                _add_where(scores[word], bits_here, value - base)
                                continue
                            while bits_here:
                                scores[word, _lowest_bit(bits_here)] += value - base
                                bits_here &= bits_here - np.uint64(1)
                    top -= 1
            sums = scores.ravel()
            for position in range(len(order)):
                outputs[b, order[position], d] = (sums[position] + common) * unit


@compiled
def add_own_leaves(vectors, features, thresholds, zero_goes, roots, lefts, rights, leaves, sums):
    """Add the leaves that each vector reaches to ``sums``, shape (m,)."""
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
        sums[row] = total


@compiled
def add_ranks(scores, reference, sums):
    """Add to ``sums``, shape (c, n), the ranks that documents have with other scores.

    ``scores``, shape (b, c, n), are those that each of n documents has instead of its own in
    ``reference``, shape (n,), while the others keep theirs. Among equal scores the document that
    comes first is higher.
    """
    samples, coalitions, documents = scores.shape
    for b in range(samples):
        for c in range(coalitions):
            for position in range(documents):
                score = scores[b, c, position]
                rank = 1
                for before in range(position):
                    rank += reference[before] >= score
                for after in range(position + 1, documents):
                    rank += reference[after] > score
                sums[c, position] += rank


@compiled
def put_ranks(scores, last_is_first, outputs):
    """Put the ranks of the documents of each ranking into ``outputs``; both have the shape (m, n).

    Among equal scores the document that comes first is higher, or the one that comes last. No
    score is NaN. For up to some 200 documents, counting is faster than sorting: a processor
    compares several rankings with one instruction.
    """
    rankings, documents = scores.shape
    side_by_side = np.empty((documents, _RANKINGS))
    ranks = np.empty((documents, _RANKINGS), dtype=np.int64)
    for start in range(0, rankings, _RANKINGS):
        count = min(_RANKINGS, rankings - start)
        for row in range(count):
            for position in range(documents):
                side_by_side[position, row] = scores[start + row, position]
        ranks[:] = 1
        for position in range(1, documents):
            for before in range(position):
                for row in range(_RANKINGS):
                    one, other = side_by_side[before, row], side_by_side[position, row]
                    lower = one < other or (last_is_first and one == other)
                    ranks[before, row] += lower
                    ranks[position, row] += not lower
        for row in range(count):
            for position in range(documents):
                outputs[start + row, position] = ranks[position, row]
