"""Evaluate TREC runs: means over the judged queries, or sums for counts."""

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.retrieval.any_measure import evaluate_measures, parse_measure
from everycell.trec.runs import read_qrels, read_run


def aggregate(measure, values):
    """Aggregate the values of a measure over queries: their mean or, for counts, their sum."""
    aggregator = measure.aggregator()
    for value in values.dropna():
        aggregator.add(value)
    return aggregator.result()


with ResultJob(snakemake) as job:
    params = snakemake.params
    qrels = read_qrels(snakemake.input.qrels)
    level = params.relevant_from
    # Several published names may refer to the same measure.
    measures = {
        name: parse_measure(measure, relevance_level=level)
        for name, measure in params.measures.items()
    }
    unique_measures = list(dict.fromkeys(measures.values()))
    tables = {}
    for system, path in zip(params.systems, snakemake.input.runs, strict=True):
        values = evaluate_measures(read_run(path), qrels, unique_measures, relevance_level=level)
        tables[system] = pd.Series(
            {name: aggregate(measure, values[str(measure)]) for name, measure in measures.items()}
        )
        tables[system][params.in_percent] *= 100
    job.write_table(pd.concat(tables, names=params.columns).rename("value").reset_index())
