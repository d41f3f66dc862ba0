"""Documents, queries and qrels of a classic ad-hoc collection."""

from pathlib import Path

from everycell.collections.smart import ad_hoc_task, read_collection
from everycell.jobs.job import Job

with Job(snakemake) as job:
    name = snakemake.wildcards.collection
    files = {part: Path(snakemake.input[part]) for part in ("documents", "topics", "qrels")}
    search = ad_hoc_task(name, read_collection(name, **files))
    topics = search.topics.rename(columns={"query": "query_id"})
    job.write_frame(search.documents, "documents")
    job.write_frame(topics.assign(task=name, split="test"), "queries")
    job.write_frame(search.qrels, "qrels")
