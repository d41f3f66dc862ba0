# Input functions and names of the rules of the pipeline of lajewska2025, chapter 3.

#: Ways of rewriting turns. "training" in runs are the turns of CAsT 2022, rewritten by hand, for the
#: re-rankers.
CAST_REWRITERS = [
    "raw",
    "queries",
    "context",
    "canard-org",
    "canard",
    "qrecc",
    "manual",
]


#: Runs of rankers of terms: rewriter, ranker.
CAST_LEXICAL = [(rewriter, "bm25") for rewriter in CAST_REWRITERS] + [
    ("canard-org", "bm25-organisers"),
    ("canard", "bm25-organisers"),
    ("canard", "bm25-tuned"),
    ("qrecc", "bm25-tuned"),
    ("canard", "bm25-rm3"),
    ("qrecc", "bm25-rm3"),
    ("training", "bm25-tuned"),
]


#: Runs of encoders.
CAST_ENCODED = [
    (rewriter, encoder)
    for rewriter in [*CAST_REWRITERS, "training"]
    for encoder in ("dense", "splade")
]


#: Fused run -> its parts.
CAST_FUSED = {
    f"{rewriter}.{fused}": [f"{rewriter}.{sparse}", f"{rewriter}.dense"]
    for rewriter in ("canard", "qrecc")
    for fused, sparse in (("fused", "bm25-tuned"), ("fused-rm3", "bm25-rm3"))
} | {"training.fused": ["training.bm25-tuned", "training.dense"]}


#: How preferences of pairs become scores.
CAST_SUM = {"how": "sum", "symmetric": True}


#: Re-ranked run -> the first pass, the rewriter of the second one, and what is made of preferences
#: (none: point-wise re-ranking alone).
CAST_RERANKED = (
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
        f"{first}.{fused}.duo": (f"{first}.{fused}", first, CAST_SUM)
        for first in ("canard", "qrecc")
        for fused in ("fused", "fused-rm3")
    }
    | {
        f"{first}.fused-rm3.duo.{second}": (f"{first}.fused-rm3", second, CAST_SUM)
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


#: Rows of a table that stands beside -> run. Rows are named after what they are.
CAST_SHOWN = {
    "systems": {
        "as Table 3.2": {
            "CANARD, full context + BM25 of the organisers + mono": "canard-org.bm25-organisers.mono",
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
        "as it was said": "raw",
        "all utterances so far": "queries",
        "the same and the last answer, trimmed": "context",
        "T5-CANARD, full context": "canard-org",
        "T5-CANARD": "canard",
        "T5-QReCC": "qrecc",
        "by hand": "manual",
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


#: First passes under which ways of rewriting are shown.
CAST_FIRST_PASSES = {
    "BM25": "bm25",
    "SPLADE-tiny": "splade",
    "MiniLM": "dense",
    "BM25 + mono": "bm25.mono",
}
CAST_SHOWN["rewriting"] = {
    name: {ranker: f"{rewriter}.{run}" for ranker, run in CAST_FIRST_PASSES.items()}
    for name, rewriter in CAST_SHOWN["rewriting"].items()
}


#: Runs in the order of the rows of Table 3.3.
CAST_ROWS = list(CAST_SHOWN["systems"]["as Table 3.3"].values())


#: What the text compares with the system that has QReCC for both.
CAST_ONE_REWRITER = [
    ("qrecc.fused-rm3.duo", other)
    for other in (
        "canard.fused-rm3.duo",
        "canard.fused-rm3.duo.qrecc",
        "qrecc.fused-rm3.duo.canard",
    )
]


def rewriter_files(wildcards):
    """Files of the wildcard's rewriter."""
    key = f"cast_systems.rewriters.{wildcards.rewriter.removesuffix('-org')}"
    return named_model_files(key, "papers/lajewska2025.md", "a T5 that rewrites")


def runs_shown():
    """Runs of all tables that stand beside."""
    return [
        f"work/castturns/runs/{run}.run"
        for run in dict.fromkeys(
            run for shown in CAST_SHOWN.values() for rows in shown.values() for run in rows.values()
        )
    ]
