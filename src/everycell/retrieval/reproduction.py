"""Comparison of a reproduced run with the original, by all measures of reproducibility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from everycell.metrics.rbo import PERSISTENCE, Variant
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
    """Comparison of an original and a reproduced run, returned by :func:`compare_runs`.

    Attributes
    ----------
    order : pandas.DataFrame
        Index ``depth``. Columns: ``topics``, the number of topics in both runs, and the means over
        these topics of ``kendall_tau_union`` (without lists of a single document; NaN if there are
        no others) and ``rbo``, from :func:`ranking_agreement`.
    scores : pandas.DataFrame
        From :func:`score_agreement`.
    effects : pandas.DataFrame or None
        From :func:`effect_agreement`, if baselines were given.
    by_topic : pandas.DataFrame
        Index ``query``, in the order of the qrels. Columns: ``kendall_tau_union@k`` and ``rbo@k``
        for each depth k (NaN if a run has no documents for the topic), then ``M original`` and ``M
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
    """Compare a reproduced run with the original in order, scores and effects."""
    if len(set(depths)) < len(depths) or not depths:
        raise ValueError(f"The depths are {list(depths)}: give one or more, each only once.")
    runs = {"original": original, "reproduced": reproduced}
    if baselines is not None:
        runs |= dict(zip(("original baseline", "reproduced baseline"), baselines, strict=True))
    qrels = check_qrels(qrels)
    if not (qrels["relevance"] >= relevance_level).any():
        raise ValueError(
            f"No document of the qrels has a relevance of {relevance_level} or more: the highest "
            f"is {qrels['relevance'].max()}; use a lower relevance_level or different qrels."
        )
    runs = {name: _select_judged_topics(check_run(run), qrels, name) for name, run in runs.items()}
    topics = _select_topics(runs, qrels, missing_topics)
    qrels = qrels[qrels["query"].isin(topics)]
    values = {
        name: evaluate_measures(run, qrels, measures, relevance_level=relevance_level)
        for name, run in runs.items()
    }
    pair = [runs["original"], runs["reproduced"]]
    common_topics = topics
    for run in pair:
        common_topics = common_topics.intersection(run["query"].unique(), sort=False)
    if common_topics.empty:
        raise ValueError(
            "No topic of the qrels is in both runs: the original run has topics such as "
            f"{pair[0]['query'].iloc[0]!r}, the reproduced run topics such as "
            f"{pair[1]['query'].iloc[0]!r}; compare runs on the same topics."
        )
    lists = [run[run["query"].isin(common_topics)] for run in pair]
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
    order.insert(0, "topics", len(common_topics))
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


def _select_judged_topics(run: pd.DataFrame, qrels: pd.DataFrame, name: str) -> pd.DataFrame:
    """Restrict a run to topics of the qrels, and check that some of its documents are judged."""
    judged = run[run["query"].isin(qrels["query"].unique())]
    if judged.empty:
        raise ValueError(
            f"The {name} run has no topic of the qrels: it begins with "
            f"{run['query'].iloc[0]!r}, the qrels with {qrels['query'].iloc[0]!r}; use qrels of "
            "the same year and with the same ids."
        )
    if judged.merge(qrels, on=["query", "document"]).empty:
        raise ValueError(
            f"No document of the {name} run is judged for its topic: the run has documents such as "
            f"{judged['document'].iloc[0]!r}, the qrels documents such as "
            f"{qrels['document'].iloc[0]!r}; use qrels of the same collection and with the same "
            "ids (passages or documents)."
        )
    return judged


def _select_topics(
    runs: Mapping[str, pd.DataFrame], qrels: pd.DataFrame, missing_topics: Choice
) -> pd.Index:
    """Select the topics to compare on, in the order of the qrels."""
    if missing_topics not in ("error", "zero", "drop"):
        raise ValueError(
            f"missing_topics is {missing_topics!r}: it must be 'error', 'zero' or 'drop'."
        )
    topics = pd.Index(qrels["query"].unique(), name="query")
    in_all_runs = np.ones(len(topics), dtype=bool)
    for name, run in runs.items():
        in_run = topics.isin(run["query"].unique())
        if missing_topics == "error" and not in_run.all():
            raise ValueError(
                f"The {name} run has no documents for topic {topics[~in_run][0]!r} of the qrels "
                f"({(~in_run).sum()} of {len(topics)} topics): add them, or set missing_topics "
                "(--missing on the command line) to 'zero', which counts missing topics as 0, or "
                "'drop', which removes them from all runs."
            )
        in_all_runs &= in_run
    if missing_topics == "drop":
        topics = topics[in_all_runs]
    if len(topics) < 2:
        raise ValueError(
            f"{len(topics)} of {qrels['query'].nunique()} topics of the qrels can be compared, but "
            "at least two are needed: give runs for the same topics."
        )
    return topics
