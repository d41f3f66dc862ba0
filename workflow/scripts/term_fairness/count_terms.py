"""How many terms of each group every document of a collection has, and how long it is."""

from collections.abc import Iterator

import pyarrow.parquet as pq

from everycell.engine.job import Job
from everycell.metrics.term_counts import count_terms
from everycell.metrics.word_lists import read_words

with Job(snakemake) as job:

    def documents() -> Iterator[tuple[str, str]]:
        """Documents one by one: a collection need not fit into memory."""
        with pq.ParquetFile(snakemake.input.documents) as file:
            for batch in file.iter_batches(columns=["document_id", "text"]):
                yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    count_terms(documents(), read_words(snakemake.input.words), snakemake.output.counts)
