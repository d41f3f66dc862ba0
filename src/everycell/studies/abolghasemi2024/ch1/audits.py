"""Printed numbers of the paper on TExFAIR against each other, and against the thesis."""

from __future__ import annotations

from everycell.engine.audits import Cells, Finding, holds_if_none, printed_text, rows_where
from everycell.metrics.printed_fairness import (
    overlaps_out_of_reach,
    query_sets_exchanged,
    rankers_with_one_value,
    value_of_another_ranker,
    values_at_or_above,
)

#: Rankers of Table 2 by their names in Table 1.
_RANKERS = {"BM25": "BM25", "BERT": "BERT", "MiniLM": "MiniLM_KD", "TinyBERT": "TinyBERT_KD"}


def audit_abolghasemi2024_correlation_bound(cells: Cells) -> Finding:
    """L155: correlations are below 0.55; Table 1."""
    return values_at_or_above(rows_where(cells("table_1"), metric="r"), bound=0.55)


def audit_abolghasemi2024_same_texfair_twice(cells: Cells) -> Finding:
    """Table 1: rankers with one TExFAIR value on a query set."""
    return rankers_with_one_value(rows_where(cells("table_1"), metric="TExFAIR"))


def audit_abolghasemi2024_query_sets_exchanged(cells: Cells) -> Finding:
    """Table 2 repeats values of Table 1 under the other query set."""
    return query_sets_exchanged(
        cells("table_1"),
        cells("table_2"),
        rankers=_RANKERS,
        metrics=["TExFAIR", "NFaiRR"],
        query_sets=("QS1", "QS2"),
    )


def audit_abolghasemi2024_bert_texfair(cells: Cells) -> Finding:
    """Table 2 gives BERT a value that Table 1 has for another ranker."""
    return value_of_another_ranker(
        cells("table_1"), cells("table_2"), ranker="BERT", query_set="QS2", metric="TExFAIR"
    )


def audit_abolghasemi2024_overlap_variant(cells: Cells) -> Finding:
    """Table 2: overlaps that neither the truncated nor the least form can reach at ten ranks."""
    return overlaps_out_of_reach(rows_where(cells("table_2"), metric="CRBO"), p=0.9)


def check_abolghasemi2024_equals_thesis(cells: Cells) -> Finding:
    """Tables 1 and 2 of the paper equal Tables 4.1 and 4.2 of the thesis, cell by cell."""
    faults, compared = [], 0
    # The paper's copy has a blank in one ranker's name, and its own name for the correlation.
    names = {"r": "Pearson r (TExFAIR,NFaiRR)"}
    for ours, theirs in (("table_1", "table_4_1"), ("table_2", "table_4_2")):
        thesis = cells(f"abolghasemi2026/{theirs}")
        for cell in cells(ours).itertuples():
            key = {"row": cell.row.replace("- ", "-"), "query_set": cell.query_set}
            value = printed_text(thesis, metric=names.get(cell.metric, cell.metric), **key)
            compared += 1
            if value != cell.value:
                faults.append(f"{cell.row} {cell.query_set} {cell.metric}: {cell.value}, {value}")
    return holds_if_none(faults, f"{compared} cells are equal in both prints")
