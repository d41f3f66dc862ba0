"""Download a published index into pyserini's cache, and store its identity."""

import os
from pathlib import Path

from everycell.jobs.job import Job
from everycell.retrieval.published_indexes import fetch_index

# Progress bars are unreadable in a log.
os.environ.setdefault("IR_DATASETS_DL_DISABLE_PBAR", "true")

with Job(snakemake) as job:
    downloads = snakemake.params.downloads
    fetch_index(
        snakemake.wildcards.index,
        Path(snakemake.output[0]),
        network=snakemake.params.network,
        downloads=downloads and Path(downloads),
    )
