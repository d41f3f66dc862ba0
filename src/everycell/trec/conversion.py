"""Conversion of runs and judgements from other libraries to everycell frames.

==================  ============================================  ==============================
kind                run                                           judgements
==================  ============================================  ==============================
frame of everycell  columns query, document, score                query, document, relevance
of `ir_measures`    query_id, doc_id, score                       query_id, doc_id, relevance
of PyTerrier        qid, docno, score                             qid, docno, label
iterable            of `ir_measures.ScoredDoc`                    of `ir_measures.Qrel`
of `ranx`           `ranx.Run`                                    `ranx.Qrels`
dict of dicts       query -> document -> score                    query -> document -> relevance
path                file in TREC format, gzipped or not           the same
==================  ============================================  ==============================

Other columns, such as the ranks and query texts of PyTerrier, are dropped. Rows keep their
order; measures rank documents by score and break ties by document id, as in trec_eval
(`everycell.trec.runs.trec_order`). The module imports none of these libraries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from numbers import Integral
from pathlib import Path
from typing import Any

import pandas as pd

from everycell.base.errors import DataError
from everycell.base.untrusted import in_quotes
from everycell.trec.frames import QRELS, RUN, Kind
from everycell.trec.runs import check_qrels, check_run, read_qrels, read_run

#: Column names of the supported frames, in the order of everycell's columns.
_RUN_COLUMNS = (
    ("query", "document", "score"),
    ("query_id", "doc_id", "score"),
    ("qid", "docno", "score"),
)
_QRELS_COLUMNS = (
    ("query", "document", "relevance"),
    ("query_id", "doc_id", "relevance"),
    ("qid", "docno", "label"),
)


def as_run(run: Any) -> pd.DataFrame:
    """Convert a run in any supported format to an everycell frame.

    Parameters
    ----------
    run
        Frame, iterable of `ir_measures.ScoredDoc`, `ranx.Run`, dict of dicts or path. An iterator
        is consumed.

    Returns
    -------
    pandas.DataFrame
        Columns ``query``, ``document`` (text) and ``score`` (float64), in the order of `run`.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    TypeError
        If `run` is of any other type.
    ValueError
        If a frame has none of the supported sets of columns or more than one of them, or if the run
        is invalid, for example because ids are not strings or a document occurs twice for a query.

    Examples
    --------
    >>> as_run({"q1": {"d1": 12.5, "d2": 7}}).values.tolist()
    [['q1', 'd1', 12.5], ['q1', 'd2', 7.0]]
    >>> as_run(12)
    Traceback (most recent call last):
    TypeError: The run is of type int; use a frame with the columns query, document and score
    (or query_id, doc_id and score, or qid, docno and score), an iterable of ir_measures.ScoredDoc,
    a ranx.Run, a dict of dicts, or the path of a file in TREC format.
    """
    return _as_frame(run, RUN)


def as_qrels(qrels: Any) -> pd.DataFrame:
    """Convert relevance judgements in any supported format to an everycell frame.

    Parameters
    ----------
    qrels
        Frame, iterable of `ir_measures.Qrel`, `ranx.Qrels`, dict of dicts or path. An iterator is
        consumed.

    Returns
    -------
    pandas.DataFrame
        Columns ``query``, ``document`` (text) and ``relevance`` (int32), in the order of `qrels`.

    Raises
    ------
    FileNotFoundError, TypeError, ValueError
        For the same reasons as :func:`as_run`, and if a relevance label is not an integer.

    Examples
    --------
    >>> frame = pd.DataFrame({"qid": ["q1"], "docno": ["d1"], "label": [2]})
    >>> as_qrels(frame).to_dict("list")
    {'query': ['q1'], 'document': ['d1'], 'relevance': [2]}
    """
    return _as_frame(qrels, QRELS)


def as_run_and_qrels(run: Any, qrels: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Convert both, and refuse them if they seem to be swapped."""
    # An iterator can be read only once.
    run, qrels = ([*source] if isinstance(source, Iterator) else source for source in (run, qrels))
    frames = as_run(run), as_qrels(qrels)
    scores, labels = _numbers(run, RUN), _numbers(qrels, QRELS)
    if (
        scores
        and labels
        and all(isinstance(score, Integral) for score in scores)
        and not any(isinstance(label, Integral) for label in labels)
    ):
        raise DataError(
            fault="The run has only whole numbers and the qrels have only decimals, such as "
            f"{scores[0]} and {labels[0]}, so they seem to be swapped",
            fix="give the run first; if they are right, convert the labels to int",
        )
    return frames


def _numbers(source: Any, kind: Kind) -> list[Any]:
    """Scores or labels as given; none for a file, whose kind its lines show."""
    if isinstance(source, str | Path):
        return []
    if isinstance(source, pd.DataFrame):
        return _rename_columns(source, kind)[kind.number].tolist()
    if isinstance(source, Mapping):
        return [number for documents in source.values() for number in documents.values()]
    if hasattr(source, "to_dict"):
        return _numbers(source.to_dict(), kind)
    _, (_, _, field), _ = _RUN_COLUMNS if kind is RUN else _QRELS_COLUMNS
    return [getattr(row, field) for row in source]


