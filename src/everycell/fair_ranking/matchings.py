"""The loops of a decomposition: one matching of items and ranks after the other.

Each splits rankings off ``work`` until nothing is left, and returns them with their weights and
what is left. ``work`` has a row per item and a column per rank, and where items are hidden a last
column for them, which holds as many items as are hidden. numba compiles both, so that neither can
call a function of ours.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from everycell.engine.arrays import FloatArray, IntArray
from everycell.engine.compiling import compiled

Split = Callable[..., tuple[IntArray, FloatArray, float]]


def compiled_if_possible(loop: Split) -> Split:
    """Compile a loop at its first use; without numba (a light installation) it runs as it is."""
    try:
        return compiled(loop)
    except ModuleNotFoundError:
        return loop


def split_by_rows(work, total, ranks, tiny):
    """Match item by item; an item without a free rank moves others along a shortest path."""
    items, columns = work.shape
    room = np.ones(columns, dtype=np.int64)
    if columns > ranks:
        room[ranks] = items - ranks
    limit = items * columns + 1
    rankings = np.empty((limit, ranks), dtype=np.int64)
    weights = np.empty(limit)
    count = 0
    left = total
    column_of = np.full(items, -1, dtype=np.int64)
    used = np.empty(columns, dtype=np.int64)
    # Columns of each item that are not yet empty, in their order.
    filled = np.empty((items, columns), dtype=np.int64)
    fills = np.zeros(items, dtype=np.int64)
    for row in range(items):
        for column in range(columns):
            if work[row, column] > tiny:
                filled[row, fills[row]] = column
                fills[row] += 1
    # What has changed in the matching, item by item, so that the next ranking can start from the
    # matching of the items before the first whose columns are no longer the same.
    changes_before = np.zeros(items + 1, dtype=np.int64)
    changed_row = np.empty(items * columns, dtype=np.int64)
    changed_from = np.empty(items * columns, dtype=np.int64)
    changes = 0
    first = 0
    holder = np.empty(columns, dtype=np.int64)
    # State of a search: items in the order in which they were reached, and from where.
    queue = np.empty(items, dtype=np.int64)
    came_to_column = np.empty(columns, dtype=np.int64)
    while left > tiny and count < limit:
        while changes > changes_before[first]:
            changes -= 1
            column_of[changed_row[changes]] = changed_from[changes]
        used[:] = 0
        for row in range(first):
            used[column_of[row]] += 1
            holder[column_of[row]] = row
        for item in range(first, items):
            changes_before[item] = changes
            # Breadth-first search over items that would have to move.
            came_to_column[:] = -1
            queue[0] = item
            head, tail = 0, 1
            end = -1
            while head < tail and end < 0:
                row = queue[head]
                head += 1
                for index in range(fills[row]):
                    column = filled[row, index]
                    if came_to_column[column] >= 0:
                        continue
                    came_to_column[column] = row
                    if used[column] < room[column]:
                        end = column
                        break
                    if room[column] == 1:
                        queue[tail] = holder[column]
                        tail += 1
                        continue
                    for other in range(item):
                        if column_of[other] == column:
                            queue[tail] = other
                            tail += 1
            if end < 0:
                return rankings[:count], weights[:count], left
            used[end] += 1
            while True:
                row = came_to_column[end]
                before = column_of[row]
                changed_row[changes] = row
                changed_from[changes] = before
                changes += 1
                column_of[row] = end
                holder[end] = row
                if row == item:
                    break
                end = before
        changes_before[items] = changes
        size = left
        for row in range(items):
            size = min(size, work[row, column_of[row]])
        first = items
        for row in range(items):
            column = column_of[row]
            work[row, column] -= size
            if work[row, column] <= tiny:
                first = min(first, row)
                remaining = 0
                for index in range(fills[row]):
                    if filled[row, index] != column:
                        filled[row, remaining] = filled[row, index]
                        remaining += 1
                fills[row] = remaining
            if column < ranks:
                rankings[count, column] = row
        weights[count] = size
        count += 1
        left -= size
    return rankings[:count], weights[:count], left


def split_by_columns(work, total, ranks, tiny):
    """Match rank by rank; a rank without a free item takes one along a shortest path."""
    items, columns = work.shape
    room = np.ones(columns, dtype=np.int64)
    if columns > ranks:
        room[ranks] = items - ranks
    limit = items * columns + 1
    rankings = np.empty((limit, ranks), dtype=np.int64)
    weights = np.empty(limit)
    count = 0
    left = total
    column_of = np.empty(items, dtype=np.int64)
    # State of a search: columns in the order in which they were reached, and from where.
    queue = np.empty(columns, dtype=np.int64)
    came_to_column = np.empty(columns, dtype=np.int64)
    came_to_item = np.empty(items, dtype=np.int64)
    while left > tiny and count < limit:
        column_of[:] = -1
        for column in range(columns):
            start = 0
            for _ in range(room[column]):
                while start < items and (column_of[start] >= 0 or work[start, column] <= tiny):
                    start += 1
                if start < items:
                    column_of[start] = column
                    continue
                # Breadth-first search over ranks that would have to take another item.
                came_to_item[:] = -1
                came_to_column[:] = -1
                came_to_column[column] = column
                queue[0] = column
                head, tail = 0, 1
                end = -1
                while head < tail and end < 0:
                    at = queue[head]
                    head += 1
                    for row in range(items):
                        if work[row, at] <= tiny or came_to_item[row] >= 0 or column_of[row] == at:
                            continue
                        came_to_item[row] = at
                        other = column_of[row]
                        if other < 0:
                            end = row
                            break
                        if came_to_column[other] < 0:
                            came_to_column[other] = row
                            queue[tail] = other
                            tail += 1
                if end < 0:
                    return rankings[:count], weights[:count], left
                row = end
                while True:
                    at = came_to_item[row]
                    column_of[row] = at
                    if at == column:
                        break
                    row = came_to_column[at]
        size = left
        for row in range(items):
            size = min(size, work[row, column_of[row]])
        for row in range(items):
            work[row, column_of[row]] -= size
            if column_of[row] < ranks:
                rankings[count, column_of[row]] = row
        weights[count] = size
        count += 1
        left -= size
    return rankings[:count], weights[:count], left
