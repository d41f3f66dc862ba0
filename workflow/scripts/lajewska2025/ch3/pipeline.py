"""Section 3.4 on surrogate passages: measures, changes and tests."""

from pathlib import Path

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.retrieval.evaluation import evaluate
from everycell.retrieval.significance import change_ranges
from everycell.studies.lajewska2025.ch3.measures import (
    TESTS,
    compare_pairs,
    melt_tests,
    published_changes,
)
from everycell.trec.runs import read_run

#: Measures that the text compares.
COMPARED = ["recall", "NDCG@3"]

with ResultJob(snakemake) as job:
    settings = snakemake.params
    queries = pd.read_parquet(snakemake.input.queries)
    turns = queries.loc[queries["rewriter"] == "raw", "query_id"]
    qrels = pd.read_parquet(snakemake.input.qrels)
    qrels = qrels[qrels["query"].isin(turns)]
    values = {}
    for path in map(Path, snakemake.input.runs):
        # As with trec_eval -c, a turn without results counts as 0.
        evaluated = evaluate(
            read_run(path),
            qrels,
            list(settings.measures.values()),
            relevance_level=settings.relevance_level,
        )
        values[path.stem] = evaluated.set_axis(list(settings.measures), axis="columns")
    means = pd.DataFrame({run: evaluated.mean() for run, evaluated in values.items()}).T

    for name, groups in settings.shown.items():
        first, second = settings.names[name]
        parts = [
            means.loc[list(rows.values())]
            .set_axis(list(rows), axis="index")
            .rename_axis(index=second, columns="metric")
            .stack()
            .rename("value")
            .reset_index()
            .assign(**{first: group})
            for group, rows in groups.items()
        ]
        table = pd.concat(parts)[[first, second, "metric", "value"]]
        job.write_supplement(table, name, dict.fromkeys(settings.measures, 4))

    pairs = [(name, a, b) for name, listed in settings.comparisons.items() for a, b in listed]
    row_of_run = {
        run: row for rows in settings.shown["systems"].values() for row, run in rows.items()
    }
    tests = compare_pairs(values, pairs, COMPARED).replace({"a": row_of_run, "b": row_of_run})
    job.write_supplement(melt_tests(tests), "tests", TESTS)
    ranges = change_ranges(means[COMPARED], settings.comparisons)
    job.write_table(published_changes(ranges, settings.ranges))