def _as_frame(source: Any, kind: Kind) -> pd.DataFrame:
    """Convert a run or relevance judgements to a checked frame."""
    frame = convert(source, kind)
    if isinstance(source, str | Path):
        return frame
    return check_run(frame) if kind is RUN else check_qrels(frame)


def convert(source: Any, kind: Kind) -> pd.DataFrame:
    """Convert a run or relevance judgements to a frame, whose rows are not yet checked."""
    if isinstance(source, str | Path):
        return read_run(source) if kind is RUN else read_qrels(source)
    if isinstance(source, pd.DataFrame):
        return _rename_columns(source, kind)
    ranx_class = "Run" if kind is RUN else "Qrels"
    if type(source).__name__ == ranx_class and type(source).__module__.split(".")[0] == "ranx":
        source = source.to_dict()
    if isinstance(source, Mapping):
        return _frame_of_dicts(source, kind)
    if isinstance(source, Iterable) and not isinstance(source, bytes):
        return _frame_of_tuples(source, kind)
    raise TypeError(_type_error_message(type(source).__name__, kind))


def _type_error_message(type_name: str, kind: Kind) -> str:
    columns, *alternatives = [
        f"{query}, {document} and {value}"
        for query, document, value in (_RUN_COLUMNS if kind is RUN else _QRELS_COLUMNS)
    ]
    subject, tuple_class, ranx_class = (
        ("The run is", "ScoredDoc", "Run") if kind is RUN else ("The qrels are", "Qrel", "Qrels")
    )
    return (
        f"{subject} of type {type_name}; use a frame with the columns {columns} (or "
        f"{', or '.join(alternatives)}), an iterable of ir_measures.{tuple_class}, a "
        f"ranx.{ranx_class}, a dict of dicts, or the path of a file in TREC format."
    )


def _rename_columns(frame: pd.DataFrame, kind: Kind) -> pd.DataFrame:
    """Select the columns of a supported frame, and rename them to everycell's names."""
    column_sets = _RUN_COLUMNS if kind is RUN else _QRELS_COLUMNS
    matches = [columns for columns in column_sets if set(columns) <= set(frame.columns)]
    if len(matches) != 1:
        choices = " or ".join(f"({', '.join(columns)})" for columns in matches or column_sets)
        other = _QRELS_COLUMNS if kind is RUN else _RUN_COLUMNS
        if not matches and any(set(columns) <= set(frame.columns) for columns in other):
            raise DataError(
                f"the {kind.name} frame",
                fault=f"has the columns {in_quotes(list(frame.columns), 300)} of "
                f"{'qrels' if kind is RUN else 'a run'}, so run and qrels seem to be swapped",
                fix=f"give the run first, and a frame with {choices} as the {kind.name}",
            )
        raise DataError(
            f"the {kind.name} frame",
            fault=f"has the columns {in_quotes(list(frame.columns), 300)}",
            expected=f"{'only ' if matches else ''}one of the sets {choices}",
        )
    (columns,) = matches
    selected = frame.loc[:, list(columns)]
    return selected.rename(columns=dict(zip(columns, column_sets[0], strict=True)))


def _frame_of_dicts(source: Mapping[Any, Any], kind: Kind) -> pd.DataFrame:
    rows = []
    for query, documents in source.items():
        if not isinstance(documents, Mapping):
            raise TypeError(
                f"The {'run has' if kind is RUN else 'qrels have'} {in_quotes(documents)} for the "
                f"query {in_quotes(query)}; "
                f"use a dict of dicts: query -> document -> {kind.number}."
            )
        rows += [(query, document, value) for document, value in documents.items()]
    return _frame(rows, kind)


def _frame_of_tuples(source: Iterable[Any], kind: Kind) -> pd.DataFrame:
    _, (query, document, value), _ = _RUN_COLUMNS if kind is RUN else _QRELS_COLUMNS
    rows = []
    for row in source:
        try:
            rows.append((getattr(row, query), getattr(row, document), getattr(row, value)))
        except AttributeError:
            type_name = f"{type(source).__name__} of {type(row).__name__}"
            raise TypeError(_type_error_message(type_name, kind)) from None
    return _frame(rows, kind)


def _frame(rows: list[tuple[Any, Any, Any]], kind: Kind) -> pd.DataFrame:
    """Frame with everycell's columns; subclasses of str, such as numpy's, become str."""
    frame = pd.DataFrame(rows, columns=list(kind.columns))
    for column in ("query", "document"):
        if all(isinstance(text, str) for text in frame[column]):
            frame[column] = frame[column].map(str)
    return frame
