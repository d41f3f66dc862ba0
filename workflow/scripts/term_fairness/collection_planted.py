"""Documents and rankings with planted group bias, and the expected values of measures."""

from pathlib import Path

import pandas as pd

from everycell.collections.planted_bias import plant_bias, plant_rankers
from everycell.jobs.job import Job
from everycell.trec.runs import write_run

with Job(snakemake) as job:
    planted = plant_bias(seed=job.seed, **snakemake.params.sizes)
    rankers = [
        plant_rankers(seed=job.seed, effects=effects, **snakemake.params.rankers)
        for effects in (True, False)
    ]
    documents = [part.documents for part in (planted, *rankers)]
    job.write_frame(pd.concat(documents, ignore_index=True), "documents")
    job.write_frame(planted.truth, "truth")
    lines = [f"{term},{group}\n" for group, terms in planted.words.items() for term in terms]
    Path(snakemake.output.words).write_text("".join(lines), encoding="utf-8")
    runs = planted.runs | rankers[0].runs | rankers[1].runs
    for file in map(Path, snakemake.output.runs):
        write_run(runs[file.stem], file, tag=file.stem)
