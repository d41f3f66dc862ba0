"""Judged feature vectors of documents, from files in LETOR format.

A line has a relevance label, a query and features: ``2 qid:10 1:0.03 2:0.1 # comment``.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pandas as pd

from everycell.base.errors import DataError
from everycell.base.text_files import text_lines
from everycell.base.untrusted import max_unpacked_size

#: Largest number of features per document: the dense vectors are kept in memory.
MAX_FEATURES = 10_000
#: A line: a label, the query (optional here, as a missing one has its own message), and features.
_LINE = re.compile(r"\s*[-+.\deE]+(\s+qid:\d+)?(\s+\d+:[-+.\deE]+)*\s*(#.*)?")

_QUERY = re.compile(rb"^(\s*[^\s#]+\s+qid:)(\d+)(?=[\s#]|$)")


def read_letor(path: Path, *, features: int | None = None, first: int = 1) -> pd.DataFrame:
    """Read judged feature vectors; `first` is the lowest feature number."""
    # Imported here because it takes a second.
    from sklearn.datasets import load_svmlight_file

    # scikit-learn would convert query ids to integers (007 to 7), so they are numbered first.
    number_of_query: dict[bytes, int] = {}

    def replace_query(match: re.Match[bytes]) -> bytes:
        return match[1] + b"%d" % number_of_query.setdefault(match[2], len(number_of_query))

    def renumber_query(number: int, line: bytes) -> bytes:
        new_line, count = _QUERY.subn(replace_query, line, count=1)
        if not count and b"qid:" in line.partition(b"#")[0]:
            raise DataError(
                path,
                number,
                value=line.decode().strip(),
                expected="'qid:' and a whole number after the label, such as '2 qid:10 1:0.03'",
            )
        return new_line

    content = b"\n".join(renumber_query(number, line.encode()) for number, line in text_lines(path))
    try:
        matrix, labels, query_numbers = load_svmlight_file(
            io.BytesIO(content),
            n_features=features,
            zero_based=first == 0,
            query_id=True,
        )
    except (ValueError, OverflowError, UnicodeDecodeError, TypeError) as error:
        raise _find_fault(path, error, features, first) from error
    if matrix.shape[1] > MAX_FEATURES:
        raise DataError(
            path,
            column="feature",
            value=matrix.shape[1],
            expected=f"at most {MAX_FEATURES} features",
            fix="number them consecutively",
        )
    if 8 * np.prod(matrix.shape) > (limit := max_unpacked_size(path)):
        raise DataError(
            path,
            fault=f"has {matrix.shape[0]:,} documents with {matrix.shape[1]:,} features, most of "
            f"which are missing",
            expected=f"at most {limit:,} bytes",
            fix="number the features consecutively",
        )
    vectors = matrix.toarray()
    if not len(labels):
        raise DataError(
            path, fault="has no documents", fix="use a file with judged feature vectors"
        )
    not_finite = np.argwhere(~np.isfinite(np.column_stack([labels, vectors])))
    if len(not_finite):
        row, column = not_finite[0]
        raise DataError(
            path,
            f"document {row + 1}",
            f"feature {column - 1 + first}" if column else "label",
            fault="is not a finite number",
            fix="write 0 for missing values",
        )
    if len(query_numbers) < len(labels):
        raise _find_fault(path, None, features, first)
    queries = np.array([name.decode() for name in number_of_query], dtype=str)[query_numbers]
    starts = np.flatnonzero(np.r_[True, queries[1:] != queries[:-1]])
    if len(set(queries[starts])) < len(starts):
        first_queries = pd.Series(queries[starts])
        split_query = first_queries[first_queries.duplicated()].iloc[0]
        raise DataError(
            path,
            f"query {split_query}",
            fault="has lines in several places",
            fix="put all lines of a query together",
        )
    names = [f"feature_{number}" for number in range(first, first + vectors.shape[1])]
    table = pd.DataFrame(vectors, columns=names)
    table.insert(0, "relevance", labels.astype(float))
    table.insert(0, "query", pd.Series(queries, dtype="str"))
    return table


def _find_fault(path: Path, error: Exception | None, features: int | None, first: int) -> DataError:
    """Describe the first fault of a file that scikit-learn could not read."""
    for number, line in text_lines(path):
        if line.strip() and not _LINE.fullmatch(line):
            expected = "a label, 'qid:' and a query, and features, such as '2 qid:10 1:0.03'"
            return DataError(path, number, value=line.strip(), expected=expected)
        digits = re.findall(r"\s(\d+):", line.split("#")[0])
        if any(len(number) > 9 for number in digits):
            fault = "has a feature number of more than nine digits"
            return DataError(path, number, fault=fault, fix="correct it")
        numbers = [int(number) for number in digits]
        if numbers[:1] < [first] and numbers or numbers != sorted(set(numbers)):
            fault, fix = "has features out of order", f"sort them, and number from {first}"
            return DataError(path, number, fault=fault, fix=fix)
        if features is not None and numbers and numbers[-1] >= first + features:
            expected = f"features from {first} to {first + features - 1}"
            return DataError(path, number, "feature", numbers[-1], expected=expected)
        if line.strip() and " qid:" not in line:
            fix = "write 'qid:' and its number after the label"
            return DataError(path, number, fault="has no query", fix=fix)
    fault, fix = f"cannot be read ({error})", "use lines such as '2 qid:10 1:0.03 2:0.1'"
    return DataError(path, fault=fault, fix=fix)
