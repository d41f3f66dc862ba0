"""Table 4.1: effectiveness and group fairness of rankers, and what stands beside it."""

from pathlib import Path

import pandas as pd

from everycell.engine.result_job import ResultJob
from everycell.metrics.fairness_frames import fairness_by_query
from everycell.metrics.ranked_counts import ranked_counts
from everycell.metrics.term_counts import read_counts
from everycell.retrieval.evaluation import evaluate
from everycell.retrieval.fairness_tables import ranker_means
from everycell.trec.qrels import read_qrels
from everycell.trec.runs import read_run

EFFECTIVENESS = {"MRR": "RR", "nDCG": "nDCG"}
FAIRNESS = ["NFaiRR", "TExFAIR"]

with ResultJob(snakemake) as job:
    settings = snakemake.params
    k, systems = settings.k, settings.systems
    tables, other_measures, coverage = [], [], []
    for query_set, (folder, suffix, relevant_from) in settings.query_sets.items():
        folder = Path(folder)
        counts = read_counts(folder / "counts.parquet")
        groups = [column for column in counts.columns if column != "length"]
        with_term = counts[groups].sum(axis=1) > 0
        values, others = {}, {}
        for _, name, run_name in systems:
            run = read_run(folder / "runs" / f"{run_name}{suffix}.run")
            ranked = ranked_counts(run, counts, depth=k)
            fair = fairness_by_query(ranked, [k], background=counts).set_index("query")
            # Rankers have their queries in different orders.
            values[name] = fair[FAIRNESS].sort_index()
            # A list without any group term has no group exposure to compare with a target.
            others[name] = fair[["TExFAIR without RBDF", "AWRF"]]
            if "qrels" in snakemake.input.keys():
                found = evaluate(
                    run,
                    pd.read_parquet(folder / f"qrels{suffix}.parquet"),
                    [f"{each}@{k}" for each in EFFECTIVENESS.values()],
                    relevance_level=relevant_from,
                )
                found = found.set_axis(list(EFFECTIVENESS), axis="columns")
                # A query without judgements has fairness alone.
                values[name] = found.reindex(values[name].index).join(values[name])
            any_term = (ranked.counts.sum(axis=2) > 0) & ranked.listed
            coverage += [
                (query_set, name, f"documents, first {k}", any_term.sum() / ranked.listed.sum()),
                (query_set, name, f"lists, first {k}", any_term.any(axis=1).mean()),
            ]
        coverage.append((query_set, "whole collection", "documents, all", with_term.mean()))
        means = ranker_means(
            values,
            baseline=settings.baseline,
            correlated=("TExFAIR", "NFaiRR") if settings.baseline else None,
            level=settings.alpha,
        )
        tables.append(means.assign(query_set=query_set))
        without = pd.concat(others, names=["row"]).groupby("row", sort=False).mean()
        other_measures.append(
            without.rename_axis("metric", axis="columns")
            .stack()
            .rename("value")
            .reset_index()
            .assign(query_set=query_set)
        )
    table = pd.concat(tables).rename(columns={"system": "row"})
    table["family"] = table["row"].map({name: family for family, name, _ in systems})
    table["metric"] = table["metric"].replace(settings.names)
    topics = table.groupby("query_set", sort=False)["n"].agg(["min", "max"])
    note = ", ".join(
        f"{name}: {queries} queries" + f" of which {judged} are judged" * (judged < queries)
        for name, judged, queries in topics.itertuples()
    )
    keys = ["row", "family", "query_set", "metric"]
    job.write_table(table[[*keys, "value", "marker"]], note=note)
    columns = ["query_set", "row", "metric", "value"]
    frame = pd.concat(other_measures)[columns]
    job.write_beside(frame, "measures", dict.fromkeys(frame["metric"], 4))
    frame = pd.DataFrame(coverage, columns=columns)
    job.write_beside(frame, "coverage", dict.fromkeys(frame["metric"], 3))
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
