"""Published numbers of the appendix on the two crowd studies compared with each other."""

from __future__ import annotations

from everycell.engine.audits import Cells, Finding, holds_if_none, published_number


def audit_lajewska2025_figure_A_1_experts(cells: Cells) -> Finding:
    """§ 4.3.1, § A.2.1: number of scores by experts against the number of scores by queries."""

    def size(claim: str) -> float:
        return published_number(cells("text_A_2_1"), claim=claim)

    expert_scores = (size("annotators") - size("annotators left out")) * size("topics of a survey")
    counted = size("queries") * size("annotators of a query")
    return Finding(expert_scores != counted, f"{expert_scores:g} scores given, {counted:g} counted")


def check_lajewska2025_worker_sums(cells: Cells) -> Finding:
    """Table A.1: each question has 96 and 27 answers, one per worker of each study (§ 4.3.2)."""
    workers = {"Answerability": 96, "Viewpoint": 27}
    table = cells("table_A_1").astype({"value": int})
    sums = table.groupby(["demographic", "study"], sort=False)["value"].sum()
    return holds_if_none(
        (f"{' '.join(name)}: {n}" for name, n in sums.items() if n != workers[name[1]]),
        f"{len(sums)} sums are 96 or 27",
    )
