"""Audits of the published tables of chapter 4 of lajewska2025 (limitations of responses)."""

from __future__ import annotations

import pandas as pd

from everycell.verdicts.audits import (
    Cells,
    Finding,
    holds_if_any,
    holds_if_none,
    published_number,
    rows_where,
)
from papers.lajewska2025.published_anova import ALPHA, format_rows, p_values


def audit_lajewska2025_table_4_8_alpha(cells: Cells) -> Finding:
    """§ 4.4.1: no controlled dimension is significant in the answerability study; Table 4.8."""
    p = p_values(cells("table_4_8"), study="Answerability")
    significant = p[p["value"] <= ALPHA]
    return holds_if_any(
        format_rows(significant, "dependent_variable", "independent_variable"),
        f"all p are above {ALPHA}",
    )


def audit_lajewska2025_table_4_8_balance(cells: Cells) -> Finding:
    """Tables 4.8 to 4.10: every term with balance but without diversity has p = 1.0."""
    p = pd.concat([p_values(cells(f"table_4_{n}"), study="Viewpoints") for n in (8, 9, 10)])
    term = p["independent_variable"]
    balance = p[term.str.contains("Contr. Balance") & ~term.str.contains("Contr. Diversity")]
    ones = int((balance["value"] == 1).sum())
    return Finding(ones == len(balance), f"{ones} of {len(balance)} p-values are 1.0")


def audit_lajewska2025_table_4_9_interactions(cells: Cells) -> Finding:
    """§ 4.4.1: query and its interactions affect all ratings of the answerability study."""
    p = p_values(cells("table_4_9"), study="Answerability")
    insignificant = p[p["value"] > ALPHA]
    return holds_if_any(
        format_rows(insignificant, "dependent_variable", "independent_variable"),
        f"no p is above {ALPHA}",
    )


def check_lajewska2025_study_counts(cells: Cells) -> Finding:
    """Table 4.7: judgements are queries x conditions x workers per pair."""
    table, faults = cells("table_4_7"), []
    for study in ("Answerability", "Viewpoints"):
        first = rows_where(table, study=study, metric="first_run")
        queries = published_number(first, row="#queries per user study")
        conditions = published_number(first, row="#experimental cond. (#resp. per query)")
        for run, part in rows_where(table, study=study).groupby("metric", sort=False):
            workers = published_number(part, row="#crowd workers per query-response")
            total = published_number(part, row="#query-response pairs annotations")
            if queries * conditions * workers != total:
                product = queries * conditions * workers
                faults.append(f"{study} {run}: computed {product:g}, published {total:g}")
    return holds_if_none(faults, "3 counts of judgements equal queries x conditions x workers")


def check_lajewska2025_correlation_range(cells: Cells) -> Finding:
    """§ 4.4.2: correlations with overall satisfaction are between 0.6 and 0.8; Table 4.11."""
    r = cells("table_4_11")["value"].astype(float)
    return Finding(bool(r.between(0.6, 0.8).all()), f"from {r.min()} to {r.max()}")


def audit_lajewska2025_table_4_12_query(cells: Cells) -> Finding:
    """§ 4.4.3: the effect of the query on all response dimensions is high; Table 4.12."""
    table = rows_where(cells("table_4_12"), study="Answerability", independent_variable="Query")
    sizes = rows_where(table, metric="effect_size")
    smaller = sizes[(sizes["value"] != "L") & (sizes["dependent_variable"] != "Familiarity")]
    return holds_if_any(
        (f"{row.dependent_variable}: {row.value}" for row in smaller.itertuples()),
        "all effects of the query are large",
    )
