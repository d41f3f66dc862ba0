"""A reproduced run beside the original: all measures of reproduction, from runs and judgements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from everycell.metrics.rank_overlap import PERSISTENCE, Variant
from everycell.retrieval.evaluation import Choice
from everycell.retrieval.measures import evaluate_measures
from everycell.retrieval.reproduction_measures import (
    DEPTH,
    Numbering,
    effect_agreement,
    ranking_agreement,
    score_agreement,
)
from everycell.trec.qrels import check_qrels
from everycell.trec.runs import check_run

if TYPE_CHECKING:
    from ir_measures.measures import Measure


@dataclass(frozen=True)
class RunComparison:
    """An original and a reproduced run side by side; made by :func:`compare_runs`.

    Attributes
    ----------
    order : pandas.DataFrame
        Index ``depth``; ``topics`` (that both runs answer) and the means over them of what
        :func:`ranking_agreement` has: ``kendall_tau_union`` (lists of a single document left
        out; not a number if there are no others) and ``rbo``.
    scores : pandas.DataFrame
        From :func:`score_agreement`.
    effects : pandas.DataFrame or None
        From :func:`effect_agreement`, if there were baselines.
    by_topic : pandas.DataFrame
        Index ``query``, in the order of the qrels: ``kendall_tau_union@k`` and ``rbo@k`` for each
        depth k (not a number where a run does not answer), then ``M original`` and ``M
        reproduced`` for each measure M.
    """

    order: pd.DataFrame
    scores: pd.DataFrame
    effects: pd.DataFrame | None
    by_topic: pd.DataFrame


def compare_runs(
    original: pd.DataFrame,
    reproduced: pd.DataFrame,
    qrels: pd.DataFrame,
    measures: Sequence[str | Measure] = ("MAP", "nDCG"),
    *,
    baselines: tuple[pd.DataFrame, pd.DataFrame] | None = None,
    relevance_level: int = 1,
    missing_topics: Choice = "error",
    depths: Sequence[int] = (DEPTH,),
    p: float = PERSISTENCE,
    variant: Variant = "ext",
    union: Numbering = "original",
) -> RunComparison:
    """All measures of reproduction of a run, from runs and judgements.

    Examples
    --------
    >>> run = pd.DataFrame({"query": ["q", "q", "r"], "document": list("aba"), "score": [2., 1, 1]})
    >>> qrels = pd.DataFrame({"query": ["q", "r"], "document": ["b", "a"], "relevance": 1})
    >>> turned = run.assign(score=[1.0, 2, 1])
    >>> result = compare_runs(run, turned, qrels, ["MAP"], depths=[2])
    >>> result.order.round(3).to_dict("index")
    {2: {'topics': 2, 'kendall_tau_union': -1.0, 'rbo': 0.95}}
    >>> result.scores.round(3).to_dict("index")
    {'MAP': {'topics': 2, 'original': 0.75, 'reproduced': 1.0, 'rmse': 0.354, 'p_paired': 0.5,
             'p_unpaired': 0.423}}
    """
    if len(set(depths)) < len(depths) or not depths:
        raise ValueError(f"The depths are {list(depths)}: give one or more, each once.")
    runs = {"original": original, "reproduced": reproduced}
    if baselines is not None:
        runs |= dict(zip(("original baseline", "reproduced baseline"), baselines, strict=True))
    qrels = check_qrels(qrels)
    if not (qrels["relevance"] >= relevance_level).any():
        raise ValueError(
            f"No document of the qrels has a relevance of {relevance_level} or more: the greatest "
            f"is {qrels['relevance'].max()}; choose a lower relevance_level, or the right qrels."
        )
    runs = {name: _judged_topics(check_run(run), qrels, name) for name, run in runs.items()}
    topics = _common_topics(runs, qrels, missing_topics)
    qrels = qrels[qrels["query"].isin(topics)]
    values = {
        name: evaluate_measures(run, qrels, measures, relevance_level=relevance_level)
        for name, run in runs.items()
    }
    pair = [runs["original"], runs["reproduced"]]
    answered = topics
    for run in pair:
        answered = answered.intersection(run["query"].unique(), sort=False)
    if answered.empty:
        raise ValueError(
            "No topic of the qrels is answered by both runs: the original has topics such as "
            f"{pair[0]['query'].iloc[0]!r}, the reproduced one such as "
            f"{pair[1]['query'].iloc[0]!r}; compare runs on the same topics."
        )
    lists = [run[run["query"].isin(answered)] for run in pair]
    orders = {
        depth: ranking_agreement(*lists, depth=depth, p=p, variant=variant, union=union)
        for depth in depths
    }
    by_topic = pd.DataFrame(index=topics)
    for depth, order in orders.items():
        by_topic = by_topic.join(order.add_suffix(f"@{depth}"))
    for measure in values["original"].columns:
        for name in ("original", "reproduced"):
            by_topic[f"{measure} {name}"] = values[name][measure]
    order = pd.DataFrame({depth: order.mean() for depth, order in orders.items()}).T
    order.insert(0, "topics", len(answered))
    effects = None
    if baselines is not None:
        effects = effect_agreement(
            values["original baseline"],
            values["original"],
            values["reproduced baseline"],
            values["reproduced"],
        )
    return RunComparison(
        order=order.rename_axis("depth"),
        scores=score_agreement(values["original"], values["reproduced"]),
        effects=effects,
        by_topic=by_topic,
    )


def _judged_topics(run: pd.DataFrame, qrels: pd.DataFrame, name: str) -> pd.DataFrame:
    """Rows of a run for topics of the qrels; at least one of its documents must be judged."""
    judged = run[run["query"].isin(qrels["query"].unique())]
    if judged.empty:
        raise ValueError(
            f"The {name} run has no topic of the qrels: it begins with "
            f"{run['query'].iloc[0]!r}, the qrels with {qrels['query'].iloc[0]!r}; give the qrels "
            "of the same year, or the same ids."
        )
    if judged.merge(qrels, on=["query", "document"]).empty:
        raise ValueError(
            f"No document of the {name} run is judged in its topic: the run has documents such as "
            f"{judged['document'].iloc[0]!r}, the qrels such as {qrels['document'].iloc[0]!r}; "
            "give the qrels of the same collection, or the same ids (passages or documents)."
        )
    return judged


def _common_topics(
    runs: Mapping[str, pd.DataFrame], qrels: pd.DataFrame, missing_topics: Choice
) -> pd.Index:
    """Topics to compare on, in the order of the qrels."""
    if missing_topics not in ("error", "zero", "drop"):
        raise ValueError(f"missing_topics is {missing_topics!r}: give 'error', 'zero' or 'drop'.")
    topics = pd.Index(qrels["query"].unique(), name="query")
    everywhere = np.ones(len(topics), dtype=bool)
    for name, run in runs.items():
        is_answered = topics.isin(run["query"].unique())
        if missing_topics == "error" and not is_answered.all():
            raise ValueError(
                f"The {name} run does not answer topic {topics[~is_answered][0]!r} of the qrels "
                f"({(~is_answered).sum()} of {len(topics)} topics): complete it, or choose what "
                "such topics do (missing_topics, on the command line --missing): 'zero' counts "
                "them as 0, 'drop' leaves them out for all runs."
            )
        everywhere &= is_answered
    if missing_topics == "drop":
        topics = topics[everywhere]
    if len(topics) < 2:
        raise ValueError(
            f"{len(topics)} of {qrels['query'].nunique()} topics of the qrels can be compared: "
            "two or more are needed, so give runs on the same topics."
        )
    return topics
