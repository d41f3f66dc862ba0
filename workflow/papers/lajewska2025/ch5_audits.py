"""Audits of the published tables of chapter 5 of lajewska2025 (answerability)."""

from __future__ import annotations

from everycell.verdicts.audits import (
    Cells,
    Finding,
    holds_if_any,
    holds_if_none,
    published_number,
    rows_where,
)

#: US federal minimum wage in USD per hour.
_MINIMUM_WAGE = 7.25


def audit_lajewska2025_table_5_1_wages(cells: Cells) -> Finding:
    """§ 5.3.3: payments on MTurk exceed the minimum wage; Table 5.1 has costs and times."""
    table, below = cells("table_5_1"), []
    for row in ("MTurk regular", "MTurk master"):
        for variant in ("Paragraph", "Sentence"):
            own = rows_where(table, row=row, task_variant=variant)
            hours = published_number(own, metric="median_time_s") / 3600
            wage = published_number(own, metric="cost_usd") / hours
            if wage < _MINIMUM_WAGE:
                below.append(f"{row}, {variant.lower()}: {wage:.2f} USD per hour")
    return holds_if_any(below, f"all pay at least {_MINIMUM_WAGE} USD per hour")


def check_lajewska2025_answerability_counts(cells: Cells) -> Finding:
    """Tables 5.5 and B.1: shared counts agree, and there are at most 4,560 rankings.

    38 test questions with ten passages have 38 x 120 rankings of three (§ 5.5). Repeated
    passages reduce this number, so the published one must not exceed it.
    """
    table = cells("table_5_5")
    sets = rows_where(cells("table_B_1"), dataset=["CAsT-snippets", "CAsT-unanswerable"])
    parts = {
        ("passage", "answerable"): ["# ans. QPP"],
        ("passage", "unanswerable"): ["# unans. QPP"],
        ("sentence", "answerable"): ["# sent. w/ answers in ans. QPP"],
        ("sentence", "unanswerable"): [
            "# sent. w/o answers in ans. QPP",
            "# sent. w/o answers in unans. QPP",
        ],
    }
    faults = []
    for (level, kind), rows in parts.items():
        total = rows_where(sets, row=rows)["value"].astype(float).sum()
        published = published_number(
            table, row=f"#question-{level} pairs (train+test)", metric=kind
        )
        if total != published:
            faults.append(f"{level} {kind}: the parts sum to {total:g}, published {published:g}")
    rankings = rows_where(table, row="#question-ranking pairs (test)")["value"].astype(int).sum()
    if rankings > 4560:
        faults.append(f"{rankings} rankings, 4560 possible")
    return holds_if_none(
        faults, f"4 counts equal the sums of their parts; {rankings} of 4560 possible rankings"
    )
