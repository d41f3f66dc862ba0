"""Scores with standard deviations by logistic heads on MiniLM, cross-fitted by conversation."""

from pathlib import Path

import pandas as pd

from everycell.jobs.job import Job
from everycell.retrieval.encoded import read_encoded
from everycell.studies.heuss2025.ch3.uncertain_scores import (
    candidate_pairs,
    product_vectors,
    scores_by_fold,
    train_head,
)

with Job(snakemake) as job:
    params = snakemake.params
    encoded = read_encoded(Path(snakemake.input.vectors))

    def vectors(pairs):
        """Element-wise products of query and document vectors."""
        return product_vectors(encoded, pairs)

    def model_of(fold, training):
        """Head fitted to the other conversations, and the function that computes pair vectors."""
        head = train_head(vectors(training), training["relevance"], strength=params.strength)
        return head, vectors

    scores = scores_by_fold(
        candidate_pairs(pd.read_parquet(snakemake.input.candidates)),
        [pd.read_parquet(path) for path in snakemake.input.folds],
        model_of,
        fisher_pairs=None,
        prior=1 / params.strength,
        samples=params.samples,
        seed=job.seed,
    )
    job.write_frame(scores, "scores")
