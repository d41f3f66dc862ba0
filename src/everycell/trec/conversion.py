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

Further columns, such as PyTerrier's rank and the text of its queries, are left out: the scores
decide, and ties are broken by the id of the document, as in trec_eval (`trec_order`). None of these
libraries is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from everycell.engine.untrusted import in_quotes
from everycell.trec.lines import QRELS, RUN, Kind
from everycell.trec.qrels import check_qrels, read_qrels
from everycell.trec.runs import check_run, read_run

#: Columns of the kinds of frame, in the order of ours.
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
        is used up.

    Returns
    -------
    pandas.DataFrame
        Columns ``query``, ``document`` (text) and ``score`` (float64), in the order of `run`.

    Raises
    ------
    FileNotFoundError
        If there is no file at the path.
    TypeError
        For anything but these kinds.
    ValueError
        For a frame with none of the sets of columns, or with two of them, and for what
        :func:`~everycell.trec.runs.check_run` refuses: ids that are not text, a document twice.

    Examples
    --------
    >>> as_run({"q1": {"d1": 12.5, "d2": 7}}).values.tolist()
    [['q1', 'd1', 12.5], ['q1', 'd2', 7.0]]
    >>> as_run(12)
    Traceback (most recent call last):
    TypeError: The run is of the type int; give a frame with the columns query, document and score
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
        used up.

    Returns
    -------
    pandas.DataFrame
        Columns ``query``, ``document`` (text) and ``relevance`` (int32), in the order of `qrels`.

    Raises
    ------
    FileNotFoundError, TypeError, ValueError
        As :func:`as_run`, and for a relevance that is not a whole number.

    Examples
    --------
    >>> frame = pd.DataFrame({"qid": ["q1"], "docno": ["d1"], "label": [2]})
    >>> as_qrels(frame).to_dict("list")
    {'query': ['q1'], 'document': ['d1'], 'relevance': [2]}
    """
    return _as_frame(qrels, QRELS)


def _as_frame(source: Any, kind: Kind) -> pd.DataFrame:
    """Checked frame of a run or of judgements."""
    if isinstance(source, str | Path):
        return read_run(source) if kind is RUN else read_qrels(source)
    check = check_run if kind is RUN else check_qrels
    if isinstance(source, pd.DataFrame):
        return check(_renamed(source, kind))
    class_of_ranx = "Run" if kind is RUN else "Qrels"
    if type(source).__name__ == class_of_ranx and type(source).__module__.split(".")[0] == "ranx":
        source = source.to_dict()
    if isinstance(source, Mapping):
        return check(_of_dicts(source, kind))
    if isinstance(source, Iterable) and not isinstance(source, bytes):
        return check(_of_tuples(source, kind))
    raise TypeError(_refusal(type(source).__name__, kind))


def _refusal(type_name: str, kind: Kind) -> str:
    one, *alternatives = _RUN_COLUMNS if kind is RUN else _QRELS_COLUMNS
    what, scored, ranx = (
        ("The run is", "ScoredDoc", "Run") if kind is RUN else ("The qrels are", "Qrel", "Qrels")
    )
    either = ", or ".join(f"{a}, {b} and {c}" for a, b, c in alternatives)
    return (
        f"{what} of the type {type_name}; give a frame with the columns {one[0]}, {one[1]} and "
        f"{one[2]} (or {either}), an iterable of ir_measures.{scored}, a ranx.{ranx}, a dict of "
        "dicts, or the path of a file in TREC format."
    )


def _renamed(frame: pd.DataFrame, kind: Kind) -> pd.DataFrame:
    """Frame with our names of columns, whichever of the known ones it has."""
    known = _RUN_COLUMNS if kind is RUN else _QRELS_COLUMNS
    matches = [columns for columns in known if set(columns) <= set(frame.columns)]
    if len(matches) != 1:
        sets = " or ".join(f"({', '.join(columns)})" for columns in matches or known)
        raise ValueError(
            f"The {kind.name} frame has the columns {in_quotes(list(frame.columns), 300)}; give "
            + (f"it one of the sets {sets}." if not matches else f"it only one of the sets {sets}.")
        )
    (columns,) = matches
    ours = frame.loc[:, list(columns)]
    return ours.rename(columns=dict(zip(columns, known[0], strict=True)))


def _of_dicts(source: Mapping[Any, Any], kind: Kind) -> pd.DataFrame:
    rows = []
    for query, documents in source.items():
        if not isinstance(documents, Mapping):
            raise TypeError(
                f"The {kind.name} has {in_quotes(documents)} for the query {in_quotes(query)}; "
                f"give a dict of dicts: query, document, {kind.number}."
            )
        rows += [(query, document, value) for document, value in documents.items()]
    return _frame(rows, kind)


def _of_tuples(source: Iterable[Any], kind: Kind) -> pd.DataFrame:
    _, (query, document, value), _ = _RUN_COLUMNS if kind is RUN else _QRELS_COLUMNS
    rows = []
    for row in source:
        try:
            rows.append((getattr(row, query), getattr(row, document), getattr(row, value)))
        except AttributeError:
            type_name = f"{type(source).__name__} of {type(row).__name__}"
            raise TypeError(_refusal(type_name, kind)) from None
    return _frame(rows, kind)


def _frame(rows: list[tuple[Any, Any, Any]], kind: Kind) -> pd.DataFrame:
    """Rows under our names; ids of a class of text, such as numpy's, become plain text."""
    frame = pd.DataFrame(rows, columns=list(kind.columns))
    for column in ("query", "document"):
        if all(isinstance(name, str) for name in frame[column]):
            frame[column] = frame[column].map(str)
    return frame
