"""Score the candidates with a ranker that reads query and document together."""

from pathlib import Path

import pandas as pd

from everycell.collections.benchmark import listed_pairs, texts_by_id
from everycell.jobs.job import Job
from everycell.learning.models import set_gpu_precision, use_one_thread
from everycell.learning.rankers import get_ranker
from everycell.trec.runs import write_run

with Job(snakemake) as job:
    use_one_thread()
    set_gpu_precision(snakemake.params.gpu_precision)
    ranker = get_ranker(snakemake.wildcards.kind)
    pairs = listed_pairs(
        pd.read_parquet(snakemake.input.candidates),
        splits=snakemake.params.splits,
        settings=[snakemake.params.setting],
        tasks=snakemake.params.tasks,
    )
    scores = ranker.score(
        *ranker.load(job.folder_of("model")),
        texts_by_id(pd.read_parquet(snakemake.input.queries), "query_id"),
        texts_by_id(pd.read_parquet(snakemake.input.documents), "document_id"),
        list(pairs.itertuples(index=False, name=None)),
        snakemake.params.input_options,
    )
    out = Path(snakemake.output.run)
    write_run(pairs.assign(score=scores), out, tag=out.stem)
