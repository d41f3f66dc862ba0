"""NFaiRR, TExFAIR, AWRF, GFR and RBO as measures of `ir_measures`.

Importing this module (or taking one of its measures from `everycell`) registers them with that
library: it parses them from text, such as ``TExFAIR(counts='counts.parquet')@10``, and computes
them together with its own, in `ir_measures.calc` and wherever else it accepts measures.

===================================  ============================================================
parameter                            meaning
===================================  ============================================================
cut-off (required)                   number of documents considered
``counts`` (required)                TExFAIR, NFaiRR, AWRF: file that `count_terms` wrote
``unknown``                          the same: document without counts: 'error' or 'neutral'
``tau``                              NFaiRR: documents with no more group terms are neutral
``groups`` (required)                GFR: CSV with ``document`` and each group's share of it
``divergence``, ``utility``          GFR: as for `AttributeSet` ('JSD') and `gfr` ('ERR')
``run`` (required), ``p``            RBO: the run to compare with, in TREC format; persistence
===================================  ============================================================

The groups have equal target shares; for others see `everycell.fairness` and `gfr`. GFR takes the
relevance of the judgements as gains, and equal shares for a document without groups; all others use
only the queries of the judgements. A query without a value (NaN) is left out of the mean, as in
`fairness_report`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

import ir_measures
import numpy as np
import pandas as pd
from ir_measures import Evaluator, Measure, Metric, ParamInfo, Provider
from ir_measures.providers.base import Any as AnyValue
from ir_measures.util import QrelsConverter, RunConverter

from everycell.collections.rating_files import read_table
from everycell.metrics.divergences import Divergence
from everycell.metrics.fairness_frames import fairness_by_query
from everycell.metrics.fairness_report import most_neutral
from everycell.metrics.group_fairness import AttributeSet
from everycell.metrics.nfairr import TAU
from everycell.metrics.rank_overlap import PERSISTENCE, crbo
from everycell.metrics.ranked_counts import ranked_counts
from everycell.metrics.ranked_group_fairness import Utility, gfr
from everycell.trec.runs import read_run, trec_order

_CUTOFF = ParamInfo(dtype=int, required=True, desc="number of documents considered")


class _MeanOfValues(ir_measures.measures.MeanAgg):
    """Mean over the queries that have a value."""

    def add(self, value: float) -> None:
        if not math.isnan(value):
            super().add(value)


class _NoValue(Measure):
    """A measure without a value for a query that the run does not answer."""

    #: Value of a query that is not in the run.
    DEFAULT = math.nan

    def aggregator(self) -> _MeanOfValues:
        """Mean over queries with a value."""
        return _MeanOfValues()


class _OfCounts(_NoValue):
    """A measure of group fairness, by the terms of the documents."""

    SUPPORTED_PARAMS = {
        "cutoff": _CUTOFF,
        "counts": ParamInfo(dtype=str, required=True, desc="file that count_terms wrote"),
        "unknown": ParamInfo(
            dtype=str, choices=["error", "neutral"], default="error", desc="without counts"
        ),
    }


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


class _RBO(_NoValue):
    """RBO: rank-biased overlap with another run, extrapolated; Webber et al. (2010), Eq. 32."""

    __name__ = NAME = "RBO"
    SUPPORTED_PARAMS = {
        "cutoff": _CUTOFF,
        "run": ParamInfo(dtype=str, required=True, desc="run to compare with, in TREC format"),
        "p": ParamInfo(dtype=float, default=PERSISTENCE, desc="persistence"),
    }


class _GFR(Measure):
    """GFR: group fairness and relevance, sakai2023, Eq. 1."""

    __name__ = NAME = "GFR"
    SUPPORTED_PARAMS = {
        "cutoff": _CUTOFF,
        "groups": ParamInfo(dtype=str, required=True, desc="CSV with the shares of each document"),
        "divergence": ParamInfo(
            dtype=str, choices=get_args(Divergence), default="JSD", desc="of groups"
        ),
        "utility": ParamInfo(dtype=str, choices=get_args(Utility), default="ERR", desc="of a list"),
    }


TExFAIR, NFaiRR, AWRF, GFR, RBO = _TExFAIR(), _NFaiRR(), _AWRF(), _GFR(), _RBO()


class EverycellProvider(Provider):
    """Provider of these measures."""

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
        _RBO(cutoff=AnyValue(required=True), run=AnyValue(required=True), p=AnyValue()),
        _GFR(
            cutoff=AnyValue(required=True),
            groups=AnyValue(required=True),
            divergence=AnyValue(),
            utility=AnyValue(),
        ),
    ]

    def _evaluator(self, measures: Iterable[Measure], qrels: Any) -> Evaluator:
        frame = QrelsConverter(qrels).as_pd_dataframe()[["query_id", "doc_id", "relevance"]]
        return _Evaluator(list(measures), frame)


class _Evaluator(Evaluator):
    def __init__(self, measures: list[Measure], qrels: pd.DataFrame) -> None:
        super().__init__(measures, set(qrels["query_id"]))
        self.qrels = qrels.set_axis(["query", "document", "relevance"], axis="columns")

    def _iter_calc(self, run: Any) -> Iterator[Metric]:
        frame = RunConverter(run).as_pd_dataframe()[["query_id", "doc_id", "score"]]
        frame = frame[frame["query_id"].isin(self.qrel_qids)]
        if frame.empty:
            return
        frame = frame.set_axis(["query", "document", "score"], axis="columns")
        for measure in self.measures:
            if not isinstance(measure, _OfCounts):
                compute = _overlap if isinstance(measure, _RBO) else self._group_relevance
                for query, value in compute(frame, measure).items():
                    yield Metric(query_id=query, measure=measure, value=float(value))
        # Measures share counts only if all parameters agree. Otherwise a document without counts at
        # rank 9 would raise an error for a measure @5.
        alike: dict[tuple[str, Any, float, int], list[Measure]] = defaultdict(list)
        for measure in self.measures:
            if not isinstance(measure, _OfCounts):
                continue
            tau = measure["tau"] if "tau" in measure.SUPPORTED_PARAMS else TAU
            alike[measure["counts"], measure["unknown"], tau, measure["cutoff"]].append(measure)
        for (counts, unknown, tau, cutoff), measures in alike.items():
            ranked = ranked_counts(frame, counts, depth=cutoff, unknown=unknown)
            background = most_neutral(counts, cutoff, tau=tau)
            values = fairness_by_query(ranked, [cutoff], tau=tau, background=background)
            for measure in measures:
                for query, value in zip(values["query"], values[measure.NAME], strict=True):
                    yield Metric(query_id=query, measure=measure, value=float(value))

    def _group_relevance(self, run: pd.DataFrame, measure: Measure) -> pd.Series:
        """GFR of each query of a run."""
        ranked = _ranked(run, measure["cutoff"])
        ranked = ranked.merge(self.qrels, on=["query", "document"], how="left")
        shares = _read_shares(Path(measure["groups"]))
        rows, queries = pd.factorize(ranked["query"])
        position = rows, ranked["rank"].to_numpy() - 1
        shape = len(queries), int(ranked["rank"].max())
        gains, listed = np.zeros(shape), np.zeros(shape, dtype=bool)
        gains[position] = ranked["relevance"].fillna(0).clip(lower=0)
        listed[position] = True
        even = np.full(shares.shape[1], 1 / shares.shape[1])
        memberships = np.full((*shape, len(even)), even)
        of_documents = shares.reindex(ranked["document"]).to_numpy()
        memberships[position] = np.where(np.isnan(of_documents), even, of_documents)
        scores = gfr(
            gains,
            {"groups": memberships},
            {"groups": AttributeSet(tuple(even), measure["divergence"])},
            max_gain=float(self.qrels["relevance"].max()),
            utility=measure["utility"],
            listed=listed,
        )
        return pd.Series(scores.combined[:, -1], index=queries)


def _ranked(run: pd.DataFrame, cutoff: int) -> pd.DataFrame:
    """The first documents of each query in trec_eval's order, with their ranks."""
    ordered = trec_order(run)
    ranked = ordered.assign(rank=ordered.groupby("query").cumcount() + 1)
    return ranked[ranked["rank"] <= cutoff]


