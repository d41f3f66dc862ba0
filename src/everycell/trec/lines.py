"""Lines of the TREC formats: read all at once, and examined one by one if something is wrong."""

from __future__ import annotations

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

from everycell.engine.arrays import FloatArray, IntArray
from everycell.engine.frames import check_columns
from everycell.engine.text_files import MARK, check_regular, mark_within, other_kind
from everycell.engine.untrusted import in_quotes, unpack

Ranks = Literal["ignore", "error"]

# Characters at which C's isspace or the end of a C string would cut an id.
_CUTS_AN_ID = r"[\s\x0b\x00]"

# The same, as bytes that may be left in a field once lines and fields are split.
_BYTES_THAT_CUT = (b"\x00", b"\x0b", b"\x0c", b"\r")

# Mean number of documents of a query from which counting query by query is faster.
_LONG_LIST = 64


@dataclass(frozen=True)
class Kind:
    """Fields of a line, in order, and the one that is a number."""

    name: str
    fields: tuple[str, ...]
    number: str | None
    type: pa.DataType | None
    pattern: bytes
    allowed: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the frame."""
        return ("query", "document") + ((self.number,) if self.number else ())


RUN = Kind(
    "run",
    ("query", "Q0", "document", "rank", "score", "tag"),
    "score",
    pa.float64(),
    rb"-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|-?(?i:nan|inf|infinity)",
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

CANDIDATES = Kind("candidates", ("query", "document"), None, None, rb"", "")  # in memory only


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", errors="backslashreplace")


def _explain(
    data: bytes, kind: Kind, path: Path, where: Callable[[int], str], cause: Exception
) -> ValueError:
    """Describe the first line that cannot be read. Slow, so used only after reading has failed."""
    for row, line in enumerate(data.split(b"\n")):
        line_name = where(row)
        fields = line.split()
        if len(fields) != len(kind.fields):
            hint = (
                "an id holds no space, so replace the space in it"
                if len(fields) > len(kind.fields)
                else "give the line all of its fields, or delete it"
            )
            return ValueError(
                f"{line_name} has {len(fields)} fields: a line of a {kind.name} file has "
                f"{len(kind.fields)} ({' '.join(kind.fields)}); {hint}."
            )
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            return ValueError(
                f"{line_name} is not UTF-8 text: it reads {in_quotes(_text(line))}; convert the "
                "file to UTF-8."
            )
        if kind.number:
            number = fields[kind.fields.index(kind.number)]
            if not re.fullmatch(kind.pattern, number):
                return ValueError(
                    f"{line_name} has the {kind.number} {in_quotes(_text(number))}: it must be "
                    f"{kind.allowed}; correct the line."
                )
    return ValueError(f"{path} is not a {kind.name} file: {cause}; correct it.")


def read_lines(
    path: Path | str,
    kind: Kind,
    *,
    ranks: bool = False,
    queries: Iterable[str] | None = None,
    scale: tuple[int, int] | None = None,
) -> pd.DataFrame:
    """Read a file of a kind into a frame and check it; `ranks` compares a run's with its scores."""
    path = Path(path)
    if path.exists():
        check_regular(path)
    try:
        # Before the rest is unpacked, which may be huge.
        with pa.input_stream(str(path), compression="detect") as stream:
            packed = other_kind(stream.read(8))
        with pa.input_stream(str(path), compression="detect") as stream:
            plain = isinstance(stream, pa.OSFile)
            data = b"" if packed else stream.read() if plain else unpack(stream, path)
    except FileNotFoundError:
        raise FileNotFoundError(
            f"The {kind.name} file {path} does not exist: check the path, or make it first."
        ) from None
    except (OSError, ValueError) as error:
        unpacked = ", or leave .gz out of its name if it is not packed"
        raise ValueError(
            f"The {kind.name} file {path} cannot be read, or is damaged ({error}): make it again"
            f"{unpacked if path.suffix == '.gz' else ''}."
        ) from None
    if packed:
        raise ValueError(f"The {kind.name} file {path} is {packed}.")
    data = data.removeprefix(MARK)
    data, where = _without_comments(_one_blank_between_fields(data.rstrip()), path)
    if (first := data.find(MARK)) >= 0:
        raise ValueError(mark_within(where(data.count(b"\n", 0, first))))
    if not data:
        raise ValueError(
            f"The {kind.name} file {path} is empty: it must have one line or more; make it again."
        )
    text = dict.fromkeys(("query", "document", "rank"), pa.string())
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(data),
            # Large blocks, so that both cores read.
            read_options=pa.csv.ReadOptions(column_names=kind.fields, block_size=1 << 22),
            parse_options=pa.csv.ParseOptions(
                delimiter=" ", quote_char=False, ignore_empty_lines=False
            ),
            convert_options=pa.csv.ConvertOptions(
                include_columns=kind.columns + (("rank",) if ranks else ()),
                column_types=text | ({kind.number: kind.type} if kind.number else {}),
                null_values=[],
            ),
        )
    except pa.ArrowInvalid as error:
        raise _explain(data, kind, path, where, error) from error
    read = table.to_pandas()
    if kind.number and (infinite := np.isinf(read[kind.number].to_numpy(dtype=float))).any():
        # Named as the file has it: a number may be too large for 64 bits.
        row = int(np.argmax(infinite))
        text = data.split(b"\n", row + 1)[row].split(b" ")[kind.fields.index(kind.number)]
        raise ValueError(
            f"{where(row)} has the {kind.number} {in_quotes(text.decode())}: it must be a finite "
            "number; find out where it comes from."
        )
    whole_ids = not any(byte in data for byte in _BYTES_THAT_CUT)
    frame = checked_lines(read, kind, where, whole_ids=whole_ids)
    if ranks:
        _check_ranks(frame, table["rank"], where)
    check_queries(frame, queries, where)
    check_scale(frame, scale, where)
    return frame


