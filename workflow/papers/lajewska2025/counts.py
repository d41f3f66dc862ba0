"""Counts of participants and answers in the user studies of lajewska2025 (chapter 4,
appendix A).
"""

from everycell.base.errors import DataError


def exact_quotient(count: int, size: int) -> int:
    """Divide a count by a size; a remainder is an error, since the design is balanced."""
    if count % size:
        raise DataError(column="count", value=count, expected=f"a multiple of {size}")
    return count // size
