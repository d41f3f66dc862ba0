"""Utility and fairness of each query, by method and strength, in chapter 3 of heuss2025."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from everycell.base.arrays import FloatArray, IntArray
from everycell.base.errors import DataError
from everycell.fair_ranking.constrained import best_by_assignment, reciprocal_nfairr, scale_scores
from everycell.fair_ranking.fa_ir import fa_ir, minimum_protected
from everycell.fair_ranking.pufr import pufr
from everycell.jobs.job import Job
from everycell.metrics.nfairr import neutrality
from everycell.trec.runs import read_run

#: Strengths of each method, as in the released code.
ALPHAS: dict[str, list[float]] = {
    "UNFAIR": [0.0],
    "PUFR": [
        *(round(0.2 * step, 1) for step in range(1, 10)),
        *(0.5 * step for step in range(4, 20)),
        *(2.0 * step for step in range(5, 10)),
    ],
    "FA*IR": [0.2, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95],
    "CVXOPT": [0.6, 0.7, 0.75, 0.775, 0.8, 0.85, 0.9, 0.91, 0.92, 0.93, 0.95, 0.97],
}
#: PUFR with the mean deviation for all documents.
UNIFORM = "PUFR, one deviation for all"
METRICS = ("nDCG@10", "nDCG@100", "nFaiRR@10", "nFaiRR@50")


class RankedList(NamedTuple):
    """Candidates of one query, by decreasing mean score."""

    query: str
    documents: list[str]
    means: FloatArray
    deviations: FloatArray
    neutralities: FloatArray
    grades: FloatArray  #: relevance of each candidate, 0 if unjudged
    ideal: FloatArray  #: grades of all judged documents, highest first


def trade_offs(job: Job) -> None:
    """Measures per query for every method and strength."""
    inputs, params = job.input, job.params
    of_collection = (inputs.counts, inputs.qrels, params.neutral_from)
    scores = pd.read_parquet(inputs.scores)
    if params.sampled:
        scores = scores_over_heads(scores)
    lists = read_lists(scores, *of_collection)
    frames = [measures_by_strength(lists, **params.methods)]
    queries = [ranked.query for ranked in lists]
    for (method, alpha), path in zip(params.trained, inputs.trained, strict=True):
        frames.append(trained_measures(read_trained(path, *of_collection), method, alpha, queries))
    job.write_frame(pd.concat(frames, ignore_index=True), "measures")


def scores_over_heads(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean and deviation over sampled heads, instead of the closed form (Algorithm 4)."""
    return scores.assign(mean=scores["sampled_mean"], deviation=scores["sampled_deviation"])


def read_lists(
    scores: Path | str | pd.DataFrame,
    counts: Path | str,
    qrels: Path | str,
    neutral_from: float | None = None,
) -> list[RankedList]:
    """Lists of a ranker, with the neutrality of each document."""
    table = scores if isinstance(scores, pd.DataFrame) else pd.read_parquet(scores)
    # MS MARCO has millions of passages, but its lists have only thousands.
    term_counts = pd.read_parquet(counts)
    term_counts = term_counts[term_counts["document_id"].isin(table["document"])]
    if missing := set(table["document"]) - set(term_counts["document_id"]):
        raise DataError(
            fault=f"{counts} does not have the passage {min(missing)!r} "
            f"({len(missing)} are missing)",
            fix="rank the collection whose terms were counted",
        )
    groups = term_counts.drop(columns=["document_id", "length"]).to_numpy()
    values = neutrality(groups)
    if neutral_from is not None:
        values = (values >= neutral_from).astype(float)
    neutral = dict(zip(term_counts["document_id"], values, strict=True))
    return ranked_lists(table, neutral, pd.read_parquet(qrels))


def read_trained(
    path: Path | str, counts: Path | str, qrels: Path | str, neutral_from: float | None = None
) -> list[RankedList]:
    """Lists of a method that trains a ranker, from a run."""
    run = read_run(Path(path)).rename(columns={"score": "mean"})
    return read_lists(run.assign(deviation=0.0), counts, qrels, neutral_from)


