"""Scores of responses to CAsT, in chapter 6 of lajewska2025 (Tables 6.1, 6.4, 6.6, C.6, C.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from everycell.base.untrusted import read_json
from everycell.jobs.result_job import ResultJob
from papers.lajewska2025.ch6_scores import compare_runs
from papers.lajewska2025.ch6_systems import (
    BASELINE,
    COMPLETE,
    CONTRADICTED,
    ENTAILED,
    FAITHFUL,
    REASONED,
    RELEVANCE,
    RELEVANT,
    REPHRASED,
)

#: Variant in Table C.7 -> its name in Table 6.6.
ABLATION: Mapping[str, str] = {
    "GINGER": "GINGER",
    "GINGER -fluency": "-fluency",
    "CAsT-snippets/BERTopic/DuoT5/GPT-4": "-fluency w/ GTnuggets",
    "GPT-4/BERTopic/BM25/GPT-4": "-fluency w/ BM25",
    "GINGER -fluency w/ LSA": "-fluency w/ LSA",
    "GINGER -fluency w/ BM25+LSA": "-fluency w/ BM25+LSA",
}
#: Variant in Table C.7 -> its name in Table C.6, if different.
NAMES_IN_C6: Mapping[str, str] = {
    "CAsT-snippets/BERTopic/DuoT5/GPT-4": "GINGER -fluency w/ GTnugget",
    "CAsT-snippets/LSA/BM25/GPT-4": "GINGER -fluency w/ GTnuggets+BM25+LSA",
    "GPT-4/BERTopic/BM25/GPT-4": "GINGER -fluency w/ BM25",
}
#: Marker of a difference with p below 0.05.
SIGNIFICANT = "*"
#: Names in Table 6.1.
SHORT = {ENTAILED: "Ent", CONTRADICTED: "Contr", COMPLETE: "Comp"}


def mark_means(scores: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Means over topics, marked if they differ from a reference (t-test, 0.05)."""
    rows = []
    for metric, rows_of_metric in scores.groupby("metric", sort=False):
        means = rows_of_metric.groupby("system", sort=False)["value"].mean()
        for name, value in means.items():
            pair = rows_of_metric[rows_of_metric["system"].isin([name, reference])]
            counts = pair.groupby("topic")["system"].nunique()
            pair = pair[pair["topic"].isin(counts.index[counts == 2])]
            marker = ""
            if name != reference and pair["topic"].nunique() > 1:
                test = compare_runs(
                    pair.rename(columns={"system": "run"}), [(str(name), reference)]
                )
                marker = SIGNIFICANT if test["p_paired"].iloc[0] < 0.05 else ""
            rows.append((name, metric, value, marker))
    return pd.DataFrame(rows, columns=["row", "metric", "value", "marker"])


def spread_cells(scores: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Cells of `mark_means`, with mean and standard deviation over responses.

    According to the thesis, the deviation is over five runs; `run_spread` has that. Deviations as
    large as the published ones can only be between responses.
    """
    means = mark_means(scores, reference)
    with_deviation = means["metric"].isin([FAITHFUL, RELEVANCE])
    deviations = scores.groupby(["system", "metric"])["value"].std()
    rows = means[with_deviation]
    values = [
        float(deviations[row, metric])
        for row, metric in zip(rows["row"], rows["metric"], strict=True)
    ]
    deviation_rows = rows.assign(metric=rows["metric"] + " sd", value=values, marker="")
    means.loc[with_deviation, "metric"] += " mean"
    return pd.concat([means, deviation_rows], ignore_index=True)


def run_spread(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard deviation of the means of single runs of RAGAs."""
    keys = ["system", "input", "metric"]
    means = runs.groupby([*keys, "run"], sort=False)["value"].mean()
    summary = means.groupby(keys, sort=False).agg(mean="mean", sd="std").fillna(0.0)
    table = summary.reset_index().melt(keys, ["mean", "sd"], "of")
    table["metric"] += " " + table["of"]
    return table.rename(columns={"system": "row"})[["input", "row", "metric", "value"]]


def input_table(
    scores: pd.DataFrame, systems: Sequence[str] = (BASELINE, "GINGER")
) -> pd.DataFrame:
    """Scores of some systems per kind of input (Table 6.4; Table 6.1 has only relevant input)."""
    selected = scores[scores["system"].isin(systems) & (scores["input"] != REPHRASED)]
    parts = [
        spread_cells(rows, BASELINE).assign(input=str(kind).capitalize())
        for kind, rows in selected.groupby("input", sort=False)
    ]
    table = pd.concat(parts, ignore_index=True)
    return table[["row", "input", "metric", "value", "marker"]]


def relevant_table(scores: pd.DataFrame) -> pd.DataFrame:
    """Entailment, contradiction and completeness on relevant input (Table 6.1)."""
    selected = scores[(scores["input"] == RELEVANT) & scores["metric"].isin(SHORT)]
    table = input_table(selected).drop(columns="input")
    return table.assign(metric=table["metric"].map(SHORT))


def variant_table(scores: pd.DataFrame) -> pd.DataFrame:
    """Faithfulness and answer relevance of all variants per kind of input (Table C.6)."""
    selected = scores[scores["metric"].isin([FAITHFUL, RELEVANCE])]
    systems = selected["system"]
    is_published = ~systems.str.contains("(", regex=False) & (systems != REASONED)
    # Table C.6 has fewer variants on rephrased input than Table C.7.
    is_published &= (selected["input"] != REPHRASED) | ~systems.str.endswith("LSA")
    selected = selected[is_published]
    selected = selected.assign(system=selected["system"].replace(dict(NAMES_IN_C6)))
    parts = [
        spread_cells(rows, BASELINE).assign(input=kind)
        for kind, rows in selected.groupby("input", sort=False)
    ]
    return pd.concat(parts, ignore_index=True)[["row", "input", "metric", "value"]]


def response_scores(job: ResultJob) -> None:
    """Tables 6.1, 6.4, 6.6, C.6 and C.7: model-based scores of responses."""
    job.facts["language_models"] = [read_json(file) for file in job.input.provenance]
    scores = pd.concat(map(pd.read_parquet, job.input.scores), ignore_index=True)
    job.write_table(relevant_table(scores))
    job.write_table(input_table(scores), artefact="table_6_4")
    reasoned = input_table(scores, (BASELINE, REASONED, "GINGER"))
    decimals = dict.fromkeys(reasoned["metric"].unique(), 2)
    job.write_supplement(reasoned, "reasoning", decimals, "table_6_4")
    relevant = scores[(scores["input"] == RELEVANT) & scores["system"].isin(ABLATION)]
    job.write_table(
        spread_cells(relevant.assign(system=relevant["system"].map(ABLATION)), "GINGER"),
        artefact="table_6_6",
    )
    complete = scores[(scores["metric"] == COMPLETE) & (scores["system"] != REASONED)]
    means = complete.groupby(["system", "input"], sort=False, as_index=False)["value"].mean()
    means = means.rename(columns={"system": "row"}).assign(metric="Completeness")
    job.write_table(means[["row", "input", "metric", "value"]], artefact="table_C_7")
    job.write_table(variant_table(scores), artefact="table_C_6")
    spread = run_spread(pd.read_parquet(job.input.runs))
    job.write_supplement(spread, "runs", dict.fromkeys(spread["metric"].unique(), 3), "table_C_6")
