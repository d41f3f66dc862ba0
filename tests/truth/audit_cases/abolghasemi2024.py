"""Edited published cells of abolghasemi2024 that change the findings of its audits."""

from truth.audit_cases.edits import Edit, exchanged

#: Published values that would remove an inconsistency.
MENDED: dict[str, list[Edit]] = {
    "audit_abolghasemi2024_correlation_bound": [
        ("table_1", {"row": "DistillBERT_KD", "query_set": "QS1", "metric": "r"}, "0.5425")
    ],
    "audit_abolghasemi2024_query_sets_exchanged": exchanged(
        "abolghasemi2024", "table_2", "table_1"
    ),
    "audit_abolghasemi2024_bert_texfair": [
        ("table_2", {"row": "BERT", "query_set": "QS2", "metric": "TExFAIR"}, "0.7584")
    ],
    "audit_abolghasemi2024_overlap_variant": [
        ("table_2", {"row": "BERT", "query_set": "QS2", "metric": "CRBO"}, "0.85")
    ],
}

#: A wrong digit that a consistency must notice.
BROKEN: dict[str, Edit] = {
    "check_abolghasemi2024_equals_thesis": ("table_2", {"value": "0.9733"}, "0.9738"),
}