def ranked_lists(
    scores: pd.DataFrame, neutralities: Mapping[str, float], qrels: pd.DataFrame
) -> list[RankedList]:
    """Candidates of each query with a relevant document."""
    grades_by_query = {
        query: dict(zip(part["document"], part["relevance"], strict=True))
        for query, part in qrels.groupby("query")
    }
    lists = []
    for query, part in scores.groupby("query", sort=False):
        grades = grades_by_query.get(str(query), {})
        if not any(grade > 0 for grade in grades.values()):
            continue
        part = part.sort_values(["mean", "document"], ascending=[False, True])
        documents = part["document"].tolist()
        lists.append(
            RankedList(
                str(query),
                documents,
                part["mean"].to_numpy(dtype=float),
                part["deviation"].to_numpy(dtype=float),
                np.array([neutralities[document] for document in documents], dtype=float),
                np.array([max(grades.get(document, 0), 0) for document in documents], dtype=float),
                np.array(sorted((max(g, 0) for g in grades.values()), reverse=True), dtype=float),
            )
        )
    return lists


def measures_by_strength(
    lists: Sequence[RankedList],
    *,
    protected_from: float,
    constrained: int,
    significance: float,
    uniform_alphas: Sequence[float] = (),
) -> pd.DataFrame:
    """Measures per query, method and strength."""
    mean = float(np.concatenate([ranked.deviations for ranked in lists]).mean())
    depth = max(len(ranked.documents) for ranked in lists)
    rows = []
    for method, alpha in _settings(uniform_alphas):
        needed = np.empty(0, dtype=np.int64)
        if method == "FA*IR":
            needed = minimum_protected(depth, alpha, significance)
        for ranked in lists:
            protected = ranked.neutralities >= protected_from
            match method:
                case "UNFAIR":
                    order = np.arange(len(protected))
                case "PUFR":
                    order = pufr(ranked.means, ranked.deviations, protected, alpha)
                case "FA*IR":
                    order = fa_ir(ranked.means, protected, needed)
                case "CVXOPT":
                    order = constrained_order(ranked, alpha, constrained)
                case _:
                    deviations = np.full(len(protected), mean)
                    order = pufr(ranked.means, deviations, protected, alpha)
            rows.append((method, alpha, ranked.query, *measures(ranked, order)))
    return pd.DataFrame(rows, columns=["method", "alpha", "query", *METRICS])


def trained_measures(
    lists: Sequence[RankedList], method: str, alpha: float, queries: Sequence[str]
) -> pd.DataFrame:
    """Measures of the lists of a method that trains a ranker."""
    by_query = {ranked.query: ranked for ranked in lists}
    if missing := [query for query in queries if query not in by_query]:
        raise DataError(
            fault=f"the run of {method} with strength {alpha:g} has no list for query {missing[0]} "
            f"({len(missing)} of {len(queries)} are missing)",
            fix="provide a list for each query",
        )
    rows = [
        (
            method,
            alpha,
            query,
            *measures(by_query[query], np.arange(len(by_query[query].documents))),
        )
        for query in queries
    ]
    return pd.DataFrame(rows, columns=["method", "alpha", "query", *METRICS])


def constrained_order(ranked: RankedList, share: float, depth: int) -> IntArray:
    """Order with the highest utility whose top documents are fair enough.

    Source: heuss2025, section 3.4.4; scores are scaled as in the released code.
    """
    head = min(depth, len(ranked.documents))
    best = best_by_assignment(scale_scores(ranked.means[:head]), ranked.neutralities[:head], share)
    return np.concatenate([best.ranking, np.arange(head, len(ranked.documents))])


def measures(ranked: RankedList, order: IntArray) -> tuple[float, ...]:
    """Measure one order of a list: nDCG at 10 and 100, nFaiRR at 10 and 50.

    Grades are gains, as in trec_eval. The ideal order contains all judged documents for nDCG, and
    the candidates for nFaiRR.
    """
    grades, neutral = ranked.grades[order], ranked.neutralities[order]
    return (
        *(_ndcg(grades, ranked.ideal, cutoff) for cutoff in (10, 100)),
        *(reciprocal_nfairr(neutral, cutoff) for cutoff in (10, 50)),
    )


def _ndcg(grades: FloatArray, ideal: FloatArray, cutoff: int) -> float:
    def gain(values: FloatArray) -> float:
        first = values[:cutoff]
        return float(first @ (1 / np.log2(np.arange(2, len(first) + 2))))

    return gain(grades) / gain(ideal)


def _settings(uniform_alphas: Sequence[float]) -> Iterator[tuple[str, float]]:
    for method, alphas in ALPHAS.items():
        yield from ((method, alpha) for alpha in alphas)
    yield from ((UNIFORM, alpha) for alpha in uniform_alphas or ALPHAS["PUFR"])
