"""Statistics that identify an index: its files differ each time that it is built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Statistics:
    """Statistics of an index, equal for every build of the same documents."""

    documents: int
    empty_documents: int
    tokens: int
    distinct_terms: int
    content: str


def check_statistics(statistics: Statistics, expected: Mapping[str, int | str], name: str) -> None:
    """Compare the statistics of an index with those of a data card."""
    values = asdict(statistics)
    for key, value in expected.items():
        if key not in values:
            raise ValueError(
                f"The index {name!r} has no statistic {key!r}: expect some of {list(values)}."
            )
        if values[key] != value:
            raise ValueError(
                f"The index {name!r} has {key} = {values[key]}, but {value} is expected: build it "
                "again from the right documents, or correct the expected count."
            )
