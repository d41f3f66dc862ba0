"""Responses written by a language model, with their source spans."""

from pathlib import Path

import pandas as pd

from everycell.base.files import write_atomically
from everycell.jobs.job import Job
from everycell.rag.grounded.responses import provenance, provenance_page, responses_of
from everycell.receipts.receipts import write_json
from everycell.studies.lajewska2025.ch6.systems import DETECTED

TITLE = "Responses from nuggets, with the spans that they come from"

with Job(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    responses, nuggets, passages = (
        frame[frame["input"] == params.kind]
        for frame in map(pd.read_parquet, (files.responses, files.nuggets, files.passages))
    )
    sources = provenance(
        responses_of(responses[responses["system"] == params.system]),
        nuggets[nuggets["detection"] == DETECTED],
        passages,
        passages.groupby("topic")["question"].first().to_dict(),
    )
    write_json(Path(snakemake.output.json), sources)
    note = f"Nuggets and sentences by {params.model}, system {params.system}. {params.note}"
    write_atomically(Path(snakemake.output.page), provenance_page(sources, TITLE, note))
