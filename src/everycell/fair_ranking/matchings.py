"""The loop of a decomposition: one matching of items and ranks after the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from everycell.engine.arrays import FloatArray, IntArray
from everycell.engine.compiling import compiled


def compiled_split() -> Callable[..., tuple[IntArray, FloatArray, float]]:
    """Return the loop that splits off rankings, compiled at its first use and cached on disk.

    A light installation has no numba; there the same loop runs as plain Python, slower.
    """
    try:
        return compiled(_split)
    except ModuleNotFoundError:
        return _split


def _split(work, total, ranks, by_rows, tiny):
    """Split off rankings until nothing is left; the matching of each is made by rows or by columns.

    ``work`` has a row per item and a column per rank, and where items are hidden a last column for
    them, which holds as many items as are hidden.
    """
    items, columns = work.shape
    room = np.ones(columns, dtype=np.int64)
    if columns > ranks:
        room[ranks] = items - ranks
    most = items * columns + 1
    rankings = np.empty((most, ranks), dtype=np.int64)
    weights = np.empty(most)
    found = 0
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
    # By rows: what has changed in the matching, item by item, so that the next ranking can start
    # from the matching of the items before the first whose columns are no longer the same.
    changes_before = np.zeros(items + 1, dtype=np.int64)
    changed_row = np.empty(items * columns, dtype=np.int64)
    changed_from = np.empty(items * columns, dtype=np.int64)
    changes = 0
    first = 0
    holder = np.empty(columns, dtype=np.int64)
    # State of a search: items in the order in which they were reached, and from where.
    queue = np.empty(items, dtype=np.int64)
    came_to_column = np.empty(columns, dtype=np.int64)
    came_to_item = np.empty(items, dtype=np.int64)
    columns_queue = np.empty(columns, dtype=np.int64)
    while left > tiny and found < most:
        complete = True
        if by_rows:
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
                    for place in range(fills[row]):
                        column = filled[row, place]
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
                    complete = False
                    break
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
        else:
            column_of[:] = -1
            for column in range(columns):
                start = 0
                for _ in range(room[column]):
                    # As above: first try a free item.
                    while start < items and (column_of[start] >= 0 or work[start, column] <= tiny):
                        start += 1
                    if start < items:
                        column_of[start] = column
                        continue
                    # Breadth-first search over ranks that would have to take another item.
                    came_to_item[:] = -1
                    columns_queue[0] = column
                    head, tail = 0, 1
                    came_to_column[:] = -1
                    came_to_column[column] = column
                    end = -1
                    while head < tail and end < 0:
                        at = columns_queue[head]
                        head += 1
                        for row in range(items):
                            if work[row, at] > tiny and came_to_item[row] < 0:
                                if column_of[row] == at:
                                    continue
                                came_to_item[row] = at
                                if column_of[row] < 0:
                                    end = row
                                    break
                                other = column_of[row]
                                if came_to_column[other] < 0:
                                    came_to_column[other] = row
                                    columns_queue[tail] = other
                                    tail += 1
                    if end < 0:
                        complete = False
                        break
                    row = end
                    while True:
                        at = came_to_item[row]
                        column_of[row] = at
                        if at == column:
                            break
                        row = came_to_column[at]
                if not complete:
                    break
        if not complete:
            break
        changes_before[items] = changes
        size = left
        for row in range(items):
            if work[row, column_of[row]] < size:
                size = work[row, column_of[row]]
        first = items
        for row in range(items):
            column = column_of[row]
            work[row, column] -= size
            if work[row, column] <= tiny:
                first = min(first, row)
                kept = 0
                for place in range(fills[row]):
                    if filled[row, place] != column:
                        filled[row, kept] = filled[row, place]
                        kept += 1
                fills[row] = kept
            if column < ranks:
                rankings[found, column] = row
        weights[found] = size
        found += 1
        left -= size
    return rankings[:found], weights[:found], left
