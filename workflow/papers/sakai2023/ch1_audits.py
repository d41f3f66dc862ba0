"""Audits of the published tables of chapter 1 of sakai2023 (GFRC)."""

from __future__ import annotations

from math import isclose

from everycell.verdicts.audits import (
    Cells,
    Finding,
    holds_if_none,
    published_number,
    published_text,
    rows_where,
)

#: Reading budget L in words.
_BUDGET = 1250


def _gain_sums(cells: Cells) -> dict[str, float]:
    """Sum of the published discounted gains per system (Table 1)."""
    table = rows_where(cells("table_1"), metric="pw_g").astype({"value": float})
    return table.groupby("system", sort=False)["value"].sum().to_dict()


def audit_sakai2023_table_1_gains(cells: Cells) -> Finding:
    """§ 6.2: discounted gains of 1.9456 and 1.1920 for a film; Table 1 has half these values."""
    stated = {"Bing": 1.9456, "Google": 1.1920}
    table = rows_where(cells("table_1"), entity="Back to the Future", metric="pw_g")
    published = {system: published_number(table, system=system) for system in stated}
    return Finding(
        all(isclose(stated[system], 2 * value) for system, value in published.items()),
        "; ".join(
            f"{name}: text {stated[name]:.4f}, table {value:.4f}"
            for name, value in published.items()
        ),
    )


def audit_sakai2023_share_of_rounded_scores(cells: Cells) -> Finding:
    """§ 6.2: R of Google is 9.8 % of Bing's; by the gains of Table 1 it is another share."""
    stated, table = 9.8, rows_where(cells("table_1"), metric="R")
    rounded, exact = (
        100 * scores["Google"] / scores["Bing"]
        for scores in (
            {name: published_number(table, system=name) for name in ("Bing", "Google")},
            _gain_sums(cells),
        )
    )
    return Finding(
        round(rounded, 1) == stated != round(exact, 1),
        f"text {stated} %; rounded scores {rounded:.2f} %, sums of gains {exact:.2f} %",
    )


def check_sakai2023_relevance_from_gains(cells: Cells) -> Finding:
    """Table 1: R is 2 / (L + 1) times the sum of the discounted gains (Eq. 8)."""
    table, faults = rows_where(cells("table_1"), metric="R"), []
    for system, gains in _gain_sums(cells).items():
        exact = 2 * gains / (_BUDGET + 1)
        if f"{exact:.4f}" != published_text(table, system=system):
            faults.append(
                f"{system}: computed {exact:.5f}, published {published_text(table, system=system)}"
            )
    return holds_if_none(faults, "2 scores agree with the gains")


def check_sakai2023_fairness_share(cells: Cells) -> Finding:
    """§ 6.2: Google's ORIGIN fairness is about 95.8 % of Bing's; Table 2."""
    stated = 95.8
    table = rows_where(cells("table_2"), turn="GF", metric="ORIGIN (JSD)")
    share = 100 * published_number(table, system="Google") / published_number(table, system="Bing")
    return Finding(round(share, 1) == stated, f"{share:.2f} %, stated {stated} %")


def check_sakai2023_fairness_means(cells: Cells) -> Finding:
    """Table 2: fairness of a conversation is the mean of its turns (Eq. 10), within rounding."""
    table = cells("table_2").astype({"value": float})
    faults = []
    measures = table[table["metric"].isin(table.loc[table["turn"] == "GF", "metric"])]
    for (system, metric), part in measures.groupby(["system", "metric"], sort=False):
        mean = part.loc[part["turn"] != "GF", "value"].mean()
        published = published_number(part, turn="GF")
        if abs(mean - published) > 0.0001:
            faults.append(f"{system} {metric}: mean {mean:.5f}, published {published}")
    return holds_if_none(faults, "4 means agree within 0.0001")
