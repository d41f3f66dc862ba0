"""Audits of the published tables of chapter 7 of lajewska2025 (usefulness of explanations)."""

from __future__ import annotations

import pandas as pd

from everycell.statistics.effect_size import omega_squared
from everycell.verdicts.audits import (
    Cells,
    Finding,
    concatenate_tables,
    holds_if_any,
    published_text,
    rows_where,
)
from papers.lajewska2025.published_anova import ALPHA, format_rows, p_values


def audit_lajewska2025_table_7_3_limitations(cells: Cells) -> Finding:
    """Table 7.3: limitations of perfect responses, which accurate explanations lack (§ 7.3.1)."""
    content = cells("table_7_3").pivot(index="condition", columns="row", values="value")
    is_perfect = content["Response"].str.startswith("+") & content["Source"].str.startswith("+")
    conditions = content.index[is_perfect & (content["Limitations"] != "–")]
    return holds_if_any(list(conditions), "no perfect response has accurate limitations")


def audit_lajewska2025_table_7_4_scale(cells: Cells) -> Finding:
    """Table 7.4: an "S", although the p-value implies an omega squared below 0.01.

    Small effects begin at 0.01. The query has 9 degrees of freedom, and there are 1,600 ratings.
    """
    from scipy.special import fdtri  # scipy.stats takes a second to import

    table = rows_where(cells("table_7_4"), row="Query", conditions="EC1-EC10")
    df, n = 9, 1600
    faults = []
    for cell in p_values(table).itertuples():
        size = published_text(
            table, dependent_variable=cell.dependent_variable, metric="effect_size"
        )
        omega = omega_squared(fdtri(df, n - df - 1, 1 - cell.value), df, n)
        # A published p of 0.0 is any value below 0.0005, so the effect has no upper bound.
        if size == "S" and cell.value > 0 and omega < 0.01:
            faults.append(f"{cell.dependent_variable} p {cell.value}, omega squared {omega:.4f}")
    return holds_if_any(faults, 'every "S" is at least 0.01')


def audit_lajewska2025_table_7_5_mode(cells: Cells) -> Finding:
    """§ 7.4.1: the mode matters only for the limitations; EC1 to EC8 of Table 7.5."""
    p = p_values(cells("table_7_5"), row="Presentation Mode", conditions="EC1-EC8")
    significant = p[(p["dependent_variable"] != "Limitations") & (p["value"] <= ALPHA)]
    return holds_if_any(
        format_rows(significant, "dependent_variable"), "the other ratings are not significant"
    )


def audit_lajewska2025_table_7_5_query(cells: Cells) -> Finding:
    """Table 7.5: the query has p = 1.0 for all explanation ratings, as if they were constant."""
    p = p_values(cells("table_7_5"), row="Query")["value"]
    return Finding(bool((p == 1).all()), f"p-values {', '.join(map(str, p))}")


def audit_lajewska2025_table_7_6_query(cells: Cells) -> Finding:
    """Table 7.6: worker factors x query have p = 1.0 for ratings given once per worker."""
    p = p_values(cells("table_7_6"), interaction_with="Query")
    constant = p[p["dependent_variable"].str.startswith("Explanation")]
    by_factor = constant.groupby("row", sort=False)["value"].apply(lambda v: bool((v == 1).all()))
    factors = list(by_factor[by_factor].index)
    return Finding(
        len(factors) > 1, f"all p-values are 1.0 for {len(factors)} factors: {', '.join(factors)}"
    )


def audit_lajewska2025_figure_7_4_significance(cells: Cells) -> Finding:
    """§ 7.4.2: all plotted differences are significant; EC1 to EC8 of Tables 7.4 and 7.5.

    The plots show usefulness by both factors, two explanation ratings by quality and two by mode.
    """
    plotted = {
        "Explanation Quality": ["Usefulness", "Source", "Confidence"],
        "Presentation Mode": ["Usefulness", "Limitations", "Confidence"],
    }
    table = p_values(concatenate_tables(cells, "table_7_4", "table_7_5"), conditions="EC1-EC8")
    p = pd.concat(
        [rows_where(table, row=row, dependent_variable=ratings) for row, ratings in plotted.items()]
    )
    return holds_if_any(
        format_rows(p[p["value"] > ALPHA], "row", "dependent_variable"), f"no p is above {ALPHA}"
    )
