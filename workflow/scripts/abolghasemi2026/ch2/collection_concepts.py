"""The synthetic collection with planted relevance, and an untrained encoder."""

from pathlib import Path

from everycell.collections.planted_concepts import plant_concepts
from everycell.jobs.job import Job
from everycell.learning.models import write_untrained
from everycell.trec.runs import write_run

with Job(snakemake) as job:
    collection = plant_concepts(snakemake.params.sizes, job.seed)
    job.write_frame(collection.documents, "documents")
    job.write_frame(collection.benchmark.queries, "queries")
    job.write_frame(collection.benchmark.candidates, "candidates")
    job.write_frame(collection.mentions, "mentions")
    for file in map(Path, snakemake.output.scores):
        write_run(collection.scores[file.stem.removeprefix("planted.")], file, tag=file.stem)
    write_untrained(
        collection.vocabulary,
        Path(snakemake.output.encoder),
        positions=snakemake.params.positions,
        seed=job.seed,
    )
