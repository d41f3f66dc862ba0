"""Features of candidates from runs and terms."""

import pandas as pd

from everycell.jobs.job import Job
from everycell.studies.heuss2025.ch4.retrieval_features import retrieval_features
from everycell.trec.runs import read_run

with Job(snakemake) as job:
    inputs, params = snakemake.input, snakemake.params
    candidates = pd.read_parquet(inputs.candidates)
    listed = candidates[
        (candidates["setting"] == params.setting) & (candidates["task"] == params.task)
    ]
    runs = {name: read_run(path) for name, path in zip(params.features, inputs.runs, strict=True)}
    terms = [
        pd.read_parquet(inputs[name]).set_index(key)["terms"].to_dict()
        for name, key in (("queries", "query_id"), ("documents", "document_id"))
    ]
    for output, split in (("train", "validation"), ("test", "test")):
        part_candidates = listed[listed["split"] == split]
        job.write_frame(retrieval_features(part_candidates, runs, *terms), output)
