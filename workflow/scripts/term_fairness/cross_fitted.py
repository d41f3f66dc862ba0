"""Re-rank BM25's top documents with cross-fitted cross-encoders."""

from functools import partial
from pathlib import Path

import pandas as pd

from everycell.collections.benchmark import texts_by_id
from everycell.jobs.job import Job
from everycell.learning.cross_encoder import PairLength, score_by_fold, score_pairs
from everycell.learning.models import device, load_model, set_gpu_precision, use_one_thread
from everycell.trec.runs import read_run, trec_order, write_run

with Job(snakemake) as job:
    use_one_thread()
    set_gpu_precision(snakemake.params.gpu_precision)
    queries = texts_by_id(pd.read_parquet(snakemake.input.queries), "query_id")
    documents = texts_by_id(pd.read_parquet(snakemake.input.documents), "document_id")
    length = PairLength(**snakemake.params.pair_length)
    first = trec_order(read_run(snakemake.input.run)).groupby("query").head(snakemake.params.depth)

    def scorers():
        """Held-out queries and scoring function of each model in turn."""
        for folder, fold in zip(snakemake.input.models, snakemake.input.folds, strict=True):
            # If no model was trained on the collection, the first model ranks all queries.
            fold_queries = first["query"]
            if snakemake.params.cross_fitted:
                fold_queries = pd.read_parquet(fold).query("split == 'test'")["query_id"]
            model, tokenizer = load_model(Path(folder), "classifier")
            yield (
                set(fold_queries),
                partial(
                    score_pairs, model.to(device()), tokenizer, queries, documents, length=length
                ),
            )

    out = Path(snakemake.output.run)
    write_run(score_by_fold(first[["query", "document"]], scorers()), out, tag=out.stem)
