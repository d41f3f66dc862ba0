"""Audits of the published tables of chapter 3 of heuss2025 (PUFR)."""

from __future__ import annotations

from everycell.verdicts.audits import Cells, Finding, published_number, rows_where


def audit_heuss2025_adv_misses_both_limits(cells: Cells) -> Finding:
    """Table 3.1: ADV loses more utility than both allowed losses; the caption mentions only one."""
    table = rows_where(cells("table_3_1"), metric="nDCG@100")
    loss = published_number(table, row="UNFAIR") - published_number(table, row="ADV")
    return Finding(loss > 0.02 + 1e-9, f"loss {loss:.2f}, allowed 0.01 and 0.02")
