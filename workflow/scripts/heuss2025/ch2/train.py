"""Train ListNet with several seeds, and score the test lists of a data set."""

from everycell.collections.fair_ranking_lists import read_fair_lists
from everycell.jobs.job import Job
from everycell.learning.listnet import use_portable_arithmetic
from everycell.studies.heuss2025.ch2.scored_lists import lists_to_rank, score_lists

with Job(snakemake) as job:
    use_portable_arithmetic()
    params, dataset = snakemake.params, snakemake.wildcards.dataset
    train, test = (read_fair_lists(snakemake.input[part]) for part in ("train", "test"))
    lists = lists_to_rank(train, test, dataset, params.draw)
    scores = score_lists(train, lists, readings=params.readings, seeds=params.seeds, seed=job.seed)
    job.write_frame(scores, "scores")
