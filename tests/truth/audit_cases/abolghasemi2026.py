"""Edited published cells of abolghasemi2026 that change the findings of its audits."""

from truth.audit_cases.edits import Edit, exchanged


def run_of_3_6(test_data: str, dataset: str, values: str) -> list[Edit]:
    """Edits that give ASAP x10 of Table 3.6 the measures of another confusion matrix."""
    key = {"test_data": test_data, "model": "ASAP", "setup": "up-sampling x10", "dataset": dataset}
    measures = zip(("Acc", "P", "R", "F1"), values.split(), strict=True)
    return [("table_3_6", key | {"metric": metric}, value) for metric, value in measures]


BERT_MAIN = {"test_data": "Main", "model": "BERT", "dataset": "MultiWOZ"}
X10, X20 = {"setup": "up-sampling x10"}, {"setup": "up-sampling x20"}
UP = {"setup": "w/o up-sampling", "metric": "F1"}
HUMAN_LLM = {
    "generator": "Mistral",
    "relevant_author": "Human",
    "nonrelevant_author": "LLM",
    "rag_mode": "Informed",
    "metric": "attribution recall",
}
LLAMA_LLM = {
    "generator": "Llama3",
    "relevant_author": "LLM",
    "mode_relevant": "CF-informed",
    "mode_nonrelevant": "CF-informed",
    "metric": "EM correctness",
}


#: Published values that would remove an inconsistency.
MENDED: dict[str, list[Edit]] = {
    "audit_abolghasemi2026_impossible_letters": [("table_2_1", {}, "", "marker")],
    "audit_abolghasemi2026_tildev2_claim": [
        ("table_2_1", {"row": "f", "task": "co-read", "metric": "MAP"}, "81.16")
    ],
    "audit_abolghasemi2026_own_row_letter": [
        ("table_2_3", {"row": "b", "task": "co-view", "metric": "MAP"}, "ac", "marker")
    ],
    "audit_abolghasemi2026_token_quantiles": [
        ("text_2", {"claim": "90% quantile of tokens, BERT (in printed order)"}, "395")
    ],
    "audit_abolghasemi2026_mixed_is_not_the_sum": [
        *run_of_3_6("Mixed", "MultiWOZ", "59.54 55.08 51.19 43.30"),
        *run_of_3_6("Mixed", "SGD", "55.10 57.55 54.04 48.56"),
    ],
    "audit_abolghasemi2026_cut_not_rounded": [
        ("table_3_6", BERT_MAIN | X10 | {"metric": "Acc"}, "93.89"),
        ("table_3_6", BERT_MAIN | X20 | {"metric": "P"}, "55.00"),
    ],
    "audit_abolghasemi2026_main_claim": [
        ("table_3_6", {"test_data": "Main", "model": "BERT"} | UP, "54.80")
    ],
    "audit_abolghasemi2026_no_integer_overlap": [
        ("table_3_7", {"row": "ASAP"}, "0.0000"),
        ("table_3_7", {"row": "MistralIF", "dataset": "MultiWOZ"}, "0.0000"),
    ],
    "audit_abolghasemi2026_main_ratio": [
        ("table_3_5", {"row": "Dissatisfaction", "dataset": "SGD", "collection": "Main"}, "46")
    ],
    "audit_abolghasemi2026_correlation_bound": [
        ("text_4", {"claim": "range of query-level Pearson r (upper, exclusive)"}, "0.56")
    ],
    "audit_abolghasemi2026_query_sets_exchanged": exchanged(
        "abolghasemi2026", "table_4_2", "table_4_1"
    ),
    "audit_abolghasemi2026_bert_texfair": [
        ("table_4_2", {"row": "BERT", "query_set": "QS2", "metric": "TExFAIR"}, "0.7584")
    ],
    "audit_abolghasemi2026_overlap_variant": [
        ("table_4_2", {"row": "BERT", "query_set": "QS2", "metric": "CRBO"}, "0.65")
    ],
    "audit_abolghasemi2026_size_of_qs1": [("text_4", {"claim": "QS1 size"}, "1765")],
    "audit_abolghasemi2026_daggers": [
        ("table_5_1", HUMAN_LLM, "78.8"),
        ("table_5_11", HUMAN_LLM, "73.2"),
    ],
    "audit_abolghasemi2026_dagger_pairs": [("table_5_1", {"value": "53.4"}, "", "marker")],
    "audit_abolghasemi2026_dagger_few_changes": [("table_5_1", {"value": "76.6"}, "72.6")],
    "audit_abolghasemi2026_effect_of_adding": [("text_5", {"value": "18"}, "13")],
    "audit_abolghasemi2026_gpt4_rows_missing": [
        ("table_5_14", {"generator": "Mistral", "relevant_author": "LLM"}, "GPT-4", "generator")
    ],
    "audit_abolghasemi2026_em_no_multiple": [("table_5_15", {"value": "0.389"}, "0.388")],
    "audit_abolghasemi2026_em_outlier": [("table_5_15", LLAMA_LLM, "0.314")],
}

#: A wrong digit that a consistency must notice.
BROKEN: dict[str, Edit] = {
    "check_abolghasemi2026_repeated_rows": ("table_2_3", {"value": "85.03"}, "85.08"),
    "check_abolghasemi2026_one_confusion_matrix": (
        "table_3_6",
        BERT_MAIN | X10 | {"metric": "R"},
        "57.85",
    ),
    "check_abolghasemi2026_rating_sums": ("table_3_1", {"value": "725"}, "735"),
    "check_abolghasemi2026_split_sums": ("table_3_2", {"value": "6315"}, "6316"),
    "check_abolghasemi2026_success_rates": ("table_3_4", {"value": "64.6"}, "64.8"),
    "check_abolghasemi2026_recall_steps": ("table_5_1", {"value": "76.6"}, "76.5"),
    "check_abolghasemi2026_precision_below_recall": ("table_5_1", {"value": "76.6"}, "46.6"),
    "check_abolghasemi2026_sensitivity_parity": ("table_5_2", {"value": "17.2"}, "17.0"),
    "check_abolghasemi2026_sensitivity_daggers": ("table_5_1", {"value": "78.4"}, "68.4"),
    "check_abolghasemi2026_sensitivity_tests": ("table_5_2", {"value": "9.0"}, "29.0"),
    "check_abolghasemi2026_oracle_bound": ("table_2_4", {"value": "88.04"}, "80.04"),
    "check_abolghasemi2026_cited_equals_recall": ("table_5_12", {"value": "0.766"}, "0.776"),
    "check_abolghasemi2026_mixed_rows": ("table_5_4", {"value": "44.8"}, "44.3"),
    "check_abolghasemi2026_bias_from_quality": ("table_5_3", {"value": "+10.6"}, "+10.8"),
    "check_abolghasemi2026_mixed_bias_from_quality": ("table_5_5", {"value": "+7.5"}, "-7.5"),
    "check_abolghasemi2026_effect_range": ("table_5_3", {"value": "+10.6"}, "+20.6"),
}