def _without_comments(data: bytes, path: Path) -> tuple[bytes, Callable[[int], str]]:
    """Text without lines that begin with #, as trec_eval 10 reads it, and what names its rows."""
    if not data.startswith(b"#") and b"\n#" not in data:
        return data, lambda row: f"Line {row + 1} of {path}"
    lines = data.split(b"\n")
    numbers = [number for number, line in enumerate(lines, 1) if not line.startswith(b"#")]
    data = b"\n".join(lines[number - 1] for number in numbers)
    return data, lambda row: f"Line {numbers[row]} of {path}"


def _one_blank_between_fields(data: bytes) -> bytes:
    """Text with one blank between fields and none at the ends of lines, as the reader expects it.

    trec_eval takes any white space. Most files need no change, and one pass shows that.
    """
    blank = np.frombuffer(data, dtype=np.uint8) <= ord(" ")
    if blank[:1].any() or (blank[1:] & blank[:-1]).any() or b"\t" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\t", b" ")
        data = re.sub(rb"^ +| +$| +(?= )", b"", data, flags=re.MULTILINE)
    return data


def checked_lines(
    frame: pd.DataFrame, kind: Kind, where: Callable[[int], str], *, whole_ids: bool = False
) -> pd.DataFrame:
    """Return the kind's columns of a frame after checking them; `where` names a row."""
    check_columns(f"The {kind.name} frame", frame.columns, kind.columns)
    if frame.empty:
        raise ValueError(f"The {kind.name} frame has no rows: give it one or more.")
    frame = frame[list(kind.columns)]
    for column in ("query", "document"):
        ids = frame[column]
        text = pd.api.types.is_string_dtype(ids) and not isinstance(ids.dtype, pd.CategoricalDtype)
        if not text or ids.hasnans:
            raise ValueError(
                f"The column {column!r} of the {kind.name} frame has the type "
                f"{frame[column].dtype} or empty cells: ids are text, so convert it with "
                "astype(str)."
            )
    query, names = pd.factorize(frame["query"])
    documents = pa.Table.from_pandas(frame[["document"]], preserve_index=False)["document"]
    # There are nearly as many documents as rows, but few queries.
    for column, ids in (
        () if whole_ids else (("query", pa.array(names, pa.string())), ("document", documents))
    ):
        bad = pc.match_substring_regex(ids, f"^$|{_CUTS_AN_ID}")
        if pc.any(bad).as_py():
            row = bad.index(True).as_py()
            if column == "query":
                row = int(np.argmax(query == row))
            raise ValueError(
                f"{where(row)} has the {column} id {in_quotes(frame[column].iloc[row])}: "
                "an id has one character or more and no white space; replace it."
            )
    row = _first_twice(query, documents)
    if row is not None:
        raise ValueError(
            f"{where(row)} has the document {in_quotes(frame['document'].iloc[row])} of query "
            f"{in_quotes(frame['query'].iloc[row])} for the second time: a document occurs once in "
            "a query's list; keep one of the two."
        )
    if kind.number is None or kind.type is None:
        return frame
    values = _checked_number(frame, kind, where)
    return frame.assign(**{kind.number: values.astype(kind.type.to_pandas_dtype())})


def _first_twice(query: IntArray, documents: pa.ChunkedArray) -> int | None:
    """First row with a document that its query already had; queries are numbers from 0."""
    lengths = np.bincount(query)
    if len(query) >= _LONG_LIST * len(lengths):
        # A table of one list's documents stays in the processor's cache; one of all does not.
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
    twice = pd.Series(query.astype(np.int64) * len(names) + document).duplicated().to_numpy()
    return int(np.argmax(twice)) if twice.any() else None


