"""How close a reproduced experiment is to the original, at three levels.

=======  ==================================================  ==========================
level    measure                                             function
=======  ==================================================  ==========================
order    Kendall's tau of the union, rank-biased overlap     :func:`ranking_agreement`
scores   root mean square error, t-tests                     :func:`score_agreement`
effects  effect ratio, difference of relative improvements   :func:`effect_agreement`
=======  ==================================================  ==========================

Source: Breuer et al., "How to measure the reproducibility of system-oriented IR experiments" (SIGIR
2020), with their tool repro_eval.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from scipy import stats

from everycell.base.errors import DataError
from everycell.metrics.crbo import crbo
from everycell.metrics.rbo import (
    PERSISTENCE,
    Variant,
)
from everycell.retrieval.any_measure import evaluate_measures
from everycell.retrieval.evaluation import Choice
from everycell.retrieval.significance import compare_paired_and_unpaired
from everycell.trec.runs import check_qrels, check_run, trec_order

if TYPE_CHECKING:
    from ir_measures.measures import Measure

Numbering = Literal["original", "ids"]

#: Number of documents compared per topic, as in repro_eval.
DEPTH = 1000
#: Decimals of effects; the last bits depend on the order of summation.
_DIGITS = 12


def ranking_agreement(
    original: pd.DataFrame,
    reproduced: pd.DataFrame,
    *,
    depth: int = DEPTH,
    p: float = PERSISTENCE,
    variant: Variant = "ext",
    union: Numbering = "original",
) -> pd.DataFrame:
    """Agreement of two runs of the same topics in the order of their documents, topic by topic.

    For Kendall's tau of the union, the documents of both lists are numbered, and tau compares the
    two sequences of numbers. The longer list is cut to the length of the shorter one, since tau
    needs sequences of the same length (repro_eval stops with an error).

    Tau depends on the numbering. If documents are numbered in the order of the original run, two
    lists without common documents have a tau of 1. If they are numbered by id, renaming documents
    changes the value. So interpret it together with RBO, which is 0 for lists without common
    documents.
    """
    runs = _add_ranks(original), _add_ranks(reproduced)
    overlap = crbo(runs[0], runs[1], p, depth=depth, variant=variant)
    lists = [run[run["rank"] <= depth].groupby("query")["document"].agg(list) for run in runs]
    tau = [_tau_of_union(lists[0][query], lists[1][query], union) for query in overlap.index]
    return pd.DataFrame({"kendall_tau_union": tau, "rbo": overlap.to_numpy()}, index=overlap.index)


def _add_ranks(run: pd.DataFrame) -> pd.DataFrame:
    ordered = trec_order(run)
    return ordered.assign(rank=ordered.groupby("query").cumcount() + 1)


def _tau_of_union(first: Sequence[str], second: Sequence[str], union: Numbering) -> float:
    length = min(len(first), len(second))
    if length < 2:
        return float("nan")
    both = [*first[:length], *second[:length]]
    names = sorted(set(both)) if union == "ids" else dict.fromkeys(both)
    number = {name: index for index, name in enumerate(names)}
    numbers = [number[name] for name in both]
    return float(stats.kendalltau(numbers[:length], numbers[length:]).statistic)


def score_agreement(original: pd.DataFrame, reproduced: pd.DataFrame) -> pd.DataFrame:
    r"""Agreement of two runs in their scores, over the same topics.

    .. math:: RMSE = \sqrt{\frac{1}{n} \sum_{t} (M_t - M'_t)^2}
    """
    reproduced = reproduced.loc[original.index]
    rows = []
    for measure in original.columns:
        pair = pd.DataFrame({"original": original[measure], "reproduced": reproduced[measure]})
        with warnings.catch_warnings():
            # scipy warns if all values of a run, or all differences, are the same.
            warnings.filterwarnings("ignore", "Precision loss occurred", RuntimeWarning)
            test = compare_paired_and_unpaired(pair).iloc[0]
        squares = (pair["original"] - pair["reproduced"]) ** 2
        rows.append(
            {
                "measure": measure,
                "topics": len(pair),
                "original": test["mean_a"],
                "reproduced": test["mean_b"],
                "rmse": float(np.sqrt(squares.mean())),
                "p_paired": test["p_paired"],
                "p_unpaired": test["p_unpaired"],
            }
        )
    return pd.DataFrame(rows).set_index("measure")


def effect_agreement(
    original_baseline: pd.DataFrame,
    original_advanced: pd.DataFrame,
    reproduced_baseline: pd.DataFrame,
    reproduced_advanced: pd.DataFrame,
) -> pd.DataFrame:
    r"""Agreement of two experiments in the gain of an advanced system over a baseline.

    .. math:: ER = \frac{\overline{\Delta' M}}{\overline{\Delta M}}, \quad
              \Delta RI = RI - RI', \quad RI = \frac{\bar M_a - \bar M_b}{\bar M_b}

    Here :math:`\overline{\Delta M}` is the mean over topics of advanced minus baseline; a prime
    marks the reproduced experiment.
    """
    pairs = {
        "original": (original_baseline, original_advanced),
        "reproduced": (reproduced_baseline, reproduced_advanced),
    }
    table = pd.DataFrame(index=pd.Index(original_baseline.columns, name="measure"))
    for name, (baseline, advanced) in pairs.items():
        effect, base = (advanced - baseline).mean().round(_DIGITS), baseline.mean()
        table[f"effect_{name}"] = effect
        table[f"improvement_{name}"] = effect / base.where(base != 0)
    first = table["effect_original"]
    table["effect_ratio"] = table["effect_reproduced"] / first.where(first != 0)
    table["delta_relative_improvement"] = (
        table["improvement_original"] - table["improvement_reproduced"]
    )
    return table


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
        raise DataError(column="depths", value=depths, expected="one or more, each only once")
    choices = {
        "missing_topics": (missing_topics, ("error", "zero", "drop")),
        "union": (union, ("original", "ids")),
    }
    for name, (value, allowed) in choices.items():
        if value not in allowed:
            raise DataError(column=name, value=value, expected=" or ".join(map(repr, allowed)))
    runs = {"original": original, "reproduced": reproduced}
    if baselines is not None:
        runs |= dict(zip(("original baseline", "reproduced baseline"), baselines, strict=True))
    qrels = check_qrels(qrels)
    if not (qrels["relevance"] >= relevance_level).any():
        raise DataError(
            "The qrels",
            fault=f"have no document of relevance {relevance_level} or more: the highest is "
            f"{qrels['relevance'].max()}",
            fix="use a lower relevance_level or different qrels",
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
        raise DataError(
            fault="No topic of the qrels is in both runs: the original run has topics such as "
            f"{pair[0]['query'].iloc[0]!r}, the reproduced run topics such as "
            f"{pair[1]['query'].iloc[0]!r}",
            fix="compare runs on the same topics",
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
        raise DataError(
            f"The {name} run",
            fault=f"has no topic of the qrels: it begins with {run['query'].iloc[0]!r}, the qrels "
            f"with {qrels['query'].iloc[0]!r}",
            fix="use qrels of the same year and with the same ids",
        )
    if judged.merge(qrels, on=["query", "document"]).empty:
        raise DataError(
            f"The {name} run",
            fault="has no document that is judged for its topic: it has documents such as "
            f"{judged['document'].iloc[0]!r}, the qrels documents such as "
            f"{qrels['document'].iloc[0]!r}",
            fix="use qrels of the same collection and with the same ids (passages or documents)",
        )
    return judged


def _select_topics(
    runs: Mapping[str, pd.DataFrame], qrels: pd.DataFrame, missing_topics: Choice
) -> pd.Index:
    """Select the topics to compare on, in the order of the qrels."""
    topics = pd.Index(qrels["query"].unique(), name="query")
    in_all_runs = np.ones(len(topics), dtype=bool)
    for name, run in runs.items():
        in_run = topics.isin(run["query"].unique())
        if missing_topics == "error" and not in_run.all():
            raise DataError(
                f"The {name} run",
                fault=f"has no documents for topic {topics[~in_run][0]!r} of the qrels "
                f"({(~in_run).sum()} of {len(topics)} topics)",
                fix="add them, or set missing_topics (--missing on the command line) to 'zero', "
                "which counts missing topics as 0, or 'drop', which removes them from all runs",
            )
        in_all_runs &= in_run
    if missing_topics == "drop":
        topics = topics[in_all_runs]
    if len(topics) < 2:
        raise DataError(
            fault=f"{len(topics)} of {qrels['query'].nunique()} topics can be compared",
            expected="two or more",
            fix="give runs for the same topics",
        )
    return topics
