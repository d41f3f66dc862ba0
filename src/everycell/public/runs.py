"""Evaluation of runs: effectiveness, group bias, and similarity to another run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from everycell.metrics.term_fairness import FairnessReport, fairness_report
from everycell.trec.conversion import as_run, as_run_and_qrels, convert
from everycell.trec.frames import RUN
from everycell.trec.runs import check_tags

if TYPE_CHECKING:
    from ir_measures import Measure

    from everycell.retrieval.reproducibility import RunComparison


def evaluate(
    run: Any, qrels: Any, measures: str | Measure | Iterable[str | Measure] = ("AP", "nDCG")
) -> pd.DataFrame:
    """Value of each measure for each topic in the qrels.

    Parameters
    ----------
    run, qrels
        In any format listed in :mod:`everycell.trec.conversion`.
    measures
        One or more measures in the notation of `ir_measures`, such as "nDCG@10" or "P(rel=2)@5".

    Returns
    -------
    pandas.DataFrame, shape (topics, measures)
        The result of :func:`~everycell.retrieval.any_measure.evaluate_measures`; each value depends
        on its own topic and measure only. ``.mean()`` averages over the topics that have a value. A
        topic without results has the value 0 or, for measures undefined there, NaN.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        For the same reasons as :func:`~everycell.trec.conversion.as_run` and
        :func:`~everycell.retrieval.any_measure.evaluate_measures`, and if run and qrels seem to be
        swapped: a run of whole numbers with qrels of decimals.

    Examples
    --------
    >>> import everycell
    >>> run = {"q1": {"d1": 3.0, "d2": 2.0}, "q2": {"d3": 1.0}}
    >>> qrels = {"q1": {"d2": 1}, "q2": {"d3": 1}}
    >>> everycell.evaluate(run, qrels, ["RR", "P@1"]).mean().to_dict()
    {'RR': 0.75, 'P@1': 0.5}
    """
    from everycell.retrieval.any_measure import evaluate_measures

    return evaluate_measures(*as_run_and_qrels(run, qrels), _as_list(measures))


def _as_list(measures: str | Measure | Iterable[str | Measure]) -> list[str | Measure]:
    if isinstance(measures, str) or not isinstance(measures, Iterable):
        return [measures]
    return [*measures]


def fairness(
    run: Any, counts: pd.DataFrame | Path | str, k: int | Iterable[int] = 10, **options: Any
) -> FairnessReport:
    """Group bias of a run, from group terms in its documents: NFaiRR, TExFAIR and AWRF.

    Parameters
    ----------
    run
        In any format listed in :mod:`everycell.trec.conversion`.
    counts
        Number of terms of each group in each document: a file written by `count_terms`, or a frame
        indexed by document with a column ``length`` and one column per group.
    k : int or iterable of int
        Cut-offs.
    **options
        Options of :func:`~everycell.metrics.term_fairness.fairness_report`: tau, target,
        background, unknown, allow_short and allow_empty.

    Returns
    -------
    FairnessReport
        ``means`` has one row per cut-off, ``by_query`` one row per cut-off and query.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        For the same reasons as :func:`~everycell.trec.conversion.as_run` and
        :func:`~everycell.metrics.term_fairness.fairness_report`.

    Examples
    --------
    >>> import everycell
    >>> counts = pd.DataFrame({"length": [5, 5], "f": [1, 0], "m": [0, 2]}, index=["d1", "d2"])
    >>> result = everycell.fairness({"q": {"d1": 2.0, "d2": 1.0}}, counts, k=2)
    >>> result.means[["k", "TExFAIR", "AWRF"]].round(3).values.tolist()
    [[2.0, 0.884, 0.226]]
    """
    cutoffs = [*k] if isinstance(k, Iterable) else [index(k)]
    return fairness_report(convert(run, RUN), counts, cutoffs, **options)


def compare(
    original: Any,
    reproduced: Any,
    qrels: Any,
    measures: str | Measure | Iterable[str | Measure] = ("AP", "nDCG"),
    *,
    baselines: tuple[Any, Any] | None = None,
    missing_topics: Literal["error", "zero", "drop"] = "error",
    depths: Sequence[int] = (1000,),
    **options: Any,
) -> RunComparison:
    """How close a reproduced run is to the original: order, scores, effects.

    Parameters
    ----------
    original, reproduced, qrels
        In any format listed in :mod:`everycell.trec.conversion`.
    measures
        As for `evaluate`.
    baselines : (run, run), optional
        Baseline runs of the original and of the reproduced experiment, to compare the effects.
    missing_topics
        Whether a topic that a run lacks is an error, counts as 0, or is left out for both runs.
    depths
        Numbers of documents per topic whose order is compared.
    **options
        For the order of documents: ``p`` and ``variant`` as for `rbo`, and ``union``, whether
        Kendall's tau numbers documents in the order of the "original" run or by "ids".

    Returns
    -------
    RunComparison
        Frames ``order``, ``scores``, ``effects`` and ``by_topic``.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        For the same reasons as :func:`~everycell.trec.conversion.as_run`, for topics or judgements
        that do not match, if run and qrels seem to be swapped, and if the tag of a file is the
        name of another one.

    Examples
    --------
    >>> import everycell
    >>> first = {"q": {"a": 2.0, "b": 1.0}, "r": {"a": 1.0}}
    >>> again = {"q": {"a": 1.0, "b": 2.0}, "r": {"a": 1.0}}
    >>> qrels = {"q": {"b": 1}, "r": {"a": 1}}
    >>> everycell.compare(first, again, qrels, ["AP"]).scores[["original", "rmse"]].round(3)
          original   rmse
    measure
    AP           0.75  0.354
    """
    from everycell.retrieval.reproducibility import compare_runs

    runs = [original, reproduced, *(baselines or ())]
    check_tags([(Path(run), None) for run in runs if isinstance(run, str | Path)])
    original_run, judgements = as_run_and_qrels(original, qrels)
    return compare_runs(
        original_run,
        as_run(reproduced),
        judgements,
        _as_list(measures),
        baselines=None if baselines is None else tuple(map(as_run, baselines)),
        missing_topics=missing_topics,
        depths=depths,
        **options,
    )
