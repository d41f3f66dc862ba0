"""Fetch released files into the cache."""

import logging
from pathlib import Path

from everycell.base.settings import validate_part
from everycell.jobs.job import Job
from everycell.sources import fetch
from everycell.sources.settings import FetchSettings

with Job(snakemake) as job:
    # Show notices on authors and licences in the terminal, not only in the log.
    logging.getLogger("everycell.sources").addHandler(logging.StreamHandler())
    settings = validate_part(snakemake.config, FetchSettings)
    cache = Path(settings.cache)
    for target in snakemake.output:
        fetch(
            Path(target).relative_to(cache).as_posix(),
            cache,
            mirror=settings.mirror_folder(),
            network=settings.network,
        )
