"""Tables of response scores from an entailment model and from a language model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from everycell.base.arrays import FloatArray
from everycell.studies.lajewska2025.ch6.nuggets import compare_runs
from everycell.studies.lajewska2025.ch6.systems import BASELINE, DETECTED, GOLD, REASONED

#: Pairs of premise and hypothesis -> probabilities of entailment, contradiction and neutral.
Infer = Callable[[Sequence[tuple[str, str]]], FloatArray]
#: Names in Tables 6.1, 6.4 and 6.6.
ENTAILED, CONTRADICTED, COMPLETE = "Entail", "Contrad", "Compl"
#: Scores by a language model; tables have their means and standard deviations.
FAITHFUL, RELEVANCE = "Faithfulness", "Answer rel"
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


def inference_scores(responses: pd.DataFrame, nuggets: pd.DataFrame, infer: Infer) -> pd.DataFrame:
    """Entailment, contradiction and completeness of all responses."""
    detected = nuggets[nuggets["detection"] == DETECTED]
    detected = detected.groupby(["input", "topic"])["text"].agg(list).to_dict()
    gold = nuggets[nuggets["detection"] == GOLD].groupby("topic")["text"].agg(list).to_dict()
    rows = list(responses[["system", "input", "topic", "text"]].itertuples(index=False))
    nuggets_by_response = [
        (detected.get((row.input, row.topic), []), gold.get(row.topic, [])) for row in rows
    ]
    pairs = [
        (row.text, nugget)
        for row, (detected_nuggets, gold_nuggets) in zip(rows, nuggets_by_response, strict=True)
        if row.text.strip()
        for nugget in (*detected_nuggets, *gold_nuggets)
    ]
    all_probabilities = infer(pairs)
    scores, start = [], 0
    for row, (detected_nuggets, gold_nuggets) in zip(rows, nuggets_by_response, strict=True):
        size = len(detected_nuggets) + len(gold_nuggets)
        if row.text.strip():
            probabilities = all_probabilities[start : start + size]
            start += size
        else:
            probabilities = np.tile([0.0, 0.0, 1.0], (size, 1))
        values = {}
        if detected_nuggets:
            mean = probabilities[: len(detected_nuggets)].mean(axis=0)
            values |= {ENTAILED: mean[0], CONTRADICTED: mean[1]}
        if gold_nuggets:
            entailed = probabilities[len(detected_nuggets) :].argmax(axis=1) == 0
            values[COMPLETE] = entailed.mean()
        scores += [
            (row.system, row.input, row.topic, metric, float(value))
            for metric, value in values.items()
        ]
    return pd.DataFrame(scores, columns=["system", "input", "topic", "metric", "value"])


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

    In the thesis, the deviation is over five runs of models that sample their answers; here
    decoding is greedy.
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


def input_table(
    scores: pd.DataFrame, systems: Sequence[str] = (BASELINE, "GINGER")
) -> pd.DataFrame:
    """Scores of some systems per kind of input (Table 6.4; Table 6.1 has only relevant input)."""
    selected = scores[scores["system"].isin(systems)]
    parts = [
        spread_cells(rows, BASELINE).assign(input=str(kind).capitalize())
        for kind, rows in selected.groupby("input", sort=False)
    ]
    table = pd.concat(parts, ignore_index=True)
    return table[["row", "input", "metric", "value", "marker"]]


def variant_table(scores: pd.DataFrame) -> pd.DataFrame:
    """Faithfulness and answer relevance of all variants per kind of input (Table C.6)."""
    selected = scores[scores["metric"].isin([FAITHFUL, RELEVANCE])]
    systems = selected["system"]
    selected = selected[~systems.str.contains("(", regex=False) & (systems != REASONED)]
    selected = selected.assign(system=selected["system"].replace(dict(NAMES_IN_C6)))
    parts = [
        spread_cells(rows, BASELINE).assign(input=kind)
        for kind, rows in selected.groupby("input", sort=False)
    ]
    return pd.concat(parts, ignore_index=True)[["row", "input", "metric", "value"]]
