"""Section 3.5: the organisers' run file, as Table 3.2 has its rows."""

import pandas as pd

from everycell.engine.result_job import ResultJob
from everycell.retrieval.evaluation import evaluate
from everycell.studies.lajewska2025.ch3.measures import documents_of_passages
from everycell.trec.qrels import read_qrels
from everycell.trec.runs import read_run

with ResultJob(snakemake) as job:
    settings = snakemake.params
    qrels = read_qrels(snakemake.input.qrels, scale=settings.scale)
    passages = read_run(snakemake.input.run, queries=qrels["query"].unique())
    # As with -c, a turn without an answer counts 0.
    values = evaluate(
        documents_of_passages(passages),
        qrels,
        list(settings.measures.values()),
        relevance_level=settings.relevance_level,
        missing_topics="zero",
    )
    rows = [
        (settings.row, metric, values[measure].mean())
        for metric, measure in settings.measures.items()
    ]
    job.write_table(pd.DataFrame(rows, columns=["row", "metric", "value"]))
