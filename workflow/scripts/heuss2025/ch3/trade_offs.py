"""Measures per query for every method and strength."""

import pandas as pd

from everycell.jobs.job import Job
from everycell.studies.heuss2025.ch3.inputs import read_lists, read_trained
from everycell.studies.heuss2025.ch3.trade_offs import trade_offs, trained_measures

with Job(snakemake) as job:
    inputs, params = snakemake.input, snakemake.params
    of_collection = (inputs.counts, inputs.qrels, params.neutral_from)
    lists = read_lists(inputs.scores, *of_collection)
    frames = [trade_offs(lists, **params.methods)]
    queries = [ranked.query for ranked in lists]
    for (method, alpha), path in zip(params.trained, inputs.trained, strict=True):
        frames.append(trained_measures(read_trained(path, *of_collection), method, alpha, queries))
    job.write_frame(pd.concat(frames, ignore_index=True), "measures")
