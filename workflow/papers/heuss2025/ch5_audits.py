"""Audits of the published tables of chapter 5 of heuss2025 (citation faithfulness)."""

from __future__ import annotations

from everycell.verdicts.audits import Cells, Finding, published_number, rows_where


def audit_heuss2025_columns_do_not_sum(cells: Cells) -> Finding:
    """Table 5.2: answers sum to fewer than the 1,444 questions of section 5.5."""
    questions = 1444
    sums = cells("table_5_2").astype({"value": int}).groupby("selection_step", sort=False)["value"]
    totals = sums.sum().to_dict()
    return Finding(
        any(total != questions for total in totals.values()),
        f"answers by step: {', '.join(f'{step} {total}' for step, total in totals.items())}; "
        f"{questions} questions",
    )


def audit_heuss2025_share_cited(cells: Cells) -> Finding:
    """§ 5.5.2: 46 % of the predicted citations are cited; Table 5.2 gives a different share."""
    stated = 46
    column = rows_where(cells("table_5_2"), selection_step="Pred. Cited").astype({"value": int})
    share = (
        100 * published_number(column, row="Cited all selected documents") / column["value"].sum()
    )
    return Finding(round(share) != stated, f"{share:.1f} % in the table, {stated} % in the text")


def check_heuss2025_random_set(cells: Cells) -> Finding:
    """§ 5.5.3: the 1,344 question-answer pairs are the answers that cite selected documents."""
    stated = 1344
    column = rows_where(cells("table_5_2"), selection_step="Pred. Rel.")
    parts = [
        published_number(column, row=f"Cited {n} selected documents")
        for n in ("all", "less than all")
    ]
    return Finding(sum(parts) == stated, f"{parts[0]:g} + {parts[1]:g}, stated {stated}")
