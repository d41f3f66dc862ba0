"""Documents and rankings whose group bias is planted, and what measures of it must give."""

from pathlib import Path

from everycell.collections.planted_bias import plant_bias
from everycell.engine.job import Job
from everycell.trec.runs import write_run

with Job(snakemake) as job:
    planted = plant_bias(seed=job.seed, **snakemake.params.sizes)
    job.write_frame(planted.documents, "documents")
    job.write_frame(planted.truth, "truth")
    lines = [f"{term},{group}\n" for group, terms in planted.words.items() for term in terms]
    Path(snakemake.output.words).write_text("".join(lines), encoding="utf-8")
    for file in map(Path, snakemake.output.runs):
        write_run(planted.runs[file.stem], file, tag=file.stem)
