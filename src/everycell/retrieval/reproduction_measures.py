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
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd
from scipy import stats

from everycell.metrics.rbo import PERSISTENCE, Variant, crbo
from everycell.retrieval.significance import compare_paired_and_unpaired
from everycell.trec.runs import trec_order

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
