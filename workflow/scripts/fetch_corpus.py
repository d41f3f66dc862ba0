"""Download a corpus into the cache."""

import logging
import os
from pathlib import Path

from everycell.base.settings import validate_part
from everycell.jobs.job import Job
from everycell.sources.corpora import fetch_corpus
from everycell.sources.settings import FetchSettings

# Progress bars are unreadable in a log.
os.environ.setdefault("IR_DATASETS_DL_DISABLE_PBAR", "true")

with Job(snakemake) as job:
    # Show the notice on authors and licence in the terminal too, not only in the log.
    logging.getLogger("everycell.sources").addHandler(logging.StreamHandler())
    params = snakemake.params
    fetch_corpus(
        params.corpus,
        Path(params.folder),
        downloads=params.downloads and Path(params.downloads),
        network=validate_part(snakemake.config, FetchSettings).network,
    )
