"""Re-rank BM25's passages with a cross-encoder."""

from functools import partial
from pathlib import Path

import pandas as pd

from everycell.collections.benchmark import texts_by_id
from everycell.collections.msmarco import read_passages
from everycell.jobs.job import Job
from everycell.learning.cross_encoder import PairLength, score_in_parts, score_pairs
from everycell.learning.models import device, load_model, set_gpu_precision, use_one_thread
from everycell.text.gender_swap import swap_gender
from everycell.trec.runs import read_run, write_run

with Job(snakemake) as job:
    use_one_thread()
    set_gpu_precision(snakemake.params.gpu_precision)
    model, tokenizer = load_model(job.folder_of("model"), "classifier")
    model.to(device())
    table = pd.read_parquet(snakemake.input.queries)
    queries = texts_by_id(table, "query_id")
    lists = pd.concat([read_run(Path(path)) for path in snakemake.input.candidates])
    # A query may be in several sets.
    lists = lists.drop_duplicates(["query", "document"])[["query", "document"]]
    texts = read_passages(Path(snakemake.input.collection), set(lists["document"]))
    if snakemake.params.swapped:
        texts = {passage: swap_gender(text) for passage, text in texts.items()}
    # Truncation as in sentence-transformers; MS MARCO pairs are rarely truncated at all.
    length = PairLength(snakemake.params.pair, "longest_first")
    score = partial(score_pairs, model, tokenizer, queries, texts, length=length)
    run = score_in_parts(lists, score)
    for name, out in snakemake.output.items():
        set_queries = table.loc[table[name], "query_id"]
        write_run(run[run["query"].isin(set_queries)], Path(out), tag=snakemake.wildcards.reranker)
