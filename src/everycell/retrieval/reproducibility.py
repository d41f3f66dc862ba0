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

from everycell.metrics.rbo import PERSISTENCE, Variant, crbo
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
    """Agreement of two runs in the order of their documents, topic by topic.

    For Kendall's tau of the union, the documents of both lists are numbered, and tau compares the
    two sequences of numbers. The longer list is cut to the length of the shorter one, since tau
    needs sequences of the same length (repro_eval stops with an error).

    Tau depends on the numbering. If documents are numbered in the order of the original run, two
    lists without common documents have a tau of 1. If they are numbered by id, renaming documents
    changes the value. So interpret it together with RBO, which is 0 for lists without common
    documents.
    """
    if union not in ("original", "ids"):
        raise ValueError(f"union is {union!r}: it must be 'original' or 'ids'.")
    runs = {"original": _add_ranks(original), "reproduced": _add_ranks(reproduced)}
    _check_same({name: pd.Index(run["query"].unique()) for name, run in runs.items()}, "topic")
    overlap = crbo(runs["original"], runs["reproduced"], p, depth=depth, variant=variant)
    lists = [
        run[run["rank"] <= depth].groupby("query")["document"].agg(list) for run in runs.values()
    ]
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
    r"""Agreement of two runs in their scores, over topics.

    .. math:: RMSE = \sqrt{\frac{1}{n} \sum_{t} (M_t - M'_t)^2}
    """
    original, reproduced = _align({"original": original, "reproduced": reproduced})
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
    experiments = {
        "original": {
            "original baseline": original_baseline,
            "original advanced": original_advanced,
        },
        "reproduced": {
            "reproduced baseline": reproduced_baseline,
            "reproduced advanced": reproduced_advanced,
        },
    }
    pairs = {name: _align(pair) for name, pair in experiments.items()}
    _check_same({name: baseline.columns for name, (baseline, _) in pairs.items()}, "measure")
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


def _check_same(indexes: dict[str, pd.Index], kind: str) -> None:
    """Raise an error unless two indexes have the same names, each once."""
    for name, index in indexes.items():
        if index.has_duplicates:
            raise ValueError(
                f"The {name} values have the {kind} {index[index.duplicated()][0]!r} twice: remove "
                "one of the two."
            )
    (first_name, first), (second_name, second) = indexes.items()
    for name, extra in (
        (first_name, first.difference(second)),
        (second_name, second.difference(first)),
    ):
        if len(extra):
            raise ValueError(
                f"The {kind} {extra[0]!r} is only in the {name} values: both must have the same "
                f"{kind}s, so add it to the other, or remove it."
            )


def _align(frames: dict[str, pd.DataFrame]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two frames of values with topics and measures in the order of the first."""
    _check_same({name: values.index for name, values in frames.items()}, "topic")
    _check_same({name: values.columns for name, values in frames.items()}, "measure")
    for name, values in frames.items():
        topics, measures = np.nonzero(~np.isfinite(values.to_numpy(dtype=float)))
        if len(topics):
            cell = (values.index[topics[0]], values.columns[measures[0]])
            raise ValueError(
                f"The {name} values have {values.loc[cell]} for topic {cell[0]!r} in "
                f"{cell[1]!r}: values must be finite; use 0 for topics that are missing from a run."
            )
    first, second = frames.values()
    return first, second.loc[first.index, first.columns]


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
