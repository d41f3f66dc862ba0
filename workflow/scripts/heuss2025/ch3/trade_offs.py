"""Measures of each query under every method and strength."""

from everycell.engine.job import Job
from everycell.studies.heuss2025.ch3.inputs import read_lists
from everycell.studies.heuss2025.ch3.trade_offs import trade_offs

with Job(snakemake) as job:
    lists = read_lists(snakemake.input.scores, snakemake.input.counts, snakemake.input.qrels)
    job.write_frame(trade_offs(lists, **snakemake.params.methods), "measures")
