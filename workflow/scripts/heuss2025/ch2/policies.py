"""Compute and evaluate the policies of a table for the scored lists of a data set."""

import numpy as np
import pandas as pd

from everycell.jobs.job import Job
from everycell.studies.heuss2025.ch2.ranked_lists import Setup, measure_policies
from everycell.studies.heuss2025.ch2.scored_lists import ranked_lists

with Job(snakemake) as job:
    setup = Setup(**snakemake.params.setup)
    frames = [
        measure_policies(lists, setup, np.random.default_rng([job.seed, key["run"]])).assign(**key)
        for key, lists in ranked_lists(pd.read_parquet(snakemake.input.scores), setup.items)
    ]
    measures = pd.concat(frames, ignore_index=True).assign(dataset=snakemake.wildcards.dataset)
    job.write_frame(measures, "measures")
