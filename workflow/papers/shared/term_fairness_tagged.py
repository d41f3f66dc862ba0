"""Collections with swapped genders in which part-of-speech tags decide "her"."""

from __future__ import annotations

import shutil

import pandas as pd

from everycell.jobs.job import Job
from everycell.metrics.word_lists import read_words
from everycell.text.gender_swap import swap_coverage
from everycell.text.tagged_gender_swap import gender_swapper


def collection_swapped_by_tags(job: Job) -> None:
    """A collection whose documents have swapped genders, with the same queries and lists."""
    documents = pd.read_parquet(job.input.documents)
    texts = documents["text"]
    swapped = texts.map(gender_swapper(job.input.tagger))
    job.write_frame(documents.assign(text=swapped), "documents")
    swap_coverage(texts, read_words(job.input.words)).to_csv(job.output.coverage, index=False)
    for part in ("queries", "candidates", "qrels"):
        shutil.copyfile(job.input[part], job.output[part])
