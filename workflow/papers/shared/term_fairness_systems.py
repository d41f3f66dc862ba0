"""Rankers and query sets, by tier, of the group-bias experiment (TExFAIR)."""

from __future__ import annotations

from papers.shared.term_fairness_planted import RANKERS as PLANTED_RANKERS
from papers.shared.term_fairness_settings import TermFairness

#: Tier -> family, name and run of its rankers.
RANKERS = {
    "embedded": [("planted", ranker, ranker) for ranker in PLANTED_RANKERS],
    "released": [
        ("Sparse retrieval", "BM25", "bm25"),
        ("Sparse retrieval", "BM25+RM3", "bm25+rm3"),
        ("Sparse retrieval", "SPLADE-tiny", "splade.splade-tiny.zero-shot"),
        ("Dense retrieval", "all-MiniLM-L6", "dense.minilm.zero-shot"),
        ("Re-rankers", "Cross-encoder", "cross-fitted.splade-tiny"),
    ],
    "full": [
        ("Sparse retrieval", "BM25", "bm25"),
        ("Sparse retrieval", "UniCOIL", "unicoil"),
        ("Sparse retrieval", "DeepImpact", "deepimpact"),
        ("Dense retrieval", "ANCE", "ance"),
        ("Dense retrieval", "DistillBERT_KD", "distilbert_kd"),
        ("Dense retrieval", "DistillBERT_TASB", "distilbert_tasb"),
        ("Dense retrieval", "TCT-ColBERTv1", "tct_colbert"),
        ("Dense retrieval", "SBERT", "sbert"),
        ("Re-rankers", "BERT", "bert"),
        ("Re-rankers", "MiniLM_KD", "minilm"),
        ("Re-rankers", "TinyBERT_KD", "tinybert"),
    ],
}
#: Tier -> query set -> folder, folder of the counterfactual, suffix of file names.
COUNTERFACTUALS = {
    "released": {
        "CAsT, exchanged": ("work/cast", "work/castswapped", ""),
        "GrepBiasIR, exchanged": (
            "work/grepbiasmale",
            "work/grepbiasmaleswapped",
            "",
        ),
        "GrepBiasIR, as written": ("work/grepbiasmale", "work/grepbiasfemale", ""),
    },
    "full": {
        "QS1": ("work/msmarco", "work/msmarcoswapped", ".qs1"),
        "QS2": ("work/msmarco", "work/msmarcoswapped", ".qs2"),
    },
}
#: Tier -> name and run of rankers whose lists before and after an exchange are compared.
OVERLAP_ROWS = {
    "released": [
        ("BM25", "bm25"),
        ("SPLADE-tiny", "splade.splade-tiny.zero-shot"),
        ("Cross-encoder", "cross-fitted.splade-tiny"),
    ],
    "full": [
        ("BM25", "bm25"),
        ("BERT", "bert"),
        ("MiniLM", "minilm"),
        ("TinyBERT", "tinybert"),
    ],
}


def measured_sets(settings: TermFairness) -> dict[str, dict[str, tuple[str, str, int]]]:
    """Query sets by tier: folder, suffix of file names, and minimum relevance."""
    return {
        "embedded": {"planted": ("work/planted", "", 1)},
        "released": {
            "CAsT": ("work/cast", "", settings.cast_relevant_from),
            "GrepBiasIR": ("work/grepbias", "", 1),
        },
        "full": {
            "QS1": ("work/msmarco", ".qs1", 1),
            "QS2": ("work/msmarco", ".qs2", 1),
        },
    }
