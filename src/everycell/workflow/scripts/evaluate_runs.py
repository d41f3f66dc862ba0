"""A table of measures of TREC runs: means over the queries of the relevance judgements."""

import pandas as pd

from everycell.engine.result_job import ResultJob
from everycell.retrieval.measures import evaluate_measures
from everycell.trec.qrels import read_qrels
from everycell.trec.runs import read_run

with ResultJob(snakemake) as job:
    params = snakemake.params
    qrels = read_qrels(snakemake.input.qrels)
    means = {
        system: evaluate_measures(
            read_run(path),
            qrels,
            list(params.measures.values()),
            relevance_level=params.relevant_from,
        )
        .set_axis(list(params.measures), axis="columns")
        .mean()
        for system, path in zip(params.systems, snakemake.input.runs, strict=True)
    }
    for measure in params.in_percent:
        for values in means.values():
            values[measure] *= 100
    job.write_table(pd.concat(means, names=params.columns).rename("value").reset_index())
