"""Runs and relevance judgements (qrels) in TREC format, and trec_eval's order of documents.

The ranks and the order of the lines are ignored, as in trec_eval: documents are ordered by score,
and ties by descending id (`trec_order`). Scores are compared as 32-bit floats, as in trec_eval 9
and pytrec_eval; trec_eval 10 uses 64 bits. A warning is issued if this makes different scores tie.
With ``ranks="error"``, `read_run` rejects ranks that contradict the scores.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from everycell.base.arrays import IntArray
from everycell.base.errors import DataError
from everycell.base.text_files import text_lines
from everycell.base.untrusted import in_quotes
from everycell.trec.frames import CANDIDATES, ID_DELIMITER, QRELS, RUN, check_frame
from everycell.trec.lines import Ranks, read_lines, write_lines

Outside = Literal["error", "drop"]

_INVALID_ID = f"^$|{ID_DELIMITER}"


def read_run(
    path: Path | str, *, queries: Iterable[str] | None = None, ranks: Ranks = "ignore"
) -> pd.DataFrame:
    """Read a run in TREC format."""
    if ranks not in ("ignore", "error"):
        raise DataError(column="ranks", value=ranks, expected="'ignore' or 'error'")
    return read_lines(path, RUN, ranks=ranks == "error", queries=queries)


def read_qrels(path: Path | str, *, scale: tuple[int, int] | None = None) -> pd.DataFrame:
    """Read relevance judgements in TREC format."""
    return read_lines(path, QRELS, scale=scale)


def check_run(run: pd.DataFrame) -> pd.DataFrame:
    """Check a frame of scored documents as :func:`read_run` checks a file."""
    return check_frame(run, RUN)


def check_qrels(qrels: pd.DataFrame) -> pd.DataFrame:
    """Check a frame of relevance judgements as :func:`read_qrels` checks a file."""
    return check_frame(qrels, QRELS)


def check_candidates(candidates: pd.DataFrame) -> pd.DataFrame:
    """Check a frame of the documents that a re-ranker scores for each query."""
    return check_frame(candidates, CANDIDATES)


def system_name(path: Path | str) -> str:
    """Name of the system of a run: its file name without extension; the tag is not used."""
    return Path(Path(path).name.removesuffix(".gz")).stem


def read_tag(path: Path | str) -> str:
    """Tag in the first line of a run; empty if there is none, or if `read_run` refuses the file."""
    with suppress(ValueError):
        for _, line in text_lines(Path(path)):
            if line.strip() and not line.startswith("#"):
                fields = line.split(maxsplit=len(RUN.fields))
                return fields[5] if len(fields) == len(RUN.fields) else ""
    return ""


def normalise_name(name: str) -> str:
    """Lower-case letters and digits of a system's name, by which names and tags are compared."""
    return "".join(filter(str.isalnum, name.lower()))


def check_tags(runs: Sequence[tuple[Path, str | None]]) -> None:
    """Refuse a run whose tag is the name of another run.

    `runs` are paths and the names that the user gave them, if any; then the tag does not matter.
    Without a name, `system_name` counts. If the other run has the same tag, as a reproduction of
    the same system may have, it is a warning.
    """
    names = [normalise_name(name or system_name(path)) for path, name in runs]
    tags = [read_tag(path) for path, _ in runs]
    for row, (name, tag) in enumerate(zip(names, tags, strict=True)):
        normalised = normalise_name(tag)
        if not normalised or normalised in name or runs[row][1] is not None:
            continue
        for other, (other_name, other_tag) in enumerate(zip(names, tags, strict=True)):
            if other_name != normalised or runs[other][0] == runs[row][0]:
                continue
            sentence = (
                f"The run {runs[row][0]} has the tag {in_quotes(tag)}, which is the name of "
                f"{runs[other][0]} (tag {in_quotes(other_tag)})"
            )
            if normalise_name(other_tag) != normalised:
                raise DataError(
                    fault=sentence,
                    fix="the files may be swapped; rename one of them, or correct its tag",
                )
            warnings.warn(f"{sentence}; systems are named after files, not tags.", stacklevel=2)


