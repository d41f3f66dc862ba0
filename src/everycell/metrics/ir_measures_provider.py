"""NFaiRR, TExFAIR, AWRF, GFR and RBO as measures of `ir_measures`.

Importing this module, or one of its measures from `everycell`, registers them with `ir_measures`.
That library can then parse them from strings such as ``TExFAIR(counts='counts.parquet')@10``, and
compute them together with its own measures, for example in `ir_measures.calc`.

===================================  ============================================================
parameter                            meaning
===================================  ============================================================
cut-off (required)                   number of documents considered
``counts`` (required)                TExFAIR, NFaiRR, AWRF: file written by `count_terms`
``unknown``                          TExFAIR, NFaiRR, AWRF: treatment of documents without counts,
                                     'error' or 'neutral'
``tau``                              NFaiRR: largest number of group terms of a neutral document
``groups`` (required)                GFR: CSV with ``document`` and its share in each group
``divergence``, ``utility``          GFR: as for `AttributeSet` (default 'JSD') and `gfr`
                                     (default 'ERR')
``run`` (required), ``p``            RBO: the run to compare with, in TREC format; persistence
===================================  ============================================================

All groups have equal target shares; for other targets, see `everycell.fairness` and `gfr`. GFR uses
the relevance levels of the qrels as gains, and equal shares for a document without groups; the
other measures use only the queries of the qrels. Queries without a value (NaN) are excluded from
means, as in `fairness_report`.
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
from everycell.metrics.fairness_report import find_most_neutral
from everycell.metrics.group_fairness import AttributeSet
from everycell.metrics.nfairr import TAU
from everycell.metrics.rank_overlap import PERSISTENCE, crbo
from everycell.metrics.ranked_counts import ranked_counts
from everycell.metrics.ranked_group_fairness import Utility, gfr
from everycell.trec.runs import read_run, trec_order

_CUTOFF = ParamInfo(dtype=int, required=True, desc="number of documents considered")


class _MeanWithoutNaN(ir_measures.measures.MeanAgg):
    """Mean over the queries that have a value."""

    def add(self, value: float) -> None:
        if not math.isnan(value):
            super().add(value)


class _UndefinedWithoutResults(Measure):
    """A measure that is undefined for a query without results."""

    #: Value of a query that is not in the run.
    DEFAULT = math.nan

    def aggregator(self) -> _MeanWithoutNaN:
        """Mean over queries with a value."""
        return _MeanWithoutNaN()


class _TermFairness(_UndefinedWithoutResults):
    """A measure of group fairness that uses the counts of group terms in documents."""

    SUPPORTED_PARAMS = {
        "cutoff": _CUTOFF,
        "counts": ParamInfo(dtype=str, required=True, desc="file written by count_terms"),
        "unknown": ParamInfo(
            dtype=str,
            choices=["error", "neutral"],
            default="error",
            desc="treatment of documents without counts",
        ),
    }


class _TExFAIR(_TermFairness):
    """TExFAIR: balance of the exposure of the groups' terms, abolghasemi2026, Eq. 4.13."""

    __name__ = NAME = "TExFAIR"


class _NFaiRR(_TermFairness):
    """NFaiRR: rank-weighted neutrality of documents, abolghasemi2026, Eqs. 4.1 to 4.3."""

    __name__ = NAME = "NFaiRR"
    SUPPORTED_PARAMS = _TermFairness.SUPPORTED_PARAMS | {
        "tau": ParamInfo(
            dtype=(int, float),
            default=TAU,
            desc="documents with at most this many group terms are neutral",
        )
    }


class _AWRF(_TermFairness):
    """AWRF: distance of the groups' exposure from equal shares (0 is fair), Eqs. 4.4 to 4.6."""

    __name__ = NAME = "AWRF"


class _RBO(_UndefinedWithoutResults):
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
        "groups": ParamInfo(
            dtype=str, required=True, desc="CSV with the share of each document in each group"
        ),
        "divergence": ParamInfo(
            dtype=str,
            choices=get_args(Divergence),
            default="JSD",
            desc="divergence of the groups from their target",
        ),
        "utility": ParamInfo(
            dtype=str,
            choices=get_args(Utility),
            default="ERR",
            desc="utility of the rank at which a user stops",
        ),
    }


TExFAIR, NFaiRR, AWRF, GFR, RBO = _TExFAIR(), _NFaiRR(), _AWRF(), _GFR(), _RBO()


