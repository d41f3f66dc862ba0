"""Check rankings and judgements in data frames; errors point to the row or to a file's line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from everycell.base.arrays import FloatArray, IntArray
from everycell.base.errors import DataError
from everycell.base.frames import check_columns
from everycell.base.untrusted import in_quotes

#: File and line of a row, or the words for a row of a frame, as the first arguments of a DataError.
Locate = Callable[[int], tuple[object, int | str]]

# Characters that an id must not contain: C code such as trec_eval would end the id there.
ID_DELIMITER = r"[\s\x0b\x00]"

# With at least this mean number of documents per query, it is faster to search each list for
# duplicates separately.
_LONG_LIST = 64


@dataclass(frozen=True)
class Kind:
    """A file format: the fields of a line in order, and the type of its numeric field."""

    name: str
    fields: tuple[str, ...]
    number: str | None
    type: pa.DataType | None
    pattern: bytes
    allowed: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names of the frame."""
        return ("query", "document") + ((self.number,) if self.number else ())


RUN = Kind(
    "run",
    ("query", "Q0", "document", "rank", "score", "tag"),
    "score",
    pa.float64(),
    rb"-?(\d++\.?\d*|\.\d+)([eE][-+]?\d+)?|-?(?i:nan|inf|infinity)",
    "a plain number such as 12.5 or 1e-3",
)

QRELS = Kind(
    "qrels",
    ("query", "iteration", "document", "relevance"),
    "relevance",
    pa.int32(),
    rb"-?\d{1,9}",
    "a whole number of at most nine digits",
)

# Candidates exist only as frames, not as files.
CANDIDATES = Kind("candidates", ("query", "document"), None, None, rb"", "")


def check_frame(
    frame: pd.DataFrame, kind: Kind, locate: Locate | None = None, *, ids_are_valid: bool = False
) -> pd.DataFrame:
    """Check a frame, and return the columns of its kind; `locate` finds a row of a file."""
    frame_name = f"the {kind.name} frame"
    locate = locate or (lambda row: (None, f"row {row} of the {kind.name}"))
    check_columns(f"The {kind.name} frame", frame.columns, kind.columns)
    if frame.empty:
        raise DataError(frame_name, fault="has no rows", expected="at least one")
    frame = frame[list(kind.columns)]
    for column in ("query", "document"):
        ids = frame[column]
        if ids.hasnans:
            raise DataError(
                frame_name,
                column=column,
                fault="has missing values",
                fix="add the missing ids, or drop their rows",
            )
        if not pd.api.types.is_string_dtype(ids) or isinstance(ids.dtype, pd.CategoricalDtype):
            raise DataError(
                frame_name,
                column=column,
                fault=f"has the type {ids.dtype}",
                expected="strings",
                fix="convert the ids with astype(str)",
            )
    query, names = pd.factorize(frame["query"])
    documents = pa.Table.from_pandas(frame[["document"]], preserve_index=False)["document"]
    # There are few distinct query ids, so each is checked only once.
    for column, ids in (
        () if ids_are_valid else (("query", pa.array(names, pa.string())), ("document", documents))
    ):
        is_invalid = pc.match_substring_regex(ids, f"^$|{ID_DELIMITER}")
        if pc.any(is_invalid).as_py():
            row = is_invalid.index(True).as_py()
            if column == "query":
                row = int(np.argmax(query == row))
            raise DataError(
                *locate(row),
                column,
                frame[column].iloc[row],
                expected="an id with at least one character and no white space",
            )
    row = _first_duplicate(query, documents)
    if row is not None:
        raise DataError(
            *locate(row),
            "document",
            frame["document"].iloc[row],
            f"which occurs twice for query {in_quotes(frame['query'].iloc[row])}",
            fix="remove the duplicate",
        )
    if kind.number is None or kind.type is None:
        return frame
    values = _check_number(frame, kind, locate)
    return frame.assign(**{kind.number: values.astype(kind.type.to_pandas_dtype())})


def _first_duplicate(query: IntArray, documents: pa.ChunkedArray) -> int | None:
    """First row that repeats a document of its query; queries are numbered from 0."""
    lengths = np.bincount(query)
    if len(query) >= _LONG_LIST * len(lengths):
        # A hash table of one list fits into the processor's cache; a table of all lists does not.
        lists = documents
        if (np.diff(query) < 0).any():
            lists = documents.take(pa.array(np.argsort(query, kind="stable")))
        starts = np.cumsum(lengths) - lengths
        if all(
            len(lists.slice(start, length).unique()) == length
            for start, length in zip(starts.tolist(), lengths.tolist(), strict=True)
        ):
            return None
    document, names = pd.factorize(documents.to_pandas())
    pairs = pd.Series(query.astype(np.int64) * len(names) + document)
    is_duplicate = pairs.duplicated().to_numpy()
    return int(np.argmax(is_duplicate)) if is_duplicate.any() else None


