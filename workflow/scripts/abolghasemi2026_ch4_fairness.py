"""Table 4.1: effectiveness and group fairness of rankers, and what stands beside it."""

from pathlib import Path

import pandas as pd
from job import Job

from everycell.metrics.term_counts import read_counts
from everycell.metrics.term_fairness import fairness_by_query, ranked_counts
from everycell.retrieval.evaluation import evaluate
from everycell.retrieval.fairness_tables import ranker_means
from everycell.retrieval.runs import read_qrels, read_run

EFFECTIVENESS = {"MRR": "RR", "nDCG": "nDCG"}
FAIRNESS = ["NFaiRR", "TExFAIR"]

with Job(snakemake) as job:
    settings = snakemake.params
    k, systems = settings.k, settings.systems
    tables, other_measures, coverage = [], [], []
    for query_set, (folder, suffix, relevant_from) in settings.query_sets.items():
        folder = Path(folder)
        counts = read_counts(folder / "counts.parquet")
        groups = [column for column in counts.columns if column != "length"]
        with_term = counts[groups].sum(axis=1) > 0
        judged = folder / f"qrels{suffix}.parquet"
        values, others = {}, {}
        for _, name, run_name in systems:
            run = read_run(folder / "runs" / f"{run_name}{suffix}.run")
            ranked = ranked_counts(run, counts, depth=k)
            fair = fairness_by_query(ranked, [k], background=counts).set_index("query")
            values[name] = fair[FAIRNESS]
            # A list without any group term has no group exposure to compare with a target.
            others[name] = fair[["TExFAIR without RBDF", "AWRF"]]
            if judged.exists():
                qrels = pd.read_parquet(judged)
                found = evaluate(
                    run,
                    qrels,
                    [f"{each}@{k}" for each in EFFECTIVENESS.values()],
                    relevance_level=relevant_from,
                )
                found = found.set_axis(list(EFFECTIVENESS), axis="columns")
                values[name] = found.join(values[name], how="inner")
                assert len(values[name]) == len(fair)
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
    topics = table.groupby("query_set", sort=False)["n"].first()
    note = ", ".join(f"{name}: {n} queries" for name, n in topics.items())
    keys = ["row", "family", "query_set", "metric"]
    job.write_table(table[[*keys, "value", "marker"]], note=note)
    if "measures_csv" in snakemake.output.keys():
        columns = ["query_set", "row", "metric", "value"]
        frame = pd.concat(other_measures)[columns]
        job.write_beside(frame, "measures", dict.fromkeys(frame["metric"], 4))
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
    if "coverage_csv" in snakemake.output.keys():
        frame = pd.DataFrame(coverage, columns=["query_set", "row", "metric", "value"])
        job.write_beside(frame, "coverage", dict.fromkeys(frame["metric"], 3))
