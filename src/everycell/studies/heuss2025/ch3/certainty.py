"""Overlap of scores (Figure 3.2), and certain and uncertain lists (Figure 3.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from everycell.base.arrays import IntArray
from everycell.fair_ranking.fa_ir import fa_ir, minimum_protected
from everycell.fair_ranking.pufr import count_crossing_intervals, moved_scores, pufr
from everycell.studies.heuss2025.ch3.settings import TRAINED
from everycell.studies.heuss2025.ch3.trade_offs import RankedList, constrained_order

#: Number of top documents per list in Figure 3.7.
TOP = 5


def crossing_documents(
    lists: Sequence[RankedList], alphas: Sequence[float], ranks: int
) -> pd.DataFrame:
    """Number of documents that could swap with each rank: median and quartiles."""
    ranks = min(ranks, max(len(ranked.documents) for ranked in lists))
    rows = []
    for alpha in alphas:
        counts = np.full((len(lists), ranks), np.nan)
        for index, ranked in enumerate(lists):
            crossing = count_crossing_intervals(ranked.means, ranked.deviations, alpha)[:ranks]
            counts[index, : len(crossing)] = crossing
        low, middle, high = np.nanpercentile(counts, [25, 50, 75], axis=0)
        rows += [
            (f"{alpha:g}", rank + 1, middle[rank], low[rank], high[rank]) for rank in range(ranks)
        ]
    return pd.DataFrame(rows, columns=["alpha", "rank", "value", "low", "high"])


def spread_of_deviations(scores: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Coefficient of variation of a ranker's deviations, in percent.

    It is computed within queries (mean over queries) and over all pairs. If it is small, one
    deviation for all documents is a good approximation.
    """
    rows = []
    for name, frame in scores.items():
        deviations = frame["deviation"]
        by_query = deviations.groupby(frame["query"])
        within = (by_query.std(ddof=0) / by_query.mean()).mean()
        rows.append((name, "candidates of a query", 100 * within))
        rows.append((name, "all pairs", 100 * deviations.std(ddof=0) / deviations.mean()))
    return pd.DataFrame(rows, columns=["ranker", "over", "value"])


def certainty(ranked: RankedList) -> float:
    """Range of the top scores divided by their mean deviation."""
    top = slice(0, TOP)
    return float(np.ptp(ranked.means[top]) / ranked.deviations[top].mean())


def change_shares(
    lists: Sequence[RankedList],
    strengths: Mapping[str, float],
    *,
    protected_from: float,
    constrained: int,
    significance: float,
    samples: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Share of lists whose top five documents a method changes, by certainty."""
    mixed = [
        ranked
        for ranked in lists
        if len(set((ranked.neutralities[:TOP] >= protected_from).tolist())) == 2
    ]
    order = np.argsort([certainty(ranked) for ranked in mixed], kind="stable")
    size = len(mixed) // 4
    rows = []
    for name, positions in (("most certain", order[-size:]), ("least certain", order[:size])):
        changed = {
            method: np.array(
                [
                    _changes(
                        mixed[position], method, alpha, protected_from, constrained, significance
                    )
                    for position in positions
                ],
                dtype=float,
            )
            for method, alpha in strengths.items()
            # Methods that train a ranker do not re-rank these lists.
            if method not in TRAINED
        }
        weights = np.vstack([np.ones(size), rng.multinomial(size, np.ones(size) / size, samples)])
        for method, values in changed.items():
            results = {method: values}
            if method != "PUFR":
                results[f"{method} less PUFR"] = values - changed["PUFR"]
            for label, changes in results.items():
                shares = 100 * weights @ changes / size
                low, high = np.percentile(shares[1:], [2.5, 97.5])
                rows.append((name, label, shares[0], low, high))
    return pd.DataFrame(rows, columns=["lists", "method", "value", "low", "high"])


def example_lists(lists: Sequence[RankedList], alpha: float, protected_from: float) -> pd.DataFrame:
    """Top five documents of an uncertain and of a certain list, before and after PUFR.

    The lists are at the first and last decile of certainty, among the lists with a protected
    document below an unprotected one in the top five.
    """
    eligible_lists = []
    for ranked in lists:
        protected = ranked.neutralities[:TOP] >= protected_from
        if len(protected) < TOP:
            continue
        if protected.any() and not protected[: protected.sum()].all():
            eligible_lists.append(ranked)
    order = np.argsort([certainty(ranked) for ranked in eligible_lists], kind="stable")
    tenth = len(order) // 10
    rows = []
    for name, position in (("uncertain", order[tenth]), ("certain", order[-1 - tenth])):
        example = eligible_lists[position]
        protected = example.neutralities >= protected_from
        after = moved_scores(
            example.means, example.deviations, protected.tolist(), {True: alpha, False: -alpha}
        )
        for when, means in (("before", example.means), ("after", after)):
            rows += [
                (
                    name,
                    example.query,
                    when,
                    f"D{document + 1}",
                    bool(protected[document]),
                    means[document],
                    example.deviations[document],
                )
                for document in range(TOP)
            ]
    columns = ["list", "query", "when", "document", "protected", "mean", "deviation"]
    return pd.DataFrame(rows, columns=columns)


def _changes(
    ranked: RankedList,
    method: str,
    alpha: float,
    protected_from: float,
    constrained: int,
    significance: float,
) -> bool:
    """Whether a method changes the top documents or their order."""
    protected = ranked.neutralities >= protected_from
    order: IntArray
    if method == "PUFR":
        order = pufr(ranked.means, ranked.deviations, protected, alpha)
    elif method == "FA*IR":
        needed = minimum_protected(len(protected), alpha, significance)
        order = fa_ir(ranked.means, protected, needed)
    else:
        order = constrained_order(ranked, alpha, constrained)
    return order[:TOP].tolist() != list(range(min(TOP, len(order))))
