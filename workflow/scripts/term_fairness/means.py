"""Effectiveness and group fairness of rankers, and what stands beside their table."""

from pathlib import Path

import pandas as pd

from everycell.engine.result_job import ResultJob
from everycell.metrics.term_counts import read_counts
from everycell.retrieval.evaluation import evaluate
from everycell.retrieval.ranker_fairness import measure_rankers, ranker_means
from everycell.trec.qrels import read_qrels
from everycell.trec.runs import read_run

with ResultJob(snakemake) as job:
    settings = snakemake.params
    k, systems = settings.k, settings.systems
    tables, others, coverage = [], [], []
    for query_set, (folder, suffix, relevant_from) in settings.query_sets.items():
        folder = Path(folder)
        qrels = None
        if "qrels" in snakemake.input.keys():
            qrels = pd.read_parquet(folder / f"qrels{suffix}.parquet")
        found = measure_rankers(
            ((name, read_run(folder / "runs" / f"{run}{suffix}.run")) for _, name, run in systems),
            read_counts(folder / "counts.parquet"),
            k=k,
            qrels=qrels,
            relevant_from=relevant_from,
        )
        means = ranker_means(
            found.values,
            baseline=settings.baseline,
            correlated=("TExFAIR", "NFaiRR") if settings.baseline else None,
            level=settings.alpha,
        )
        tables.append(means.assign(query_set=query_set))
        others.append(found.others.assign(query_set=query_set))
        coverage.append(found.coverage.assign(query_set=query_set))
    table = pd.concat(tables).rename(columns={"system": "row"})
    table["family"] = table["row"].map({name: family for family, name, _ in systems})
    table["metric"] = table["metric"].replace(settings.names)
    topics = table.groupby("query_set", sort=False)["n"].agg(["min", "max"])
    note = ", ".join(
        f"{name}: {queries} queries" + f" of which {judged} are judged" * (judged < queries)
        for name, judged, queries in topics.itertuples()
    )
    job.write_table(table[["row", "family", "query_set", "metric", "value", "marker"]], note=note)
    for frames, part, decimals in ((others, "measures", 4), (coverage, "coverage", 3)):
        frame = pd.concat(frames)[["query_set", "row", "metric", "value"]]
        job.write_beside(frame, part, dict.fromkeys(frame["metric"], decimals))
    if "dl19_csv" in snakemake.output.keys():
        qrels = read_qrels(snakemake.input.dl19_qrels)
        # The runs have the bias-sensitive topics alone, 30 of the 43 that are judged.
        choices = {"relevance_level": 2, "missing_topics": "drop"}
        values = {
            name: evaluate(read_run(run), qrels, [f"RR@{k}", f"nDCG@{k}"], **choices)
            for name, run in zip(settings.dl19, snakemake.input.dl19_runs, strict=True)
        }
        frame = ranker_means(values, baseline="BM25", level=settings.alpha)
        frame = frame.rename(columns={"system": "row"})[["row", "metric", "value", "marker"]]
        job.write_beside(frame, "dl19", dict.fromkeys(frame["metric"], 4))
