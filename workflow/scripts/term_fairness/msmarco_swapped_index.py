"""Lucene index of the passages after swapping gendered words and names."""

from pathlib import Path

from everycell.collections.msmarco import stream_passages
from everycell.jobs.job import Job
from everycell.retrieval.java import start_java
from everycell.retrieval.prebuilt import index_texts
from everycell.text.gender_swap import swap_gender

with Job(snakemake) as job:
    start_java(snakemake.resources.mem_mb // 2)
    passages = stream_passages(Path(snakemake.input.collection), expected=snakemake.params.passages)
    swapped = ((passage, swap_gender(text)) for passage, text in passages)
    indexed = index_texts(swapped, snakemake.output.index, threads=snakemake.threads)
    job.log.write(f"{indexed} passages\n")
