"""Edited published cells of heuss2025 that change the findings of its audits."""

from truth.audit_cases.edits import Edit

DETERMINISTIC = {"row": "Deterministic", "dataset": "TREC20"}
BIASED = {"query": "biased"}

#: Published values that would remove an inconsistency.
MENDED: dict[str, list[Edit]] = {
    "audit_heuss2025_deterministic_utility": [
        ("table_2_2", DETERMINISTIC | {"metric": "NDCG@10"}, "", "marker")
    ],
    "audit_heuss2025_repeated_column": [
        (
            "table_2_1",
            {
                "dataset": "TREC2019",
                "split": "test",
                "version": "original",
                "metric": "avg_list_size",
            },
            "6.8",
        )
    ],
    "audit_heuss2025_deterministic_differs": [
        ("table_2_2", {"row": "Deterministic"}, "0.2"),
        ("table_2_3", {"row": "Deterministic"}, "0.2"),
    ],
    "audit_heuss2025_deterministic_outliers": [
        ("table_2_3", {"row": "Deterministic", "dataset": "TREC19", "metric": "P(u|pi)@10"}, "0.25")
    ],
    "audit_heuss2025_deterministic_unmarked": [
        ("table_2_3", DETERMINISTIC | {"metric": metric}, "*", "marker")
        for metric in ("NDCG@5", "NDCG@10")
    ],
    "audit_heuss2025_adv_misses_both_limits": [
        ("table_3_1", {"row": "ADV", "metric": "nDCG@100"}, "0.30")
    ],
    "audit_heuss2025_biased_column": [
        ("table_4_A_3", BIASED | {"row": row}, rank)
        for row, rank in (("qual-2", "1"), ("qual-1", "2"), ("qual-biased", "3"))
    ],
    "audit_heuss2025_base_value": [("table_4_A_1", {"row": "qual-1", "metric": "req"}, "False")],
    "audit_heuss2025_reversed_ties": [
        ("table_4_A_1", {"row": "qual-1", "metric": "skills"}, "1.00")
    ],
    "audit_heuss2025_columns_do_not_sum": [
        ("table_5_2", {"row": "Cited nothing", "selection_step": "Pred. Rel."}, "92"),
        ("table_5_2", {"row": "Cited nothing", "selection_step": "Pred. Cited"}, "90"),
    ],
    "audit_heuss2025_share_cited": [
        (
            "table_5_2",
            {"row": "Cited all selected documents", "selection_step": "Pred. Cited"},
            "520",
        )
    ],
}

#: A wrong digit that a consistency must notice.
BROKEN: dict[str, Edit] = {
    "check_heuss2025_other_ranks": (
        "table_4_A_1",
        {"row": "qual-ger", "metric": "skills"},
        "0.1",
    ),
    "check_heuss2025_unbiased_column": (
        "table_4_A_1",
        {"row": "qual-biased", "metric": "skills"},
        "0.1",
    ),
    "check_heuss2025_random_set": ("table_5_2", {"value": "708"}, "703"),
}
