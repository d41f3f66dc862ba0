"""Tables 3.2, 3.3 and 3.4: measures of the released runs, and tests of the compared rows."""

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.retrieval.evaluation import evaluate
from everycell.studies.lajewska2025.ch3.measures import (
    TESTS,
    compare_pairs,
    mean_cells,
    melt_tests,
)
from everycell.trec.runs import read_qrels, read_run

with ResultJob(snakemake) as job:
    number, settings = snakemake.wildcards.number, snakemake.params
    systems = settings.systems
    pairs = [
        (name, systems[a], systems[b])
        for name, listed in settings.comparisons.items()
        for a, b in listed
    ]
    cells, tests = [], []
    # The input lists all runs of the first year, then those of the second.
    for position, (year, measures) in enumerate(settings.measures.items()):
        qrels = read_qrels(snakemake.input.qrels[position], scale=settings.scale)
        topics = qrels["query"].unique()
        runs = snakemake.input.runs[position * len(systems) : (position + 1) * len(systems)]
        values = {
            # trec_eval -c counts a missing topic as 0; these runs have all topics.
            system: evaluate(
                read_run(run, queries=topics),
                qrels,
                list(measures.values()),
                relevance_level=settings.relevance_level,
                missing_topics="error",
            )[list(measures.values())].set_axis(list(measures), axis="columns")
            for system, run in zip(systems, runs, strict=True)
        }
        cells.append(mean_cells(number, year, values))
        compared = compare_pairs(values, pairs, [next(iter(measures)), "NDCG@3"])
        compared.insert(1, "cast_year", year)
        tests.append(compared)
    job.write_table(pd.concat(cells, ignore_index=True))
    job.write_supplement(melt_tests(pd.concat(tests)), "tests", TESTS)
