"""Evaluation with any measure of `ir_measures`, per topic."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from everycell.base.errors import DataError
from everycell.retrieval.evaluation import check_level
from everycell.trec.runs import order_run

if TYPE_CHECKING:
    from ir_measures import Measure, Metric

#: Query -> document -> relevance or score: the format of most providers of `ir_measures`.
_Nested = dict[str, dict[str, Any]]

#: Number of documents per list that cwl-eval reads, and highest relevance that gdeval.pl accepts.
_CWL_DEPTH, _GDEVAL_MAX_RELEVANCE = 1000, 4


def _is_integer(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


#: Parameter -> whether a value is allowed, and a description of the allowed values. The libraries
#: check little: some values abort the interpreter, others silently compute a different measure.
_ALLOWED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "cutoff": (lambda value: _is_integer(value, 1, 999_999), "a whole number from 1 to 999999"),
    "rel": (lambda value: _is_integer(value, 1, 999_999_999), "a whole number from 1 to 999999999"),
    "min_rel": (
        lambda value: _is_integer(value, 0, 999_999_999),
        "a whole number from 0 to 999999999",
    ),
    "max_rel": (
        lambda value: _is_integer(value, 1, 999_999_999),
        "a whole number from 1 to 999999999",
    ),
    # trec_eval rounds the level to two decimals, and does not read exponents.
    "recall": (
        lambda value: 0 <= value <= 1 and round(value, 2) == value,
        "a number from 0 to 1 with at most two decimals",
    ),
    "beta": (
        lambda value: 0 <= value <= 1000 and "e" not in repr(value),
        "0, or a number from 0.0001 to 1000",
    ),
    "p": (lambda value: 0 < value < 1, "a number between 0 and 1"),
    "T": (lambda value: 0 < value < math.inf, "a positive number"),
    "gains": (
        lambda value: all(
            _is_integer(key, -999_999_999, 999_999_999) and _is_integer(gain, 0, 999_999_999)
            for key, gain in value.items()
        ),
        "whole numbers, with gains from 0 to 999999999",
    ),
}


def _explain_unsupported(measure: Measure) -> str | None:
    """Why a measure with its parameters cannot be computed correctly; None if it can."""
    import ir_measures

    for name, value in measure.params.items():
        is_allowed, description = _ALLOWED.get(name, (lambda value: True, ""))
        if not is_allowed(value):
            return f"{name} is {value!r}, but must be {description}"
    if {"min_rel", "max_rel"} <= measure.SUPPORTED_PARAMS.keys():
        if measure["min_rel"] >= measure["max_rel"]:
            return f"min_rel is {measure['min_rel']}, but must be below max_rel"
        if measure.params.get("cutoff", 1) > _CWL_DEPTH:
            return f"cwl-eval reads only {_CWL_DEPTH} documents per list, so use a smaller cut-off"
    if measure.NAME in {supported.NAME for supported in ir_measures.pyndeval.SUPPORTED_MEASURES}:
        return "it needs judgements per subtopic, which everycell's qrels do not have"
    if _uses_gdeval(measure) and "cutoff" not in measure.params:
        return "it needs a cut-off, such as @20"
    if _uses_gdeval(measure) and (measure.params.keys() & {"gains", "judged_only"}):
        return "gdeval supports neither gains nor judged_only"
    return None


def _uses_gdeval(measure: Measure) -> bool:
    return measure.NAME == "ERR" or measure.params.get("dcg") == "exp-log2"


def parse_measure(measure: str | Measure, *, relevance_level: int = 1) -> Measure:
    """Parse a measure in the notation of `ir_measures`."""
    import ir_measures

    from everycell.metrics.ir_measures_provider import register_provider

    register_provider()
    check_level(relevance_level)
    try:
        parsed = ir_measures.parse_measure(measure)  # pyrefly: ignore[bad-argument-type]  accepts both
        if "rel" in parsed.SUPPORTED_PARAMS and "rel" not in parsed.params:
            if parsed.NAME == "RBP" or (relevance_level > 1 and parsed.NAME != "NumRet"):
                parsed = parsed(rel=relevance_level)
        _check_required(parsed)
        parsed.validate_params()
    except (ValueError, NameError, TypeError, AssertionError) as error:
        raise DataError(
            column="measure",
            value=measure,
            fault=f"which cannot be parsed ({error})",
            expected="the notation of ir_measures, such as AP, nDCG@10, P(rel=2)@5 or RR",
        ) from None
    if (reason := _explain_unsupported(parsed)) is not None:
        raise DataError(
            column="measure", value=str(measure), fault=f"which cannot be computed: {reason}"
        )
    return parsed


def _check_required(measure: Measure) -> None:
    """Raise an error that says what a missing parameter is; that of ir_measures names it only."""
    for name, info in measure.SUPPORTED_PARAMS.items():
        if info.required and name not in measure.params:
            raise ValueError(f"it needs {name}: {info.desc}")


def evaluate_measures(
    run: pd.DataFrame,
    qrels: pd.DataFrame,
    measures: Sequence[str | Measure],
    *,
    relevance_level: int = 1,
) -> pd.DataFrame:
    """Evaluate a run with `ir_measures`: one value per measure and topic of the qrels.

    Each value is the same as if its measure were computed alone, which `ir_measures` does not
    guarantee.

    The providers of `ir_measures` break ties differently (trec_eval by the greater id, the
    library's own RR@k by the lesser), so the run is first sorted in trec_eval's order, and reversed
    ranks replace its scores. Only everycell's measures and those that you define with
    `ir_measures.define` get the original scores.

    Measures of trec_eval are those of version 9.0.8; version 10 rounds the levels of ``IPrec``
    differently. ERR@k and ``nDCG(dcg='exp-log2')@k`` are those of gdeval.pl, with five decimals and
    relevance from 0 to 4; ERR always assumes 4 as the highest relevance. Measures of cwl-eval, such
    as RBP, read 1,000 documents per topic.
    """
    if isinstance(measures, str) or not measures:
        raise DataError(
            column="measures", value=measures, expected="a list such as ['AP', 'nDCG@10']"
        )
    parsed = {str(m): parse_measure(m, relevance_level=relevance_level) for m in measures}
    if len(parsed) < len(measures) or len(set(parsed.values())) < len(parsed):
        raise DataError(
            column="measures", value=[str(m) for m in measures], expected="each measure only once"
        )
    run = order_run(run)
    topics = pd.Index(qrels["query"].unique(), name="query")
    ranked = run[run["query"].isin(topics)]
    if ranked.empty:
        raise DataError(
            fault=f"None of the {len(topics)} topics in the qrels is in the run: the qrels begin "
            f"with {list(topics[:3])}, the run with {list(run['query'].unique()[:3])}",
            fix="use the same topic ids in both",
        )
    by_rank = ranked.assign(score=ranked.groupby("query").cumcount(ascending=False) + 1.0)
    judged, retrieved = _nest(qrels), _nest(by_rank)
    values: dict[Measure, dict[str, float]] = defaultdict(dict)
    for group in _group_measures(parsed.values()):
        for metric in _compute(group, judged, retrieved, ranked):
            values[metric.measure][metric.query_id] = metric.value
    table = {
        name: [values[measure].get(topic, math.nan) for topic in topics]
        for name, measure in parsed.items()
    }
    return pd.DataFrame(table, index=topics).astype(float)


def _nest(frame: pd.DataFrame) -> _Nested:
    nested: _Nested = {}
    for query, document, value in zip(*(frame[name].tolist() for name in frame), strict=True):
        nested.setdefault(query, {})[document] = value
    return nested


def _group_measures(measures: Iterable[Measure]) -> list[list[Measure]]:
    """Group measures by call: one call for trec_eval's measures, one for each of the others.

    In a joint call, the providers may confuse two measures, or their parameters. So measures of
    trec_eval with a parameter other than a cut-off also get a call of their own.
    """
    import ir_measures

    groups: dict[object, list[Measure]] = defaultdict(list)
    for measure in measures:
        can_share = measure.params.keys() <= {"cutoff"} and ir_measures.pytrec_eval.supports(
            measure
        )
        groups["trec_eval" if can_share else measure].append(measure)
    return list(groups.values())


def _compute(
    measures: list[Measure], qrels: _Nested, run: _Nested, ranked: pd.DataFrame
) -> list[Metric]:
    """Compute measures in one call; `ranked` is the run with its original scores."""
    import ir_measures

    from everycell.metrics.ir_measures_provider import EverycellProvider

    (first, *_) = measures
    if hasattr(first, "runtime_impl") or EverycellProvider().supports(first):
        columns = ["query_id", "doc_id", "score"]
        return list(
            ir_measures.iter_calc(measures, qrels, ranked.set_axis(columns, axis="columns"))
        )
    try:
        if _uses_gdeval(first):
            return _compute_with_gdeval(first, qrels, run)
        return list(ir_measures.iter_calc(measures, _add_grade_zero(qrels), run))
    except Exception as error:
        # The libraries do not document which errors they raise.
        raise DataError(
            fault=f"ir_measures cannot compute {', '.join(map(str, measures))} "
            f"({type(error).__name__}: {error})",
            fix="choose other measures, or install the package that the error names",
        ) from error


def _add_grade_zero(qrels: _Nested) -> _Nested:
    """Add an unretrieved document of relevance 0 to topics that have only negative relevance.

    pytrec_eval hangs or crashes on such topics. No measure changes: none of their documents counts
    as relevant.
    """
    return {
        query: judged if max(judged.values()) >= 0 else judged | {"": 0}
        for query, judged in qrels.items()
    }


def _compute_with_gdeval(measure: Measure, qrels: _Nested, run: _Nested) -> list[Metric]:
    """Compute a measure with gdeval.pl, which needs numeric topic ids and relevance from 0 to 4."""
    import ir_measures

    for query, judged in qrels.items():
        document, relevance = max(judged.items(), key=lambda pair: pair[1])
        if relevance > _GDEVAL_MAX_RELEVANCE:
            raise ValueError(
                f"document {document!r} of topic {query!r} has relevance {relevance}, but gdeval "
                f"accepts at most {_GDEVAL_MAX_RELEVANCE}"
            )
    topics = list(qrels)
    numbers = {query: str(number) for number, query in enumerate(topics, 1)}
    numbered = [{numbers[query]: row for query, row in metric.items()} for metric in (qrels, run)]
    metrics = ir_measures.gdeval.iter_calc([measure], *numbered)
    return [metric._replace(query_id=topics[int(metric.query_id) - 1]) for metric in metrics]


def aggregate(measure: Measure, values: Iterable[float]) -> float:
    """Mean of the values of a measure over topics or, for counts, their sum; NaN of none."""
    numbers = [value for value in values if not math.isnan(value)]
    if not numbers:
        return math.nan
    aggregator = measure.aggregator()
    for value in numbers:
        aggregator.add(value)
    return float(aggregator.result())
