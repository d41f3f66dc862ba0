"""Fuse runs, then re-rank point-wise (all candidates) and pair-wise (top candidates)."""

from pathlib import Path

import pandas as pd

from everycell.jobs.job import Job
from everycell.retrieval.encoded import read_encoded
from everycell.retrieval.reranking import reciprocal_rank_fusion, top_documents
from everycell.studies.lajewska2025.ch3.rerankers import PassageRerankers
from everycell.trec.runs import read_run, write_run

with Job(snakemake) as job:
    settings = snakemake.params
    runs = {Path(path).stem: read_run(Path(path)) for path in snakemake.input.runs}
    for name, parts in settings.fused.items():
        fused = reciprocal_rank_fusion([runs[part] for part in parts], settings.rrf)
        runs[name] = top_documents(fused, settings.candidates)

    encoders = [read_encoded(Path(path)) for path in snakemake.input.encoded]
    qrels = pd.read_parquet(snakemake.input.qrels)
    rerankers = PassageRerankers(encoders, settings.pairwise).fit(
        runs["training.fused"], "training", qrels, settings.relevance_level
    )
    for name, (stage, rewriter, options) in settings.reranked.items():
        runs[name] = rerankers.pointwise(runs[stage], rewriter)
        if options is not None:
            runs[name] = rerankers.pairwise(runs[name], rewriter, options)
    for path in map(Path, snakemake.output.runs):
        write_run(runs[path.stem], path, tag=path.stem)
