"""Whether printed tables of the group fairness of rankings can stand, and agree with each other.

The tables are tidy: a row a cell, named by `row` (a ranker), `query_set` and `metric`, with `value`
as text. Each function says what it finds; it needs no run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from everycell.engine.audits import Finding, holds_if_any, printed_text, rows_where
from everycell.metrics.rank_overlap import rbo


def values_at_or_above(table: pd.DataFrame, bound: float) -> Finding:
    """Correlations that reach a bound which a text says they stay below.

    Parameters
    ----------
    table
        Cells of the correlations, shape (n, k).
    bound
        What all of them are said to be below.

    Examples
    --------
    >>> table = pd.DataFrame([("BM25", "QS1", "0.41"), ("BERT", "QS1", "0.55")],
    ...     columns=["row", "query_set", "value"])
    >>> values_at_or_above(table, 0.55)
    Finding(holds=True, detail='BERT QS1: 0.55, not below 0.55')
    """
    above = table[table["value"].astype(float) >= bound]
    return holds_if_any(
        (f"{c.row} {c.query_set}: {c.value}, not below {bound}" for c in above.itertuples()),
        f"all correlations are below {bound}",
    )


def rankers_with_one_value(table: pd.DataFrame) -> Finding:
    """Rankers that share a value on one query set, which fine-grained measures hardly ever do.

    Parameters
    ----------
    table
        Cells of one measure, shape (n, k).

    Examples
    --------
    >>> table = pd.DataFrame([("BM25", "QS1", "0.81"), ("BERT", "QS1", "0.81")],
    ...     columns=["row", "query_set", "value"])
    >>> rankers_with_one_value(table)
    Finding(holds=True, detail='QS1: BM25 and BERT have 0.81')
    """
    twins = table[table.duplicated(["query_set", "value"], keep=False)]
    return holds_if_any(
        (
            f"{query_set}: {' and '.join(rows['row'])} have {value}"
            for (query_set, value), rows in twins.groupby(["query_set", "value"], sort=False)
        ),
        "no two rankers share a value",
    )


def query_sets_exchanged(
    table: pd.DataFrame,
    repeating: pd.DataFrame,
    *,
    rankers: Mapping[str, str],
    metrics: Sequence[str],
    query_sets: tuple[str, str],
) -> Finding:
    """Whether a table repeats another one's values under the other query set.

    Parameters
    ----------
    table, repeating
        Cells of the first table, and of the one that repeats some of its values.
    rankers
        Name of a ranker in the second table -> its name in the first.
    metrics
        Measures that are repeated.
    query_sets
        The two query sets.

    Examples
    --------
    >>> columns = ["row", "query_set", "metric", "value"]
    >>> first = pd.DataFrame([("BM25", "QS1", "F", "0.8"), ("BM25", "QS2", "F", "0.9")],
    ...     columns=columns)
    >>> second = first.assign(value=["0.9", "0.8"])
    >>> query_sets_exchanged(first, second, rankers={"BM25": "BM25"}, metrics=["F"],
    ...     query_sets=("QS1", "QS2"))
    Finding(holds=True, \
detail='of 2 values 0 stand under their own query set, 2 under the other')
    """
    own = other = 0
    copied = rows_where(repeating, metric=list(metrics))
    for cell in copied.itertuples():
        by_set = {
            query_set: printed_text(
                table, row=rankers[cell.row], metric=cell.metric, query_set=query_set
            )
            for query_set in query_sets
        }
        own += by_set.pop(cell.query_set) == cell.value
        other += cell.value in by_set.values()
    return Finding(
        other > own,
        f"of {len(copied)} values {own} stand under their own query set, {other} under the other",
    )


def value_of_another_ranker(
    table: pd.DataFrame, repeating: pd.DataFrame, *, ranker: str, query_set: str, metric: str
) -> Finding:
    """Whether a table gives a ranker a value that another one has for other rankers only.

    Parameters
    ----------
    table, repeating
        Cells of the first table, and of the one that repeats some of its values.
    ranker, query_set, metric
        The cell of the second table.

    Examples
    --------
    >>> columns = ["row", "query_set", "metric", "value"]
    >>> first = pd.DataFrame([("BM25", "QS1", "F", "0.8"), ("BERT", "QS1", "F", "0.9")],
    ...     columns=columns)
    >>> second = pd.DataFrame([("BERT", "QS1", "F", "0.8")], columns=columns)
    >>> value_of_another_ranker(first, second, ranker="BERT", query_set="QS1", metric="F")
    Finding(holds=True, detail='0.8; BERT has 0.9, others with it: BM25')
    """
    column = rows_where(table, metric=metric)
    printed = printed_text(repeating, row=ranker, query_set=query_set, metric=metric)
    own = list(rows_where(column, row=ranker)["value"])
    others = list(column.loc[(column["value"] == printed) & (column["row"] != ranker), "row"])
    return Finding(
        printed not in own and bool(others),
        f"{printed}; {ranker} has {' and '.join(own)}, "
        f"others with it: {', '.join(others) or 'none'}",
    )


def overlaps_out_of_reach(overlaps: pd.DataFrame, p: float) -> Finding:
    """Whether rank-biased overlaps exceed what two equal rankings of ten documents can have.

    Parameters
    ----------
    overlaps
        Cells of the overlaps, shape (n, k).
    p
        Persistence, in (0, 1).

    Returns
    -------
    Finding
        It holds where the truncated and the least form are both ruled out, so that the overlap was
        extrapolated.

    Examples
    --------
    >>> overlaps_out_of_reach(pd.DataFrame({"value": ["0.90", "0.97"]}), p=0.9)
    Finding(holds=True, \
detail='0.9 to 0.97 printed; the largest of ten documents are truncated 0.651, min 0.856')
    """
    same = list(range(10))
    highest = {variant: rbo(same, same, p, variant=variant) for variant in ("truncated", "min")}
    printed = overlaps["value"].astype(float)
    ruled_out = [name for name, value in highest.items() if printed.min() > value]
    largest = ", ".join(f"{name} {value:.3f}" for name, value in highest.items())
    return Finding(
        len(ruled_out) == len(highest),
        f"{printed.min()} to {printed.max()} printed; the largest of ten documents are {largest}",
    )
