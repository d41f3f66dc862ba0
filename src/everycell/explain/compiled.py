"""Compiled loops that score many masked lists: sums of a forest's leaves, and ranks of scores.

numba compiles them on first use and caches them on disk. Its import takes a second, so callers
import this module only when needed.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from everycell.base.arrays import compiled

#: LightGBM replaces values this close to 0 by 0.
ZERO = float(np.float32(1e-35))

#: Number of coalitions in a word.
_BITS = 64
#: Up to this number of set bits, individual additions are faster than one for all 64 numbers.
_MAX_SINGLE_BITS = 6
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
    """Add a value to each of 64 numbers whose bit in a word is set, in a few instructions."""
    numbers_of_word = ir.VectorType(ir.IntType(64), _BITS)

    def code(context, builder, signature, arguments):
        array = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0])
        pointer = builder.bitcast(array.data, numbers_of_word.as_pointer())
        mask = builder.bitcast(arguments[1], ir.VectorType(ir.IntType(1), _BITS))
        zeros = ir.Constant(numbers_of_word, None)
        first = builder.insert_element(zeros, arguments[2], ir.IntType(32)(0))
        repeated_value = builder.shuffle_vector(
            first, zeros, ir.Constant(ir.VectorType(ir.IntType(32), _BITS), [0] * _BITS)
        )
        summands = builder.select(mask, repeated_value, zeros)
        sums = builder.add(builder.load(pointer, align=8), summands)
        builder.store(sums, pointer, align=8)
        return context.get_dummy_value()

    return types.void(numbers, types.uint64, types.int64), code


@compiled
def add_leaves(
    documents, samples, coalition_bits, order, features, roots, lefts, rights, leaves, unit, outputs
):
    """Fill ``outputs``, shape (b, c, n), with the sum of the leaves that each coalition reaches.

    ``documents`` and ``samples``, shape (m, nodes), state whether a vector goes left at a node.
    Each row of ``coalition_bits``, shape (f + 1, words), marks the coalitions with a feature, and
    the last row all coalitions; ``order``, shape (c,), gives their rows in ``outputs``. If document
    and sample go the same way at a node, so do all coalitions; a stack stores the nodes at which
    they split. The first leaf reached in a tree is added to all coalitions (`common`); coalitions
    that reach a different leaf get the difference.
    """
    words = coalition_bits.shape[1]
    scores = np.empty((words, _BITS), dtype=np.int64)
    stack = np.empty(len(lefts) + 2, dtype=np.int64)
    bits = np.empty((len(lefts) + 2, words), dtype=np.uint64)
    for b in range(len(samples)):
        for d in range(len(documents)):
            document, sample = documents[d], samples[b]
            scores[:] = 0
            common = 0
            for root in roots:
                node = root
                while node >= 0 and document[node] == sample[node]:
                    node = lefts[node] if document[node] else rights[node]
                if node < 0:
                    common += leaves[~node]
                    continue
                stack[0] = node
                bits[0] = coalition_bits[-1]
                top = 0
                base = 0
                first = True
                while top >= 0:
                    node = stack[top]
                    while node >= 0 and document[node] == sample[node]:
                        node = lefts[node] if document[node] else rights[node]
                    if node >= 0:
                        # Coalitions with the feature follow the document, those without it the
                        # sample.
                        feature_bits = coalition_bits[features[node]]
                        without_feature, with_feature = np.uint64(0), np.uint64(0)
                        for word in range(words):
                            node_bits = bits[top, word]
                            bits[top, word] = node_bits & ~feature_bits[word]
                            bits[top + 1, word] = node_bits & feature_bits[word]
                            without_feature |= bits[top, word]
                            with_feature |= bits[top + 1, word]
                        if not without_feature:
                            bits[top] = bits[top + 1]
                            stack[top] = lefts[node] if document[node] else rights[node]
                            continue
                        stack[top] = lefts[node] if sample[node] else rights[node]
                        if with_feature:
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
                            leaf_bits = bits[top, word]
                            if _number_of_bits(leaf_bits) > _MAX_SINGLE_BITS:
                                _add_where(scores[word], leaf_bits, value - base)
                                continue
                            while leaf_bits:
                                scores[word, _lowest_bit(leaf_bits)] += value - base
                                leaf_bits &= leaf_bits - np.uint64(1)
                    top -= 1
            sums = scores.ravel()
            for position in range(len(order)):
                outputs[b, order[position], d] = (sums[position] + common) * unit


@compiled
def add_own_leaves(
    vectors, features, thresholds, zeros_left, missing_left, roots, lefts, rights, leaves, sums
):
    """Fill ``sums``, shape (m,), with the sum of the leaves that each vector reaches."""
    for row in range(len(vectors)):
        vector = vectors[row]
        total = 0
        for root in roots:
            node = root
            while node >= 0:
                value = vector[features[node]]
                if np.isnan(value):
                    left = missing_left[node]
                elif abs(value) <= ZERO:
                    left = zeros_left[node]
                else:
                    left = value <= thresholds[node]
                node = lefts[node] if left else rights[node]
            total += leaves[~node]
        sums[row] = total


@compiled
def add_ranks(scores, reference, sums):
    """Add to ``sums``, shape (c, n), the ranks of documents with replaced scores.

    ``scores``, shape (b, c, n), replace the score of one document at a time, while the scores of
    all other documents are those in ``reference``, shape (n,). Ties are broken in favour of the
    earlier document.
    """
    samples, coalitions, documents = scores.shape
    for b in range(samples):
        for c in range(coalitions):
            for position in range(documents):
                score = scores[b, c, position]
                rank = 1
                for earlier in range(position):
                    rank += reference[earlier] >= score
                for later in range(position + 1, documents):
                    rank += reference[later] > score
                sums[c, position] += rank


@compiled
def put_ranks(scores, last_is_first, outputs):
    """Fill ``outputs``, shape (m, n), with the ranks of n documents in m rankings.

    Ties are broken in favour of the earlier document or, with ``last_is_first``, of the later one.
    Scores must not be NaN. For up to about 200 documents, counting is faster than sorting, because
    a processor compares several rankings with one instruction.
    """
    rankings, documents = scores.shape
    columns = np.empty((documents, _RANKINGS))
    ranks = np.empty((documents, _RANKINGS), dtype=np.int64)
    for start in range(0, rankings, _RANKINGS):
        count = min(_RANKINGS, rankings - start)
        for row in range(count):
            for position in range(documents):
                columns[position, row] = scores[start + row, position]
        ranks[:] = 1
        for position in range(1, documents):
            for earlier in range(position):
                for row in range(_RANKINGS):
                    earlier_score, score = columns[earlier, row], columns[position, row]
                    lower = earlier_score < score or (last_is_first and earlier_score == score)
                    ranks[earlier, row] += lower
                    ranks[position, row] += not lower
        for row in range(count):
            for position in range(documents):
                outputs[start + row, position] = ranks[position, row]
