"""Measures of each query under every method and strength."""

from everycell.engine.job import Job
from everycell.studies.heuss2025.ch3.inputs import read_lists
from everycell.studies.heuss2025.ch3.trade_offs import trade_offs

with Job(snakemake) as job:
    paths = (snakemake.input[name] for name in ("scores", "counts", "qrels"))
    lists = read_lists(*paths, snakemake.params.neutral_from)
    job.write_frame(trade_offs(lists, **snakemake.params.methods), "measures")
