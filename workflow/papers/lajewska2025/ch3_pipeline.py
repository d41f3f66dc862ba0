"""Stages of the pipeline of chapter 3 of lajewska2025: queries, first passes, re-ranking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from everycell.base.arrays import FloatArray
from everycell.jobs.job import Job
from everycell.retrieval.encoded import Encoded, read_encoded, write_encoded
from everycell.retrieval.ranking_functions import BM25, Rm3
from everycell.text.tokenise import tokeniser
from everycell.trec.runs import read_run, trec_order, write_run
from papers.lajewska2025.cast_data import read_rewrites, read_turns
from papers.lajewska2025.ch3_rewriting import prepend_history


def cast_queries(job: Job) -> None:
    """Queries for CAsT 2020 by rewriter, and unchanged queries of 2022 for training."""
    turns = read_turns(Path(job.input.topics))
    documents = pd.read_parquet(job.input.documents).set_index("document_id")["text"]
    known = turns[turns["answer_id"].isin(documents.index)].set_index("query")["answer_id"]
    answers = documents.loc[known].set_axis(known.index).to_dict()
    job.log.write(f"{len(answers)} of {len(turns)} answers are passages of the collection\n")
    rewritten = turns.set_index("query")[["utterance", "manual"]]
    rewritten = rewritten.set_axis(["raw", "manual"], axis="columns").assign(
        queries=prepend_history(turns),
        context=prepend_history(turns, answers=answers, length=job.params.context),
        **{name: read_rewrites(Path(job.input[name]), turns) for name in job.params.released},
    )
    collection = pd.read_parquet(job.input.collection)
    # The rewriters saw all turns; only turns with judged passages are evaluated.
    judged = collection["query"].isin(rewritten.index)
    wide = rewritten.loc[collection["query"][judged]]
    long = wide.reset_index().melt("query", var_name="rewriter", value_name="text")
    training = collection.loc[~judged, ["query", "text"]].assign(rewriter="training")
    job.write_frame(pd.concat([long, training])[["rewriter", "query", "text"]], "queries")


def cast_search_lexically(job: Job) -> None:
    """BM25 runs with and without feedback for the queries of each rewriter."""
    from everycell.retrieval.lucene import Index

    params = job.params
    queries = terms_by_rewriter(job)
    bm25 = dict(params.bm25)
    if grids := job.input.get("grids"):
        bm25 |= dict.fromkeys(params.tuned, mean_of_best(map(pd.read_csv, grids)))
        job.log.write(f"tuned: {bm25[params.tuned[0]]}\n")
    with Index(Path(job.input.index)) as index:
        for (rewriter, ranker), out in zip(params.runs, job.output.runs, strict=True):
            feedback = Rm3(**params.rm3[ranker]) if ranker in params.rm3 else None
            run = index.search(
                queries[rewriter], BM25(**bm25[ranker]), params.hits, feedback=feedback
            )
            write_run(run, Path(out), tag=Path(out).stem)


def terms_by_rewriter(job: Job) -> dict[str, dict[str, list[str]]]:
    """Terms of the queries of each rewriter: by KStem if there are stop words, else by `tokens`."""
    if stop_words := job.input.get("stop_words"):
        from everycell.retrieval.kstem import kstem_tokeniser

        terms_of = kstem_tokeniser(Path(stop_words).read_text(encoding="utf-8").split())
    else:
        terms_of = tokeniser(job.params.tokens, None)
    frame = pd.read_parquet(job.input.queries)
    frame["terms"] = list(terms_of(list(frame["text"])))
    return {
        rewriter: dict(zip(part["query"], part["terms"], strict=True))
        for rewriter, part in frame.groupby("rewriter")
    }


def mean_of_best(grids: Iterable[pd.DataFrame]) -> dict[str, float]:
    """Mean of the best BM25 parameters of each grid, whose first row is its best."""
    best = pd.concat([grid.head(1) for grid in grids])[["k1", "b"]]
    return best.mean().round(4).to_dict()


def cast_search_encoded(job: Job) -> None:
    """Queries of each rewriter encoded by MiniLM and SPLADE, and the runs of both."""
    from everycell.learning.models import device, load_model, set_gpu_precision, use_one_thread
    from everycell.learning.text_vectors import dense_vectors, splade_weights

    use_one_thread()
    set_gpu_precision(job.params.gpu_precision)
    params = job.params
    frame = pd.read_parquet(job.input.queries)
    # A turn has one query per rewriter, so ids include the rewriter.
    query_ids = list(frame["rewriter"] + ":" + frame["query"])
    texts = list(frame["text"])
    documents = pd.read_parquet(job.input.documents)
    document_ids = list(documents["document_id"])

    model, tokenizer = load_model(job.folder_of("dense"), "encoder")
    vectors = dense_vectors(model.to(device()), tokenizer, texts, params.query)
    passages = read_encoded(Path(job.input.vectors))
    encoded_queries = {
        "dense": Encoded("vectors", passages.documents, vectors, passages.document_ids, query_ids)
    }

    model, tokenizer = load_model(job.folder_of("splade"), "masked-lm")
    model.to(device())
    weights = splade_weights(model, tokenizer, texts, params.query)
    columns = np.unique(weights.indices)
    encoded_queries["splade"] = Encoded(
        "term_weights",
        splade_weights(model, tokenizer, list(documents["text"]), params.length, columns=columns),
        weights[:, columns],
        document_ids,
        query_ids,
    )
    for encoded, out in zip(encoded_queries.values(), job.output.encoded, strict=True):
        write_encoded(encoded, Path(out))
    for (rewriter, encoder), out in zip(params.runs, job.output.runs, strict=True):
        turns = frame.loc[frame["rewriter"] == rewriter, "query"]
        run = encoded_queries[encoder].search([f"{rewriter}:{turn}" for turn in turns], params.hits)
        run["query"] = run["query"].str.partition(":")[2]
        write_run(run, Path(out), tag=Path(out).stem)


class Scorer(Protocol):
    """An encoder that scores pairs of a query and a document."""

    def score(self, pairs: pd.DataFrame) -> pd.DataFrame:
        """Add a column `score` to `pairs` (columns `query`, `document`), in the same order."""


class Rerankers(Protocol):
    """A point-wise re-ranker, and a pair-wise one of the top candidates."""

    def pointwise(self, run: pd.DataFrame, rewriter: str) -> pd.DataFrame:
        """Re-rank a run for the queries of a rewriter."""
        ...

    def pairwise(
        self, run: pd.DataFrame, rewriter: str, options: Mapping[str, Any]
    ) -> pd.DataFrame:
        """Re-rank the top passages; `options` are those of `aggregate_preferences`."""
        ...


class PassageRerankers:
    """A point-wise re-ranker of all candidates, and a pair-wise one of the top candidates.

    They stand for monoT5 and duoT5: regressions on the MiniLM and SPLADE-tiny scores of a passage
    for the rewritten query, trained on the turns of a different year.

    Unjudged candidates count as not relevant, in CAsT and in `fit`.
    """

    def __init__(self, encoders: Sequence[Scorer], first: int) -> None:
        self.encoders, self.first = encoders, first
        self.mono = make_pipeline(StandardScaler(), LogisticRegression())
        # A linear model gives one order of the passages, however preferences are aggregated.
        # Products of the scores avoid this.
        self.duo = make_pipeline(
            StandardScaler(), PolynomialFeatures(2), LogisticRegression(max_iter=1000)
        )

    def fit(
        self, run: pd.DataFrame, rewriter: str, qrels: pd.DataFrame, relevance_level: int
    ) -> PassageRerankers:
        """Train both re-rankers on a first-pass run and relevance judgements."""
        levels = run.merge(qrels, how="left")["relevance"].fillna(0).to_numpy()
        self.mono.fit(self._features(run, rewriter), levels >= relevance_level)
        pairs, values = self._paired_features(self.pointwise(run, rewriter), rewriter)
        level_of = pd.Series(levels, pd.MultiIndex.from_frame(run[["query", "document"]]))
        first, second = (
            level_of.loc[pd.MultiIndex.from_frame(pairs[["query", side]])].to_numpy()
            for side in ("first", "second")
        )
        self.duo.fit(values[first != second], (first > second)[first != second])
        return self

    def pointwise(self, run: pd.DataFrame, rewriter: str) -> pd.DataFrame:
        """Re-rank a run point-wise."""
        scores = self.mono.decision_function(self._features(run, rewriter))
        return rerank(run, run[["query", "document"]].assign(score=scores))

    def pairwise(
        self, run: pd.DataFrame, rewriter: str, options: Mapping[str, Any]
    ) -> pd.DataFrame:
        """Re-rank the top passages of a run pair-wise."""
        pairs, values = self._paired_features(run, rewriter)
        pairs["probability"] = self.duo.predict_proba(values)[:, 1]
        return rerank(run, aggregate_preferences(pairs, **options))

    def _features(self, pairs: pd.DataFrame, rewriter: str) -> FloatArray:
        rewritten = pairs.assign(query=rewriter + ":" + pairs["query"])
        return np.column_stack([encoder.score(rewritten)["score"] for encoder in self.encoders])

    def _paired_features(self, run: pd.DataFrame, rewriter: str) -> tuple[pd.DataFrame, FloatArray]:
        """All ordered pairs of top passages, with the features of both passages."""
        first = top_documents(run, self.first)
        pairs = ordered_pairs(first)
        keys = pd.MultiIndex.from_frame(first[["query", "document"]])
        values = self._features(first, rewriter)
        sides = [
            values[keys.get_indexer(pd.MultiIndex.from_frame(pairs[["query", side]]))]
            for side in ("first", "second")
        ]
        return pairs, np.column_stack(sides)


def cast_rerank(job: Job) -> None:
    """Fuse runs, then re-rank point-wise (all candidates) and pair-wise (top candidates)."""
    params = job.params
    runs = fuse_runs(job)
    encoders = [read_encoded(Path(path)) for path in job.input.encoded]
    qrels = pd.read_parquet(job.input.qrels)
    rerankers = PassageRerankers(encoders, params.pairwise).fit(
        runs["training.fused"], "training", qrels, params.relevance_level
    )
    runs |= rerank_runs(runs, params.reranked, rerankers)
    for path in map(Path, job.output.runs):
        write_run(runs[path.stem], path, tag=path.stem)


def fuse_runs(job: Job) -> dict[str, pd.DataFrame]:
    """First passes of a job by name, and their fusions."""
    runs = {Path(path).stem: read_run(Path(path)) for path in job.input.runs}
    for name, parts in job.params.fused.items():
        fused = reciprocal_rank_fusion([runs[part] for part in parts], job.params.rrf)
        runs[name] = top_documents(fused, job.params.candidates)
    return runs


def rerank_runs(
    runs: Mapping[str, pd.DataFrame],
    reranked: Mapping[str, tuple[str, str, Mapping[str, Any] | None]],
    rerankers: Rerankers,
) -> dict[str, pd.DataFrame]:
    """Re-rank first passes point-wise, and pair-wise if there are options for it."""
    results = {}
    for name, (stage, rewriter, options) in reranked.items():
        results[name] = rerankers.pointwise(runs[stage], rewriter)
        if options is not None:
            results[name] = rerankers.pairwise(results[name], rewriter, options)
    return results


How = Literal["sum", "log"]

# The smallest normal 32-bit float, which replaces a probability of 0 in logarithms.
_MIN_PROBABILITY = float(np.finfo(np.float32).tiny)


def reciprocal_rank_fusion(runs: Sequence[pd.DataFrame], k: float = 60) -> pd.DataFrame:
    """Fuse runs: a document's score is the sum of 1 / (k + rank) over the runs that contain it.

    The queries keep the order of the first run.
    """
    ordered = pd.concat([trec_order(run) for run in runs], keys=range(len(runs)), names=["run"])
    rank = ordered.groupby(["run", "query"], sort=False).cumcount() + 1
    # groupby keeps the order of first occurrences; bincount adds in the order of the runs.
    pairs = ordered.groupby(["query", "document"], sort=False)
    sums = np.bincount(pairs.ngroup(), weights=1 / (k + rank))
    names = ordered[["query", "document"]].drop_duplicates(ignore_index=True)
    return trec_order(names.assign(score=sums))


def top_documents(run: pd.DataFrame, depth: int) -> pd.DataFrame:
    """Keep the first `depth` documents of each query."""
    return trec_order(run).groupby("query", sort=False).head(depth).reset_index(drop=True)


def rerank(run: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Put the re-scored documents of each query first, in their new order; the others follow."""
    first, second = trec_order(run), trec_order(scores)
    keys = ["query", "document"]
    positions = second[keys].assign(position=np.arange(len(second)))
    merged = first.merge(positions, on=keys, how="left")
    # The other documents follow in their old order.
    order = merged["position"].fillna(len(second)).to_numpy()
    query, _ = pd.factorize(merged["query"])
    ordered = merged.iloc[np.lexsort((np.arange(len(merged)), order, query))]
    reversed_ranks = ordered.groupby("query", sort=False).cumcount(ascending=False) + 1.0
    return ordered[keys].assign(score=reversed_ranks).reset_index(drop=True)


