"""Count the terms of each group, and all tokens, in every document of a collection."""

from everycell.jobs.job import Job
from everycell.metrics.term_counts import count_terms, read_documents
from everycell.metrics.word_lists import read_words

with Job(snakemake) as job:
    # One by one, since a collection may not fit into memory.
    documents = read_documents(snakemake.input.documents)
    count_terms(documents, read_words(snakemake.input.words), snakemake.output.counts)