def _overlap(run: pd.DataFrame, measure: Measure) -> pd.Series:
    """RBO of each query of a run with the run of the measure."""
    reference = read_run(measure["run"])
    reference = reference[reference["query"].isin(run["query"])]
    depth = measure["cutoff"]
    return crbo(_ranked(run, depth), _ranked(reference, depth), measure["p"], depth=depth)


def _read_shares(path: Path) -> pd.DataFrame:
    """Shares of the groups in documents: a row per document, a column per group."""
    table = read_table(path, ("document",), error=ValueError).set_index("document")
    twice = table.index[table.index.duplicated()]
    shares = table.apply(pd.to_numeric, errors="coerce")
    wrong = shares.index[~((shares >= 0).all(axis=1) & np.isclose(shares.sum(axis=1), 1))]
    if len(twice) or len(wrong) or shares.shape[1] < 2:
        fault = f"document {twice[0]!r} twice" if len(twice) else "fewer than two groups"
        if len(wrong):
            fault = f"invalid shares for document {wrong[0]!r}"
        raise ValueError(
            f"{path} has {fault}; give a row per document, and a column for each of two or more "
            "groups with its share, 0 to 1 and summing to 1."
        )
    return shares


def register_measures() -> None:
    """Register the measures and their provider, once; the library's own names stay as they are."""
    if EverycellProvider.NAME in ir_measures.providers.registry:
        return
    for measure in (TExFAIR, NFaiRR, AWRF, GFR, RBO):
        ir_measures.measures.register(measure)
    provider = EverycellProvider()
    ir_measures.providers.register(provider)
    ir_measures.DefaultPipeline.providers.append(provider)


register_measures()
