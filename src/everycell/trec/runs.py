"""Runs, judgements and candidate lists as data frames: reading, checks, trec_eval's order.

Three kinds of text file, one line a row, fields parted by spaces or tabs, UTF-8, gzipped if the
name ends in ``.gz``:

=============  =====================================  ==================================
kind           fields of a line                       columns of the frame
=============  =====================================  ==================================
run            query, Q0, document, rank, score, tag  query, document, score (float64)
qrels          query, 0, document, relevance          query, document, relevance (int32)
candidates     query, document                        query, document
=============  =====================================  ==================================

Ids are text. The rank and the order of the lines mean nothing, as in trec_eval: the scores decide,
and documents of equal score stand in descending order of their ids (:func:`trec_order`). A reader
who takes the ranks for the ranking has :func:`read_run` refuse ranks that say otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from everycell.engine.foreign import quoted, unpack

Outside = Literal["error", "drop"]
Ranks = Literal["ignore", "error"]

# What C's isspace and the end of a C string would cut an id at.
_CUTS_AN_ID = r"[\s\x0b\x00]"
# The same as bytes that may be left in a field once lines and fields are parted.
_BYTES_THAT_CUT = (b"\x00", b"\x0b", b"\x0c", b"\r")
# Mean number of documents of a query from which counting query by query is faster.
_LONG_LIST = 64


@dataclass(frozen=True)
class _Kind:
    """Fields of a line, in order, and the one that is a number."""

    name: str
    fields: tuple[str, ...]
    number: str | None
    type: pa.DataType | None
    pattern: bytes
    allowed: str

    @property
    def columns(self) -> tuple[str, ...]:
        return ("query", "document") + ((self.number,) if self.number else ())


RUN = _Kind(
    "run",
    ("query", "Q0", "document", "rank", "score", "tag"),
    "score",
    pa.float64(),
    rb"-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|-?(?i:nan|inf|infinity)",
    "a plain number such as 12.5 or 1e-3",
)
QRELS = _Kind(
    "qrels",
    ("query", "iteration", "document", "relevance"),
    "relevance",
    pa.int32(),
    rb"-?\d{1,9}",
    "a whole number of at most nine digits",
)
CANDIDATES = _Kind("candidates", ("query", "document"), None, None, rb"", "")


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", errors="backslashreplace")


def _explain(data: bytes, kind: _Kind, path: Path, cause: Exception) -> ValueError:
    """First line that cannot be read, in words. Slow, and only walked once reading has failed."""
    for number, line in enumerate(data.split(b"\n"), 1):
        where = f"Line {number} of {path}"
        fields = line.split()
        if len(fields) != len(kind.fields):
            hint = (
                "an id holds no space, so replace the space in it"
                if len(fields) > len(kind.fields)
                else "give the line all of its fields, or delete it"
            )
            return ValueError(
                f"{where} has {len(fields)} fields: a line of a {kind.name} file has "
                f"{len(kind.fields)} ({' '.join(kind.fields)}); {hint}."
            )
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            return ValueError(
                f"{where} is not UTF-8 text: it reads {quoted(_text(line))}; convert the file to "
                "UTF-8."
            )
        if kind.number:
            found = fields[kind.fields.index(kind.number)]
            if not re.fullmatch(kind.pattern, found):
                return ValueError(
                    f"{where} has the {kind.number} {quoted(_text(found))}: it must be "
                    f"{kind.allowed}; correct the line."
                )
    return ValueError(f"{path} is no {kind.name} file: {cause}; correct it.")


def _read(path: Path | str, kind: _Kind, *, ranks: bool = False) -> pd.DataFrame:
    path = Path(path)
    try:
        with pa.input_stream(str(path), compression="detect") as stream:
            data = stream.read() if isinstance(stream, pa.OSFile) else unpack(stream, path)
    except FileNotFoundError:
        raise FileNotFoundError(
            f"The {kind.name} file {path} does not exist: check the path, or make it first."
        ) from None
    except (OSError, ValueError) as error:
        raise ValueError(
            f"The {kind.name} file {path} cannot be read, or is damaged ({error}): make it again."
        ) from None
    data = _one_blank_between_fields(data.rstrip())
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
        raise _explain(data, kind, path, error) from error
    place = _line_of(path)
    read = table.to_pandas()
    whole_ids = not any(byte in data for byte in _BYTES_THAT_CUT)
    frame = _checked(read, kind, place, whole_ids=whole_ids)
    if ranks:
        _check_ranks(frame, table["rank"], place)
    return frame


def _line_of(path: Path | str) -> Callable[[int], str]:
    return lambda row: f"Line {row + 1} of {path}"


def _one_blank_between_fields(data: bytes) -> bytes:
    """Text with one blank between fields and none at the ends of lines, as the reader takes it.

    trec_eval takes any white space. Most files need no change, and to see that is one pass.
    """
    blank = np.frombuffer(data, dtype=np.uint8) <= ord(" ")
    if blank[:1].any() or (blank[1:] & blank[:-1]).any() or b"\t" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\t", b" ")
        data = re.sub(rb"^ +| +$| +(?= )", b"", data, flags=re.MULTILINE)
    return data


def _checked(
    frame: pd.DataFrame, kind: _Kind, place: Callable[[int], str], *, whole_ids: bool = False
) -> pd.DataFrame:
    """The kind's columns of a frame that holds nothing wrong; `place` names a row.

    `whole_ids` says that no id is empty or has white space: then they are not looked at again.
    """
    missing = [column for column in kind.columns if column not in frame.columns]
    if missing:
        raise ValueError(
            f"The {kind.name} frame has no column {missing[0]!r}: it has {list(frame.columns)}; "
            f"give it {list(kind.columns)}."
        )
    if frame.empty:
        raise ValueError(f"The {kind.name} frame has no rows: give it one or more.")
    frame = frame[list(kind.columns)]
    for column in ("query", "document"):
        if not pd.api.types.is_string_dtype(frame[column]) or frame[column].hasnans:
            raise ValueError(
                f"The column {column!r} of the {kind.name} frame has the type "
                f"{frame[column].dtype} or empty cells: ids are text, so convert it with "
                "astype(str)."
            )
    query, names = pd.factorize(frame["query"])
    documents = pa.Table.from_pandas(frame[["document"]], preserve_index=False)["document"]
    # Documents are as many as rows nearly, queries are few.
    for column, ids in (
        () if whole_ids else (("query", pa.array(names, pa.string())), ("document", documents))
    ):
        bad = pc.match_substring_regex(ids, f"^$|{_CUTS_AN_ID}")
        if pc.any(bad).as_py():
            row = bad.index(True).as_py()
            if column == "query":
                row = int(np.argmax(query == row))
            raise ValueError(
                f"{place(row)} has the {column} id {quoted(frame[column].iloc[row])}: "
                "an id has one character or more and no white space; replace it."
            )
    row = _first_twice(query, documents)
    if row is not None:
        raise ValueError(
            f"{place(row)} has the document {quoted(frame['document'].iloc[row])} of query "
            f"{quoted(frame['query'].iloc[row])} for the second time: a document stands once in a "
            "query's list; keep one of the two."
        )
    return frame if kind.number is None else _checked_number(frame, kind, place)


def _first_twice(query: npt.NDArray[np.intp], documents: pa.ChunkedArray) -> int | None:
    """First row whose document its query already had; queries are numbers from 0."""
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


def _checked_number(frame: pd.DataFrame, kind: _Kind, place: Callable[[int], str]) -> pd.DataFrame:
    column = frame[kind.number]
    if not pd.api.types.is_numeric_dtype(column) or column.hasnans and kind is QRELS:
        raise ValueError(
            f"The column {kind.number!r} of the {kind.name} frame has the type {column.dtype} or "
            "empty cells: convert it to numbers."
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
            f"{place(row)} (query {quoted(frame['query'].iloc[row])}, document "
            f"{quoted(frame['document'].iloc[row])}) has the {kind.number} {values[row]}: it must "
            f"be {allowed}; find out where it comes from."
        )
    return frame.assign(**{kind.number: values.astype(kind.type.to_pandas_dtype())})


def _check_ranks(frame: pd.DataFrame, ranks: pa.ChunkedArray, place: Callable[[int], str]) -> None:
    """No document stands before another one of its query that has a higher score."""
    whole = pc.match_substring_regex(ranks, r"^\d{1,9}$")
    if not pc.all(whole).as_py():
        row = whole.index(False).as_py()
        raise ValueError(
            f"{place(row)} has the rank {quoted(ranks[row].as_py())}: it must be a whole number of "
            "0 or more; correct it, or have ranks ignored."
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
            f"{place(below)} has the rank {rank[below]} and the score {frame['score'].iloc[below]},"
            f" higher than that of rank {rank[above]} of the same query ({queries} queries of the "
            "run have such ranks): the scores decide, as in trec_eval, so turn them round if they "
            "are distances, or have ranks ignored if the scores are meant."
        )


def _check_scale(
    frame: pd.DataFrame, scale: tuple[int, int] | None, place: Callable[[int], str]
) -> None:
    if scale is None:
        return
    low, high = scale
    if low > high:
        raise ValueError(f"The scale is {scale}: give its least label, then its greatest.")
    outside = ~frame["relevance"].between(low, high).to_numpy()
    if outside.any():
        row = int(np.argmax(outside))
        raise ValueError(
            f"{place(row)} (query {quoted(frame['query'].iloc[row])}, document "
            f"{quoted(frame['document'].iloc[row])}) has the relevance "
            f"{frame['relevance'].iloc[row]}: "
            f"the scale goes from {low} to {high}; correct the label, or give the right scale."
        )


def _check_queries(
    frame: pd.DataFrame, queries: Iterable[str] | None, place: Callable[[int], str]
) -> None:
    if queries is None:
        return
    unknown = ~frame["query"].isin(list(queries)).to_numpy()
    if unknown.any():
        row = int(np.argmax(unknown))
        raise ValueError(
            f"{place(row)} has the query {quoted(frame['query'].iloc[row])}, which is not among "
            "the known queries: delete the line, or add the query."
        )


def read_run(
    path: Path | str, *, queries: Iterable[str] | None = None, ranks: Ranks = "ignore"
) -> pd.DataFrame:
    """Read a run in TREC format.

    Parameters
    ----------
    path : path
        Text file, gzipped if it ends in ``.gz``. A million lines take 0.3 s of the processor
        (``bench/retrieval_evaluation.py``).
    queries : iterable of str, optional
        If given, a line with any other query is an error.
    ranks : {"ignore", "error"}
        Whether the ranks may disagree with the scores, which decide. With "error" a document of
        lower score before one of higher score in the same query is refused; documents of equal
        score or of equal rank may stand in any order.

    Returns
    -------
    pandas.DataFrame
        Columns ``query``, ``document`` (text) and ``score`` (float64, finite as 32-bit floats),
        in the order of the lines. Rank and tag are left out.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        For an empty file, a line without six fields (such as an id with a space), text that is
        not UTF-8, a score that is no finite number, a document twice in a query, a query that
        is not in `queries`, ranks that `ranks` refuses, or an unknown choice; the message names
        the line.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "bm25.run"
    >>> _ = path.write_text("q1 Q0 d1 1 12.5 bm25" + chr(10) + "q1 Q0 d2 2 7 bm25")
    >>> read_run(path).values.tolist()
    [['q1', 'd1', 12.5], ['q1', 'd2', 7.0]]
    """
    if ranks not in ("ignore", "error"):
        raise ValueError(f"ranks is {ranks!r}: give 'ignore' or 'error'.")
    frame = _read(path, RUN, ranks=ranks == "error")
    _check_queries(frame, queries, _line_of(path))
    return frame


def read_qrels(
    path: Path | str,
    *,
    queries: Iterable[str] | None = None,
    scale: tuple[int, int] | None = None,
) -> pd.DataFrame:
    """Read relevance judgements in TREC format.

    Parameters
    ----------
    path : path
        Text file, gzipped if it ends in ``.gz``.
    queries : iterable of str, optional
        If given, a line with any other query is an error.
    scale : (int, int), optional
        Least and greatest label; if given, any other one is an error. nDCG takes labels as they
        are, so that a stray 9 on a scale to 4 counts more than twice the best.

    Returns
    -------
    pandas.DataFrame
        Columns ``query``, ``document`` (text) and ``relevance`` (int32; 0 and below is not
        relevant), in the order of the lines.

    Raises
    ------
    FileNotFoundError, ValueError
        As :func:`read_run`, for lines of four fields and whole-numbered relevance; and for a
        label outside the scale.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "cite.qrels"
    >>> _ = path.write_text("q1 0 d1 1" + chr(10) + "q1 0 d2 0")
    >>> read_qrels(path, queries=["q1"]).values.tolist()
    [['q1', 'd1', 1], ['q1', 'd2', 0]]
    """
    frame = _read(path, QRELS)
    _check_queries(frame, queries, _line_of(path))
    _check_scale(frame, scale, _line_of(path))
    return frame


def read_candidates(path: Path | str, *, queries: Iterable[str] | None = None) -> pd.DataFrame:
    """Read which documents each query is to rank: two fields a line.

    Parameters
    ----------
    path : path
        Text file, gzipped if it ends in ``.gz``.
    queries : iterable of str, optional
        If given, a line with any other query is an error.

    Returns
    -------
    pandas.DataFrame
        Columns ``query`` and ``document`` (text), in the order of the lines. The first two
        columns of qrels that judge every candidate, as SciDocs' do, serve as well.

    Raises
    ------
    FileNotFoundError, ValueError
        As :func:`read_run`, for lines of two fields.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "cite.candidates"
    >>> _ = path.write_text("q1 d1" + chr(10) + "q1 d2")
    >>> read_candidates(path).values.tolist()
    [['q1', 'd1'], ['q1', 'd2']]
    """
    frame = _read(path, CANDIDATES)
    _check_queries(frame, queries, _line_of(path))
    return frame


def check_run(run: pd.DataFrame) -> pd.DataFrame:
    """Check a run that was made in memory as :func:`read_run` checks a file.

    Parameters
    ----------
    run : pandas.DataFrame
        Columns ``query``, ``document``, ``score``; others are left out.

    Returns
    -------
    pandas.DataFrame
        The three columns, scores as float64.

    Raises
    ------
    ValueError
        For no rows, a missing column, ids that are not text, empty or with white space, a document
        twice in a query, or a score that is not finite; the message names the row from 0.

    Examples
    --------
    >>> check_run(pd.DataFrame({"query": ["q"], "document": ["my doc"], "score": [1.0]}))
    Traceback (most recent call last):
    ValueError: Row 0 of the run has the document id 'my doc': an id has one character or more
    and no white space; replace it.
    """
    return _checked(run, RUN, lambda row: f"Row {row} of the run")


def check_qrels(qrels: pd.DataFrame, *, queries: Iterable[str] | None = None) -> pd.DataFrame:
    """Check judgements that were made in memory as :func:`read_qrels` checks a file.

    Parameters
    ----------
    qrels : pandas.DataFrame
        Columns ``query``, ``document``, ``relevance``; others are left out.
    queries : iterable of str, optional
        If given, any other query is an error.

    Returns
    -------
    pandas.DataFrame
        The three columns, relevance as int32.

    Raises
    ------
    ValueError
        As :func:`check_run`; the relevance must be a whole number.

    Examples
    --------
    >>> frame = pd.DataFrame({"query": ["q"], "document": ["d"], "relevance": [True]})
    >>> check_qrels(frame).values.tolist()
    [['q', 'd', 1]]
    """
    frame = _checked(qrels, QRELS, lambda row: f"Row {row} of the qrels")
    _check_queries(frame, queries, lambda row: f"Row {row} of the qrels")
    return frame


def check_candidates(candidates: pd.DataFrame) -> pd.DataFrame:
    """Check candidate lists that were made in memory as :func:`read_candidates` checks a file.

    Parameters
    ----------
    candidates : pandas.DataFrame
        Columns ``query``, ``document``; others are left out, so qrels and runs will do.

    Returns
    -------
    pandas.DataFrame
        The two columns.

    Raises
    ------
    ValueError
        As :func:`check_run`.

    Examples
    --------
    >>> check_candidates(pd.DataFrame({"query": ["q", "q"], "document": ["d", "d"]}))
    Traceback (most recent call last):
    ValueError: Row 1 of the candidates has the document 'd' of query 'q' for the second time:
    a document stands once in a query's list; keep one of the two.
    """
    return _checked(candidates, CANDIDATES, lambda row: f"Row {row} of the candidates")


def _write(fields: Iterable[object], path: Path | str) -> None:
    """Write one line a row; a field is a column of the frame or one constant for all rows."""
    # pyarrow's CSV writer refuses ids with a quotation mark.
    columns = [
        pa.scalar(field, pa.large_string())
        if isinstance(field, str)
        else pc.cast(pa.array(field), pa.large_string())
        for field in fields
    ]
    lines = pc.binary_join_element_wise(*columns, pa.scalar(" ", pa.large_string())).to_pylist()
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def write_run(run: pd.DataFrame, path: Path | str, *, tag: str) -> None:
    """Write a run in TREC format, in trec_eval's order, with ranks from 1.

    Parameters
    ----------
    run : pandas.DataFrame
        Columns ``query``, ``document``, ``score``, in any order of rows.
    path : path
        File to write. Queries stand in the order in which they first occur in `run`.
    tag : str
        Name of the system, without white space.

    Raises
    ------
    ValueError
        As :func:`check_run`, and for a tag with white space.

    Notes
    -----
    Scores are written with as many digits as give the same float64 back, so a run that is read
    again has the same ties.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "bm25.run"
    >>> run = pd.DataFrame({"query": "q1", "document": ["a", "b", "c"], "score": [1, 2, 1.0]})
    >>> write_run(run, path, tag="bm25")
    >>> print(path.read_text())
    q1 Q0 b 1 2 bm25
    q1 Q0 c 2 1 bm25
    q1 Q0 a 3 1 bm25
    """
    if not tag or re.search(_CUTS_AN_ID, tag):
        raise ValueError(
            f"The tag of the run for {path} is {tag!r}: give one character or more and no white "
            "space."
        )
    ordered = trec_order(run)
    rank = ordered.groupby("query", sort=False).cumcount() + 1
    _write((ordered["query"], "Q0", ordered["document"], rank, ordered["score"], tag), path)


def write_qrels(qrels: pd.DataFrame, path: Path | str) -> None:
    """Write judgements in TREC format, rows in their order.

    Parameters
    ----------
    qrels : pandas.DataFrame
        Columns ``query``, ``document``, ``relevance``.
    path : path
        File to write.

    Raises
    ------
    ValueError
        As :func:`check_qrels`.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "cite.qrels"
    >>> frame = pd.DataFrame({"query": ["q1"], "document": ["d1"], "relevance": [1]})
    >>> write_qrels(frame, path)
    >>> print(path.read_text())
    q1 0 d1 1
    """
    frame = check_qrels(qrels)
    _write((frame["query"], "0", frame["document"], frame["relevance"]), path)


def write_candidates(candidates: pd.DataFrame, path: Path | str) -> None:
    """Write candidate lists, two fields a line, rows in their order.

    Parameters
    ----------
    candidates : pandas.DataFrame
        Columns ``query``, ``document``.
    path : path
        File to write.

    Raises
    ------
    ValueError
        As :func:`check_candidates`.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "cite.candidates"
    >>> write_candidates(pd.DataFrame({"query": ["q1"], "document": ["d1"]}), path)
    >>> print(path.read_text())
    q1 d1
    """
    frame = check_candidates(candidates)
    _write((frame["query"], frame["document"]), path)


def id_order(ids: pd.Series | pd.Index) -> npt.NDArray[np.int64]:
    """Place of each id in the descending order of ids, by the bytes of their UTF-8.

    Parameters
    ----------
    ids : Series or Index of str, shape (n,)
        Ids, repeated or not.

    Returns
    -------
    numpy.ndarray, shape (n,)
        0 for the greatest id; equal ids have equal places. As C's strcmp compares, so upper case
        comes before lower case and "d10" before "d9".

    Examples
    --------
    >>> id_order(pd.Index(["d9", "d10", "é", "d9"])).tolist()
    [1, 2, 0, 1]
    """
    codes, names = pd.factorize(ids)
    order = pc.sort_indices(pa.array(names, pa.string()), sort_keys=[("", "descending")])
    place = np.empty(len(names), dtype=np.int64)
    place[order.to_numpy()] = np.arange(len(names))
    return place[codes]


def trec_order(run: pd.DataFrame) -> pd.DataFrame:
    """Order a run's rows as trec_eval ranks them.

    Parameters
    ----------
    run : pandas.DataFrame, n rows
        Columns ``query``, ``document``, ``score``, in any order of rows.

    Returns
    -------
    pandas.DataFrame, n rows
        The three columns with a new index: queries in the order in which they first occur, and
        within a query score, then document id, both descending. Scores tie when they are equal as
        32-bit floats, which is how trec_eval and pytrec_eval hold them; the column keeps float64.

    Raises
    ------
    ValueError
        As :func:`check_run`.

    Examples
    --------
    >>> run = pd.DataFrame({"query": "q", "document": ["a", "b", "c"], "score": [1, 1 + 1e-9, 2]})
    >>> trec_order(run)["document"].tolist()
    ['c', 'b', 'a']
    """
    run = check_run(run)
    query, _ = pd.factorize(run["query"])
    score = run["score"].to_numpy().astype(np.float32)
    order = np.lexsort((-score, query))
    # Ids are slow to sort, and only those of ties matter.
    above, below = order[:-1], order[1:]
    equal = (query[above] == query[below]) & (score[above] == score[below])
    tied = order[np.append(equal, False) | np.append(False, equal)]
    place = np.zeros(len(run), dtype=np.int64)
    place[tied] = id_order(run["document"].iloc[tied])
    order = np.lexsort((place, -score, query))
    return run.iloc[order].reset_index(drop=True)


def restrict_run(
    run: pd.DataFrame,
    candidates: pd.DataFrame,
    *,
    missing: float | None = None,
    outside: Outside = "error",
) -> pd.DataFrame:
    """Make a run score exactly the candidates, no more and no fewer.

    Parameters
    ----------
    run : pandas.DataFrame
        Columns ``query``, ``document``, ``score``.
    candidates : pandas.DataFrame, n rows
        Columns ``query``, ``document``; others are left out.
    missing : float, optional
        Score of a candidate that the run does not hold, such as 0 for BM25, where it shares no
        term with the query. Without it such a candidate is an error.
    outside : {"error", "drop"}
        What becomes of the run's documents that are no candidates of their query.

    Returns
    -------
    pandas.DataFrame, n rows
        Columns ``query``, ``document``, ``score``, in the order of `candidates`.

    Raises
    ------
    ValueError
        For a candidate without a score, a scored document that is no candidate, an unknown choice,
        or what :func:`check_run` and :func:`check_candidates` refuse.

    Examples
    --------
    >>> run = pd.DataFrame({"query": ["q"], "document": ["a"], "score": [3.0]})
    >>> candidates = pd.DataFrame({"query": ["q", "q"], "document": ["b", "a"]})
    >>> restrict_run(run, candidates, missing=0).values.tolist()
    [['q', 'b', 0.0], ['q', 'a', 3.0]]
    """
    if outside not in ("error", "drop"):
        raise ValueError(f"outside is {outside!r}: give 'error' or 'drop'.")
    if missing is not None and not np.isfinite(np.float32(missing)):
        raise ValueError(f"missing is {missing!r}: give a finite score, or None for an error.")
    run, candidates = check_run(run), check_candidates(candidates)
    merged = candidates.merge(run, on=["query", "document"], how="left")
    lacking = merged["score"].isna().to_numpy()
    if outside == "error" and len(merged) - lacking.sum() < len(run):
        known = pd.MultiIndex.from_frame(candidates)
        row = int(np.argmin(pd.MultiIndex.from_frame(run[["query", "document"]]).isin(known)))
        raise ValueError(
            f"Row {row} of the run scores the document {run['document'].iloc[row]!r}, which is no "
            f"candidate of query {run['query'].iloc[row]!r}: add it to the candidates, or leave "
            "out what is not a candidate with outside='drop'."
        )
    if lacking.any():
        if missing is None:
            row = int(np.argmax(lacking))
            raise ValueError(
                f"The run has no score for the candidate {merged['document'].iloc[row]!r} of query "
                f"{merged['query'].iloc[row]!r} ({lacking.sum()} of {len(merged)} candidates): "
                "score it, or name the score of missing ones with missing=."
            )
        merged["score"] = merged["score"].fillna(float(missing))
    return merged
