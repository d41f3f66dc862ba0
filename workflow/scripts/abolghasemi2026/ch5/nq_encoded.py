"""Runs of SPLADE and a dense encoder on Natural Questions."""

from pathlib import Path

from everycell.jobs.job import Job
from everycell.retrieval.encoded import read_encoded
from everycell.trec.runs import write_run

with Job(snakemake) as job:
    for name, out in snakemake.output.items():
        encoded = read_encoded(Path(snakemake.input[name]))
        run = encoded.search(encoded.query_ids, snakemake.params.hits)
        write_run(run, Path(out), tag=name)
