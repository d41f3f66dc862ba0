"""Read, check and write files in TREC formats; errors point to the line."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from everycell.base.arrays import FloatArray, IntArray
from everycell.base.errors import DataError
from everycell.base.file_kinds import KINDS, recognise_text
from everycell.base.files import write_atomically
from everycell.base.frames import check_columns
from everycell.base.text_files import (
    MARK,
    START,
    check_regular,
    detect_other_format,
    misplaced_mark,
)
from everycell.base.untrusted import in_quotes, unpack

Ranks = Literal["ignore", "error"]
#: File and line of a row, or the words for a row of a frame, as the first arguments of a DataError.
Locate = Callable[[int], tuple[object, int | str]]

# Characters that an id must not contain: C code such as trec_eval would end the id there.
ID_DELIMITER = r"[\s\x0b\x00]"

# The delimiters that may remain in a field after splitting the text at spaces and line breaks.
_DELIMITER_BYTES = (b"\x00", b"\x0b", b"\x0c", b"\r")

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


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", errors="backslashreplace")


def _describe_failure(
    data: bytes, kind: Kind, path: Path, locate: Locate, cause: Exception
) -> DataError:
    """Describe the first invalid line; slow, so only called after reading has failed."""
    other = recognise_text(data)
    if other is not None and other != kind.name:
        return DataError(
            path,
            fault=f"contains {KINDS[other]}",
            expected=KINDS[kind.name],
            fix="check the order of the files",
        )
    # All lines, or all fields of a line, may take many times the bytes of the file.
    for row, line in enumerate(io.BytesIO(data)):
        line = line.removesuffix(b"\n")
        fields = line.split(maxsplit=len(kind.fields))
        if len(fields) != len(kind.fields):
            number = sum(1 for _ in re.finditer(rb"\S+", line))
            return DataError(
                *locate(row),
                fault=f"has {number:,} fields",
                expected=f"{len(kind.fields)} ({' '.join(kind.fields)})",
                fix="remove the extra fields, or spaces within ids"
                if len(fields) > len(kind.fields)
                else "add the missing fields, or delete the line",
            )
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            fault, fix = "which is not UTF-8 text", "convert the file to UTF-8"
            return DataError(*locate(row), value=_text(line), fault=fault, fix=fix)
        if kind.number:
            number = fields[kind.fields.index(kind.number)]
            if not re.fullmatch(kind.pattern, number):
                value = _text(number)
                return DataError(*locate(row), kind.number, value, expected=kind.allowed)
    return DataError(path, fault=f"is not a {kind.name} file ({cause})", fix="correct it")


def read_lines(
    path: Path | str,
    kind: Kind,
    *,
    ranks: bool = False,
    queries: Iterable[str] | None = None,
    scale: tuple[int, int] | None = None,
) -> pd.DataFrame:
    """Read a file into a checked frame; `ranks` also compares ranks with scores."""
    path = Path(path)
    if path.exists():
        check_regular(path)
    try:
        # Check the first bytes before unpacking the file, which may be huge.
        with pa.input_stream(str(path), compression="detect") as stream:
            other_format = detect_other_format(stream.read(START))
        with pa.input_stream(str(path), compression="detect") as stream:
            is_plain = isinstance(stream, pa.OSFile)
            data = b"" if other_format else stream.read() if is_plain else unpack(stream, path)
    except FileNotFoundError:
        raise FileNotFoundError(
            f"The {kind.name} file {path} does not exist: check the path, or create the file."
        ) from None
    except (OSError, ValueError) as error:
        rename = ", or remove .gz from its name if it is not compressed"
        raise DataError(
            path,
            fault=f"cannot be read or is damaged ({error})",
            fix=f"create it again{rename if path.suffix == '.gz' else ''}",
        ) from None
    if other_format:
        raise DataError(path, fault=f"is {other_format}")
    data = data.removeprefix(MARK)
    data, locate = _remove_comments(_normalise_space(data.rstrip()), path)
    if (position := data.find(MARK)) >= 0:
        raise misplaced_mark(*locate(data.count(b"\n", 0, position)))
    if not data:
        raise DataError(path, fault="is empty", expected="at least one line", fix="create it again")
    column_types = dict.fromkeys(("query", "document", "rank"), pa.string())
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(data),
            # Large blocks make parallel reading efficient.
            read_options=pa.csv.ReadOptions(column_names=kind.fields, block_size=1 << 22),
            parse_options=pa.csv.ParseOptions(
                delimiter=" ", quote_char=False, ignore_empty_lines=False
            ),
            convert_options=pa.csv.ConvertOptions(
                include_columns=kind.columns + (("rank",) if ranks else ()),
                column_types=column_types | ({kind.number: kind.type} if kind.number else {}),
                null_values=[],
            ),
        )
    except pa.ArrowInvalid as error:
        raise _describe_failure(data, kind, path, locate, error) from error
    frame = table.to_pandas()
    if kind.number and (is_infinite := np.isinf(frame[kind.number].to_numpy(dtype=float))).any():
        # Quote the file, since the number may be too large for 64 bits.
        row = int(np.argmax(is_infinite))
        field = data.split(b"\n", row + 1)[row].split(b" ")[kind.fields.index(kind.number)]
        raise DataError(*locate(row), kind.number, field.decode(), expected="a finite number")
    ids_are_valid = not any(byte in data for byte in _DELIMITER_BYTES)
    frame = check_frame(frame, kind, locate, ids_are_valid=ids_are_valid)
    if ranks:
        _check_ranks(frame, table["rank"], locate)
    _check_queries(frame, queries, locate)
    _check_scale(frame, scale, locate)
    return frame


def _remove_comments(data: bytes, path: Path) -> tuple[bytes, Locate]:
    """Text without lines that begin with #, as in trec_eval 10, and a function that finds a row."""
    if not data.startswith(b"#") and b"\n#" not in data:
        return data, lambda row: (path, row + 1)

    def locate(row: int) -> tuple[Path, int]:
        lines = enumerate(io.BytesIO(data), 1)
        numbers = (number for number, line in lines if not line.startswith(b"#"))
        return path, next(itertools.islice(numbers, row, None))

    remainder = io.BytesIO()
    remainder.writelines(line for line in io.BytesIO(data) if not line.startswith(b"#"))
    return remainder.getvalue().removesuffix(b"\n"), locate