class EverycellProvider(Provider):
    """Provider of the measures of this module."""

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
            if not isinstance(measure, _TermFairness):
                compute = _rbo_by_query if isinstance(measure, _RBO) else self._gfr_by_query
                for query, value in compute(frame, measure).items():
                    yield Metric(query_id=query, measure=measure, value=float(value))
        # Measures share counts only if all parameters agree. Otherwise a document without counts at
        # rank 9 would raise an error for a measure @5.
        by_parameters: dict[tuple[str, Any, float, int], list[Measure]] = defaultdict(list)
        for measure in self.measures:
            if not isinstance(measure, _TermFairness):
                continue
            tau = measure["tau"] if "tau" in measure.SUPPORTED_PARAMS else TAU
            parameters = measure["counts"], measure["unknown"], tau, measure["cutoff"]
            by_parameters[parameters].append(measure)
        for (counts, unknown, tau, cutoff), measures in by_parameters.items():
            ranked = ranked_counts(frame, counts, depth=cutoff, unknown=unknown)
            background = find_most_neutral(counts, cutoff, tau=tau)
            values = fairness_by_query(ranked, [cutoff], tau=tau, background=background)
            for measure in measures:
                for query, value in zip(values["query"], values[measure.NAME], strict=True):
                    yield Metric(query_id=query, measure=measure, value=float(value))

    def _gfr_by_query(self, run: pd.DataFrame, measure: Measure) -> pd.Series:
        """GFR of each query of a run."""
        ranked = _top_documents(run, measure["cutoff"])
        ranked = ranked.merge(self.qrels, on=["query", "document"], how="left")
        shares = _read_shares(Path(measure["groups"]))
        rows, queries = pd.factorize(ranked["query"])
        position = rows, ranked["rank"].to_numpy() - 1
        shape = len(queries), int(ranked["rank"].max())
        gains, listed = np.zeros(shape), np.zeros(shape, dtype=bool)
        gains[position] = ranked["relevance"].fillna(0).clip(lower=0)
        listed[position] = True
        equal_shares = np.full(shares.shape[1], 1 / shares.shape[1])
        memberships = np.full((*shape, len(equal_shares)), equal_shares)
        document_shares = shares.reindex(ranked["document"]).to_numpy()
        memberships[position] = np.where(np.isnan(document_shares), equal_shares, document_shares)
        scores = gfr(
            gains,
            {"groups": memberships},
            {"groups": AttributeSet(tuple(equal_shares), measure["divergence"])},
            max_gain=float(self.qrels["relevance"].max()),
            utility=measure["utility"],
            listed=listed,
        )
        return pd.Series(scores.combined[:, -1], index=queries)


def _top_documents(run: pd.DataFrame, cutoff: int) -> pd.DataFrame:
    """Top documents of each query in trec_eval's order, with their ranks."""
    sorted_run = trec_order(run)
    ranked = sorted_run.assign(rank=sorted_run.groupby("query").cumcount() + 1)
    return ranked[ranked["rank"] <= cutoff]


def _rbo_by_query(run: pd.DataFrame, measure: Measure) -> pd.Series:
    """RBO of a run and the measure's reference run, per query."""
    reference = read_run(measure["run"])
    reference = reference[reference["query"].isin(run["query"])]
    depth = measure["cutoff"]
    return crbo(
        _top_documents(run, depth), _top_documents(reference, depth), measure["p"], depth=depth
    )


def _read_shares(path: Path) -> pd.DataFrame:
    """Shares of documents (rows) in the groups (columns)."""
    table = read_table(path, ("document",), error=ValueError).set_index("document")
    duplicates = table.index[table.index.duplicated()]
    shares = table.apply(pd.to_numeric, errors="coerce")
    invalid = shares.index[~((shares >= 0).all(axis=1) & np.isclose(shares.sum(axis=1), 1))]
    if len(duplicates) or len(invalid) or shares.shape[1] < 2:
        fault = f"document {duplicates[0]!r} twice" if len(duplicates) else "fewer than two groups"
        if len(invalid):
            fault = f"invalid shares for document {invalid[0]!r}"
        raise ValueError(
            f"{path} has {fault}; give one row per document, and one column per group (two or "
            "more) with shares between 0 and 1 that sum to 1."
        )
    return shares


def register_measures() -> None:
    """Register the measures and their provider with `ir_measures`, unless already registered."""
    if EverycellProvider.NAME in ir_measures.providers.registry:
        return
    for measure in (TExFAIR, NFaiRR, AWRF, GFR, RBO):
        ir_measures.measures.register(measure)
    provider = EverycellProvider()
    ir_measures.providers.register(provider)
    ir_measures.DefaultPipeline.providers.append(provider)


register_measures()
