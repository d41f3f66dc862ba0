"""Score the candidates with a ranker that encodes documents and queries separately."""

from pathlib import Path

import pandas as pd

from everycell.collections.benchmark import listed_pairs
from everycell.jobs.job import Job
from everycell.retrieval.encoded import read_encoded
from everycell.trec.runs import write_run

with Job(snakemake) as job:
    pairs = listed_pairs(pd.read_parquet(snakemake.input.candidates), splits=["test", "validation"])
    run = read_encoded(Path(snakemake.input.vectors)).score(pairs)
    write_run(run, Path(snakemake.output.run), tag=Path(snakemake.output.run).stem)
