"""Bring a published index into pyserini's cache, and note which one it is."""

import json
import os
from pathlib import Path

from everycell.engine.job import Job
from everycell.retrieval.published_indexes import find_index, published_index

# Bars are for a terminal, not for a log.
os.environ.setdefault("IR_DATASETS_DL_DISABLE_PBAR", "true")

with Job(snakemake) as job:
    name = snakemake.wildcards.index
    downloads = snakemake.params.downloads and Path(snakemake.params.downloads)
    find_index(name, network=snakemake.params.network, downloads=downloads)
    entry = published_index(name, downloads)
    noted = {"index": name, "url": entry.url, "md5": entry.md5}
    Path(snakemake.output[0]).write_text(json.dumps(noted, indent=2) + "\n", encoding="utf-8")
