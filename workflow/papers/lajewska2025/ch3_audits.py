"""Audits of the published tables of chapter 3 of lajewska2025 (reproducing CAsT systems)."""

from __future__ import annotations

from everycell.verdicts.audits import (
    Cells,
    Finding,
    holds_if_any,
    holds_if_none,
    published_number,
    rows_where,
)


def audit_lajewska2025_table_3_2_drop(cells: Cells) -> Finding:
    """§ 3.3.3: NDCG@3 is less than 16 % below the submitted run; Table 3.2."""
    table = rows_where(cells("table_3_2"), metric="NDCG@3")
    ours = published_number(table, row="WaterlooClarke reproduced by us")
    loss = 100 * (1 - ours / published_number(table, row="WaterlooClarke@TREC’21 (runfile)"))
    return Finding(loss >= 16, f"{loss:.2f} % below; the text says under 16 %")


def audit_lajewska2025_table_3_2_closer(cells: Cells) -> Finding:
    """§ 3.6: WaterlooClarke was reproduced more closely than the baseline; Table 3.2.

    The opposite is true, both of the track's reported values and of the submitted run file.
    """
    details, contradictions = [], 0
    pairs = (
        ("BaselineOrganizers", "BaselineOrganizers@TREC’21"),
        ("WaterlooClarke reproduced by us", "WaterlooClarke@TREC’21"),
        ("WaterlooClarke reproduced by us", "WaterlooClarke@TREC’21 (runfile)"),
    )
    for metric, table in cells("table_3_2").groupby("metric", sort=False):
        baseline, *ours = (
            abs(published_number(table, row=row) / published_number(table, row=reference) - 1)
            for row, reference in pairs
        )
        shares = ", ".join(f"{100 * share:.1f}" for share in (baseline, *ours))
        details.append(f"{metric} {shares} %")
        contradictions += baseline < min(ours)
    return Finding(
        contradictions == len(details),
        "relative differences (baseline; WaterlooClarke as reported; its run file): "
        + "; ".join(details),
    )


def audit_lajewska2025_table_3_3_feedback(cells: Cells) -> Finding:
    """§ 3.6: feedback improves NDCG@3 consistently; Table 3.3."""
    table = rows_where(cells("table_3_3"), metric="NDCG@3")
    faults = []
    for cell in table[table["row"].str.contains("/PRF")].itertuples():
        without = published_number(
            table, row=cell.row.replace("/PRF", ""), cast_year=cell.cast_year
        )
        if float(cell.value) <= without:
            faults.append(
                f"{cell.cast_year} {cell.row}: {cell.value}, without feedback {without:.4f}"
            )
    return holds_if_any(faults, "all four scores rise")


def audit_lajewska2025_table_3_3_exceptions(cells: Cells) -> Finding:
    """§ 3.4.1: the other rewriter changes NDCG@3 by under 2 %, with one exception; Table 3.3."""
    table = rows_where(cells("table_3_3"), metric="NDCG@3")
    faults = []
    for cell in table[table["row"].str.startswith("T5_C ")].itertuples():
        with_qrecc = published_number(
            table, row=cell.row.replace("T5_C", "T5_Q"), cast_year=cell.cast_year
        )
        change = 100 * (with_qrecc / float(cell.value) - 1)
        if abs(change) >= 2:
            faults.append(f"{cell.cast_year} {cell.row}: {change:+.1f} %")
    return Finding(len(faults) > 1, "; ".join(faults) or "no change reaches 2 %")


def check_lajewska2025_track_differences(cells: Cells) -> Finding:
    """§ 3.3.3: differences of 18, 37, 5 and 7 % between the two systems; Table 3.2."""
    table, faults = cells("table_3_2"), []
    pairs = {
        ("BaselineOrganizers@TREC’21", "WaterlooClarke@TREC’21"): {"NDCG@3": 18, "R@500": 37},
        ("BaselineOrganizers", "WaterlooClarke reproduced by us"): {"NDCG@3": 5, "R@500": 7},
    }
    for (base, other), stated in pairs.items():
        for metric, percent in stated.items():
            ratio = published_number(table, row=other, metric=metric) / published_number(
                table, row=base, metric=metric
            )
            if round(100 * (ratio - 1)) != percent:
                faults.append(f"{other} {metric}: {100 * (ratio - 1):.1f} %, stated {percent} %")
    return holds_if_none(faults, "4 differences are as stated")


def check_lajewska2025_table_3_3_ranges(cells: Cells) -> Finding:
    """§ 3.4.1: other rewriters lose 3 to 7 % recall, other rankers gain 12 to 29 %; Table 3.3.

    The rankers also gain 3 to 12 % in NDCG@3. Changes are rounded to whole percentages.
    """
    table, faults = cells("table_3_3"), []
    stated = {
        ("T5_C", "T5_Q", "recall"): (-7, -3),
        (" + BM25 + monoT5", " + ANCE/BM25 + m/dT5", "recall"): (12, 29),
        (" + BM25 + monoT5", " + ANCE/BM25 + m/dT5", "NDCG@3"): (3, 12),
    }
    table["metric"] = table["metric"].replace({"R@500": "recall", "R@1000": "recall"})
    for (old, new, metric), (low, high) in stated.items():
        part = rows_where(table, metric=metric)
        for cell in part[part["row"].str.contains(old, regex=False)].itertuples():
            row = cell.row.replace(old, new)
            changed = published_number(part, row=row, cast_year=cell.cast_year)
            change = 100 * (changed / float(cell.value) - 1)
            if not low <= round(change) <= high:
                faults.append(f"{cell.cast_year} {row} {metric}: {change:+.1f} %")
    return holds_if_none(faults, "14 differences are in the stated ranges")
