"""Comparison of the systems of chapter 2 of abolghasemi2026 by ranx, in three formats."""

from __future__ import annotations

import json
import math
import string
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType

import numpy as np
import pandas as pd
from tabulate import tabulate

from everycell.base.errors import DataError
from everycell.retrieval.evaluation import parse_measure
from everycell.trec.runs import check_qrels, trec_order

_RANX_NAMES = {"AP": "map", "nDCG": "ndcg", "RR": "mrr", "P": "precision", "R": "recall"}
# In ranx's list of superscripts, the 17th letter is wrongly a Persian digit.
_MAX_SYSTEMS = 16


@dataclass(frozen=True)
class ComparisonReport:
    """A comparison in three formats, as returned by :func:`comparison_report`."""

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
    """Compare runs with ranx: mean values, with superscripts from paired t-tests.

    ranx breaks ties arbitrarily, so reversed ranks in the order of
    :func:`~everycell.trec.runs.trec_order` replace the scores. Its values then equal those of
    :func:`~everycell.retrieval.evaluation.evaluate`, except P@k of topics with fewer than k
    documents, where ranx divides by the number of documents. For two systems with equal values,
    p is 1, as in :func:`~everycell.retrieval.significance.paired_tests`; ranx returns NaN.
    """
    if len(runs) > _MAX_SYSTEMS:
        raise DataError(
            column="the number of systems", value=len(runs), expected=f"at most {_MAX_SYSTEMS}"
        )
    n_comparisons = math.comb(len(runs), 2) if comparisons is None else comparisons
    report = _compare(runs, check_qrels(qrels), measures, level / n_comparisons, digits)
    latex = report.to_latex()
    notes = {
        "topics": qrels["query"].nunique(),
        "level": level,
        "comparisons": n_comparisons,
        "level_of_one_comparison": level / n_comparisons,
    }
    return ComparisonReport(
        # Before the table, ranx puts a note about packages to load, which is not LaTeX.
        latex=latex[latex.index(r"\begin{table*}") :] + "\n",
        markdown=_markdown_table(report),
        json=json.dumps({**notes, "report": _replace_nan(report.to_dict())}, indent=2),
    )


def _ranx_measure(measure: str) -> str:
    name, cutoff = parse_measure(measure)
    return _RANX_NAMES[name] if cutoff is None else f"{_RANX_NAMES[name]}@{cutoff}"


def _compare(
    runs: Mapping[str, pd.DataFrame],
    qrels: pd.DataFrame,
    measures: Sequence[str],
    max_p: float,
    digits: int,
):
    """Report of ranx on the runs, ranked as in trec_eval."""
    names = [_ranx_measure(measure) for measure in measures]
    ranked = [_rank_judged_topics(run, qrels) for run in runs.values()]
    with uncompiled_ranx() as ranx, warnings.catch_warnings():
        # scipy warns about systems with equal values.
        warnings.filterwarnings("ignore", "Precision loss occurred", RuntimeWarning)
        ranx_qrels = ranx.Qrels.from_df(
            qrels.astype({"query": object, "document": object, "relevance": np.int64}),
            q_id_col="query",
            doc_id_col="document",
            score_col="relevance",
        )
        return ranx.compare(
            ranx_qrels,
            [ranx_run(run, name) for name, run in zip(runs, ranked, strict=True)],
            names,
            stat_test="student",
            max_p=max_p,
            rounding_digits=digits,
        )


def _rank_judged_topics(run: pd.DataFrame, qrels: pd.DataFrame) -> pd.DataFrame:
    """Restrict a run to the topics of the qrels, with reversed ranks as scores."""
    ordered = trec_order(run)
    ordered = ordered[ordered["query"].isin(qrels["query"])]
    score = ordered.groupby("query", sort=False).cumcount(ascending=False)
    return ordered.assign(score=score + 1.0)


def _markdown_table(report) -> str:
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


def _replace_nan(value):
    """Copy of a report with p = 1 instead of NaN, for systems with equal values."""
    if isinstance(value, dict):
        return {key: _replace_nan(inner) for key, inner in value.items()}
    return 1.0 if isinstance(value, float) and math.isnan(value) else value


@contextmanager
def uncompiled_ranx() -> Iterator[ModuleType]:
    """Import ranx with numba's compiler disabled while the context lasts.

    Compilation takes a minute in a fresh environment and about 10 s in every later process. ranx
    must not have been imported before: its compiled functions do not accept plain dictionaries.
    """
    # numba.typed reads the setting when it is imported, so import it before disabling the JIT.
    import numba.typed

    previous = numba.config.DISABLE_JIT
    numba.config.DISABLE_JIT = True
    try:
        import ranx

        yield ranx
    finally:
        numba.config.DISABLE_JIT = previous


def ranx_run(run: pd.DataFrame, name: str | None = None):
    """Convert a run to ranx's class."""
    with uncompiled_ranx() as ranx:
        return ranx.Run.from_df(
            run.astype({"query": object, "document": object}),
            q_id_col="query",
            doc_id_col="document",
            name=name,
        )
