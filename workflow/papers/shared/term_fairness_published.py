"""Checks of the published tables of group fairness, individually and against each other."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from everycell.metrics.rbo import rbo
from everycell.verdicts.audits import Finding, holds_if_any, published_text, rows_where

#: Rankers of the table of overlaps by their names in the table of means.
RANKERS = {"BM25": "BM25", "BERT": "BERT", "MiniLM": "MiniLM_KD", "TinyBERT": "TinyBERT_KD"}
QUERY_SETS = ("QS1", "QS2")


class PublishedTables(NamedTuple):
    """The two tables of one publication, one row per cell."""

    means: pd.DataFrame
    overlaps: pd.DataFrame

    def correlations_at_or_above(self, bound: float, metric: str) -> Finding:
        """Correlations that contradict the text, because they reach a bound."""
        table = rows_where(self.means, metric=metric)
        above = table[table["value"].astype(float) >= bound]
        return holds_if_any(
            (f"{c.row} {c.query_set}: {c.value}, not below {bound}" for c in above.itertuples()),
            f"all correlations are below {bound}",
        )

    def query_sets_exchanged(self) -> Finding:
        """Whether the table of overlaps has fairness values of the wrong query set."""
        matching = exchanged = 0
        repeated = rows_where(self.overlaps, metric=["TExFAIR", "NFaiRR"])
        for cell in repeated.itertuples():
            by_set = {
                query_set: published_text(
                    self.means, row=RANKERS[cell.row], metric=cell.metric, query_set=query_set
                )
                for query_set in QUERY_SETS
            }
            matching += by_set.pop(cell.query_set) == cell.value
            exchanged += cell.value in by_set.values()
        return Finding(
            exchanged > matching,
            f"{matching} of {len(repeated)} values match the means of their query set, "
            f"{exchanged} those of the other set",
        )

    def texfair_of_another_ranker(self, ranker: str, query_set: str) -> Finding:
        """Whether the TExFAIR of a ranker in the table of overlaps is another one's."""
        column = rows_where(self.means, metric="TExFAIR")
        key = {"row": ranker, "query_set": query_set, "metric": "TExFAIR"}
        published = published_text(self.overlaps, **key)
        means = list(rows_where(column, row=ranker)["value"])
        rankers = column.loc[(column["value"] == published) & (column["row"] != ranker), "row"]
        return Finding(
            published not in means and not rankers.empty,
            f"{published}; the means have {' and '.join(means)} for {ranker}, "
            f"and this value for {', '.join(rankers) or 'no other ranker'}",
        )

    def overlaps_out_of_reach(self, p: float) -> Finding:
        """Whether rank-biased overlaps exceed the maximum for rankings of ten documents."""
        ranking = list(range(10))
        maxima = {
            variant: rbo(ranking, ranking, p, variant=variant) for variant in ("truncated", "min")
        }
        published = rows_where(self.overlaps, metric="CRBO")["value"].astype(float)
        exceeded = [name for name, value in maxima.items() if published.min() > value]
        values = ", ".join(f"{name} {value:.3f}" for name, value in maxima.items())
        return Finding(
            len(exceeded) == len(maxima),
            f"published {published.min()} to {published.max()}; "
            f"maximum for ten documents: {values}",
        )
