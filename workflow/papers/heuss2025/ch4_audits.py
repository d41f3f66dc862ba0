"""Audits of the published tables of chapter 4 of heuss2025 (RankingSHAP)."""

from __future__ import annotations

import numpy as np

from everycell.explain.shapley import shapley_values
from everycell.explain.value_functions import kendall, ranks_of
from everycell.verdicts.audits import Cells, Finding, holds_if_any, holds_if_none
from papers.heuss2025.ch4_attributions import remove_base, worth_of_coalitions
from papers.heuss2025.ch4_talent_search import (
    FEATURES,
    QUERIES,
    REQUIREMENTS,
    TalentModel,
    background,
    candidates,
    universities,
)


def _talent_scores(cells: Cells, *, biased: bool) -> dict[str, float]:
    """Score of each candidate (section 4.5)."""
    schools = universities(cells("table_4_A_2"))
    people = candidates(cells("table_4_A_1"), schools)
    scores = TalentModel(schools, biased)(np.array(list(people.values())))
    return dict(zip(people, scores.tolist(), strict=True))


def _rank_faults(cells: Cells, *, biased: bool) -> dict[str, list[str]]:
    """Candidates per query whose published rank differs from their rank by score."""
    scores = _talent_scores(cells, biased=biased)
    faults = {}
    for query, column in cells("table_4_A_3").groupby("query", sort=False):
        published = dict(zip(column["row"], column["value"].astype(int), strict=True))
        present = [name for name, rank in published.items() if rank > 0]
        order = sorted(present, key=lambda name: -scores[name])
        faults[str(query)] = [
            f"{name}, score {scores[name]:.3f}: rank {rank}, published {published[name]}"
            for rank, name in enumerate(order, start=1)
            if published[name] != rank
        ]
    return faults


def audit_heuss2025_biased_column(cells: Cells) -> Finding:
    """Table 4.A.3, query "biased": the published ranks are not those of the biased ranker."""
    faults = _rank_faults(cells, biased=True)["biased"]
    return holds_if_any(faults, "the column has the ranks of the biased ranker")


def check_heuss2025_other_ranks(cells: Cells) -> Finding:
    """Table 4.A.3: the four other queries have the ranks of the biased ranker."""
    faults = _rank_faults(cells, biased=True)
    all_faults = [
        fault
        for query, query_faults in faults.items()
        if query != "biased"
        for fault in query_faults
    ]
    return holds_if_none(all_faults, "4 queries agree with the published values")


def check_heuss2025_unbiased_column(cells: Cells) -> Finding:
    """Table 4.A.3, query "biased": the published ranks are those of the unbiased ranker."""
    return holds_if_none(
        _rank_faults(cells, biased=False)["biased"], "the ranks are the unbiased ones"
    )


def _qualified(cells: Cells) -> tuple[TalentModel, np.ndarray]:
    """Biased model, and candidates of the qualified query in the order of the authors' code."""
    schools = universities(cells("table_4_A_2"))
    people = candidates(cells("table_4_A_1"), schools)
    documents = np.array([people[name] for name in QUERIES["qualified"]])
    return TalentModel(schools, biased=True), documents


def audit_heuss2025_base_value(cells: Cells) -> Finding:
    """Figure 4.2: requirements that all candidates meet matter only with a base value of 0."""
    model, documents = _qualified(cells)
    samples = background(model.schools, 200, np.random.default_rng(0))
    worth = worth_of_coalitions(model, documents, samples, "last")[0]
    exact, without_base = (
        float(shapley_values(values)[REQUIREMENTS]) for values in (worth, remove_base(worth))
    )
    detail = f"attribution of requirements {exact:.3f}; {without_base:.3f} with a base value of 0"
    return holds_if_any(
        [detail] * (abs(exact) < 1e-9 and without_base > 0.01), f"no contradiction: {detail}"
    )


def audit_heuss2025_reversed_ties(cells: Cells) -> Finding:
    """Figure 4.2: with reversed ties, masking all features does not change the ranking."""
    model, documents = _qualified(cells)
    equal_scores = np.zeros(len(documents))
    taus = {
        ties: float(
            kendall(ranks_of(model(documents), ties))(ranks_of(equal_scores, ties)[None])[0]
        )
        for ties in ("last", "first")
    }
    detail = (
        f"all {len(FEATURES)} features masked: tau {taus['last']:.0f} with reversed ties, "
        f"{taus['first']:.0f} without"
    )
    return holds_if_any(
        [detail] * (taus["last"] == 1 and taus["first"] == -1), f"no contradiction: {detail}"
    )
