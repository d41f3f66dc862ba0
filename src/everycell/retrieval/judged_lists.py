"""Judged candidate lists as arrays, on which many systems are evaluated at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.base.arrays import BoolArray, FloatArray, IntArray
from everycell.retrieval.evaluation import (
    Choice,
    check_level,
    evaluate,
    parse_measures,
    select_topics,
)
from everycell.trec.runs import Outside, check_candidates, check_qrels, id_order, restrict_run


@dataclass(frozen=True)
class JudgedLists:
    """Candidate lists of n topics with relevance, as arrays, from :func:`judge`.

    `documents`, `listed` (true for candidates) and `relevance` have the shape (n, c) and are
    padded. `relevant`, the number of relevant documents, and `ideal`, the relevances above 0 in
    descending order, include judged documents that are not candidates.
    """

    queries: pd.Index
    documents: npt.NDArray[np.object_]
    listed: BoolArray
    relevance: npt.NDArray[np.int32]
    relevant: IntArray
    ideal: npt.NDArray[np.int32]
    relevance_level: int

    def topics(self, selection: slice | npt.ArrayLike) -> JudgedLists:
        """Select topics by position (a slice, positions or a mask)."""
        rows = selection if isinstance(selection, slice) else np.asarray(selection)
        return replace(
            self,
            queries=self.queries[rows],
            documents=self.documents[rows],
            listed=self.listed[rows],
            relevance=self.relevance[rows],
            relevant=self.relevant[rows],
            ideal=self.ideal[rows],
        )

    def candidates(self) -> pd.DataFrame:
        """The lists as a frame with the columns ``query`` and ``document``."""
        return pd.DataFrame(
            {
                "query": self.queries.repeat(self.listed.sum(axis=1)),
                "document": pd.Series(self.documents[self.listed], dtype="str"),
            }
        )

    def scores(
        self, run: pd.DataFrame, *, missing: float | None = None, outside: Outside = "error"
    ) -> FloatArray:
        """Scores of the candidates in a run."""
        judged = run[run["query"].isin(self.queries)] if "query" in run.columns else run
        scores = np.zeros(self.listed.shape)
        scores[self.listed] = restrict_run(
            judged, self.candidates(), missing=missing, outside=outside
        )["score"]
        return scores

    def run(self, scores: npt.ArrayLike) -> pd.DataFrame:
        """Scores as a run: the inverse of :meth:`scores`."""
        values = np.asarray(scores, dtype=np.float64)
        return self.candidates().assign(score=values[self.listed])


def judge(
    candidates: pd.DataFrame,
    qrels: pd.DataFrame,
    *,
    relevance_level: int = 1,
    missing_topics: Choice = "error",
    without_relevant: Choice = "error",
) -> JudgedLists:
    """Arrange candidate lists and their judgements as arrays."""
    check_level(relevance_level)
    candidates, qrels = check_candidates(candidates), check_qrels(qrels)
    topics = select_topics(
        qrels,
        pd.Index(candidates["query"].unique()),
        relevance_level=relevance_level,
        missing_topics=missing_topics,
        without_relevant=without_relevant,
    )
    merged = candidates.merge(qrels, on=["query", "document"], how="left")
    relevance = merged["relevance"].fillna(0).to_numpy().clip(min=0)
    (documents, gains), listed = _pivot(
        topics.get_indexer(merged["query"]),
        id_order(merged["document"]),
        (merged["document"].to_numpy(dtype=object), relevance.astype(np.int32)),
        len(topics),
    )
    documents[~listed] = ""
    positive = qrels[qrels["relevance"] > 0]
    row = topics.get_indexer(positive["query"])
    level = positive["relevance"].to_numpy()
    (ideal,), _ = _pivot(row, -level, (level,), len(topics))
    relevant = np.bincount(row[(row >= 0) & (level >= relevance_level)], minlength=len(topics))
    return JudgedLists(topics, documents, listed, gains, relevant, ideal, relevance_level)


def _pivot(
    row: IntArray,
    key: IntArray,
    columns: Sequence[npt.NDArray],
    n_rows: int,
) -> tuple[list[npt.NDArray], BoolArray]:
    """Pivot long columns to arrays of shape (n_rows, longest), sorted by key, and a mask."""
    order = np.lexsort((key, row))
    order = order[row[order] >= 0]
    row = row[order]
    lengths = np.bincount(row, minlength=n_rows)
    position = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    shape = (n_rows, max(int(lengths.max(initial=0)), 1))
    filled = np.zeros(shape, dtype=bool)
    filled[row, position] = True
    wide = [np.zeros(shape, dtype=column.dtype) for column in columns]
    for target, column in zip(wide, columns, strict=True):
        target[row, position] = column[order]
    return wide, filled


def ranking_measures(
    lists: JudgedLists,
    scores: npt.ArrayLike,
    measures: Sequence[str] = ("MAP", "nDCG"),
) -> dict[str, FloatArray]:
    """Evaluate many score arrays at once: one value per measure and topic.

    Candidates are in descending order of their ids, so a stable sort by descending score breaks
    ties as trec_eval does. It needs about 40 bytes of memory per score.
    """
    parsed = parse_measures(measures, lists.relevance_level)
    keys = np.negative(np.asarray(scores), dtype=np.float32, casting="same_kind")
    keys[..., ~lists.listed] = np.inf
    order = np.argsort(keys, axis=-1, kind="stable")
    gains = np.take_along_axis(np.broadcast_to(lists.relevance, keys.shape), order, axis=-1)
    relevant = gains >= lists.relevance_level
    hits = np.cumsum(relevant, axis=-1, dtype=np.int32)
    return {
        measure: _measure_value(*name, lists, gains, relevant, hits)
        for measure, name in parsed.items()
    }


def _measure_value(
    name: str,
    cutoff: int | None,
    lists: JudgedLists,
    gains: npt.NDArray[np.int32],
    relevant: BoolArray,
    hits: npt.NDArray[np.int32],
) -> FloatArray:
    """Values of a measure, shape (..., n), from ranked relevance, shape (..., n, c).

    `hits` is the number of relevant documents up to each rank.
    """
    length = gains.shape[-1]
    depth = length if cutoff is None else min(cutoff, length)
    ranks = np.arange(1, max(length, lists.ideal.shape[1]) + 1)
    n_relevant = np.maximum(lists.relevant, 1)
    if name == "AP":
        precision = np.where(relevant[..., :depth], hits[..., :depth] / ranks[:depth], 0.0)
        return precision.sum(axis=-1) / n_relevant
    if name == "nDCG":
        discount = 1 / np.log2(ranks + 1)
        ideal = lists.ideal[:, :cutoff]
        best = ideal @ discount[: ideal.shape[1]]
        return gains[..., :depth] @ discount[:depth] / np.where(best > 0, best, 1.0)
    if name == "RR":
        first = relevant[..., :depth].argmax(axis=-1)
        return np.where(relevant[..., :depth].any(axis=-1), 1 / (first + 1), 0.0)
    return hits[..., depth - 1] / (n_relevant if name == "R" or cutoff is None else cutoff)


def search_grid(
    rank: Callable[..., pd.DataFrame],
    grid: Mapping[str, Sequence[float]],
    lists: Mapping[str, pd.DataFrame],
    measure: str = "nDCG",
) -> tuple[dict[str, float], pd.DataFrame]:
    """Try every combination of parameters, and choose the best one."""
    points = [dict(zip(grid, point, strict=True)) for point in product(*grid.values())]
    judged = {task: judge(qrels, qrels) for task, qrels in lists.items()}
    means = []
    for point in points:
        run = rank(**point)
        values = []
        for task, qrels in lists.items():
            ranked = judged[task].run(judged[task].scores(run, outside="drop"))
            values.append(evaluate(ranked, qrels, [measure])[measure].mean())
        means.append(sum(values) / len(values))
    # If several are equally good, max returns the first.
    best = max(range(len(points)), key=means.__getitem__)
    return points[best], pd.DataFrame(points).assign(**{measure: means})
