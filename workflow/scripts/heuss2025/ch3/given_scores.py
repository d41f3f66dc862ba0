"""Scores with standard deviations from the authors' file."""

from pathlib import Path

from everycell.jobs.job import Job
from everycell.studies.heuss2025.ch3.inputs import read_uncertain_scores

with Job(snakemake) as job:
    job.write_frame(read_uncertain_scores(Path(snakemake.input.scores)), "scores")
