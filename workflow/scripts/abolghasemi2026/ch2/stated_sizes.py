"""Sizes and settings stated in the text: lists, tokens, expansions, and the tuned BM25."""

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.studies.abolghasemi2026.ch2.stated_sizes import (
    EXPANSIONS,
    list_sizes,
    stated_sizes,
)

with ResultJob(snakemake) as job:
    inputs = snakemake.input
    candidates = pd.read_parquet(inputs.candidates)
    terms = {"BERT": pd.read_parquet(inputs.bert), "SciBERT": pd.read_parquet(inputs.scibert)}
    new_terms = {size: [pd.read_csv(path) for path in inputs[f"m{size}"]] for size in EXPANSIONS}
    job.write_table(stated_sizes(candidates, terms, new_terms, pd.read_csv(inputs.grid)))
    job.write_supplement(list_sizes(candidates), "lists", {"all": 0})
