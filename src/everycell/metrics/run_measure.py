"""Definition and registration of everycell's measures for `ir_measures`.

A measure is defined and registered in the module of its formula;
`everycell.metrics.ir_measures_provider` imports all of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeVar

import ir_measures
import pandas as pd
from ir_measures import Measure, ParamInfo
from ir_measures.providers.base import Any as AnyValue

from everycell.base.arrays import FloatArray
from everycell.metrics.ranked_groups import RankedGroups, ranked_counts
from everycell.trec.runs import trec_order

#: Parameter of all measures.
CUTOFF = ParamInfo(dtype=int, required=True, desc="number of documents considered")

#: Registered measures, each with a specification of its parameters.
SUPPORTED_MEASURES: list[Measure] = []


class RunMeasure(Measure):
    """A measure that computes its own values.

    A query without results has the value `DEFAULT`. Queries without a value (NaN) are excluded
    from the mean.
    """

    DEFAULT = math.nan

    def by_query(self, run: pd.DataFrame, qrels: pd.DataFrame) -> Mapping[str, float]:
        """Value of each query of a run; all queries of the run are in the qrels.

        The value of a query must not depend on the other queries.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define by_query.")

    def aggregator(self) -> _MeanWithoutNaN:
        """Mean over queries with a value."""
        return _MeanWithoutNaN()


class TermMeasure(RunMeasure):
    """A measure of group fairness that uses the counts of group terms in documents.

    =====================  ================================================================
    parameter              meaning
    =====================  ================================================================
    cut-off (required)     number of documents considered
    ``counts`` (required)  file written by `count_terms`
    ``unknown``            treatment of documents without counts, 'error' (default) or
                           'neutral'
    =====================  ================================================================

    All groups have equal target shares; for other targets, see `everycell.fairness`. Values are
    those of `fairness_by_query`. A query without results has no value. The qrels only determine the
    set of queries.
    """

    SUPPORTED_PARAMS = {
        "cutoff": CUTOFF,
        "counts": ParamInfo(dtype=str, required=True, desc="file written by count_terms"),
        "unknown": ParamInfo(
            dtype=str,
            choices=["error", "neutral"],
            default="error",
            desc="treatment of documents without counts",
        ),
    }

    def values(self, lists: RankedGroups) -> FloatArray:
        """Value of each query at each cut-off, an array of the shape (Q, R)."""
        raise NotImplementedError(f"{type(self).__name__} does not define values.")

    def by_query(self, run: pd.DataFrame, qrels: pd.DataFrame) -> Mapping[str, float]:
        """Value of each query of the run."""
        lists = ranked_counts(run, self["counts"], depth=self["cutoff"], unknown=self["unknown"])
        return dict(zip(lists.queries, self.values(lists)[:, -1].tolist(), strict=True))


class _MeanWithoutNaN(ir_measures.measures.MeanAgg):
    """Mean over the queries that have a value."""

    def add(self, value: float) -> None:
        if not math.isnan(value):
            super().add(value)


_RunMeasure = TypeVar("_RunMeasure", bound=RunMeasure)


def register(measure_class: type[_RunMeasure]) -> _RunMeasure:
    """Register a measure with `ir_measures` and with everycell's provider."""
    measure = measure_class()
    ir_measures.measures.register(measure)
    parameters = {
        name: AnyValue(required=info.required) for name, info in measure.SUPPORTED_PARAMS.items()
    }
    SUPPORTED_MEASURES.append(measure_class(**parameters))
    return measure


def top_documents(run: pd.DataFrame, cutoff: int) -> pd.DataFrame:
    """Top documents of each query in trec_eval's order, with their ranks."""
    sorted_run = trec_order(run)
    ranked = sorted_run.assign(rank=sorted_run.groupby("query").cumcount() + 1)
    return ranked[ranked["rank"] <= cutoff]
