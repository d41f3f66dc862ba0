"""NFaiRR, TExFAIR and AWRF as measures of `ir_measures`.

Importing this module (or taking one of its measures from `everycell`) registers the three with that
library: it parses them from text, such as ``TExFAIR(counts='counts.parquet')@10``, and computes
them beside its own, in `ir_measures.calc` and wherever else it accepts measures.

=============================  ==================================================================
parameter                      meaning
=============================  ==================================================================
``counts`` (required)          file that `count_terms` wrote
cut-off (required)             number of documents considered
``tau`` (of NFaiRR)            documents with no more group terms are neutral; 1 if left out
``unknown``                    document without counts: 'error' (if left out) or 'neutral'
=============================  ==================================================================

The groups have equal shares; for others see `everycell.fairness`. Only the queries of the
judgements matter. A query without a value (NaN) is left out of the mean, as in `fairness_report`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import ir_measures
from ir_measures import Evaluator, Measure, Metric, ParamInfo, Provider
from ir_measures.providers.base import Any as AnyValue
from ir_measures.util import QrelsConverter, RunConverter

from everycell.metrics.fairness_frames import fairness_by_query
from everycell.metrics.fairness_report import most_neutral
from everycell.metrics.nfairr import TAU
from everycell.metrics.ranked_counts import ranked_counts


class _MeanOfValues(ir_measures.measures.MeanAgg):
    """Mean over the queries that have a value."""

    def add(self, value: float) -> None:
        if not math.isnan(value):
            super().add(value)


class _OfCounts(Measure):
    """A measure of group fairness, by the terms of the documents."""

    SUPPORTED_PARAMS = {
        "cutoff": ParamInfo(dtype=int, required=True, desc="number of documents considered"),
        "counts": ParamInfo(dtype=str, required=True, desc="file that count_terms wrote"),
        "unknown": ParamInfo(
            dtype=str, choices=["error", "neutral"], default="error", desc="without counts"
        ),
    }
    #: Value of a query that is not in the run.
    DEFAULT = math.nan

    def aggregator(self) -> _MeanOfValues:
        """Mean over queries with a value."""
        return _MeanOfValues()


class _TExFAIR(_OfCounts):
    """TExFAIR: balance of the exposure of the groups' terms, abolghasemi2026, Eq. 4.13."""

    __name__ = NAME = "TExFAIR"


class _NFaiRR(_OfCounts):
    """NFaiRR: share of neutral documents, weighted by rank, abolghasemi2026, Eqs. 4.1 to 4.3."""

    __name__ = NAME = "NFaiRR"
    SUPPORTED_PARAMS = _OfCounts.SUPPORTED_PARAMS | {
        "tau": ParamInfo(dtype=(int, float), default=TAU, desc="group terms of neutral documents")
    }


class _AWRF(_OfCounts):
    """AWRF: distance of the groups' exposure from equal shares (0 is fair), Eqs. 4.4 to 4.6."""

    __name__ = NAME = "AWRF"


TExFAIR, NFaiRR, AWRF = _TExFAIR(), _NFaiRR(), _AWRF()


class GroupFairness(Provider):
    """Provider of the three measures."""

    NAME = "everycell"
    SUPPORTED_MEASURES = [
        _TExFAIR(
            cutoff=AnyValue(required=True), counts=AnyValue(required=True), unknown=AnyValue()
        ),
        _NFaiRR(
            cutoff=AnyValue(required=True),
            counts=AnyValue(required=True),
            unknown=AnyValue(),
            tau=AnyValue(),
        ),
        _AWRF(cutoff=AnyValue(required=True), counts=AnyValue(required=True), unknown=AnyValue()),
    ]

    def _evaluator(self, measures: Iterable[Measure], qrels: Any) -> Evaluator:
        queries = {judgement.query_id for judgement in QrelsConverter(qrels).as_namedtuple_iter()}
        return _GroupFairnessEvaluator(list(measures), queries)


class _GroupFairnessEvaluator(Evaluator):
    def _iter_calc(self, run: Any) -> Iterator[Metric]:
        frame = RunConverter(run).as_pd_dataframe()[["query_id", "doc_id", "score"]]
        frame = frame[frame["query_id"].isin(self.qrel_qids)]
        if frame.empty:
            return
        frame = frame.set_axis(["query", "document", "score"], axis="columns")
        # Only what agrees in all parameters shares its counts, so that a document without counts
        # at rank 9 does not refuse a measure @5.
        alike: dict[tuple[str, Any, float, int], list[Measure]] = defaultdict(list)
        for measure in self.measures:
            tau = measure["tau"] if "tau" in measure.SUPPORTED_PARAMS else TAU
            alike[measure["counts"], measure["unknown"], tau, measure["cutoff"]].append(measure)
        for (counts, unknown, tau, cutoff), measures in alike.items():
            ranked = ranked_counts(frame, counts, depth=cutoff, unknown=unknown)
            background = most_neutral(counts, cutoff, tau=tau)
            values = fairness_by_query(ranked, [cutoff], tau=tau, background=background)
            for measure in measures:
                for query, value in zip(values["query"], values[measure.NAME], strict=True):
                    yield Metric(query_id=query, measure=measure, value=float(value))


def register_measures() -> None:
    """Register the measures and their provider, once; the library's own names stay as they are."""
    if GroupFairness.NAME in ir_measures.providers.registry:
        return
    for measure in (TExFAIR, NFaiRR, AWRF):
        ir_measures.measures.register(measure)
    provider = GroupFairness()
    ir_measures.providers.register(provider)
    ir_measures.DefaultPipeline.providers.append(provider)


register_measures()
