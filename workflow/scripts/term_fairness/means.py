"""Effectiveness and group fairness of rankers, and the supplementary tables."""

from pathlib import Path

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.metrics.term_counts import read_counts
from everycell.retrieval.ranker_fairness import measure_rankers, restrict_to_common_queries
from everycell.studies.term_fairness.tables import fairness_tables
from everycell.trec.runs import read_run

with ResultJob(snakemake) as job:
    settings = snakemake.params
    k, systems, control = settings.k, settings.systems, settings.get("control", {})
    measured, left_out = {}, {}
    for query_set, (folder, suffix, relevant_from) in {**settings.query_sets, **control}.items():
        folder = Path(folder)
        qrels = None
        if "qrels" in snakemake.input.keys():
            qrels = pd.read_parquet(folder / f"qrels{suffix}.parquet")
        values = measure_rankers(
            ((name, read_run(folder / "runs" / f"{run}{suffix}.run")) for _, name, run in systems),
            read_counts(folder / "counts.parquet"),
            k=k,
            qrels=qrels,
            relevant_from=relevant_from,
        )
        measured[query_set], left_out[query_set] = restrict_to_common_queries(values)
    job.facts["queries_left_out"] = left_out
    tables, without_effects = (
        fairness_tables(
            {query_set: measured[query_set] for query_set in query_sets},
            families={name: family for family, name, _ in systems},
            baseline=settings.baseline,
            level=settings.alpha,
            names=settings.names,
        )
        if query_sets
        else None
        for query_sets in (settings.query_sets, control)
    )
    job.write_table(tables.means, note=tables.note)
    if "tests_csv" in snakemake.output.keys():
        job.write_supplement(tables.tests, "tests", dict.fromkeys(tables.tests["metric"], 4))
    if without_effects:
        frame = without_effects.means.drop(columns=["family", "query_set"])
        job.write_supplement(frame, "control", dict.fromkeys(frame["metric"], 4))
