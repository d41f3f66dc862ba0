"""Audits of the published tables of chapter 4 of abolghasemi2026 (TExFAIR)."""

from __future__ import annotations

from everycell.verdicts.audits import Cells, Finding, published_number, published_text
from papers.shared.term_fairness_published import PublishedTables


def tables(cells: Cells) -> PublishedTables:
    """Tables 4.1 and 4.2 as published."""
    return PublishedTables(cells("table_4_1"), cells("table_4_2"))


def audit_abolghasemi2026_correlation_bound(cells: Cells) -> Finding:
    """§ 4.5: correlations are said to be below 0.55; Table 4.1."""
    bound = published_number(
        cells("text_4"), claim="range of query-level Pearson r (upper, exclusive)"
    )
    return tables(cells).correlations_at_or_above(bound, "Pearson r (TExFAIR,NFaiRR)")


def audit_abolghasemi2026_query_sets_exchanged(cells: Cells) -> Finding:
    """Table 4.2 repeats values that Table 4.1 has for the other query set."""
    return tables(cells).query_sets_exchanged()


def audit_abolghasemi2026_bert_texfair(cells: Cells) -> Finding:
    """Table 4.2 gives BERT a value that Table 4.1 has for another ranker."""
    return tables(cells).texfair_of_another_ranker("BERT", "QS2")


def audit_abolghasemi2026_overlap_variant(cells: Cells) -> Finding:
    """Table 4.2: overlaps above the maximum of truncated and minimum RBO at depth 10."""
    p = published_number(cells("text_4"), claim="RBO p")
    return tables(cells).overlaps_out_of_reach(p)


def audit_abolghasemi2026_size_of_qs1(cells: Cells) -> Finding:
    """§ 4.4: size of the first query set; its released annotation file has 1,765 queries."""
    released = 1765
    published = int(published_text(cells("text_4"), claim="QS1 size"))
    return Finding(published != released, f"{published} published, {released} in the released file")
