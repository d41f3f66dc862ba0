"""Cross-encoder scores on MS MARCO with standard deviations."""

from pathlib import Path

import numpy as np
import pandas as pd

from everycell.collections.benchmark import texts_by_id
from everycell.collections.msmarco import read_judgements, read_passages, read_queries
from everycell.jobs.job import Job
from everycell.learning.cross_encoder import PairLength, head_of, pair_vectors
from everycell.learning.models import device, load_model, set_gpu_precision, use_one_thread
from everycell.studies.heuss2025.ch3.uncertain_scores import pair_scores, training_pairs
from everycell.trec.runs import read_run, trec_order

with Job(snakemake) as job:
    use_one_thread()
    set_gpu_precision(snakemake.params.gpu_precision)
    inputs, params = snakemake.input, snakemake.params
    query_texts = pd.read_parquet(inputs.queries)
    query_texts = query_texts[query_texts[params.query_set]]
    run = trec_order(read_run(Path(inputs.candidates)))
    lists = run[run["query"].isin(query_texts["query_id"])].groupby("query", sort=False)
    pairs = lists.head(params.depth)[["query", "document"]]
    rng = np.random.default_rng(job.seed)
    texts = read_queries(Path(inputs.training_queries))
    training = training_pairs(
        read_judgements(Path(inputs.training_judgements), texts), params.fisher_pairs, rng
    )
    queries = texts | texts_by_id(query_texts, "query_id")
    passages = read_passages(Path(inputs.collection), {*pairs["document"], *training["document"]})
    model, tokenizer = load_model(job.folder_of("model"), "classifier")
    model = model.to(device())
    length = PairLength(params.pair, "longest_first")

    def vectors(identifiers):
        """Input of the model's last layer for these pairs."""
        rows = list(identifiers[["query", "document"]].itertuples(index=False, name=None))
        return pair_vectors(model, tokenizer, queries, passages, rows, length)

    scores = pair_scores(
        pairs.reset_index(drop=True),
        head_of(model),
        vectors,
        training,
        prior=params.prior,
        samples=params.samples,
        rng=rng,
    )
    job.write_frame(scores, "scores")
