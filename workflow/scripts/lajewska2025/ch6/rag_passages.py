"""Top passages of each topic of TREC RAG 2024, for each input size."""

from pathlib import Path

from everycell.collections.trec_rag import read_rag_passages
from everycell.jobs.job import Job
from everycell.studies.lajewska2025.ch6.rag24 import SIZES, select_by_size

with Job(snakemake) as job:
    params = snakemake.params
    passages = read_rag_passages(
        Path(params.folder), depth=max(SIZES.values()), topics=params.topics
    )
    job.log.write(f"{len(passages)} passages of {passages['topic'].nunique()} topics.\n")
    job.write_frame(select_by_size(passages), "passages")
