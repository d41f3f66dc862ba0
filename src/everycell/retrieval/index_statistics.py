"""Statistics that identify an index: its files differ each time that it is built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Statistics:
    """Statistics of an index, equal for every build of the same documents.

    Attributes
    ----------
    documents : int
        Documents, empty ones included.
    empty_documents : int
        Documents without a term. They count neither in `n` nor in the average length of BM25.
    tokens : int
        Occurrences of terms.
    distinct_terms : int
        Distinct terms.
    content : str
        SHA-256 of ids and terms, the same for any order of documents. (The files of two builds
        are never the same: Lucene writes random segment ids.)
    """

    documents: int
    empty_documents: int
    tokens: int
    distinct_terms: int
    content: str


def check_statistics(statistics: Statistics, expected: Mapping[str, int | str], name: str) -> None:
    """Compare the statistics of an index with those of a data card.

    Examples
    --------
    >>> result = Statistics(2, 0, 7, 5, "d1c9")
    >>> check_statistics(result, {"documents": 2, "tokens": 7}, "pydocs, word pieces")
    >>> check_statistics(result, {"documents": 3}, "pydocs, word pieces")
    Traceback (most recent call last):
    ValueError: The index 'pydocs, word pieces' has documents = 2, but 3 is expected: build it
    again from the right documents, or correct the expected count.
    """
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
