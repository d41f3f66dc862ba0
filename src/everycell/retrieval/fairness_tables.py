"""Rows of a table of rankers: mean effectiveness and fairness, significance, correlation.

Source: abolghasemi2026, Tables 4.1 and 4.2, which are Tables 1 and 2 of abolghasemi2024.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from everycell.metrics.fairness_frames import correlation
from everycell.metrics.rank_overlap import PERSISTENCE, crbo
from everycell.retrieval.significance import paired_tests
from everycell.trec.runs import trec_order

#: What the print puts after a value: better than the baseline; a correlation that is not chance.
BETTER, CORRELATED = "‡", "†"


def ranker_means(
    values: Mapping[str, pd.DataFrame],
    *,
    baseline: str | None = None,
    correlated: tuple[str, str] | None = None,
    level: float = 0.05,
) -> pd.DataFrame:
    """Mean of each measure over the queries, with the marks of the tests.

    Parameters
    ----------
    values : mapping of str to pandas.DataFrame
        System -> values of each query (rows, index ``query``) and measure (columns). All systems
        have the same queries and measures. NaN is a query that has no value of a measure, such as
        one without judgements; it is then NaN for all systems, and left out of that measure.
    baseline : str, optional
        System that the others are compared with, by paired two-sided t-tests over the queries.
        None: no tests.
    correlated : (str, str), optional
        Two measures whose Pearson correlation over the queries becomes a row "r".
    level : float
        Significant is a p below this. That of the tests is multiplied by the number of other
        systems (Bonferroni, over the tests of a measure); the paper does not say what it counts.

    Returns
    -------
    pandas.DataFrame
        Columns ``system``, ``metric``, ``value``, ``marker`` ("‡": greater than the baseline's,
        significantly; "†" at r: not 0) and ``n`` (queries with a value). Systems, then measures,
        each in its order, then "r".

    Raises
    ------
    ValueError
        For systems with other queries, measures or NaN, an unknown baseline, or what
        `everycell.retrieval.significance.paired_tests` refuses.

    Examples
    --------
    >>> queries = pd.Index(["q1", "q2", "q3"], name="query")
    >>> bm25 = pd.DataFrame({"NFaiRR": [0.5, 0.6, 0.7], "TExFAIR": [0.4, 0.6, 0.8]}, index=queries)
    >>> ance = bm25.assign(NFaiRR=[0.6, 0.69, 0.81])
    >>> found = ranker_means({"BM25": bm25, "ANCE": ance}, baseline="BM25")
    >>> found[["system", "metric", "value", "marker"]].round(2).values.tolist()
    [['BM25', 'NFaiRR', 0.6, ''], ['BM25', 'TExFAIR', 0.6, ''],
     ['ANCE', 'NFaiRR', 0.7, '‡'], ['ANCE', 'TExFAIR', 0.6, '']]
    """
    first = next(iter(values.values()))
    for system, frame in values.items():
        # Index, columns and NaN in one.
        if not frame.notna().equals(first.notna()):
            raise ValueError(
                f"The system {system!r} has other queries or measures than {next(iter(values))!r}: "
                "evaluate all systems on the same ones."
            )
    if baseline is not None and baseline not in values:
        raise ValueError(f"The baseline {baseline!r} is none of {list(values)}: name one of them.")
    others = [system for system in values if system != baseline]
    better = set()
    if baseline is not None and others:
        for metric in first.columns:
            by_system = pd.DataFrame({name: frame[metric] for name, frame in values.items()})
            pairs = [(system, baseline) for system in others]
            tests = paired_tests(by_system.dropna(), pairs, level=level)
            better |= {(row.a, metric) for row in tests.itertuples() if row.better == row.a}
    rows = []
    for system, frame in values.items():
        for metric in first.columns:
            marker = BETTER if (system, metric) in better else ""
            rows.append((system, metric, frame[metric].mean(), marker, frame[metric].count()))
        if correlated is not None:
            found = correlation(*(frame[metric] for metric in correlated))
            marker = CORRELATED if found.p < level else ""
            rows.append((system, "r", found.r, marker, found.queries))
    return pd.DataFrame(rows, columns=["system", "metric", "value", "marker", "n"])


def counterfactual_overlap(
    original: pd.DataFrame,
    counterfactual: pd.DataFrame,
    *,
    p: float = PERSISTENCE,
    depth: int = 10,
) -> pd.Series:
    """CRBO of each query from two runs; 1 where the exchange leaves the first ranks as they are.

    Parameters
    ----------
    original, counterfactual : pandas.DataFrame
        Runs on a collection and on its counterfactual, in which a document keeps its id: columns
        ``query``, ``document``, ``score``. Ties are broken as trec_eval does.
    p, depth
        As in `everycell.metrics.rank_overlap.crbo`; extrapolated.

    Returns
    -------
    pandas.Series, shape (Q,)
        Index ``query``, values in [0, 1].

    Raises
    ------
    ValueError
        As `everycell.metrics.rank_overlap.crbo`.

    Examples
    --------
    >>> run = pd.DataFrame({"query": "q", "document": ["a", "b"], "score": [2.0, 1.0]})
    >>> counterfactual_overlap(run, run).tolist()
    [1.0]
    >>> counterfactual_overlap(run, run.assign(score=[1.0, 2.0])).round(2).tolist()
    [0.9]
    """
    ranked = []
    for run in (original, counterfactual):
        ordered = trec_order(run)
        ranked.append(ordered.assign(rank=ordered.groupby("query", sort=False).cumcount() + 1))
    return crbo(*ranked, p, depth=depth)
