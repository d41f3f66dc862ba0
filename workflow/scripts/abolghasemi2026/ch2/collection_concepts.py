"""The made-up collection with planted relevance, and an encoder without training."""

from pathlib import Path

from everycell.collections.planted_concepts import planted_concepts
from everycell.engine.job import Job
from everycell.learning.untrained import write_untrained
from everycell.trec.runs import write_run

with Job(snakemake) as job:
    found = planted_concepts(snakemake.params.sizes, job.seed)
    job.write_frame(found.documents, "documents")
    job.write_frame(found.benchmark.queries, "queries")
    job.write_frame(found.benchmark.candidates, "candidates")
    job.write_frame(found.mentions, "mentions")
    for file in map(Path, snakemake.output.scores):
        write_run(found.scores[file.stem.removeprefix("planted.")], file, tag=file.stem)
    write_untrained(
        found.vocabulary,
        Path(snakemake.output.encoder),
        positions=snakemake.params.positions,
        seed=job.seed,
    )
