"""Systems of chapter 3 of lajewska2025: released runs, and runs with small models."""

from __future__ import annotations

#: Table -> row of one of the thesis's own systems -> its released run.
CAST_SYSTEMS = {
    "2": {
        "BaselineOrganizers-QR-BM25": "t5-canard-org_bm25_mono-t5",
        "BaselineOrganizers-BM25": "t5-canard_bm25-b-446-k-82_mono-t5",
        "BaselineOrganizers": "t5-canard_bm25_mono-t5",
        "WaterlooClarke reproduced by us": "prf-17-26_t5-qrecc_ance_bm25-b-45-k-95_mono-duo-t5",
    },
    "3": {
        "T5_C + BM25 + monoT5": "t5-canard_bm25_mono-t5",
        "T5_Q + BM25 + monoT5": "t5-qrecc_bm25_mono-t5",
        "T5_C + ANCE/BM25 + m/dT5": "t5-canard_ance_bm25-b-45-k-95_mono-duo-t5",
        "T5_Q + ANCE/BM25 + m/dT5": "t5-qrecc_ance_bm25-b-45-k-95_mono-duo-t5",
        "T5_C + ANCE/BM25/PRF + m/dT5": "prf-17-26_t5-canard_ance_bm25-b-45-k-95_mono-duo-t5",
        "T5_Q + ANCE/BM25/PRF + m/dT5": "prf-17-26_t5-qrecc_ance_bm25-b-45-k-95_mono-duo-t5",
    },
    # Rewriters of the first and second stage.
    "4": {
        "T5_CANARD, T5_CANARD": "prf-17-26_t5-canard_ance_bm25-b-45-k-95_mono-duo-t5",
        "T5_CANARD, T5_QReCC": "prf-17-26_t5-canard_ance_bm25-b-45-k-95_t5-qrecc_mono-duo-t5",
        "T5_QReCC, T5_CANARD": "prf-17-26_t5-qrecc_ance_bm25-b-45-k-95_t5-canard_mono-duo-t5",
        "T5_QReCC, T5_QReCC": "prf-17-26_t5-qrecc_ance_bm25-b-45-k-95_mono-duo-t5",
    },
}

#: Comparisons of the text: name -> pairs of systems, by their position above.
CAST_COMPARISONS = {
    "2": {
        "input of the rewriter": [(0, 1)],
        "parameters of BM25": [(1, 2)],
        "system": [(2, 3)],
    },
    "3": {
        "rewriter": [(0, 1), (2, 3), (4, 5)],
        "rankers": [(0, 2), (1, 3)],
        "feedback": [(2, 4), (3, 5)],
    },
    "4": {"one rewriter per stage": [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]},
}

#: Year -> published metric -> measure. The thesis runs `trec_eval -c -l2 -M500` (-M1000 for 2020).
#: No topic has that many relevant documents, so cutting off the run equals cutting off the measure.
CAST_MEASURES = {
    year: {
        f"R@{cutoff}": f"R@{cutoff}",
        "MAP": f"MAP@{cutoff}",
        "MRR": f"RR@{cutoff}",
        "NDCG": f"nDCG@{cutoff}",
        "NDCG@3": "nDCG@3",
    }
    for year, cutoff in (("2020", 1000), ("2021", 500))
}

#: Tier -> years whose runs it has.
CAST_YEARS = {"released": ["2021"], "full": ["2020", "2021"]}

#: Percent changes reported in section 3.4: comparison, measure, bound of the range.
CAST_RANGES = [
    ("rewriter", "recall change", "lowest"),
    ("rewriter", "recall change", "highest"),
    ("rankers", "recall change", "lowest"),
    ("rankers", "recall change", "highest"),
    ("rankers", "NDCG@3 change", "lowest"),
    ("rankers", "NDCG@3 change", "highest"),
    ("feedback", "recall change", "lowest"),
    ("feedback", "recall change", "highest"),
    ("one rewriter per stage", "recall change", "highest"),
    ("one rewriter per stage", "NDCG@3 change", "highest"),
]

#: Rewriting methods. The rewriter "training" of runs stands for the manually rewritten turns of
#: CAsT 2022, on which the re-rankers are trained.
CAST_REWRITERS = [
    "raw",
    "queries",
    "context",
    "canard-org",
    "canard",
    "qrecc",
    "manual",
]

#: Runs of lexical rankers: rewriter, ranker.
CAST_LEXICAL_RUNS = [(rewriter, "bm25") for rewriter in CAST_REWRITERS] + [
    ("canard-org", "bm25-organisers"),
    ("canard", "bm25-organisers"),
    ("canard", "bm25-tuned"),
    ("qrecc", "bm25-tuned"),
    ("canard", "bm25-rm3"),
    ("qrecc", "bm25-rm3"),
    ("training", "bm25-tuned"),
]

#: Runs of encoders: rewriter, encoder.
CAST_ENCODER_RUNS = [
    (rewriter, encoder)
    for rewriter in [*CAST_REWRITERS, "training"]
    for encoder in ("dense", "splade")
]

#: Fused run -> the runs that it fuses.
CAST_FUSED_RUNS = {
    f"{rewriter}.{fused}": [f"{rewriter}.{sparse}", f"{rewriter}.dense"]
    for rewriter in ("canard", "qrecc")
    for fused, sparse in (("fused", "bm25-tuned"), ("fused-rm3", "bm25-rm3"))
} | {"training.fused": ["training.bm25-tuned", "training.dense"]}

#: How scores are aggregated from pairwise preferences.
CAST_SUM_OPTIONS = {"how": "sum", "symmetric": True}

