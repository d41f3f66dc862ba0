"""Audits of the published tables of appendix A of lajewska2025 (studies of chapter 4)."""

from __future__ import annotations

from everycell.verdicts.audits import Cells, Finding, holds_if_none, published_number


def audit_lajewska2025_figure_A_1_experts(cells: Cells) -> Finding:
    """§ 4.3.1, § A.2.1: numbers of expert scores, counted by expert and by query, differ."""

    def count_in_text(claim: str) -> float:
        return published_number(cells("text_A_2_1"), claim=claim)

    experts = count_in_text("annotators") - count_in_text("annotators left out")
    by_expert = experts * count_in_text("topics of a survey")
    by_query = count_in_text("queries") * count_in_text("annotators of a query")
    return Finding(
        by_expert != by_query, f"{by_expert:g} scores by expert, {by_query:g} scores by query"
    )


def check_lajewska2025_worker_sums(cells: Cells) -> Finding:
    """Table A.1: each question has 96 and 27 answers, one per worker of each study (§ 4.3.2)."""
    workers = {"Answerability": 96, "Viewpoint": 27}
    table = cells("table_A_1").astype({"value": int})
    sums = table.groupby(["demographic", "study"], sort=False)["value"].sum()
    return holds_if_none(
        (f"{' '.join(name)}: {n}" for name, n in sums.items() if n != workers[name[1]]),
        f"{len(sums)} sums equal the number of workers (96 or 27)",
    )