def _checked_number(frame: pd.DataFrame, kind: Kind, where: Callable[[int], str]) -> FloatArray:
    column = frame[kind.number]
    number = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_complex_dtype(column)
    if not number or column.hasnans and kind is QRELS:
        raise ValueError(
            f"The column {kind.number!r} of the {kind.name} frame has the type {column.dtype} or "
            "empty cells: give real numbers, such as 12.5."
        )
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    if kind is RUN:
        with np.errstate(over="ignore"):
            bad = ~np.isfinite(values.astype(np.float32))
        allowed = "a number of at most 3.4e38 in size (trec_eval has 32 bits for it)"
    else:
        bad = (values != np.trunc(values)) | (np.abs(values) > 999_999_999)
        allowed = QRELS.allowed
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"{where(row)} (query {in_quotes(frame['query'].iloc[row])}, document "
            f"{in_quotes(frame['document'].iloc[row])}) has the {kind.number} {values[row]}: it "
            f"must be {allowed}; find out where it comes from."
        )
    return values


def _check_ranks(frame: pd.DataFrame, ranks: pa.ChunkedArray, where: Callable[[int], str]) -> None:
    """Check that no document is ranked above one of the same query with a higher score."""
    is_whole = pc.match_substring_regex(ranks, r"^\d{1,9}$")
    if not pc.all(is_whole).as_py():
        row = is_whole.index(False).as_py()
        raise ValueError(
            f"{where(row)} has the rank {in_quotes(ranks[row].as_py())}: it must be a whole number "
            "of 0 or more; correct it, or have ranks ignored."
        )
    rank = pc.cast(ranks, pa.int64()).to_numpy()
    query, _ = pd.factorize(frame["query"])
    score = frame["score"].to_numpy().astype(np.float32)
    # Equal ranks, such as 0 everywhere, say nothing about their documents.
    order = np.lexsort((-score, rank, query))
    above, below = order[:-1], order[1:]
    wrong = (query[above] == query[below]) & (score[below] > score[above])
    if wrong.any():
        first = int(np.argmax(wrong))
        above, below, queries = above[first], below[first], len(np.unique(query[above[wrong]]))
        raise ValueError(
            f"{where(below)} has the rank {rank[below]} and the score {frame['score'].iloc[below]},"
            f" higher than that of rank {rank[above]} of the same query ({queries} queries of the "
            "run have such ranks): the scores decide, as in trec_eval, so negate them if they "
            "are distances, or have ranks ignored if the scores are meant."
        )


def check_scale(
    frame: pd.DataFrame, scale: tuple[int, int] | None, where: Callable[[int], str]
) -> None:
    """Refuse a relevance outside the scale; `where` names a row."""
    if scale is None:
        return
    low, high = scale
    if low > high:
        raise ValueError(f"The scale is {scale}: give its least label, then its greatest.")
    outside = ~frame["relevance"].between(low, high).to_numpy()
    if outside.any():
        row = int(np.argmax(outside))
        raise ValueError(
            f"{where(row)} (query {in_quotes(frame['query'].iloc[row])}, document "
            f"{in_quotes(frame['document'].iloc[row])}) has the relevance "
            f"{frame['relevance'].iloc[row]}: "
            f"the scale goes from {low} to {high}; correct the label, or give the right scale."
        )


def check_queries(
    frame: pd.DataFrame, queries: Iterable[str] | None, where: Callable[[int], str]
) -> None:
    """Refuse a query that is not among the known ones; `where` names a row."""
    if queries is None:
        return
    unknown = ~frame["query"].isin(list(queries)).to_numpy()
    if unknown.any():
        row = int(np.argmax(unknown))
        raise ValueError(
            f"{where(row)} has the query {in_quotes(frame['query'].iloc[row])}, which is not among "
            "the known queries: delete the line, or add the query."
        )


def write_lines(fields: Iterable[object], path: Path | str) -> None:
    """Write one line per row; a field is the column of queries, another, or a constant."""
    fields = list(fields)
    if fields[0].str.startswith("#").any():  # type: ignore[attr-defined]
        raise ValueError(
            f"A query id for {path} begins with '#', and trec_eval 10 takes such lines for "
            "comments: rename the query."
        )
    # pyarrow's CSV writer refuses ids with a quotation mark.
    columns = [
        pa.scalar(field, pa.large_string())
        if isinstance(field, str)
        else pc.cast(pa.array(field), pa.large_string())
        for field in fields
    ]
    lines = pc.binary_join_element_wise(*columns, pa.scalar(" ", pa.large_string())).to_pylist()
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
