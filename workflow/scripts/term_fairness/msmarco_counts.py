"""Count the terms of each group in every passage while streaming the collection."""

from pathlib import Path

from everycell.collections.msmarco import stream_passages
from everycell.jobs.job import Job
from everycell.metrics.term_counts import count_terms
from everycell.metrics.word_lists import read_words

with Job(snakemake) as job:
    passages = stream_passages(Path(snakemake.input.collection), expected=snakemake.params.passages)
    counted = count_terms(passages, read_words(snakemake.input.words), snakemake.output.counts)
    job.log.write(f"{counted} passages\n")
