"""Audits of printed numbers: they hold on the print, and no longer once the cells are mended."""

from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from everycell.engine.artefacts import all_artefacts, load_papers
from everycell.engine.audits import (
    AUDITS,
    CONSISTENCIES,
    INCONSISTENCIES,
    Cells,
    paper_of,
    printed_cells,
    run_audit,
)

PUBLISHED = Path(__file__).parents[2] / "published"

#: (table, selector, new value), or (table, selector, new value, column).
Edit = tuple[str, dict[str, str], str] | tuple[str, dict[str, str], str, str]


def edited(cells: Cells, *edits: Edit) -> Cells:
    """Printed cells with some changed; a selector that meets no cell is a mistake of the test."""

    def changed(name: str) -> pd.DataFrame:
        table = cells(name)
        for where, selector, value, *column in edits:
            if where != name:
                continue
            mask = pd.Series(True, index=table.index)
            for key, wanted in selector.items():
                mask &= table[key] == wanted
            assert mask.any(), (name, selector)
            table.loc[mask, column[0] if column else "value"] = value
        return table

    return changed


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
DETERMINISTIC = {"row": "Deterministic", "dataset": "TREC20"}
BIASED = {"query": "biased"}
MODE = {"row": "Presentation Mode", "conditions": "EC1-EC8", "metric": "p_value"}
QUALITY = {"row": "Explanation Quality", "conditions": "EC1-EC8", "metric": "p_value"}


def swapped(table: str, effectiveness: str, names: dict[str, str], pair: str) -> list[Edit]:
    """Edits that put the fairness values of Table 4.2 under the query sets of Table 4.1."""
    source = printed_cells(PUBLISHED, pair)(effectiveness)
    return [
        (
            table,
            {"row": row, "query_set": query_set, "metric": metric},
            source.query("row == @name and query_set == @query_set and metric == @metric")[
                "value"
            ].item(),
        )
        for row, name in names.items()
        for query_set in ("QS1", "QS2")
        for metric in ("TExFAIR", "NFaiRR")
    ]


RANKERS = {"BM25": "BM25", "BERT": "BERT", "MiniLM": "MiniLM_KD", "TinyBERT": "TinyBERT_KD"}

