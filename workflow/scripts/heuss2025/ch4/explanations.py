"""Explanations of test lists by all explainers, and checks of their faithfulness."""

from pathlib import Path

import numpy as np
import pandas as pd

from everycell.explain.forests import read_forest
from everycell.jobs.job import Job
from everycell.studies.heuss2025.ch4.experiment import Setup, explain_lists
from everycell.studies.heuss2025.ch4.planted_features import planted_weights

with Job(snakemake) as job:
    params = snakemake.params
    test = pd.read_parquet(snakemake.input.test)
    names = list(test.columns[2:])
    # A list of one document has only one order.
    lists = {
        query: rows[names].to_numpy(dtype=float)
        for query, rows in test.groupby("query", sort=False)
        if len(rows) > 1
    }
    if params.lists is not None:
        # Spread over the file, since neighbouring lists may be similar.
        spread = np.linspace(0, len(lists) - 1, min(params.lists, len(lists))).round().astype(int)
        lists = {query: lists[query] for query in np.array(list(lists))[spread]}
    pool = pd.read_parquet(snakemake.input.train)[names].to_numpy(dtype=float)
    setup = Setup(params.background, params.lime_samples)
    planted = planted_weights() if snakemake.wildcards.data == "planted" else None
    explained = explain_lists(
        read_forest(Path(snakemake.input.model)), lists, pool, names, setup, job.seed, planted
    )
    attributed, checked = [], []
    for number, (query, attributions, checks) in enumerate(explained, start=1):
        attributed.append(attributions)
        checked.append(checks)
        print(f"{number} of {len(lists)} lists: query {query}", flush=True)
    job.write_frame(pd.concat(attributed, ignore_index=True), "attributions")
    job.write_frame(pd.concat(checked, ignore_index=True), "checks")
