"""Any measure of `ir_measures`, in that library's notation, topic by topic."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from everycell.retrieval.evaluation import check_level
from everycell.trec.runs import order_run

if TYPE_CHECKING:
    from ir_measures import Measure, Metric

#: Query -> document -> relevance or score, as most providers of `ir_measures` read it.
_Nested = dict[str, dict[str, Any]]

#: Documents that cwl-eval reads of a list, and the greatest relevance that gdeval.pl takes.
_DEPTH_OF_CWL, _GRADE_OF_GDEVAL = 1000, 4


def _is_whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


#: Parameter -> whether a value is possible, and the words for those that are. The libraries check
#: little: some values abort the interpreter, some give another measure than the one asked for.
_ALLOWED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "cutoff": (lambda value: _is_whole(value, 1, 999_999), "a whole number from 1 to 999999"),
    "rel": (lambda value: _is_whole(value, 1, 999_999_999), "a whole number from 1 to 999999999"),
    "min_rel": (
        lambda value: _is_whole(value, 0, 999_999_999),
        "a whole number from 0 to 999999999",
    ),
    "max_rel": (
        lambda value: _is_whole(value, 1, 999_999_999),
        "a whole number from 1 to 999999999",
    ),
    # trec_eval rounds the level to two decimals, and reads no exponents.
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
            _is_whole(key, -999_999_999, 999_999_999) and _is_whole(gain, 0, 999_999_999)
            for key, gain in value.items()
        ),
        "whole numbers, with gains from 0 to 999999999",
    ),
}


def _obstacle(measure: Measure) -> str | None:
    """Why the parameters of a measure are not what its library computes, or computes rightly."""
    import ir_measures

    for name, value in measure.params.items():
        possible, words = _ALLOWED.get(name, (lambda value: True, ""))
        if not possible(value):
            return f"{name} is {value!r}, and must be {words}"
    if "max_rel" in measure.params and measure["min_rel"] >= measure["max_rel"]:
        return f"min_rel is {measure['min_rel']}, and must be below max_rel"
    if "max_rel" in measure.params and measure.params.get("cutoff", 1) > _DEPTH_OF_CWL:
        return f"cwl-eval reads {_DEPTH_OF_CWL} documents of a list, so give a smaller cut-off"
    if measure.NAME in {other.NAME for other in ir_measures.pyndeval.SUPPORTED_MEASURES}:
        return "it needs judgements by subtopic, which qrels of everycell do not have"
    if _is_of_gdeval(measure) and "cutoff" not in measure.params:
        return "give it a cut-off, such as @20"
    if _is_of_gdeval(measure) and (measure.params.keys() & {"gains", "judged_only"}):
        return "gdeval takes neither gains nor judged_only"
    return None


def _is_of_gdeval(measure: Measure) -> bool:
    return measure.NAME == "ERR" or measure.params.get("dcg") == "exp-log2"


def parse_measure(measure: str | Measure, *, relevance_level: int = 1) -> Measure:
    """Read a measure in the notation of `ir_measures`."""
    import ir_measures

    from everycell.metrics.ir_measures_provider import register_measures

    register_measures()
    check_level(relevance_level)
    try:
        parsed = ir_measures.parse_measure(measure)  # pyrefly: ignore[bad-argument-type]  it takes both
        if "rel" in parsed.SUPPORTED_PARAMS and "rel" not in parsed.params:
            if parsed.NAME == "RBP" or (relevance_level > 1 and parsed.NAME != "NumRet"):
                parsed = parsed(rel=relevance_level)
        parsed.validate_params()
    except (ValueError, NameError, TypeError, AssertionError) as error:
        raise ValueError(
            f"The measure {measure!r} cannot be read ({error}): write it as ir_measures does, "
            "such as AP, nDCG@10, P(rel=2)@5 or RR."
        ) from None
    if (obstacle := _obstacle(parsed)) is not None:
        raise ValueError(f"The measure {str(measure)!r} cannot be computed: {obstacle}.")
    return parsed


def evaluate_measures(
    run: pd.DataFrame,
    qrels: pd.DataFrame,
    measures: Sequence[str | Measure],
    *,
    relevance_level: int = 1,
) -> pd.DataFrame:
    """Value of each measure for each topic of the qrels, by `ir_measures`.

    Each measure has the value that it has alone, which `ir_measures` does not promise for measures
    that are computed together.

    The library's providers break ties in different ways (trec_eval by the greater id, its own
    RR@k by the lesser), so each document is passed on with its place in trec_eval's order, from the
    last one, as the score. Only measures that you define with `ir_measures.define` see the scores.

    Values of trec_eval are those of version 9.0.8; version 10 rounds the levels of ``IPrec`` in
    another way. ERR@k and ``nDCG(dcg='exp-log2')@k`` are those of gdeval.pl, with five decimals and
    relevance from 0 to 4, which it always scales by 4. Measures of cwl-eval,
    such as RBP, look at 1,000 documents per topic.
    """
    if isinstance(measures, str) or not measures:
        raise ValueError(f"The measures are {measures!r}: give a list such as ['AP', 'nDCG@10'].")
    parsed = {str(m): parse_measure(m, relevance_level=relevance_level) for m in measures}
    if len(parsed) < len(measures) or len(set(parsed.values())) < len(parsed):
        raise ValueError(f"The measures are {[str(m) for m in measures]}: give each only once.")
    run = order_run(run)
    topics = pd.Index(qrels["query"].unique(), name="query")
    ranked = run[run["query"].isin(topics)]
    if ranked.empty:
        raise ValueError(
            f"None of the {len(topics)} topics of the qrels is answered: the qrels begin with "
            f"{list(topics[:3])}, the run with {list(run['query'].unique()[:3])}; give both the "
            "same ids."
        )
    by_place = ranked.assign(score=ranked.groupby("query").cumcount(ascending=False) + 1.0)
    judged, retrieved = _nested(qrels), _nested(by_place)
    values: dict[Measure, dict[str, float]] = defaultdict(dict)
    for group in _groups(parsed.values()):
        for metric in _computed(group, judged, retrieved, ranked):
            values[metric.measure][metric.query_id] = metric.value
    table = {
        name: [values[measure].get(topic, math.nan) for topic in topics]
        for name, measure in parsed.items()
    }
    return pd.DataFrame(table, index=topics).astype(float)


def _nested(frame: pd.DataFrame) -> _Nested:
    nested: _Nested = {}
    for query, document, value in zip(*(frame[name].tolist() for name in frame), strict=True):
        nested.setdefault(query, {})[document] = value
    return nested


def _groups(measures: Iterable[Measure]) -> list[list[Measure]]:
    """Measures that are computed in one call: those of trec_eval without parameters, each other.

    In one call the library's providers take two measures for the same one, or one's parameters for
    the other's; with a cut-off alone there is nothing to confuse.
    """
    import ir_measures

    groups: dict[object, list[Measure]] = defaultdict(list)
    for measure in measures:
        plain = measure.params.keys() <= {"cutoff"} and ir_measures.pytrec_eval.supports(measure)
        groups["trec_eval" if plain else measure].append(measure)
    return list(groups.values())


def _computed(
    measures: list[Measure], qrels: _Nested, run: _Nested, ranked: pd.DataFrame
) -> list[Metric]:
    """Values of measures of one call; `ranked` has the scores of `run`'s documents."""
    import ir_measures

    from everycell.metrics.ir_measures_provider import EverycellProvider

    (first, *_) = measures
    if hasattr(first, "runtime_impl") or EverycellProvider().supports(first):
        columns = ["query_id", "doc_id", "score"]
        return list(
            ir_measures.iter_calc(measures, qrels, ranked.set_axis(columns, axis="columns"))
        )
    try:
        if _is_of_gdeval(first):
            return _by_gdeval(first, qrels, run)
        return list(ir_measures.iter_calc(measures, qrels, run))
    except Exception as error:
        # What the libraries raise for such a run or such qrels is not documented.
        raise ValueError(
            f"ir_measures cannot compute {', '.join(map(str, measures))} here "
            f"({type(error).__name__}: {error}); choose other measures, or install what it names."
        ) from error


def _by_gdeval(measure: Measure, qrels: _Nested, run: _Nested) -> list[Metric]:
    """Values by gdeval.pl, which reads topics as numbers and relevance up to 4."""
    import ir_measures

    for query, judged in qrels.items():
        document, grade = max(judged.items(), key=lambda pair: pair[1])
        if grade > _GRADE_OF_GDEVAL:
            raise ValueError(
                f"document {document!r} of topic {query!r} has the relevance {grade}, and gdeval "
                f"takes at most {_GRADE_OF_GDEVAL}"
            )
    topics = list(qrels)
    numbers = {query: str(number) for number, query in enumerate(topics, 1)}
    numbered = [{numbers[query]: row for query, row in metric.items()} for metric in (qrels, run)]
    metrics = ir_measures.gdeval.iter_calc([measure], *numbered)
    return [metric._replace(query_id=topics[int(metric.query_id) - 1]) for metric in metrics]
