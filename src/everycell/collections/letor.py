"""Judged feature vectors of documents in LETOR format: ``2 qid:10 1:0.03 2:0.1 # comment``."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pandas as pd

from everycell.collections.errors import CollectionError
from everycell.engine.text_files import text_lines

#: Largest number of features of a document: the vectors are held in memory.
MOST_FEATURES = 10_000
#: A line: a label, the query (its lack has a message of its own), and features.
_LINE = re.compile(r"\s*[-+.\deE]+(\s+qid:\d+)?(\s+\d+:[-+.\deE]+)*\s*(#.*)?")

_QUERY = re.compile(rb"^(\s*[^\s#]+\s+qid:)(\d+)(?=[\s#]|$)")


def read_letor(path: Path, *, features: int | None = None, first: int = 1) -> pd.DataFrame:
    """Read judged feature vectors."""
    # Importing it takes a second.
    from sklearn.datasets import load_svmlight_file

    # Queries are kept as they are written: the reader would make numbers of them.
    names_of_queries: dict[bytes, int] = {}

    def numbered(match: re.Match[bytes]) -> bytes:
        return match[1] + b"%d" % names_of_queries.setdefault(match[2], len(names_of_queries))

    def renumbered(number: int, line: bytes) -> bytes:
        changed, count = _QUERY.subn(numbered, line, count=1)
        if not count and b"qid:" in line.partition(b"#")[0]:
            raise CollectionError(
                f"{path}, line {number}: the query is not 'qid:' and a whole number after the "
                "label; write '2 qid:10 1:0.03'."
            )
        return changed

    content = b"\n".join(
        renumbered(number, line.encode()) for number, line in text_lines(path, CollectionError)
    )
    try:
        loaded = load_svmlight_file(
            io.BytesIO(content),
            n_features=features,
            zero_based=first == 0,
            query_id=True,
        )
    except (ValueError, OverflowError, UnicodeDecodeError, TypeError) as error:
        raise CollectionError(f"{path}: {_fault(path, error, features, first)}") from error
    if loaded[0].shape[1] > MOST_FEATURES:
        raise CollectionError(
            f"{path} has feature {loaded[0].shape[1]}: expected up to {MOST_FEATURES}, so "
            "number them from 1."
        )
    vectors, labels = loaded[0].toarray(), loaded[1]
    if not len(labels):
        raise CollectionError(f"{path} has no documents: give a file of judged feature vectors.")
    wrong = np.argwhere(~np.isfinite(np.column_stack([labels, vectors])))
    if len(wrong):
        row, column = wrong[0]
        raise CollectionError(
            f"{path}: document {row + 1} has no finite number as "
            f"{f'feature {column - 1 + first}' if column else 'label'}: write 0 for what is "
            "missing."
        )
    if len(loaded[2]) < len(labels):
        raise CollectionError(f"{path}: {_fault(path, None, features, first)}")
    queries = np.array([name.decode() for name in names_of_queries], dtype=str)[loaded[2]]
    starts = np.flatnonzero(np.r_[True, queries[1:] != queries[:-1]])
    if len(set(queries[starts])) < len(starts):
        first_queries = pd.Series(queries[starts])
        again = first_queries[first_queries.duplicated()].iloc[0]
        raise CollectionError(
            f"{path}: the lines of query {again} are not contiguous; put all lines of a query "
            "together."
        )
    names = [f"feature_{number}" for number in range(first, first + vectors.shape[1])]
    table = pd.DataFrame(vectors, columns=names)
    table.insert(0, "relevance", labels.astype(float))
    table.insert(0, "query", pd.Series(queries, dtype="str"))
    return table


def _fault(path: Path, error: Exception | None, features: int | None, first: int) -> str:
    """Say what is wrong with a file that could not be read."""
    for number, line in text_lines(path, CollectionError):
        if line.strip() and not _LINE.fullmatch(line):
            return (
                f"line {number} is {line.strip()[:60]!r}: expected a label, qid: and a "
                "query, and number:value of each feature, such as '2 qid:10 1:0.03'."
            )
        written = re.findall(r"\s(\d+):", line.split("#")[0])
        if any(len(digits) > 9 for digits in written):
            return f"line {number} has a feature number of more than nine digits: correct it."
        numbers = [int(digits) for digits in written]
        if numbers[:1] < [first] and numbers or numbers != sorted(set(numbers)):
            return f"line {number} has features out of order: number them from {first}, ascending."
        if features is not None and numbers and numbers[-1] >= first + features:
            return (
                f"line {number} has feature {numbers[-1]}: expected {first} to "
                f"{first + features - 1}."
            )
        if line.strip() and " qid:" not in line:
            return f"line {number} names no query: write qid: and its number after the label."
    return f"it cannot be read ({error}): give lines such as '2 qid:10 1:0.03 2:0.1'."
