"""Compiled loops that decompose a matrix of rank probabilities into weighted rankings.

Both loops subtract rankings from the matrix ``residual`` until it is 0, and return the rankings,
their weights and the remaining probability. The matrix has one row per item, one column per rank
and, if items are hidden, a last column for all hidden items. numba compiles the loops, so they
cannot call Python functions.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from everycell.base.arrays import FloatArray, IntArray, compiled

Split = Callable[..., tuple[IntArray, FloatArray, float]]


def compile_if_possible(loop: Split) -> Split:
    """Compile a loop with numba on first use; return it unchanged if numba is not installed."""
    try:
        return compiled(loop)
    except ModuleNotFoundError:
        return loop


def split_by_rows(residual, total, ranks, tiny):
    """Match item by item; an item without a free rank moves others along a shortest path."""
    items, columns = residual.shape
    capacity = np.ones(columns, dtype=np.int64)
    if columns > ranks:
        capacity[ranks] = items - ranks
    limit = items * columns + 1
    rankings = np.empty((limit, ranks), dtype=np.int64)
    weights = np.empty(limit)
    count = 0
    remainder = total
    column_of = np.full(items, -1, dtype=np.int64)
    load = np.empty(columns, dtype=np.int64)
    # Columns of each item with a positive entry, in ascending order, and their number.
    positive_columns = np.empty((items, columns), dtype=np.int64)
    positive_counts = np.zeros(items, dtype=np.int64)
    for row in range(items):
        for column in range(columns):
            if residual[row, column] > tiny:
                positive_columns[row, positive_counts[row]] = column
                positive_counts[row] += 1
    # Changes of the matching per item. The next ranking can start from the matching of the items
    # before the first item whose positive columns have changed.
    changes_before = np.zeros(items + 1, dtype=np.int64)
    changed_row = np.empty(items * columns, dtype=np.int64)
    changed_from = np.empty(items * columns, dtype=np.int64)
    changes = 0
    first = 0
    holder = np.empty(columns, dtype=np.int64)
    # State of a search: items in the order in which they were reached, and predecessors.
    queue = np.empty(items, dtype=np.int64)
    column_predecessor = np.empty(columns, dtype=np.int64)
    while remainder > tiny and count < limit:
        while changes > changes_before[first]:
            changes -= 1
            column_of[changed_row[changes]] = changed_from[changes]
        load[:] = 0
        for row in range(first):
            load[column_of[row]] += 1
            holder[column_of[row]] = row
        for item in range(first, items):
            changes_before[item] = changes
            # Breadth-first search over items that would have to move.
            column_predecessor[:] = -1
            queue[0] = item
            head, tail = 0, 1
            end = -1
            while head < tail and end < 0:
                row = queue[head]
                head += 1
                for index in range(positive_counts[row]):
                    column = positive_columns[row, index]
                    if column_predecessor[column] >= 0:
                        continue
                    column_predecessor[column] = row
                    if load[column] < capacity[column]:
                        end = column
                        break
                    if capacity[column] == 1:
                        queue[tail] = holder[column]
                        tail += 1
                        continue
                    for matched_row in range(item):
                        if column_of[matched_row] == column:
                            queue[tail] = matched_row
                            tail += 1
            if end < 0:
                return rankings[:count], weights[:count], remainder
            load[end] += 1
            while True:
                row = column_predecessor[end]
                previous_column = column_of[row]
                changed_row[changes] = row
                changed_from[changes] = previous_column
                changes += 1
                column_of[row] = end
                holder[end] = row
                if row == item:
                    break
                end = previous_column
        changes_before[items] = changes
        size = remainder
        for row in range(items):
            size = min(size, residual[row, column_of[row]])
        first = items
        for row in range(items):
            column = column_of[row]
            residual[row, column] -= size
            if residual[row, column] <= tiny:
                first = min(first, row)
                new_count = 0
                for index in range(positive_counts[row]):
                    if positive_columns[row, index] != column:
                        positive_columns[row, new_count] = positive_columns[row, index]
                        new_count += 1
                positive_counts[row] = new_count
            if column < ranks:
                rankings[count, column] = row
        weights[count] = size
        count += 1
        remainder -= size
    return rankings[:count], weights[:count], remainder


def split_by_columns(residual, total, ranks, tiny):
    """Match rank by rank; a rank without a free item gets one along a shortest path."""
    items, columns = residual.shape
    capacity = np.ones(columns, dtype=np.int64)
    if columns > ranks:
        capacity[ranks] = items - ranks
    limit = items * columns + 1
    rankings = np.empty((limit, ranks), dtype=np.int64)
    weights = np.empty(limit)
    count = 0
    remainder = total
    column_of = np.empty(items, dtype=np.int64)
    # State of a search: columns in the order in which they were reached, and predecessors.
    queue = np.empty(columns, dtype=np.int64)
    column_predecessor = np.empty(columns, dtype=np.int64)
    item_predecessor = np.empty(items, dtype=np.int64)
    while remainder > tiny and count < limit:
        column_of[:] = -1
        for column in range(columns):
            start = 0
            for _ in range(capacity[column]):
                while start < items and (column_of[start] >= 0 or residual[start, column] <= tiny):
                    start += 1
                if start < items:
                    column_of[start] = column
                    continue
                # Breadth-first search over ranks that would have to change their item.
                item_predecessor[:] = -1
                column_predecessor[:] = -1
                column_predecessor[column] = column
                queue[0] = column
                head, tail = 0, 1
                end = -1
                while head < tail and end < 0:
                    current = queue[head]
                    head += 1
                    for row in range(items):
                        if (
                            residual[row, current] <= tiny
                            or item_predecessor[row] >= 0
                            or column_of[row] == current
                        ):
                            continue
                        item_predecessor[row] = current
                        matched_column = column_of[row]
                        if matched_column < 0:
                            end = row
                            break
                        if column_predecessor[matched_column] < 0:
                            column_predecessor[matched_column] = row
                            queue[tail] = matched_column
                            tail += 1
                if end < 0:
                    return rankings[:count], weights[:count], remainder
                row = end
                while True:
                    current = item_predecessor[row]
                    column_of[row] = current
                    if current == column:
                        break
                    row = column_predecessor[current]
        size = remainder
        for row in range(items):
            size = min(size, residual[row, column_of[row]])
        for row in range(items):
            residual[row, column_of[row]] -= size
            if column_of[row] < ranks:
                rankings[count, column_of[row]] = row
        weights[count] = size
        count += 1
        remainder -= size
    return rankings[:count], weights[:count], remainder