def _normalise_space(data: bytes) -> bytes:
    """Text with a single space between fields, and none at the start or end of a line.

    trec_eval accepts any white space, but the CSV reader does not. Most files need no change, so
    this is tested first.
    """
    blank = np.frombuffer(data, dtype=np.uint8) <= ord(" ")
    if blank[:1].any() or (blank[1:] & blank[:-1]).any() or b"\t" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\t", b" ")
        # A regular expression would take many times the bytes of the file.
        codes = np.frombuffer(data, dtype=np.uint8)
        is_space = codes == ord(" ")
        follows_blank = np.r_[True, (is_space | (codes == ord("\n")))[:-1]]
        codes = codes[~(is_space & follows_blank)]
        precedes_end = np.r_[codes[1:] == ord("\n"), True]
        data = codes[~((codes == ord(" ")) & precedes_end)].tobytes()
    return data


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


def _check_ranks(frame: pd.DataFrame, ranks: pa.ChunkedArray, locate: Locate) -> None:
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


def _check_scale(frame: pd.DataFrame, scale: tuple[int, int] | None, locate: Locate) -> None:
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


def _check_queries(frame: pd.DataFrame, queries: Iterable[str] | None, locate: Locate) -> None:
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


def write_lines(fields: Iterable[object], path: Path | str) -> None:
    """Write one line per row; `fields` are columns or constants, with the query ids first."""
    fields = list(fields)
    if fields[0].str.startswith("#").any():  # type: ignore[attr-defined]
        raise DataError(
            path,
            column="query",
            fault="has an id that begins with '#', as comments do in trec_eval 10",
            fix="rename the query",
        )
    # pyarrow's CSV writer rejects ids with quotation marks.
    columns = [
        pa.scalar(field, pa.large_string())
        if isinstance(field, str)
        else pc.cast(pa.array(field), pa.large_string())
        for field in fields
    ]
    lines = pc.binary_join_element_wise(*columns, pa.scalar(" ", pa.large_string())).to_pylist()
    write_atomically(Path(path), "\n".join(lines) + "\n")