#: What would have to be printed for an inconsistency to go away.
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
    "audit_abolghasemi2024_correlation_bound": [
        ("table_1", {"row": "DistillBERT_KD", "query_set": "QS1", "metric": "r"}, "0.5425")
    ],
    "audit_abolghasemi2026_same_texfair_twice": [
        ("table_4_1", {"row": "UniCOIL", "query_set": "QS2", "metric": "TExFAIR"}, "0.8852")
    ],
    "audit_abolghasemi2024_same_texfair_twice": [
        ("table_1", {"row": "UniCOIL", "query_set": "QS2", "metric": "TExFAIR"}, "0.8852")
    ],
    "audit_abolghasemi2026_query_sets_exchanged": swapped(
        "table_4_2", "table_4_1", RANKERS, "abolghasemi2026"
    ),
    "audit_abolghasemi2024_query_sets_exchanged": swapped(
        "table_2", "table_1", RANKERS, "abolghasemi2024"
    ),
    "audit_abolghasemi2026_bert_texfair": [
        ("table_4_2", {"row": "BERT", "query_set": "QS2", "metric": "TExFAIR"}, "0.7584")
    ],
    "audit_abolghasemi2024_bert_texfair": [
        ("table_2", {"row": "BERT", "query_set": "QS2", "metric": "TExFAIR"}, "0.7584")
    ],
    "audit_abolghasemi2026_overlap_variant": [
        ("table_4_2", {"row": "BERT", "query_set": "QS2", "metric": "CRBO"}, "0.65")
    ],
    "audit_abolghasemi2024_overlap_variant": [
        ("table_2", {"row": "BERT", "query_set": "QS2", "metric": "CRBO"}, "0.85")
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
                "row": f"T5_Q + {rest} + m/dT5",
                "cast_year": "2021",
                "metric": "NDCG@3",
            },
            "0.4065",
        )
        for rest in ("ANCE/BM25", "ANCE/BM25/PRF")
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
    "audit_lajewska2025_table_5_5_rankings": [
        (
            "table_5_5",
            {"row": "#question-ranking pairs (test)", "metric": "unanswerable"},
            "525",
        )
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
    "audit_lajewska2025_table_C_2_tie": [
        (
            "table_C_2",
            {"row": "3", "response_pair_variant": "Rephr.", "metric": "Diversity votes R1"},
            "20",
        )
    ],
    "audit_lajewska2025_table_C_6_spread": [
        (
            "table_C_6",
            {"row": "Baseline", "input": "irrelevant", "metric": "Answer rel sd"},
            "0.38",
        )
    ],
    "audit_sakai2023_table_1_gains": [
        (
            "table_1",
            {"system": "Bing", "entity": "Back to the Future", "metric": "pw_g"},
            "1.9456",
        )
    ],
    "audit_sakai2023_table_1_share": [
        (
            "table_1",
            {"system": "Google", "entity": "Back to the Future", "metric": "pw_g"},
            "0.6014",
        )
    ],
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
    "check_abolghasemi2024_equals_thesis": ("table_2", {"value": "0.9733"}, "0.9738"),
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
    "check_lajewska2025_judge_means": ("table_6_7", {"value": "0.442"}, "0.445"),
    "check_lajewska2025_worker_sums": ("table_A_1", {"value": "34"}, "35"),
    "check_lajewska2025_pilot_votes": ("table_C_2", {"value": "26"}, "25"),
    "check_sakai2023_relevance_from_gains": ("table_1", {"value": "0.0143"}, "0.0134"),
    "check_sakai2023_fairness_share": ("table_2", {"value": "0.4493"}, "0.4439"),
    "check_sakai2023_fairness_means": ("table_2", {"value": "0.4493"}, "0.4495"),
}


@pytest.mark.parametrize("name", AUDITS)
def test_holds_on_the_printed_cells(name: str) -> None:
    finding = run_audit(name, PUBLISHED)
    assert finding.holds, finding.detail


@pytest.mark.parametrize("name", MENDED)
def test_does_not_hold_once_mended(name: str) -> None:
    cells = edited(printed_cells(PUBLISHED, paper_of(name)), *MENDED[name])
    assert not AUDITS[name](cells).holds


def test_experts_of_figure_a_1_are_numbers_of_the_text() -> None:
    """This audit reads no cells: its mended case is a parameter."""
    audit = partial(
        AUDITS["audit_lajewska2025_figure_A_1_experts"], printed_cells(PUBLISHED, "lajewska2025")
    )
    assert not audit(excluded=0).holds


@pytest.mark.parametrize("name", BROKEN)
def test_notices_a_wrong_digit(name: str) -> None:
    cells = edited(printed_cells(PUBLISHED, paper_of(name)), BROKEN[name])
    finding = AUDITS[name](cells)
    assert not finding.holds
    assert finding.detail != run_audit(name, PUBLISHED).detail


def test_every_audit_has_a_case_that_it_must_fail() -> None:
    assert set(MENDED) == set(INCONSISTENCIES) - {"audit_lajewska2025_figure_A_1_experts"}
    assert set(BROKEN) == set(CONSISTENCIES)


def named_on_cards() -> dict[str, set[str]]:
    """Audits that errata name, with the papers of the cards."""
    named: dict[str, set[str]] = {}
    for artefact in all_artefacts(load_papers(PUBLISHED)):
        for erratum in artefact.card.errata:
            if erratum.audit is not None:
                named.setdefault(erratum.audit, set()).add(artefact.paper)
    return named


def test_audits_on_cards_exist_and_are_of_their_paper() -> None:
    for name, papers in named_on_cards().items():
        assert name in INCONSISTENCIES
        assert papers == {paper_of(name)}


def test_every_inconsistency_is_an_erratum() -> None:
    assert set(INCONSISTENCIES) <= set(named_on_cards())