def write_run(run: pd.DataFrame, path: Path | str, *, tag: str) -> None:
    """Write a run in TREC format, in trec_eval's order, with ranks from 1."""
    if not tag or re.search(ID_DELIMITER, tag):
        raise DataError(
            path, column="tag", value=tag, expected="one character or more, without white space"
        )
    ordered = trec_order(run)
    rank = ordered.groupby("query", sort=False).cumcount() + 1
    write_lines((ordered["query"], "Q0", ordered["document"], rank, ordered["score"], tag), path)


def write_qrels(qrels: pd.DataFrame, path: Path | str) -> None:
    """Write relevance judgements in TREC format, in the order of the rows."""
    frame = check_qrels(qrels)
    write_lines((frame["query"], "0", frame["document"], frame["relevance"]), path)


def restrict_run(
    run: pd.DataFrame,
    candidates: pd.DataFrame,
    *,
    missing: float | None = None,
    outside: Outside = "error",
) -> pd.DataFrame:
    """Restrict a run to the candidates, with the score `missing` for candidates it lacks."""
    if outside not in ("error", "drop"):
        raise DataError(column="outside", value=outside, expected="'error' or 'drop'")
    if missing is not None and not np.isfinite(np.float32(missing)):
        raise DataError(column="missing", value=missing, expected="a finite score or None")
    run, candidates = check_run(run), check_candidates(candidates)
    merged = candidates.merge(run, on=["query", "document"], how="left")
    is_missing = merged["score"].isna().to_numpy()
    if outside == "error" and len(merged) - is_missing.sum() < len(run):
        pairs = pd.MultiIndex.from_frame(candidates)
        row = int(np.argmin(pd.MultiIndex.from_frame(run[["query", "document"]]).isin(pairs)))
        raise DataError(
            row=f"row {row} of the run",
            column="document",
            value=run["document"].iloc[row],
            fault=f"which is not a candidate of query {run['query'].iloc[row]!r}",
            fix="add it to the candidates, or drop such documents with outside='drop'",
        )
    if is_missing.any():
        if missing is None:
            row = int(np.argmax(is_missing))
            raise DataError(
                "the run",
                column="document",
                value=merged["document"].iloc[row],
                fault=f"a candidate of query {merged['query'].iloc[row]!r} without a score "
                f"({is_missing.sum()} of {len(merged)} candidates)",
                fix="score it, or set a score for missing candidates with missing=",
            )
        merged["score"] = merged["score"].fillna(float(missing))
    return merged


def id_order(ids: pd.Series | pd.Index) -> IntArray:
    """Position of each id in descending order of the UTF-8 bytes."""
    codes, names = pd.factorize(ids)
    order = pc.sort_indices(pa.array(names, pa.string()), sort_keys=[("", "descending")])
    position = np.empty(len(names), dtype=np.int64)
    position[order.to_numpy()] = np.arange(len(names))
    return position[codes]


def trec_order(run: pd.DataFrame) -> pd.DataFrame:
    """Order a run's rows as trec_eval ranks them."""
    return order_run(check_run(run))


class RankedRun(NamedTuple):
    """Rows of a run in trec_eval's order: numbers of query and document, and rank from 0."""

    queries: pd.Index
    documents: pd.Index
    query: IntArray
    document: IntArray
    rank: IntArray


