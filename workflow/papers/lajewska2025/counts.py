"""Counts of the user studies of chapters 4 and A."""

from everycell.base.csv_files import RatingsError


def exact_quotient(count: int, size: int) -> int:
    """Divide a count by a size; a remainder is an error, since the design is balanced."""
    if count % size:
        raise RatingsError(
            f"Got {count}, expected a multiple of {size}; rows are missing or repeated."
        )
    return count // size
