"""Comparison of systems as ranx reports it: LaTeX, Markdown and JSON with superscripts."""

from __future__ import annotations

import json
import math
import string
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from tabulate import tabulate

from everycell.retrieval.evaluation import parse_measure
from everycell.retrieval.fusion import ranx_run, uncompiled_ranx
from everycell.trec.qrels import check_qrels
from everycell.trec.runs import trec_order

_NAMES = {"AP": "map", "nDCG": "ndcg", "RR": "mrr", "P": "precision", "R": "recall"}
# ranx's list of superscripts has a Persian digit in place of the 17th letter.
_MOST_SYSTEMS = 16


@dataclass(frozen=True)
class ComparisonReport:
    """One comparison in three formats; made by :func:`comparison_report`."""

    latex: str
    markdown: str
    json: str


def comparison_report(
    runs: Mapping[str, pd.DataFrame],
    qrels: pd.DataFrame,
    measures: Sequence[str] = ("MAP", "nDCG"),
    *,
    comparisons: int | None = None,
    level: float = 0.05,
    digits: int = 4,
) -> ComparisonReport:
    """Compare named runs with ranx: means, and superscripts by a paired t-test.

    ranx gets the ranks of :func:`~everycell.trec.runs.trec_order` as scores: its own order of
    ties is arbitrary. Its values are therefore those of
    :func:`~everycell.retrieval.evaluation.evaluate`, except for P@k where fewer than k documents
    are ranked: ranx then divides by their number. Two systems that do not differ get p = 1, as in
    :func:`~everycell.retrieval.significance.paired_tests` (ranx: not a number).
    """
    _check_systems(runs)
    if not 0 < level < 1:
        raise ValueError(f"level is {level!r}: give a number between 0 and 1, such as 0.05.")
    number = math.comb(len(runs), 2) if comparisons is None else comparisons
    if number < 1:
        raise ValueError(f"comparisons is {comparisons!r}: give 1 or more.")
    report = _compared(runs, check_qrels(qrels), measures, level / number, digits)
    latex = report.to_latex()
    notes = {
        "topics": qrels["query"].nunique(),
        "level": level,
        "comparisons": number,
        "level_of_one_comparison": level / number,
    }
    return ComparisonReport(
        # The text before it is not LaTeX: packages to load, between lines of equals signs.
        latex=latex[latex.index(r"\begin{table*}") :] + "\n",
        markdown=_markdown(report),
        json=json.dumps({**notes, "report": _numbers(report.to_dict())}, indent=2),
    )


def _check_systems(runs: Mapping[str, pd.DataFrame]) -> None:
    if not 2 <= len(runs) <= _MOST_SYSTEMS:
        raise ValueError(
            f"There are {len(runs)} systems to compare: give from 2 to {_MOST_SYSTEMS}."
        )
    for name in runs:
        if not name or set(name) & set(r"\{}$&#%^~"):
            raise ValueError(
                f"The system name {name!r} would not print in LaTeX: leave out \\ {{ }} $ & # % ^ "
                "and ~."
            )


def _ranx_measure(measure: str) -> str:
    name, cutoff = parse_measure(measure)
    return _NAMES[name] if cutoff is None else f"{_NAMES[name]}@{cutoff}"


def _compared(
    runs: Mapping[str, pd.DataFrame],
    qrels: pd.DataFrame,
    measures: Sequence[str],
    max_p: float,
    digits: int,
):
    """Report of ranx on the runs, ranked as trec_eval does."""
    names = [_ranx_measure(measure) for measure in measures]
    ranked = [_ranked(run, qrels, name) for name, run in runs.items()]
    with uncompiled_ranx() as ranx, warnings.catch_warnings():
        # scipy warns about systems that do not differ.
        warnings.filterwarnings("ignore", "Precision loss occurred", RuntimeWarning)
        judged = ranx.Qrels.from_df(
            qrels.astype({"query": object, "document": object, "relevance": np.int64}),
            q_id_col="query",
            doc_id_col="document",
            score_col="relevance",
        )
        return ranx.compare(
            judged,
            [ranx_run(run, name) for name, run in zip(runs, ranked, strict=True)],
            names,
            stat_test="student",
            max_p=max_p,
            rounding_digits=digits,
        )


def _ranked(run: pd.DataFrame, qrels: pd.DataFrame, name: str) -> pd.DataFrame:
    """Rows of the topics of the qrels, with scores that are all different."""
    ordered = trec_order(run)
    ordered = ordered[ordered["query"].isin(qrels["query"])]
    unanswered = ~qrels["query"].isin(ordered["query"])
    if unanswered.any():
        raise ValueError(
            f"The run {name!r} does not answer topic {qrels.loc[unanswered, 'query'].iloc[0]!r} "
            "of the qrels: compare runs on topics that all of them answer."
        )
    score = ordered.groupby("query", sort=False).cumcount(ascending=False)
    return ordered.assign(score=score + 1.0)


def _markdown(report) -> str:
    rows = [
        [
            letter,
            model,
            *(
                report.format_score(report.results[model][measure])
                + report.get_superscript_for_table(model, measure)
                for measure in report.metrics
            ),
        ]
        for letter, model in zip(string.ascii_lowercase, report.model_names, strict=False)
    ]
    headers = ["#", "Model", *map(report.get_metric_label, report.metrics)]
    return tabulate(rows, headers, tablefmt="pipe", disable_numparse=True)


def _numbers(value):
    """The same tree with p = 1 where ranx has no number: systems that do not differ."""
    if isinstance(value, dict):
        return {key: _numbers(inner) for key, inner in value.items()}
    return 1.0 if isinstance(value, float) and math.isnan(value) else value
