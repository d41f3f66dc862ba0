"""Documents, queries and candidate lists of SciDocs, from its published files."""

from pathlib import Path

from everycell.collections.scidocs import read_scidocs
from everycell.jobs.job import Job

with Job(snakemake) as job:
    folder = Path(snakemake.input.metadata).parent
    collection = read_scidocs(folder, seed=job.seed, **snakemake.params.choices)
    job.log.write(f"{len(collection.documents)} documents\n")
    left_out = collection.left_out.groupby(["task", "reason"]).size()
    job.facts["lines_left_out"] = {" / ".join(key): int(n) for key, n in left_out.items()}
    job.write_frame(collection.documents, "documents")
    job.write_frame(collection.benchmark.queries, "queries")
    job.write_frame(collection.benchmark.candidates, "candidates")
