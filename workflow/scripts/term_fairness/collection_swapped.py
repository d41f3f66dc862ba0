"""A collection whose documents have swapped genders, with the same queries and lists."""

import shutil

import pandas as pd

from everycell.jobs.job import Job
from everycell.metrics.word_lists import read_words
from everycell.text.gender_swap import swap_coverage, swap_gender

with Job(snakemake) as job:
    documents = pd.read_parquet(snakemake.input.documents)
    texts = documents["text"]
    job.write_frame(documents.assign(text=texts.map(swap_gender)), "documents")
    swap_coverage(texts, read_words(snakemake.input.words)).to_csv(
        snakemake.output.coverage, index=False
    )
    for part in ("queries", "candidates", "qrels"):
        shutil.copyfile(snakemake.input[part], snakemake.output[part])