def ordered_pairs(run: pd.DataFrame) -> pd.DataFrame:
    """All ordered pairs of different documents of each query, for a pairwise re-ranker."""
    parts = [np.empty((0, 2), dtype=np.intp)]
    query, _ = pd.factorize(run["query"])
    for rows in pd.Series(range(len(run))).groupby(query).indices.values():
        pairs = np.stack(np.meshgrid(rows, rows, indexing="ij"), axis=-1).reshape(-1, 2)
        parts.append(pairs[pairs[:, 0] != pairs[:, 1]])
    first, second = np.concatenate(parts).T
    names = run["document"].to_numpy()
    return pd.DataFrame(
        {"query": run["query"].to_numpy()[first], "first": names[first], "second": names[second]}
    )


def aggregate_preferences(
    preferences: pd.DataFrame, how: How = "sum", *, symmetric: bool = True
) -> pd.DataFrame:
    """Aggregate the probabilities that a document is better than the others into its score.

    From the probability p(i, j) that i is better than j, the score of i sums p(i, j) over all j, or
    its logarithm, and if symmetric also 1 - p(j, i). Source: Pradeep, Nogueira and Lin, "The
    Expando-Mono-Duo design pattern" (2021). The code of lajewska2025 uses the symmetric sum; the
    text does not specify it.
    """
    p = preferences["probability"].to_numpy(dtype=float)
    won, lost = p, 1 - p
    if how == "log":
        won, lost = (np.log(np.maximum(x, _MIN_PROBABILITY)) for x in (won, lost))
    sides = [preferences[["query", "first"]].set_axis(["query", "document"], axis=1)] + [
        preferences[["query", "second"]].set_axis(["query", "document"], axis=1)
    ]
    scored = pd.concat(
        [sides[0].assign(score=won), sides[1].assign(score=lost if symmetric else 0.0)],
        ignore_index=True,
    )
    totals = scored.groupby(["query", "document"], sort=False)["score"].sum()
    return trec_order(totals.reset_index()[["query", "document", "score"]])
