"""Published numbers of the paper on TExFAIR compared with each other and with the thesis."""

from __future__ import annotations

from everycell.engine.audits import Cells, Finding, holds_if_none, published_text
from everycell.studies.term_fairness.published_tables import PublishedTables


def tables(cells: Cells) -> PublishedTables:
    """The two tables as printed here."""
    return PublishedTables(cells("table_1"), cells("table_2"))


def audit_abolghasemi2024_correlation_bound(cells: Cells) -> Finding:
    """§ 5: correlations are below 0.55; Table 1."""
    return tables(cells).correlations_at_or_above(0.55, "r")


def audit_abolghasemi2024_query_sets_exchanged(cells: Cells) -> Finding:
    """Table 2 repeats values that Table 1 has for the other query set."""
    return tables(cells).query_sets_exchanged()


def audit_abolghasemi2024_bert_texfair(cells: Cells) -> Finding:
    """Table 2 gives BERT a value that Table 1 has for another ranker."""
    return tables(cells).texfair_of_another_ranker("BERT", "QS2")


def audit_abolghasemi2024_overlap_variant(cells: Cells) -> Finding:
    """Table 2: overlaps above what the truncated and the minimum form can reach at ten ranks."""
    return tables(cells).overlaps_out_of_reach(p=0.9)


def check_abolghasemi2024_equals_thesis(cells: Cells) -> Finding:
    """Tables 1 and 2 of the paper equal Tables 4.1 and 4.2 of the thesis, cell by cell."""
    faults, compared = [], 0
    # The paper's copy has a blank in one ranker's name, and its own name for the correlation.
    names = {"r": "Pearson r (TExFAIR,NFaiRR)"}
    for ours, theirs in (("table_1", "table_4_1"), ("table_2", "table_4_2")):
        thesis = cells(f"abolghasemi2026/{theirs}")
        for cell in cells(ours).itertuples():
            key = {"row": cell.row.replace("- ", "-"), "query_set": cell.query_set}
            value = published_text(thesis, metric=names.get(cell.metric, cell.metric), **key)
            compared += 1
            if value != cell.value:
                faults.append(f"{cell.row} {cell.query_set} {cell.metric}: {cell.value}, {value}")
    return holds_if_none(faults, f"{compared} cells are equal in both publications")
