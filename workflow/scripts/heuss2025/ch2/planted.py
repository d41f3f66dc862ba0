"""Simulated lists with planted outliers, in the format of the released lists."""

import numpy as np

from everycell.collections.fair_ranking_lists import write_fair_lists
from everycell.jobs.job import Job
from everycell.studies.heuss2025.ch2.planted_lists import TEST_SIZES, TRAIN_SIZES, planted_lists

with Job(snakemake) as job:
    dataset, lists = snakemake.wildcards.dataset, snakemake.params.lists
    rng = np.random.default_rng([job.seed, list(TEST_SIZES).index(dataset)])
    for part, number, sizes in (
        ("train", 3 * lists, TRAIN_SIZES),
        ("test", lists, TEST_SIZES[dataset]),
    ):
        write_fair_lists(planted_lists(number, sizes, rng), snakemake.output[part])
