"""Fused runs, and re-ranked ones: point-wise on all candidates, then pair-wise on the first ones.

Both re-rankers are logistic regressions on the scores of MiniLM and SPLADE-tiny, of one passage and
of two. They learn from the turns of 2022 and rank those of 2020.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from everycell.engine.job import Job
from everycell.retrieval.encoded import read_encoded
from everycell.retrieval.fusion import fuse
from everycell.retrieval.reranking import aggregate_preferences, best, ordered_pairs, rerank
from everycell.trec.runs import read_run, write_run

with Job(snakemake) as job:
    settings = snakemake.params
    encoded = [read_encoded(Path(path)) for path in snakemake.input.encoded]
    qrels = pd.read_parquet(snakemake.input.qrels)
    runs = {Path(path).stem: read_run(Path(path)) for path in snakemake.input.runs}
    for name, parts in settings.fused.items():
        fused = fuse([runs[part] for part in parts], "rrf", k=settings.rrf)
        runs[name] = best(fused, settings.candidates)

    def features(pairs, rewriter):
        """Scores of passages by each encoder, for the queries of a rewriter."""
        named = pairs.assign(query=rewriter + ":" + pairs["query"])
        return np.column_stack([part.score(named)["score"] for part in encoded])

    def compared(run, rewriter):
        """First passages of a run in pairs, with the scores of both."""
        first = best(run, settings.pairwise)
        pairs = ordered_pairs(first)
        keys = pd.MultiIndex.from_frame(first[["query", "document"]])
        values = features(first, rewriter)
        sides = [
            values[keys.get_indexer(pd.MultiIndex.from_frame(pairs[["query", side]]))]
            for side in ("first", "second")
        ]
        return pairs, np.column_stack(sides)

    def pointwise(run, rewriter):
        scores = mono.decision_function(features(run, rewriter))
        return rerank(run, run[["query", "document"]].assign(score=scores))

    # Of a candidate that nobody judged, CAsT takes that it is not relevant.
    training = runs["training.fused"]
    levels = training.merge(qrels, how="left")["relevance"].fillna(0).to_numpy()
    mono = make_pipeline(StandardScaler(), LogisticRegression())
    mono.fit(features(training, "training"), levels >= settings.relevance_level)

    pairs, values = compared(pointwise(training, "training"), "training")
    level_of = pd.Series(levels, pd.MultiIndex.from_frame(training[["query", "document"]]))
    first, second = (
        level_of.loc[pd.MultiIndex.from_frame(pairs[["query", side]])].to_numpy()
        for side in ("first", "second")
    )
    # With products of the scores: a linear model orders all documents, whatever is made of pairs.
    duo = make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression(max_iter=1000))
    duo.fit(values[first != second], (first > second)[first != second])

    for name, (stage, rewriter, options) in settings.reranked.items():
        runs[name] = pointwise(runs[stage], rewriter)
        if options is not None:
            pairs, values = compared(runs[name], rewriter)
            pairs["probability"] = duo.predict_proba(values)[:, 1]
            runs[name] = rerank(runs[name], aggregate_preferences(pairs, **options))
    for path in map(Path, snakemake.output.runs):
        write_run(runs[path.stem], path, tag=path.stem)
