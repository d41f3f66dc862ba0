"""Readings of an evaluation: other settings under which the same runs give other values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from everycell.base.arrays import FloatArray
from everycell.base.errors import DataError
from everycell.retrieval.any_measure import aggregate, evaluate_measures, parse_measure
from everycell.retrieval.evaluation import (
    RelevantRanks,
    measure_ranks,
    relevant_ranks,
)
from everycell.retrieval.evaluation import parse_measure as parse_fast_measure
from everycell.trec.runs import id_order, order_run
from everycell.verdicts.readings import Reading

if TYPE_CHECKING:
    from ir_measures import Measure

#: Cut-offs of published measures, from which neighbours are tried.
CUTOFFS = (1, 3, 5, 10, 15, 20, 30, 50, 100, 200, 500, 1000)
#: Cut-offs that the name of a measure often leaves out.
_UNSTATED_CUTOFFS = (10, 100, 1000)
#: Depths to which runs are cut.
DEPTHS = (10, 20, 50, 100, 200, 500, 1000)
#: Lowest grades that count as relevant.
LEVELS = (1, 2, 3)
#: Highest grade for which a gain of 2 ** grade - 1 is tried.
_MAX_GRADE = 30
TIES = {
    "ascending": "ties in ascending order of document ids",
    "file": "ties in the order of the file",
    "listed": "documents in the order of the file, whatever their scores",
}


@dataclass
class EvaluatedRun:
    """A run with its judgements; orders and values are computed once.

    The run has its rows in the order of the file.
    """

    run: pd.DataFrame
    qrels: pd.DataFrame
    _orders: dict[Any, tuple[pd.DataFrame, RelevantRanks]] = field(default_factory=dict)
    _values: dict[Any, FloatArray] = field(default_factory=dict)
    _masks: dict[Any, np.ndarray] = field(default_factory=dict)

    @cached_property
    def topics(self) -> pd.Index:
        """Judged topics."""
        return pd.Index(self.qrels["query"].unique(), name="query")

    @cached_property
    def relevant(self) -> pd.DataFrame:
        """Judgements above 0, with which alone a measure is computed quickly."""
        return self.qrels[self.qrels["relevance"] > 0]

    @cached_property
    def depth(self) -> int:
        """Length of the longest ranking."""
        return int(self.run["query"].value_counts().max())

    def values(self, measure: Measure, settings: Mapping[Hashable, Any]) -> FloatArray:
        """Value of a measure per judged topic."""
        ties, judged, depth = (settings.get(name) for name in ("ties", "judged", "depth"))
        is_linear = measure.NAME == "nDCG" and measure["dcg"] == "log2"
        exponential = is_linear and settings.get("exponential", False)
        key = (str(measure), ties, judged, depth, exponential)
        if key not in self._values:
            self._values[key] = self._compute(measure, ties, judged, depth, exponential)
        return self._values[key]

    def _compute(
        self,
        measure: Measure,
        ties: str | None,
        judged: bool | None,
        depth: int | None,
        exponential: bool,
    ) -> FloatArray:
        run, ranks = self._order(ties, judged)
        gains = self.qrels["relevance"]
        if exponential:
            gains = 2 ** gains.clip(lower=0).astype("int64") - 1
        try:
            level = measure.params.get("rel", 1)
            name, cutoff = parse_fast_measure(measure, level)
        except DataError:
            if depth is not None:
                run = run[run.groupby("query").cumcount() < depth]
            judgements = self.qrels.assign(relevance=gains)
            return evaluate_measures(run, judgements, [measure])[str(measure)].to_numpy()
        if exponential:
            ranks = ranks._replace(relevance=2**ranks.relevance - 1)
        if depth is not None:
            is_ranked = ranks.rank <= depth
            ranks = RelevantRanks(*(column[is_ranked] for column in ranks))
        relevant = self.relevant.assign(relevance=gains[self.relevant.index])
        return measure_ranks(ranks, relevant, self.topics, name, cutoff, level)

    def _order(self, ties: str | None, judged: bool | None) -> tuple[pd.DataFrame, RelevantRanks]:
        """Ranked rows, and ranks of relevant documents."""
        if (ties, judged) not in self._orders:
            run = self.run
            if judged:
                pairs = pd.MultiIndex.from_frame(self.qrels[["query", "document"]])
                run = run[pd.MultiIndex.from_frame(run[["query", "document"]]).isin(pairs)]
            run = _order_ties(run, ties)
            self._orders[ties, judged] = run, relevant_ranks(run, self.qrels, self.topics)
        return self._orders[ties, judged]

    def is_averaged(self, settings: Mapping[Hashable, Any], level: int) -> np.ndarray:
        """Mask of the topics over which values are averaged."""
        topics, judged = settings.get("topics"), settings.get("judged")
        key = (topics, judged if topics == "with results" else level)
        if key not in self._masks:
            self._masks[key] = self._mask(topics, judged, level)
        return self._masks[key]

    def _mask(self, topics: str | None, judged: bool | None, level: int) -> np.ndarray:
        if topics == "with results":
            return self.topics.isin(self._order(None, judged)[0]["query"].unique())
        if topics == "with relevant":
            is_relevant = self.qrels["relevance"] >= level
            return self.topics.isin(self.qrels.loc[is_relevant, "query"].unique())
        return np.ones(len(self.topics), dtype=bool)


def _order_ties(run: pd.DataFrame, ties: str | None) -> pd.DataFrame:
    """Order rows as trec_eval does or, with `ties`, otherwise; scores then follow the order."""
    if ties is None:
        return order_run(run)
    position = np.arange(len(run))
    score = -run["score"].to_numpy().astype(np.float32)
    keys = {
        "ascending": lambda: (-id_order(run["document"]), score),
        "file": lambda: (position, score),
        "listed": lambda: (position,),
    }[ties]()
    ordered = run.iloc[np.lexsort((*keys, pd.factorize(run["query"])[0]))]
    return ordered.assign(score=-ordered.groupby("query").cumcount().astype(float))


@dataclass
class Evaluation:
    """A table of measures of runs, which can be computed with other settings."""

    #: Key of the table's rows -> run; keys without the measure.
    runs: Mapping[tuple[str, ...], EvaluatedRun]
    #: Published names of measures -> names in `ir_measures`.
    measures: Mapping[str, str]
    relevance_level: int = 1
    in_percent: Sequence[str] = ()

    def compute(self, settings: Mapping[Hashable, Any]) -> dict[tuple[str, ...], float]:
        """Value per key of a row and name of a measure, with changed settings."""
        level = settings.get("level", self.relevance_level)
        values: dict[tuple[str, ...], float] = {}
        for name in self.measures:
            measure = self._measure(name, level, settings)
            for key, run in self.runs.items():
                per_topic = run.values(measure, settings)[run.is_averaged(settings, level)]
                value = aggregate(measure, per_topic)
                values[(*key, name)] = value * (100 if name in self.in_percent else 1)
        return values

    def _measure(self, name: str, level: int, settings: Mapping[Hashable, Any]) -> Measure:
        measure = parse_measure(self.measures[name], relevance_level=level)
        params = dict(measure.params)
        if settings.get("exponential") is False:
            params.pop("dcg", None)
        measure = type(measure)(**params)
        if ("cutoff", name) in settings:
            return _with_cutoff(measure, settings["cutoff", name])
        return measure

    def readings(self) -> list[Reading]:
        """Readings of relevance, depth, cut-offs, ties, gain, topics and unjudged documents."""
        grades = pd.concat([run.qrels["relevance"] for run in self.runs.values()])
        depth = max(run.depth for run in self.runs.values())
        parsed = {name: parse_measure(text) for name, text in self.measures.items()}
        readings = [
            Reading(f"relevance from grade {level}", "level", {"level": level})
            for level in LEVELS
            if level <= grades.max() and level != self.relevance_level
        ]
        readings += [
            Reading(f"depth {limit}", "depth", {"depth": limit})
            for limit in DEPTHS
            if limit < depth
        ]
        for name, measure in parsed.items():
            for cutoff in _other_cutoffs(measure):
                if not _is_computable(_with_cutoff(measure, cutoff)):
                    continue
                text = "without cut-off" if cutoff is None else f"with cut-off {cutoff}"
                slot = ("cutoff", name)
                readings.append(Reading(f"{name} {text}", slot, {slot: cutoff}))
        readings += [Reading(text, "ties", {"ties": ties}) for ties, text in TIES.items()]
        gains = [measure["dcg"] for measure in parsed.values() if measure.NAME == "nDCG"]
        if "log2" in gains and grades.max() <= _MAX_GRADE:
            text = "exponential gain (2^grade - 1) of nDCG"
            readings.append(Reading(text, "gain", {"exponential": True}))
        if "exp-log2" in gains:
            readings.append(Reading("linear gain of nDCG", "gain", {"exponential": False}))
        for topics, text in (
            ("with results", "topics without results left out"),
            ("with relevant", "topics without relevant documents left out"),
        ):
            readings.append(Reading(text, "topics", {"topics": topics}))
        readings.append(Reading("judged documents only", "judged", {"judged": True}))
        return readings


def _with_cutoff(measure: Measure, cutoff: int | None) -> Measure:
    params = {key: value for key, value in measure.params.items() if key != "cutoff"}
    return type(measure)(**params, **({} if cutoff is None else {"cutoff": cutoff}))


def _is_computable(measure: Measure) -> bool:
    """Whether an installed provider computes a measure; RBP, for one, takes no cut-off."""
    import ir_measures

    try:
        parse_measure(measure)
    except DataError:
        return False
    return hasattr(measure, "runtime_impl") or ir_measures.DefaultPipeline.supports(measure)


def _other_cutoffs(measure: Measure) -> Iterable[int | None]:
    """Two usual cut-offs on either side, or those that a name leaves out; None for no cut-off."""
    if "cutoff" not in measure.SUPPORTED_PARAMS:
        return []
    cutoff = measure.params.get("cutoff")
    if cutoff is None:
        return _UNSTATED_CUTOFFS
    smaller = [usual for usual in CUTOFFS if usual < cutoff][-2:]
    larger = [usual for usual in CUTOFFS if usual > cutoff][:2]
    is_optional = not measure.SUPPORTED_PARAMS["cutoff"].required
    return [*smaller, *larger, *([None] if is_optional else [])]
