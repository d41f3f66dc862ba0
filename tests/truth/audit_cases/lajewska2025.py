"""Edited published cells of lajewska2025 that change the findings of its audits."""

from truth.audit_cases.edits import Edit

MODE = {"row": "Presentation Mode", "conditions": "EC1-EC8", "metric": "p_value"}
QUALITY = {"row": "Explanation Quality", "conditions": "EC1-EC8", "metric": "p_value"}

#: Published values that would remove an inconsistency.
MENDED: dict[str, list[Edit]] = {
    "audit_lajewska2025_table_7_3_limitations": [
        ("table_7_3", {"row": "Limitations", "condition": condition}, "–")
        for condition in ("EC1", "EC2")
    ],
    "audit_lajewska2025_table_4_12_query": [
        (
            "table_4_12",
            {"study": "Answerability", "independent_variable": "Query", "metric": "effect_size"},
            "L",
        )
    ],
    "audit_lajewska2025_table_5_1_wages": [
        ("table_5_1", {"row": "MTurk regular", "metric": "cost_usd"}, "2.00"),
        ("table_5_1", {"row": "MTurk master", "metric": "cost_usd"}, "2.00"),
    ],
    "audit_lajewska2025_table_3_2_drop": [
        (
            "table_3_2",
            {"row": "WaterlooClarke reproduced by us", "metric": "NDCG@3"},
            "0.4159",
        )
    ],
    # One measure in which WaterlooClarke comes closer is enough.
    "audit_lajewska2025_table_3_2_closer": [
        ("table_3_2", {"row": "WaterlooClarke reproduced by us", "metric": "MRR"}, "0.6800")
    ],
    "audit_lajewska2025_table_3_3_feedback": [
        ("table_3_3", {"value": "0.4061"}, "0.4069"),
        ("table_3_3", {"value": "0.4052"}, "0.4050"),
        (
            "table_3_3",
            {"row": "T5_Q + ANCE/BM25/PRF + m/dT5", "cast_year": "2020", "metric": "NDCG@3"},
            "0.4070",
        ),
        ("table_3_3", {"value": "0.4151"}, "0.4160"),
    ],
    "audit_lajewska2025_table_3_3_exceptions": [
        (
            "table_3_3",
            {
                "row": f"T5_Q + {rankers} + m/dT5",
                "cast_year": "2021",
                "metric": "NDCG@3",
            },
            "0.4065",
        )
        for rankers in ("ANCE/BM25", "ANCE/BM25/PRF")
    ],
    "audit_lajewska2025_table_4_8_alpha": [
        (
            "table_4_8",
            {
                "dependent_variable": "Factual Correctness",
                "independent_variable": "Contr. Fact. Corr.",
                "metric": "p_value",
            },
            "0.14",
        )
    ],
    "audit_lajewska2025_table_4_8_balance": [
        (
            "table_4_8",
            {
                "dependent_variable": "Transparency",
                "independent_variable": "Contr. Balance",
                "metric": "p_value",
            },
            "0.2",
        )
    ],
    "audit_lajewska2025_table_4_9_interactions": [
        ("table_4_9", {"study": "Answerability", "metric": "p_value"}, "0.01")
    ],
    "audit_lajewska2025_table_6_2_coherence": [
        ("table_6_2", {"row": "GINGER", "metric": "Coh"}, "*", "marker")
    ],
    "audit_lajewska2025_table_6_2_follow_up": [
        ("table_6_2", {"row": "GINGER", "metric": "FQ_use"}, "2.66")
    ],
    "audit_lajewska2025_table_6_3_completeness": [
        ("table_6_3", {"row": "GINGER broad", "metric": "Completeness"}, "0.29")
    ],
    "audit_lajewska2025_table_6_7_order": [
        ("table_6_7", {"row": "GINGER-top5", "metric": "V_strict TREC"}, "0.215")
    ],
    "audit_lajewska2025_table_7_4_scale": [
        ("table_7_4", {"row": "Query", "metric": "effect_size"}, "-")
    ],
    "audit_lajewska2025_table_7_5_mode": [
        ("table_7_5", MODE | {"dependent_variable": "Source"}, "0.2")
    ],
    "audit_lajewska2025_table_7_5_query": [
        ("table_7_5", {"row": "Query", "dependent_variable": "Source", "metric": "p_value"}, "0.2")
    ],
    "audit_lajewska2025_table_7_6_query": [
        (
            "table_7_6",
            {
                "interaction_with": "Query",
                "dependent_variable": "Explanation: Source",
                "metric": "p_value",
            },
            "0.2",
        )
    ],
    "audit_lajewska2025_figure_7_4_significance": [
        ("table_7_4", MODE | {"dependent_variable": "Usefulness"}, "0.01"),
        ("table_7_5", MODE, "0.01"),
        ("table_7_5", QUALITY, "0.01"),
    ],
    "audit_lajewska2025_table_C_2_scale": [
        (
            "table_C_2",
            {
                "row": "2",
                "response_pair_variant": "Cov. man.",
                "metric": "ANOVA Specificity effect_size",
            },
            "-",
        )
    ],
    "audit_lajewska2025_figure_A_1_experts": [("text_A_2_1", {"claim": "annotators"}, "13")],
    "audit_lajewska2025_table_C_6_spread": [
        (
            "table_C_6",
            {"row": "Baseline", "input": "irrelevant", "metric": "Answer rel sd"},
            "0.38",
        )
    ],
}

#: A wrong digit that a consistency must notice.
BROKEN: dict[str, Edit] = {
    "check_lajewska2025_track_differences": ("table_3_2", {"value": "0.5140"}, "0.5740"),
    "check_lajewska2025_table_3_3_ranges": ("table_3_3", {"value": "0.6449"}, "0.6749"),
    "check_lajewska2025_study_counts": ("table_4_7", {"value": "360"}, "350"),
    "check_lajewska2025_correlation_range": ("table_4_11", {"value": "0.634"}, "0.534"),
    "check_lajewska2025_answerability_counts": ("table_5_5", {"value": "4035"}, "4135"),
    "check_lajewska2025_data_set_sums": ("table_B_1", {"value": "365"}, "366"),
    "check_lajewska2025_repeated_rows": ("table_6_8", {"value": "0.568"}, "0.567"),
    "check_lajewska2025_vote_shares": (
        "table_6_5",
        {"row": "GINGER", "input": "Retrieved", "metric": "Coh"},
        "0.37",
    ),
    "check_lajewska2025_vote_marks": (
        "table_6_3",
        {"row": "GINGER deep", "metric": "Resp. depth"},
        "0.44",
    ),
    "check_lajewska2025_correlation_marks": ("table_C_8", {"value": "0.17"}, "0.13"),
    "check_lajewska2025_judge_means": ("table_6_7", {"value": "0.442"}, "0.445"),
    "check_lajewska2025_worker_sums": ("table_A_1", {"value": "34"}, "35"),
    "check_lajewska2025_pilot_votes": ("table_C_2", {"value": "26"}, "25"),
}
