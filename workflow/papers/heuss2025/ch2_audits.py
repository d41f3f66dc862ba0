"""Audits of the published tables of chapter 2 of heuss2025 (FELIX)."""

from __future__ import annotations

from everycell.verdicts.audits import Cells, Finding, holds_if_any, published_number, rows_where


def audit_heuss2025_repeated_column(cells: Cells) -> Finding:
    """Table 2.1: the 2019 test column before filtering repeats the training column."""
    table = rows_where(cells("table_2_1"), dataset="TREC2019", version="original")
    pairs = table.pivot(index="metric", columns="split", values="value")
    repeated = (pairs["train"] == pairs["test"]).all()
    return Finding(
        bool(repeated), "; ".join(f"{m}: {r.train}, {r.test}" for m, r in pairs.iterrows())
    )


def audit_heuss2025_deterministic_differs(cells: Cells) -> Finding:
    """Tables 2.2 and 2.3: top-ten measures of the same deterministic ranker differ."""
    metrics = ["NDCG@5", "NDCG@10", "P(u|pi)@10", "Outlierness@10"]
    tables = [
        rows_where(cells(name), row="Deterministic", metric=metrics)
        for name in ("table_2_2", "table_2_3")
    ]
    rows = tables[0].merge(tables[1], on=["dataset", "metric"], suffixes=("", "_full"))
    differing = rows[rows["value"] != rows["value_full"]]
    return holds_if_any(
        (f"{r.dataset} {r.metric}: {r.value}, {r.value_full}" for r in differing.itertuples()),
        "the measures agree",
    )


def audit_heuss2025_deterministic_outliers(cells: Cells) -> Finding:
    """Tables 2.2 and 2.3: outliers in the same top ten, twice as frequent in one table."""
    where = {"row": "Deterministic", "metric": "P(u|pi)@10"}
    faults = []
    for dataset in ("TREC19", "TREC20"):
        shares = [
            published_number(cells(table), dataset=dataset, **where)
            for table in ("table_2_2", "table_2_3")
        ]
        if max(shares) >= 2 * min(shares):
            faults.append(f"{dataset}: {shares[0]:.2f} in Table 2.2, {shares[1]:.2f} in Table 2.3")
    return holds_if_any(faults, "the probabilities differ by less than a factor of 2")


def audit_heuss2025_deterministic_unmarked(cells: Cells) -> Finding:
    """Table 2.3, TREC20: unmarked NDCG differences that exceed marked ones in the same column."""
    faults = []
    table = rows_where(cells("table_2_3"), dataset="TREC20", metric=["NDCG@5", "NDCG@10"])
    for metric, column in table.groupby("metric", sort=False):
        best = published_number(column, row="FELIX_iter=20")
        size = (column["value"].astype(float) - best).abs()
        smallest = size[column["marker"] == "*"].min()
        for index in column.index[(column["marker"] != "*") & (size > smallest)]:
            cell = (
                f"{metric} {column.at[index, 'row']}: difference {size[index]:.3f} without marker"
            )
            faults.append(f"{cell}, {smallest:.3f} with marker")
    return holds_if_any(faults, "all differences that exceed a marked one are marked")


def audit_heuss2025_deterministic_utility(cells: Cells) -> Finding:
    """§ 2.6: FELIX keeps NDCG@10 compared with all baselines on TREC20; Table 2.2."""
    table = rows_where(cells("table_2_2"), dataset="TREC20", metric="NDCG@10")
    own = published_number(table, row="FELIX_iter=20")
    better = table[(table["value"].astype(float) > own) & (table["marker"] == "*")]
    return holds_if_any(
        (f"{row.row}: {row.value}*, FELIX {own}" for row in better.itertuples()),
        "no baseline is significantly better",
    )