#: Re-ranked run -> first pass, rewriter of the second pass, aggregation of preferences (None:
#: point-wise re-ranking only).
CAST_RERANKED_RUNS = (
    {f"{rewriter}.bm25.mono": (f"{rewriter}.bm25", rewriter, None) for rewriter in CAST_REWRITERS}
    | {
        f"{rewriter}.bm25-organisers.mono": (
            f"{rewriter}.bm25-organisers",
            rewriter,
            None,
        )
        for rewriter in ("canard-org", "canard")
    }
    | {
        f"{first}.{fused}.duo": (f"{first}.{fused}", first, CAST_SUM_OPTIONS)
        for first in ("canard", "qrecc")
        for fused in ("fused", "fused-rm3")
    }
    | {
        f"{first}.fused-rm3.duo.{second}": (f"{first}.fused-rm3", second, CAST_SUM_OPTIONS)
        for first, second in (("canard", "qrecc"), ("qrecc", "canard"))
    }
    | {
        f"qrecc.fused-rm3.duo-{name}": ("qrecc.fused-rm3", "qrecc", options)
        for name, options in {
            "one-sided": {"how": "sum", "symmetric": False},
            "log": {"how": "log", "symmetric": True},
            "log-one-sided": {"how": "log", "symmetric": False},
        }.items()
    }
)

#: Rewriting methods by their names in tables.
CAST_REWRITING_METHODS = {
    "as it was said": "raw",
    "all utterances so far": "queries",
    "the same and the last answer, trimmed": "context",
    "T5-CANARD, full context": "canard-org",
    "T5-CANARD": "canard",
    "T5-QReCC": "qrecc",
    "by hand": "manual",
}

#: First passes for which a supplementary table compares rewriting methods.
CAST_FIRST_PASSES = {
    "BM25": "bm25",
    "SPLADE-tiny": "splade",
    "MiniLM": "dense",
    "BM25 + mono": "bm25.mono",
}
#: Supplementary table -> group of its rows -> row -> run.
CAST_SUPPLEMENTS = {
    "systems": {
        "as Table 3.2": {
            "CANARD, full context + BM25 of the organisers + mono": (
                "canard-org.bm25-organisers.mono"
            ),
            "CANARD + BM25 of the organisers + mono": "canard.bm25-organisers.mono",
        },
        "as Table 3.3": {
            "CANARD + BM25 + mono": "canard.bm25.mono",
            "QReCC + BM25 + mono": "qrecc.bm25.mono",
            "CANARD + MiniLM/BM25 + mono/duo": "canard.fused.duo",
            "QReCC + MiniLM/BM25 + mono/duo": "qrecc.fused.duo",
            "CANARD + MiniLM/BM25/RM3 + mono/duo": "canard.fused-rm3.duo",
            "QReCC + MiniLM/BM25/RM3 + mono/duo": "qrecc.fused-rm3.duo",
        },
        "as Table 3.4": {
            "CANARD, then QReCC": "canard.fused-rm3.duo.qrecc",
            "QReCC, then CANARD": "qrecc.fused-rm3.duo.canard",
        },
    },
    "rewriting": {
        name: {ranker: f"{rewriter}.{run}" for ranker, run in CAST_FIRST_PASSES.items()}
        for name, rewriter in CAST_REWRITING_METHODS.items()
    },
    "aggregation": {
        "both directions": {
            "sum": "qrecc.fused-rm3.duo",
            "sum of logarithms": "qrecc.fused-rm3.duo-log",
        },
        "one direction": {
            "sum": "qrecc.fused-rm3.duo-one-sided",
            "sum of logarithms": "qrecc.fused-rm3.duo-log-one-sided",
        },
    },
}

#: Runs in the order of the rows of Table 3.3.
CAST_TABLE_3_RUNS = list(CAST_SUPPLEMENTS["systems"]["as Table 3.3"].values())

#: Systems that the text compares with the one that uses QReCC in both stages.
CAST_REWRITER_PAIRS = [
    ("qrecc.fused-rm3.duo", other)
    for other in (
        "canard.fused-rm3.duo",
        "canard.fused-rm3.duo.qrecc",
        "qrecc.fused-rm3.duo.canard",
    )
]

#: Rewriters of a run on the collections.
CAST_FULL_REWRITERS = ["canard-org", "canard", "qrecc"]

#: Table -> row -> its run, if the systems run on the collections.
CAST_FULL_RUNS = {
    "2": {
        "BaselineOrganizers-QR-BM25": "canard-org.bm25-organisers.mono",
        "BaselineOrganizers-BM25": "canard.bm25-organisers.mono",
        "BaselineOrganizers": "canard.bm25.mono",
        "WaterlooClarke reproduced by us": "qrecc.fused-rm3.duo",
    },
    "3": dict(zip(CAST_SYSTEMS["3"], CAST_TABLE_3_RUNS, strict=True)),
    "4": {
        "T5_CANARD, T5_CANARD": "canard.fused-rm3.duo",
        "T5_CANARD, T5_QReCC": "canard.fused-rm3.duo.qrecc",
        "T5_QReCC, T5_CANARD": "qrecc.fused-rm3.duo.canard",
        "T5_QReCC, T5_QReCC": "qrecc.fused-rm3.duo",
    },
}

#: First passes of these runs: rewriter, ranker.
CAST_FULL_LEXICAL_RUNS = [
    (rewriter, ranker)
    for rewriter, ranker in CAST_LEXICAL_RUNS
    if rewriter in CAST_FULL_REWRITERS and (rewriter, ranker) != ("canard-org", "bm25")
]
CAST_FULL_DENSE_RUNS = [(rewriter, "dense") for rewriter in ("canard", "qrecc")]
