"""Audits of the published tables of chapter 1 of abolghasemi2024 (TExFAIR), also against
chapter 4 of abolghasemi2026.
"""

from __future__ import annotations

from everycell.verdicts.audits import Cells, Finding, holds_if_none, published_text
from papers.shared.term_fairness_published import PublishedTables


def paper_tables(cells: Cells) -> PublishedTables:
    """The two tables as published in the paper."""
    return PublishedTables(cells("table_1"), cells("table_2"))


def audit_abolghasemi2024_correlation_bound(cells: Cells) -> Finding:
    """§ 5: correlations are below 0.55; Table 1."""
    return paper_tables(cells).correlations_at_or_above(0.55, "r")


def audit_abolghasemi2024_query_sets_exchanged(cells: Cells) -> Finding:
    """Table 2 repeats values of Table 1, but of the other query set."""
    return paper_tables(cells).query_sets_exchanged()


def audit_abolghasemi2024_bert_texfair(cells: Cells) -> Finding:
    """Table 2 reports a value for BERT that is another ranker's in Table 1."""
    return paper_tables(cells).texfair_of_another_ranker("BERT", "QS2")


def audit_abolghasemi2024_overlap_variant(cells: Cells) -> Finding:
    """Table 2: overlaps above the maximum of truncated and minimum RBO at ten ranks."""
    return paper_tables(cells).overlaps_out_of_reach(p=0.9)


def check_abolghasemi2024_equals_thesis(cells: Cells) -> Finding:
    """Tables 1 and 2 of the paper equal Tables 4.1 and 4.2 of the thesis, cell by cell."""
    faults, compared = [], 0
    # The paper has a space in the name of a ranker, and a different name for the correlation.
    names = {"r": "Pearson r (TExFAIR,NFaiRR)"}
    for paper_name, thesis_name in (("table_1", "table_4_1"), ("table_2", "table_4_2")):
        thesis = cells(f"abolghasemi2026/{thesis_name}")
        for cell in cells(paper_name).itertuples():
            key = {"row": cell.row.replace("- ", "-"), "query_set": cell.query_set}
            value = published_text(thesis, metric=names.get(cell.metric, cell.metric), **key)
            compared += 1
            if value != cell.value:
                faults.append(
                    f"{cell.row} {cell.query_set} {cell.metric}: {cell.value}, thesis {value}"
                )
    return holds_if_none(faults, f"{compared} cells are equal in both publications")
