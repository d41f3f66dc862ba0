"""Overlap of rankings before and after an exchange of gender, beside fairness."""

from pathlib import Path

import pandas as pd

from everycell.engine.result_job import ResultJob
from everycell.metrics.fairness_frames import fairness_by_query
from everycell.metrics.ranked_counts import ranked_counts
from everycell.metrics.term_counts import read_counts
from everycell.retrieval.ranker_fairness import counterfactual_overlap, ranker_means
from everycell.trec.runs import read_run

with ResultJob(snakemake) as job:
    settings = snakemake.params
    k = settings.k
    tables = []
    for query_set, (folder, counterfactual, suffix) in settings.query_sets.items():
        folder = Path(folder)
        counts = read_counts(folder / "counts.parquet")
        values = {}
        for name, run_name in settings.systems:
            file = f"runs/{run_name}{suffix}.run"
            run = read_run(folder / file)
            ranked = ranked_counts(run, counts, depth=k)
            fair = fairness_by_query(ranked, [k], background=counts).set_index("query")
            overlap = counterfactual_overlap(
                run, read_run(Path(counterfactual) / file), p=settings.persistence, depth=k
            )
            frame = overlap.rename("CRBO").to_frame().join(fair[["TExFAIR", "NFaiRR"]])
            # Runs by fold have their queries in another order.
            values[name] = frame.sort_index()
        tables.append(ranker_means(values).assign(query_set=query_set))
    table = pd.concat(tables).rename(columns={"system": "row"})
    note = f"first {k} results, persistence {settings.persistence}, extrapolated"
    job.write_table(table[["row", "query_set", "metric", "value", "marker"]], note=note)
