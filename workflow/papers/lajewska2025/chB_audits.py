"""Audits of the published tables of appendix B of lajewska2025 (answerability data)."""

from __future__ import annotations

from everycell.verdicts.audits import Cells, Finding, holds_if_none, published_number


def check_lajewska2025_data_set_sums(cells: Cells) -> Finding:
    """Table B.1: answerable and unanswerable questions and pairs sum to their totals."""
    table, faults = cells("table_B_1"), []
    for dataset, part in table.groupby("dataset", sort=False):
        for total in ("questions", "QPP"):
            parts = sum(
                published_number(part, row=f"# {kind} {total}") for kind in ("ans.", "unans.")
            )
            if parts != published_number(part, row=f"# {total}"):
                faults.append(f"{dataset} {total}: parts sum to {parts:g}")
    return holds_if_none(faults, "6 totals equal the sums of their parts")
