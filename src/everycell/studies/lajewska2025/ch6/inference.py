"""Scores of responses by a model of inference, and by a language model, in tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from everycell.engine.arrays import FloatArray
from everycell.studies.lajewska2025.ch6.nuggets import compare_runs
from everycell.studies.lajewska2025.ch6.systems import BASELINE, DETECTED, GOLD, REASONED

#: From pairs of premise and hypothesis to probabilities of entailment, contradiction and neither.
Infer = Callable[[Sequence[tuple[str, str]]], FloatArray]
#: Names in Tables 6.1, 6.4 and 6.6.
ENTAILED, CONTRADICTED, COMPLETE = "Entail", "Contrad", "Compl"
#: Scores by a language model; tables have the mean of each and its spread over responses.
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
#: Variant in Table C.7 -> its name in Table C.6, where that is another.
NAMES_IN_C6: Mapping[str, str] = {
    "CAsT-snippets/BERTopic/DuoT5/GPT-4": "GINGER -fluency w/ GTnugget",
    "CAsT-snippets/LSA/BM25/GPT-4": "GINGER -fluency w/ GTnuggets+BM25+LSA",
    "GPT-4/BERTopic/BM25/GPT-4": "GINGER -fluency w/ BM25",
}
#: Mark of a difference with p below 0.05.
SIGNIFICANT = "*"


def inference_scores(responses: pd.DataFrame, nuggets: pd.DataFrame, infer: Infer) -> pd.DataFrame:
    """Scores of all responses.

    Examples
    --------
    >>> responses = pd.DataFrame({"input": "relevant", "system": "a", "topic": "1",
    ...     "text": ["An owl."]})
    >>> nuggets = pd.DataFrame({"detection": ["GPT-4", "Gold"], "input": "relevant", "topic": "1",
    ...     "text": ["an owl", "a fox"]})
    >>> infer = lambda pairs: np.array([[0.7, 0.1, 0.2], [0.1, 0.6, 0.3]])
    >>> inference_scores(responses, nuggets, infer)["value"].tolist()
    [0.7, 0.1, 0.0]
    """
    detected = nuggets[nuggets["detection"] == DETECTED]
    of_input = detected.groupby(["input", "topic"])["text"].agg(list).to_dict()
    people = nuggets[nuggets["detection"] == GOLD].groupby("topic")["text"].agg(list).to_dict()
    rows = list(responses[["system", "input", "topic", "text"]].itertuples(index=False))
    nuggets_by_response = [
        (of_input.get((row.input, row.topic), []), people.get(row.topic, [])) for row in rows
    ]
    pairs = [
        (row.text, nugget)
        for row, both in zip(rows, nuggets_by_response, strict=True)
        if row.text.strip()
        for nugget in (*both[0], *both[1])
    ]
    all_probabilities = infer(pairs)
    scores, start = [], 0
    for row, (own, gold) in zip(rows, nuggets_by_response, strict=True):
        shape = len(own) + len(gold)
        if row.text.strip():
            probabilities = all_probabilities[start : start + shape]
            start += shape
        else:
            probabilities = np.tile([0.0, 0.0, 1.0], (shape, 1))
        values = {}
        if own:
            mean = probabilities[: len(own)].mean(axis=0)
            values |= {ENTAILED: mean[0], CONTRADICTED: mean[1]}
        if gold:
            values[COMPLETE] = (probabilities[len(own) :].argmax(axis=1) == 0).mean()
        scores += [
            (row.system, row.input, row.topic, metric, float(value))
            for metric, value in values.items()
        ]
    return pd.DataFrame(scores, columns=["system", "input", "topic", "metric", "value"])


def mark_means(scores: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Means over topics, marked where they differ from those of a reference (paired t-test, 0.05).

    Examples
    --------
    >>> scores = pd.DataFrame({"system": ["a"] * 3 + ["b"] * 3, "topic": list("123") * 2,
    ...     "metric": "Entail", "value": [0.1, 0.2, 0.3, 0.5, 0.6, 0.8]})
    >>> mark_means(scores, "a")[["row", "marker"]].to_numpy().tolist()
    [['a', ''], ['b', '*']]
    """
    rows = []
    for metric, own in scores.groupby("metric", sort=False):
        means = own.groupby("system", sort=False)["value"].mean()
        for name, value in means.items():
            both = own[own["system"].isin([name, reference])]
            counts = both.groupby("topic")["system"].nunique()
            both = both[both["topic"].isin(counts.index[counts == 2])]
            marker = ""
            if name != reference and both["topic"].nunique() > 1:
                test = compare_runs(
                    both.rename(columns={"system": "run"}), [(str(name), reference)]
                )
                marker = SIGNIFICANT if test["p_paired"].iloc[0] < 0.05 else ""
            rows.append((name, metric, value, marker))
    return pd.DataFrame(rows, columns=["row", "metric", "value", "marker"])


def spread_cells(scores: pd.DataFrame, reference: str) -> pd.DataFrame:
    """As `mark_means`, where `FAITHFUL` and `RELEVANCE` have a mean and a spread.

    The spread is the standard deviation over responses. The thesis has that over five runs, of
    models that answer otherwise each time; here decoding is greedy.

    Examples
    --------
    >>> scores = pd.DataFrame({"system": "a", "topic": ["1", "2"], "metric": "Faithfulness",
    ...     "value": [0.5, 1.0]})
    >>> spread_cells(scores, "a")["metric"].tolist()
    ['Faithfulness mean', 'Faithfulness sd']
    """
    means = mark_means(scores, reference)
    spread = means["metric"].isin([FAITHFUL, RELEVANCE])
    deviations = scores.groupby(["system", "metric"])["value"].std()
    rows = means[spread]
    values = [
        float(deviations[row, metric])
        for row, metric in zip(rows["row"], rows["metric"], strict=True)
    ]
    spreads = rows.assign(metric=rows["metric"] + " sd", value=values, marker="")
    means.loc[spread, "metric"] += " mean"
    return pd.concat([means, spreads], ignore_index=True)


def input_table(
    scores: pd.DataFrame, systems: Sequence[str] = (BASELINE, "GINGER")
) -> pd.DataFrame:
    """Some systems on each kind of input (Table 6.4; of the relevant one, Table 6.1)."""
    own = scores[scores["system"].isin(systems)]
    parts = [
        spread_cells(rows, BASELINE).assign(input=str(kind).capitalize())
        for kind, rows in own.groupby("input", sort=False)
    ]
    table = pd.concat(parts, ignore_index=True)
    return table[["row", "input", "metric", "value", "marker"]]


def variant_table(scores: pd.DataFrame) -> pd.DataFrame:
    """Faithfulness and answer relevance of all variants on each kind of input (Table C.6)."""
    own = scores[scores["metric"].isin([FAITHFUL, RELEVANCE])]
    own = own[~own["system"].str.contains("(", regex=False) & (own["system"] != REASONED)]
    own = own.assign(system=own["system"].replace(dict(NAMES_IN_C6)))
    parts = [
        spread_cells(rows, BASELINE).assign(input=kind)
        for kind, rows in own.groupby("input", sort=False)
    ]
    return pd.concat(parts, ignore_index=True)[["row", "input", "metric", "value"]]
