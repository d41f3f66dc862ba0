"""Bring a published index into pyserini's cache, and note which one it is."""

import os
from pathlib import Path

from everycell.engine.job import Job
from everycell.retrieval.published_indexes import fetch_index

# Bars are for a terminal, not for a log.
os.environ.setdefault("IR_DATASETS_DL_DISABLE_PBAR", "true")

with Job(snakemake) as job:
    downloads = snakemake.params.downloads
    fetch_index(
        snakemake.wildcards.index,
        Path(snakemake.output[0]),
        network=snakemake.params.network,
        downloads=downloads and Path(downloads),
    )
