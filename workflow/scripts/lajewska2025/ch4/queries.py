"""Tables 4.3 and 4.4: TREC ids of the queries, and hashes of their text."""

from pathlib import Path

import pandas as pd

from everycell.collections.user_studies import query_sha256, read_queries
from everycell.jobs.result_job import ResultJob

with ResultJob(snakemake) as job:
    rows = []
    queries = read_queries(Path(snakemake.input.responses)).itertuples(index=False)
    for number, query in enumerate(queries, start=1):
        rows.append((str(number), "trec_id", query.trec_id))
        rows.append((str(number), "query_sha256", query_sha256(query.query)))
    job.write_table(pd.DataFrame(rows, columns=["row", "metric", "value"]))
