"""Documents, queries and candidate lists of pydocs, built from the installed packages."""

import pandas as pd

from everycell.collections import pydocs
from everycell.jobs.job import Job

with Job(snakemake) as job:
    sizes = snakemake.params.sizes
    packages = {name: pydocs.PACKAGES[name] for name in sizes["packages"]}
    collection = pydocs.build(packages)
    pydocs.check(collection)
    options = {"test": sizes["test"], "validation": sizes["validation"], "seed": job.seed}
    short_options = options | {"test": sizes["known_items"], "validation": sizes["known_items"]}
    benchmarks = [
        pydocs.query_by_example(collection, **options),
        pydocs.known_item_search(collection, **short_options),
    ]
    job.write_frame(collection.documents[["document_id", "text"]], "documents")
    for part in ("queries", "candidates"):
        parts = [getattr(benchmark, part) for benchmark in benchmarks]
        job.write_frame(pd.concat(parts, ignore_index=True), part)
