"""Extractive responses of each variant and of the one-step baseline."""

from pathlib import Path

import pandas as pd

from everycell.base.files import write_atomically
from everycell.jobs.job import Job
from everycell.rag.grounded.responses import provenance, provenance_page, responses_of
from everycell.receipts.receipts import write_json
from everycell.studies.lajewska2025.ch6.stages import extract_responses
from everycell.studies.lajewska2025.ch6.systems import DETECTED, RELEVANT, STANDARD

TITLE = "Responses from nuggets, with the spans that they come from"
NOTE = (
    "A surrogate of GINGER: a sentence classifier detected the nuggets, and each sentence is the "
    "most central nugget of a cluster. Questions and passages are from CAsT-snippets (Lajewska and "
    "Balog, CIKM 2023), which are from TREC CAsT."
)

with Job(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    responses = extract_responses(
        pd.read_parquet(files.passages),
        pd.read_parquet(files.nuggets),
        pd.read_parquet(files.clusters),
        pd.read_parquet(files.ranks),
        pd.read_parquet(files.vectors).set_index("text")["vector"],
        clusters_shown=params.clusters,
        sentences=params.sentences,
        words=params.words,
    )
    job.write_frame(responses, "responses")
    passages, nuggets = (pd.read_parquet(path) for path in (files.passages, files.nuggets))
    passages = passages[passages["input"] == RELEVANT]
    sources = provenance(
        responses_of(
            responses[(responses["input"] == RELEVANT) & (responses["system"] == STANDARD)]
        ),
        nuggets[(nuggets["input"] == RELEVANT) & (nuggets["detection"] == DETECTED)],
        passages,
        passages.groupby("topic")["question"].first().to_dict(),
    )
    write_json(Path(snakemake.output.json), sources)
    write_atomically(Path(snakemake.output.page), provenance_page(sources, TITLE, NOTE))
