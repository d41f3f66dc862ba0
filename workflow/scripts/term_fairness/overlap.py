"""Overlap of rankings before and after swapping genders, together with fairness."""

from pathlib import Path

from everycell.jobs.result_job import ResultJob
from everycell.metrics.term_counts import read_counts
from everycell.retrieval.ranker_fairness import overlap_by_query
from everycell.studies.term_fairness.tables import overlap_table
from everycell.trec.runs import read_run

with ResultJob(snakemake) as job:
    settings = snakemake.params
    values = {}
    for query_set, (folder, counterfactual, suffix) in settings.query_sets.items():
        counts = read_counts(Path(folder, "counts.parquet"))
        values[query_set] = {
            name: overlap_by_query(
                read_run(Path(folder, "runs", f"{run}{suffix}.run")),
                read_run(Path(counterfactual, "runs", f"{run}{suffix}.run")),
                counts,
                k=settings.k,
                p=settings.persistence,
            )
            for name, run in settings.systems
        }
    note = f"first {settings.k} results, persistence {settings.persistence}, extrapolated"
    job.write_table(overlap_table(values), note=note)
