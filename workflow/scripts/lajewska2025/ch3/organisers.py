"""Section 3.5: the organisers' run from each of its files, in the format of Table 3.2."""

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.retrieval.evaluation import evaluate
from everycell.studies.lajewska2025.ch3.measures import organisers_readings
from everycell.trec.runs import read_qrels, read_run

with ResultJob(snakemake) as job:
    settings = snakemake.params
    qrels = read_qrels(snakemake.input.qrels, scale=settings.scale)
    turns = qrels["query"].unique()
    passages = snakemake.input.get("passages")
    readings = organisers_readings(
        read_run(snakemake.input.run, queries=turns),
        read_run(passages, queries=turns) if passages else None,
    )
    rows = []
    for reading, run in readings.items():
        # As with trec_eval -c, a turn without results counts as 0.
        values = evaluate(
            run,
            qrels,
            list(settings.measures.values()),
            relevance_level=settings.relevance_level,
            missing_topics="zero",
        )
        rows += [
            (reading, metric, values[measure].mean())
            for metric, measure in settings.measures.items()
        ]
    table = pd.DataFrame(rows, columns=["row", "metric", "value"])
    job.write_supplement(table, "readings", {"all": 3})
    # The thesis reports the first reading.
    job.write_table(table.head(len(settings.measures)).assign(row=settings.row))
