"""Test and validation lists of a model's task, or of all tasks."""

import pandas as pd

from everycell.jobs.job import Job

with Job(snakemake) as job:
    tasks = snakemake.params.tasks
    candidates = pd.read_parquet(snakemake.input.candidates)
    candidates = candidates[candidates["task"].isin(tasks) & (candidates["split"] != "train")]
    documents = pd.read_parquet(snakemake.input.documents)
    queries = pd.read_parquet(snakemake.input.queries)
    job.write_frame(candidates, "candidates")
    job.write_frame(
        documents[documents["document_id"].isin(candidates["document_id"])], "documents"
    )
    job.write_frame(queries[queries["query_id"].isin(candidates["query_id"])], "queries")
