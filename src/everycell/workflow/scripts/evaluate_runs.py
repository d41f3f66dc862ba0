"""Evaluate TREC runs: means over the judged queries, or sums for counts."""

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.jobs.rule_lists import check_lists, names_of_system
from everycell.retrieval.any_measure import aggregate, evaluate_measures, parse_measure
from everycell.trec.runs import read_qrels, read_run

with ResultJob(snakemake) as job:
    check_lists(snakemake)
    params = snakemake.params
    level = params.relevant_from
    # Several published names may refer to the same measure.
    measures = {
        name: parse_measure(measure, relevance_level=level)
        for name, measure in params.measures.items()
    }
    unique_measures = list(dict.fromkeys(measures.values()))
    paths = snakemake.input.qrels
    judged = [read_qrels(path) for path in ([paths] if isinstance(paths, str) else paths)]
    # Without names there is one collection.
    qrels_by_collection = dict(zip(params.judged or [""], judged, strict=True))
    collections = params.collections or [""] * len(params.systems)
    tables = {}
    for system, collection, path in zip(
        params.systems, collections, snakemake.input.runs, strict=True
    ):
        qrels = qrels_by_collection[collection]
        values = evaluate_measures(read_run(path), qrels, unique_measures, relevance_level=level)
        series = pd.Series(
            {name: aggregate(measure, values[str(measure)]) for name, measure in measures.items()}
        )
        series[params.in_percent] *= 100
        names = (*names_of_system(system), *[collection] * bool(params.judged))
        tables[names if len(names) > 1 else names[0]] = series
    table = pd.concat(tables, names=params.columns).rename("value")
    left_out = [tuple(key) for key in params.left_out]
    job.write_table(table[~table.index.isin(left_out)].reset_index())
