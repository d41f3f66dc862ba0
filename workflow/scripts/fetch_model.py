"""Copy a model from the Hugging Face hub into a folder."""

import shutil
from pathlib import Path

from everycell.base.files import atomic_path
from everycell.jobs.job import Job
from everycell.learning.models import commit_of, model_folder

with Job(snakemake) as job:
    repository, at, revision = snakemake.wildcards.model.partition("@")
    name = repository.replace("--", "/", 1) + at + revision.replace("--", "/")
    cached = model_folder(name, network=snakemake.params.network)
    job.facts["commits"] = {name: commit_of(cached)}
    target = Path(snakemake.output[0])
    # Copied, because files in the cache are links to its store, and results must not depend on it.
    with atomic_path(target) as folder:
        shutil.copytree(cached, folder)
