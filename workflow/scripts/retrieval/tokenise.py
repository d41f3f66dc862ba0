"""Tokenise documents and queries; terms are separated by blanks."""

from pathlib import Path

import pandas as pd

from everycell.jobs.job import Job
from everycell.text.tokenise import tokeniser

with Job(snakemake) as job:
    vocabulary = snakemake.input.get("vocabulary")
    tokenise = tokeniser(snakemake.params.name, Path(vocabulary) if vocabulary else None)
    for part, key in (("documents", "document_id"), ("queries", "query_id")):
        texts = pd.read_parquet(snakemake.input[part]).drop_duplicates(key)
        terms = [
            text_terms[: snakemake.params.first] for text_terms in tokenise(list(texts["text"]))
        ]
        frame = pd.DataFrame(
            {key: texts[key], "terms": [" ".join(text_terms) for text_terms in terms]}
        )
        job.write_frame(frame, part)
