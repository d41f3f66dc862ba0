"""Cross-encoder scores with standard deviations, by models not trained on the query."""

from pathlib import Path

import pandas as pd

from everycell.collections.benchmark import texts_by_id
from everycell.jobs.job import Job
from everycell.learning.cross_encoder import PairLength, head_of, pair_vectors
from everycell.learning.models import device, load_model, set_gpu_precision, use_one_thread
from everycell.studies.heuss2025.ch3.uncertain_scores import candidate_pairs, scores_by_fold

with Job(snakemake) as job:
    use_one_thread()
    set_gpu_precision(snakemake.params.gpu_precision)
    params = snakemake.params
    queries = texts_by_id(pd.read_parquet(snakemake.input.queries), "query_id")
    documents = texts_by_id(pd.read_parquet(snakemake.input.documents), "document_id")
    length = PairLength(**params.pair_length)

    def model_of(fold, training):
        """Head of a fold's model, and a function that computes its pair vectors."""
        model, tokenizer = load_model(Path(snakemake.input.models[fold]), "classifier")
        model = model.to(device())

        def vectors(pairs):
            text_pairs = list(pairs[["query", "document"]].itertuples(index=False, name=None))
            return pair_vectors(model, tokenizer, queries, documents, text_pairs, length)

        return head_of(model), vectors

    scores = scores_by_fold(
        candidate_pairs(pd.read_parquet(snakemake.input.candidates)),
        [pd.read_parquet(path) for path in snakemake.input.folds],
        model_of,
        fisher_pairs=params.fisher_pairs,
        prior=params.prior,
        samples=params.samples,
        seed=job.seed,
    )
    job.write_frame(scores, "scores")
