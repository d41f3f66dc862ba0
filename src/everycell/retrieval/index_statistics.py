"""Statistics that identify an index, since its files differ between builds."""

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
    """Raise an error unless the statistics of an index have the expected values."""
    values = asdict(statistics)
    for key, value in expected.items():
        if key not in values:
            raise ValueError(
                f"The index {name!r} has no statistic {key!r}: choose from {list(values)}."
            )
        if values[key] != value:
            raise ValueError(
                f"The index {name!r} has {key} = {values[key]}, expected {value}: rebuild it from "
                "the right documents, or correct the expected value."
            )
