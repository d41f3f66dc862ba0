"""How many terms of each group every document of a collection has, and how long it is."""

from everycell.engine.job import Job
from everycell.metrics.fairness_inputs import read_documents
from everycell.metrics.term_counts import count_terms
from everycell.metrics.word_lists import read_words

with Job(snakemake) as job:
    # One by one: a collection need not fit into memory.
    documents = read_documents(snakemake.input.documents)
    count_terms(documents, read_words(snakemake.input.words), snakemake.output.counts)
