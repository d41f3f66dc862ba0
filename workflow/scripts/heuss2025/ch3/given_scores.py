"""Scores with deviations from two runs of the user's."""

from everycell.engine.job import Job
from everycell.fair_ranking.reranked_runs import with_deviations
from everycell.trec.runs import read_run

with Job(snakemake) as job:
    run = with_deviations(read_run(snakemake.input.means), read_run(snakemake.input.deviations))
    names = {"score": "mean"}
    job.write_frame(run.rename(columns=names)[["query", "document", "mean", "deviation"]], "scores")