def _check_number(frame: pd.DataFrame, kind: Kind, locate: Locate) -> FloatArray:
    column = frame[kind.number]
    is_real = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_complex_dtype(column)
    if not is_real:
        raise DataError(
            f"the {kind.name} frame",
            column=kind.number,
            fault=f"has the type {column.dtype}",
            expected="real numbers",
        )
    if column.hasnans and kind is QRELS:
        raise DataError(
            f"the {kind.name} frame",
            column=kind.number,
            fault="has missing values",
            fix="add the missing labels, or drop their rows",
        )
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    if kind is RUN:
        with np.errstate(over="ignore"):
            is_invalid = ~np.isfinite(values.astype(np.float32))
        allowed = "a number of at most 3.4e38 in magnitude (scores have 32 bits in trec_eval)"
    else:
        is_invalid = (values != np.trunc(values)) | (np.abs(values) > 999_999_999)
        allowed = QRELS.allowed
    if is_invalid.any():
        row = int(np.argmax(is_invalid))
        raise DataError(
            *locate(row),
            kind.number,
            float(values[row]),
            _of_pair(frame, row),
            expected=allowed,
            fix="check how it was computed",
        )
    return values


def _of_pair(frame: pd.DataFrame, row: int) -> str:
    document, query = (in_quotes(frame[column].iloc[row]) for column in ("document", "query"))
    return f"for document {document} of query {query}"


def check_ranks(frame: pd.DataFrame, ranks: pa.ChunkedArray, locate: Locate) -> None:
    """Check that, within each query, no document is ranked above one with a higher score."""
    is_whole = pc.match_substring_regex(ranks, r"^\d{1,9}$")
    if not pc.all(is_whole).as_py():
        row = is_whole.index(False).as_py()
        raise DataError(
            *locate(row),
            "rank",
            ranks[row].as_py(),
            expected="a whole number of at most nine digits",
            fix="correct it, or ignore the ranks",
        )
    rank = pc.cast(ranks, pa.int64()).to_numpy()
    query, _ = pd.factorize(frame["query"])
    score = frame["score"].to_numpy().astype(np.float32)
    # Documents with equal ranks, such as 0 everywhere, may have any scores.
    order = np.lexsort((-score, rank, query))
    upper, lower = order[:-1], order[1:]
    is_wrong = (query[upper] == query[lower]) & (score[lower] > score[upper])
    if is_wrong.any():
        first = int(np.argmax(is_wrong))
        query_count = len(np.unique(query[upper[is_wrong]]))
        higher_rank, row = rank[upper[first]], int(lower[first])
        raise DataError(
            *locate(row),
            "rank",
            int(rank[row]),
            f"with the score {frame['score'].iloc[row]}, higher than that of rank {higher_rank} of "
            f"the same query (queries with such ranks: {query_count})",
            fix="scores determine the ranking as in trec_eval, so negate them if they are "
            "distances, or ignore the ranks if the scores are correct",
        )


def check_scale(frame: pd.DataFrame, scale: tuple[int, int] | None, locate: Locate) -> None:
    """Raise an error if a label is outside the scale."""
    if scale is None:
        return
    low, high = scale
    if low > high:
        raise DataError(column="scale", value=scale, expected="the lowest label, then the highest")
    is_outside = ~frame["relevance"].between(low, high).to_numpy()
    if is_outside.any():
        row = int(np.argmax(is_outside))
        raise DataError(
            *locate(row),
            "relevance",
            int(frame["relevance"].iloc[row]),
            _of_pair(frame, row),
            expected=f"a label from {low} to {high}",
            fix="correct the label or the scale",
        )


def check_queries(frame: pd.DataFrame, queries: Iterable[str] | None, locate: Locate) -> None:
    """Raise an error if a query is not in `queries`."""
    if queries is None:
        return
    is_unknown = ~frame["query"].isin(list(queries)).to_numpy()
    if is_unknown.any():
        row = int(np.argmax(is_unknown))
        raise DataError(
            *locate(row),
            "query",
            frame["query"].iloc[row],
            "which is unknown",
            fix="delete the line, or add the query",
        )