def rank_run(run: pd.DataFrame) -> RankedRun:
    """Check a run and rank its documents; ids are compared as numbers, which is faster."""
    if not _is_valid(run):
        # This raises the error, unless the fast checks were too strict.
        run = check_run(run)
    query, queries = _number_runs(run["query"])
    document, documents = pd.factorize(run["document"])
    if (
        pc.any(pc.match_substring_regex(pa.array(queries, pa.string()), _INVALID_ID)).as_py()
        or pc.any(pc.match_substring_regex(pa.array(documents, pa.string()), _INVALID_ID)).as_py()
    ):
        check_run(run)
    order = _order(run, query)
    query, document = query[order], document[order]
    sizes = np.bincount(query)
    starts = np.cumsum(sizes) - sizes
    position = np.empty(len(documents), dtype=np.int64)
    ranks = np.arange(sizes.max())
    for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        items = document[start : start + size]
        position[items] = ranks[:size]
        # Of a document that is listed twice, only the last position remains.
        if (position[items] != ranks[:size]).any():
            check_run(run)
    rank = np.arange(len(query)) - np.repeat(starts, sizes)
    return RankedRun(pd.Index(queries), pd.Index(documents), query, document, rank)


def _number_runs(ids: pd.Series) -> tuple[IntArray, pd.Index]:
    """Numbers of ids, many of which equal the id of the row above."""
    table = pa.Table.from_pandas(ids.to_frame(), preserve_index=False)
    runs = pc.run_end_encode(table.column(0).combine_chunks())
    first, names = pd.factorize(runs.values.to_pandas())
    return np.repeat(first, np.diff(runs.run_ends.to_numpy(), prepend=0)), pd.Index(names)


def _is_valid(run: pd.DataFrame) -> bool:
    """Whether columns, types and scores are surely those of a run."""
    columns = list(run.columns)
    if run.empty or any(columns.count(name) != 1 for name in RUN.columns):
        return False
    ids = [run["query"], run["document"]]
    if any(not isinstance(one.dtype, pd.StringDtype) or one.hasnans for one in ids):
        return False
    with np.errstate(over="ignore"):
        return run["score"].dtype == np.float64 and bool(
            np.isfinite(run["score"].to_numpy().astype(np.float32)).all()
        )


def order_run(run: pd.DataFrame) -> pd.DataFrame:
    """Order the rows of a checked run as trec_eval ranks them."""
    return run.iloc[_order(run, pd.factorize(run["query"])[0])].reset_index(drop=True)


def _order(run: pd.DataFrame, query: IntArray) -> IntArray | slice:
    """Positions of the rows of a checked run in trec_eval's order, given numbers of its queries."""
    score = run["score"].to_numpy().astype(np.float32)
    is_same = query[1:] == query[:-1]
    if ((is_same & (score[1:] <= score[:-1])) | (query[1:] > query[:-1])).all():
        if not (is_same & (score[1:] == score[:-1])).any():
            return slice(None)
        order = np.arange(len(run))
    else:
        order = np.lexsort((-score, query))
    # Sorting ids is slow, so only the ids of ties are sorted.
    upper, lower = order[:-1], order[1:]
    is_tie = (query[upper] == query[lower]) & (score[upper] == score[lower])
    if not is_tie.any():
        return order
    warn_of_collapse(run, upper[is_tie], lower[is_tie])
    tied_rows = order[np.append(is_tie, False) | np.append(False, is_tie)]
    tie_order = np.zeros(len(run), dtype=np.int64)
    tie_order[tied_rows] = id_order(run["document"].iloc[tied_rows])
    return np.lexsort((tie_order, -score, query))


def warn_of_collapse(run: pd.DataFrame, upper: IntArray, lower: IntArray) -> None:
    """Warn if tied rows of a run have different scores that are equal as 32-bit floats."""
    score = run["score"].to_numpy()
    collapsed = np.flatnonzero(score[upper] != score[lower])
    if len(collapsed):
        first, second = upper[collapsed[0]], lower[collapsed[0]]
        warnings.warn(
            f"The scores {float(score[first])} and {float(score[second])} of query "
            f"{in_quotes(run['query'].iloc[first])} are equal as 32-bit floats (such pairs in the "
            f"run: {len(collapsed)}) and are ordered by document id, as in trec_eval 9; "
            "trec_eval 10 distinguishes them. If their order matters, write scores that differ in "
            "the first seven digits.",
            stacklevel=5,
        )
