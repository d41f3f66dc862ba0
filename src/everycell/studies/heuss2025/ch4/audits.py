"""Printed numbers of the chapter on RankingSHAP against each other."""

from __future__ import annotations

from everycell.engine.audits import Cells, Finding, holds_if_any, holds_if_none


def _talent_scores(cells: Cells, *, biased: bool) -> dict[str, float]:
    """Score of each candidate (section 4.5): skills + experience + grade in its range.

    Unmet requirements cost three quarters, but not from the favoured university in the biased
    model, which takes a tenth from the disfavoured one.
    """
    candidates = cells("table_4_A_1").pivot(index="row", columns="metric", values="value")
    schools = cells("table_4_A_2").pivot(index="row", columns="metric", values="value")
    scores = {}
    for name, person in candidates.iterrows():
        school = schools.loc[person["university"]]
        low, high = float(school["lowest_grade"]), float(school["highest_grade"])
        score = float(person["skills"]) + float(person["experience"])
        score += (float(person["grades"]) - low) / (high - low)
        if person["req"] == "False" and not (biased and school["model_bias"] == "Positive"):
            score *= 0.25
        if biased and school["model_bias"] == "Negative":
            score *= 0.9
        scores[str(name)] = score
    return scores


def _rank_faults(cells: Cells, *, biased: bool) -> dict[str, list[str]]:
    """Candidates of each query whose printed rank is not that of the model's scores."""
    scores = _talent_scores(cells, biased=biased)
    faults = {}
    for query, column in cells("table_4_A_3").groupby("query", sort=False):
        printed = dict(zip(column["row"], column["value"].astype(int), strict=True))
        present = [name for name, rank in printed.items() if rank > 0]
        order = sorted(present, key=lambda name: -scores[name])
        faults[str(query)] = [
            f"{name} {scores[name]:.3f}: rank {rank}, printed {printed[name]}"
            for rank, name in enumerate(order, start=1)
            if printed[name] != rank
        ]
    return faults


def audit_heuss2025_biased_column(cells: Cells) -> Finding:
    """Table 4.A.3, query "biased": printed ranks are not those of the biased ranker."""
    faults = _rank_faults(cells, biased=True)["biased"]
    return holds_if_any(faults, "the column holds the ranks of the biased ranker")


def check_heuss2025_other_ranks(cells: Cells) -> Finding:
    """Table 4.A.3: the four other queries have the ranks of the biased ranker."""
    faults = _rank_faults(cells, biased=True)
    others = [fault for query, found in faults.items() if query != "biased" for fault in found]
    return holds_if_none(others, "4 queries come out as printed")


def check_heuss2025_unbiased_column(cells: Cells) -> Finding:
    """Table 4.A.3, query "biased": printed ranks are those of the unbiased ranker."""
    return holds_if_none(
        _rank_faults(cells, biased=False)["biased"], "the ranks are the unbiased ones"
    )
