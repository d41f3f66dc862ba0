"""Printed numbers of the chapter on TExFAIR against each other."""

from __future__ import annotations

from everycell.engine.audits import Cells, Finding, printed_number, printed_text, rows_where
from everycell.metrics.printed_fairness import (
    overlaps_out_of_reach,
    query_sets_exchanged,
    rankers_with_one_value,
    value_of_another_ranker,
    values_at_or_above,
)

#: Rankers of Table 4.2 by their names in Table 4.1.
_RANKERS = {"BM25": "BM25", "BERT": "BERT", "MiniLM": "MiniLM_KD", "TinyBERT": "TinyBERT_KD"}


def audit_abolghasemi2026_correlation_bound(cells: Cells) -> Finding:
    """L1146: correlations are below 0.55; Table 4.1."""
    bound = printed_number(
        cells("text_4"), claim="range of query-level Pearson r (upper, exclusive)"
    )
    table = rows_where(cells("table_4_1"), metric="Pearson r (TExFAIR,NFaiRR)")
    return values_at_or_above(table, bound)


def audit_abolghasemi2026_same_texfair_twice(cells: Cells) -> Finding:
    """Table 4.1: rankers with one TExFAIR value on a query set."""
    return rankers_with_one_value(rows_where(cells("table_4_1"), metric="TExFAIR"))


def audit_abolghasemi2026_query_sets_exchanged(cells: Cells) -> Finding:
    """Table 4.2 repeats values of Table 4.1 under the other query set."""
    return query_sets_exchanged(
        cells("table_4_1"),
        cells("table_4_2"),
        rankers=_RANKERS,
        metrics=["TExFAIR", "NFaiRR"],
        query_sets=("QS1", "QS2"),
    )


def audit_abolghasemi2026_bert_texfair(cells: Cells) -> Finding:
    """Table 4.2 gives BERT a value that Table 4.1 has for another ranker."""
    return value_of_another_ranker(
        cells("table_4_1"), cells("table_4_2"), ranker="BERT", query_set="QS2", metric="TExFAIR"
    )


def audit_abolghasemi2026_overlap_variant(cells: Cells) -> Finding:
    """Table 4.2: overlaps that neither the truncated nor the least form can reach at ten ranks."""
    p = printed_number(cells("text_4"), claim="RBO p")
    return overlaps_out_of_reach(rows_where(cells("table_4_2"), metric="CRBO"), p)


def audit_abolghasemi2026_size_of_qs1(cells: Cells) -> Finding:
    """L1101: size of the first query set against its released annotation file (1,765)."""
    released = 1765
    printed = int(printed_text(cells("text_4"), claim="QS1 size"))
    return Finding(printed != released, f"{printed} printed, {released} in the released file")
