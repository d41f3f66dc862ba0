# lajewska2025, chapter 3: two systems of TREC CAsT reproduced, and variants of them.
# Released runs and judgements of 2021 -> measures, and tests of the differences. Then the systems
# themselves, with small models on the passages of CAsT-answerability.


include: "ch3_inputs.smk"


from everycell.collections.cast_turns import FILES as CAST_TURNS

CAST_SYSTEM = SETTINGS.cast_systems
CAST = "cast-reproducibility"
# Table -> its rows of the thesis's own -> the released run behind each.
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
    # The rewriter of the first stage, and that of the second.
    "4": {
        "T5_CANARD, T5_CANARD": "prf-17-26_t5-canard_ance_bm25-b-45-k-95_mono-duo-t5",
        "T5_CANARD, T5_QReCC": "prf-17-26_t5-canard_ance_bm25-b-45-k-95_t5-qrecc_mono-duo-t5",
        "T5_QReCC, T5_CANARD": "prf-17-26_t5-qrecc_ance_bm25-b-45-k-95_t5-canard_mono-duo-t5",
        "T5_QReCC, T5_QReCC": "prf-17-26_t5-qrecc_ance_bm25-b-45-k-95_mono-duo-t5",
    },
}
# What the text compares: name of the comparison -> pairs of systems, by their place above.
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
    "4": {"one rewriter a stage": [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]},
}
# Year -> printed metric -> measure. `trec_eval -c -l2 -M500`, and 1000 for 2020; no topic has as many
# relevant documents, so that a cut-off of the measure and one of the run are the same.
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
# All small files of the chapter.
CAST_RELEASED = [
    *CAST_TURNS.values(),
    f"{CAST}/qrels/2021.txt",
    *dict.fromkeys(
        f"{CAST}/runs-2021/{run}_2021.trec"
        for systems in CAST_SYSTEMS.values()
        for run in systems.values()
    ),
]
# Changes in percent that section 3.4 gives: comparison, measure, end of the range.
CAST_RANGES = [
    ("rewriter", "recall change", "lowest"),
    ("rewriter", "recall change", "highest"),
    ("rankers", "recall change", "lowest"),
    ("rankers", "recall change", "highest"),
    ("rankers", "NDCG@3 change", "lowest"),
    ("rankers", "NDCG@3 change", "highest"),
    ("feedback", "recall change", "lowest"),
    ("feedback", "recall change", "highest"),
    ("one rewriter a stage", "recall change", "highest"),
    ("one rewriter a stage", "NDCG@3 change", "highest"),
]


# Tables 3.2, 3.3 and 3.4 with the runs of 2021, and tests of the compared rows.
use rule table as lajewska2025_ch3_table with:
    input:
        qrels=[resource(f"{CAST}/qrels/2021.txt")],
        runs=lambda wildcards: [
            resource(f"{CAST}/runs-2021/{run}_2021.trec")
            for run in CAST_SYSTEMS[wildcards.number].values()
        ],
    output:
        **table_files("<result>"),
        **companion(table_files, "<result>", "tests"),
    pathvars:
        result="released/lajewska2025/table_3_{number}",
    wildcard_constraints:
        number="2|3|4",
    params:
        **runs("lajewska2025/ch3/table"),
        systems=lambda wildcards: list(CAST_SYSTEMS[wildcards.number]),
        comparisons=lambda wildcards: CAST_COMPARISONS[wildcards.number],
        measures={"2021": CAST_MEASURES["2021"]},
        scale=(0, 4),  # labels of CAsT
        relevance_level=2,
    message:
        "Measures and tests of Table 3.{wildcards.number}"


# With the runs of 2020, which only the authors' repository has.
use rule lajewska2025_ch3_table as lajewska2025_ch3_table_full with:
    input:
        qrels=[resource(f"{CAST}/qrels/{year}.txt") for year in CAST_MEASURES],
        runs=lambda wildcards: runs_of_2020(wildcards)
        + [
            resource(f"{CAST}/runs-2021/{run}_2021.trec")
            for run in CAST_SYSTEMS[wildcards.number].values()
        ],
    output:
        **table_files("<result>"),
        **companion(table_files, "<result>", "tests"),
    pathvars:
        result="full/lajewska2025/table_3_{number}",
    wildcard_constraints:
        number="3|4",
    params:
        **runs("lajewska2025/ch3/table"),
        systems=lambda wildcards: list(CAST_SYSTEMS[wildcards.number]),
        comparisons=lambda wildcards: CAST_COMPARISONS[wildcards.number],
        measures=CAST_MEASURES,
        scale=(0, 4),
        relevance_level=2,
    message:
        "Measures and tests of Table 3.{wildcards.number}, both years"


# Section 3.3.3: how far the systems are from what was reported, and from each other.
use rule table as lajewska2025_ch3_distances with:
    input:
        rebuilt="results/released/lajewska2025/table_3_2.csv",
        tests="results/released/lajewska2025/table_3_2.tests.csv",
        reported="published/lajewska2025/table_3_2.csv",
        card="published/lajewska2025/ch3.yaml",
    pathvars:
        result="released/lajewska2025/text_3_3_3",
    params:
        **runs("lajewska2025/ch3/distances"),
        alpha=0.05,  # L798
        # A system, and what it is compared with.
        pairs=[
            ("BaselineOrganizers", "BaselineOrganizers@TREC’21"),
            ("WaterlooClarke reproduced by us", "WaterlooClarke@TREC’21"),
            ("WaterlooClarke reproduced by us", "BaselineOrganizers"),
        ],
    message:
        "Distances of the text of section 3.3.3"


# Section 3.4: which of the differences in Tables 3.3 and 3.4 are significant.
use rule table as lajewska2025_ch3_significance with:
    input:
        tests=expand(
            "results/{{tier}}/lajewska2025/table_3_{number}.tests.csv", number=[3, 4]
        ),
    pathvars:
        result="{tier}/lajewska2025/text_3_4",
    wildcard_constraints:
        tier="released|full",
    params:
        **runs("lajewska2025/ch3/significance"),
        alpha=0.05,  # L798
    message:
        "Significance of the differences of section 3.4"


# Section 3.4: how large they are, from the tables of both years.
use rule table as lajewska2025_ch3_changes with:
    input:
        tables=expand("results/full/lajewska2025/table_3_{number}.csv", number=[3, 4]),
    pathvars:
        result="full/lajewska2025/text_3_4_1",
    params:
        **runs("lajewska2025/ch3/changes"),
        systems=list(CAST_SYSTEMS["3"]),
        comparisons=CAST_COMPARISONS["3"],
        stages=list(CAST_SYSTEMS["4"]),
        years=list(CAST_MEASURES),
        ranges=CAST_RANGES,
    message:
        "Changes of the text of section 3.4"


# The pipeline on the stages of retrieval.smk, one job a stage, with TREC runs between them: turns ->
# queries -> first passes -> fusion and re-ranking -> measures. Runs are called after the rewriter and
# the ranker. "training" are the turns of CAsT 2022, rewritten by hand, for the re-rankers.
CAST_REWRITERS = [
    "raw",
    "queries",
    "context",
    "canard-org",
    "canard",
    "qrecc",
    "manual",
]
CAST_LEXICAL = [(rewriter, "bm25") for rewriter in CAST_REWRITERS] + [
    ("canard-org", "bm25-organisers"),
    ("canard", "bm25-organisers"),
    ("canard", "bm25-tuned"),
    ("qrecc", "bm25-tuned"),
    ("canard", "bm25-rm3"),
    ("qrecc", "bm25-rm3"),
    ("training", "bm25-tuned"),
]
CAST_ENCODED = [
    (rewriter, encoder)
    for rewriter in [*CAST_REWRITERS, "training"]
    for encoder in ("dense", "splade")
]
# Fused run -> its parts.
CAST_FUSED = {
    f"{rewriter}.{fused}": [f"{rewriter}.{sparse}", f"{rewriter}.dense"]
    for rewriter in ("canard", "qrecc")
    for fused, sparse in (("fused", "bm25-tuned"), ("fused-rm3", "bm25-rm3"))
} | {"training.fused": ["training.bm25-tuned", "training.dense"]}
# Re-ranked run -> the first pass, the rewriter of the second one, and what is made of preferences
# (none: point-wise re-ranking alone).
CAST_SUM = {"how": "sum", "symmetric": True}
CAST_RERANKED = (
    {
        f"{rewriter}.bm25.mono": (f"{rewriter}.bm25", rewriter, None)
        for rewriter in CAST_REWRITERS
    }
    | {
        f"{rewriter}.bm25-organisers.mono": (
            f"{rewriter}.bm25-organisers",
            rewriter,
            None,
        )
        for rewriter in ("canard-org", "canard")
    }
    | {
        f"{first}.{fused}.mono": (f"{first}.{fused}", first, None)
        for first in ("canard", "qrecc")
        for fused in ("fused", "fused-rm3")
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


# What was said, and what each way of rewriting makes of it.
use rule step as cast_queries with:
    input:
        **{name: resource(key) for name, key in CAST_TURNS.items()},
        documents="work/cast/documents.parquet",
        collection="work/cast/queries.parquet",
    output:
        queries="work/castturns/queries.parquet",
    pathvars:
        job="retrieval/castturns/queries",
    resources:
        **needs(600),
    params:
        **runs("lajewska2025/ch3/queries"),
        released=[name for name in CAST_TURNS if name != "topics"],
        context=CAST_SYSTEM.context,
    message:
        "Queries of the turns of CAsT 2020"


# Full tier: the same rewrites by the models themselves, beside those that were released. Nothing
# else rests on it; for turns of one's own it is the first stage.
use rule step as cast_rewrite with:
    input:
        topics=resource(f"{CAST}/topics/{{year}}_manual_evaluation_topics_v1.0.json"),
        released=lambda wildcards: resource(
            CAST_TURNS[wildcards.rewriter].replace("2020", wildcards.year)
        ),
        documents="work/cast/documents.parquet",
    output:
        rewrites="work/castturns/rewrites/{year}.{rewriter}.csv",
    pathvars:
        job="retrieval/castturns/rewrite_{year}.{rewriter}",
    wildcard_constraints:
        year="2020|2021",
        rewriter="canard-org|canard|qrecc",
    conda:
        environment("torch")
    resources:
        **needs(6000, 240),
    params:
        **runs("lajewska2025/ch3/rewrite"),
        source=rewriter_source,
        network=SETTINGS.network,
        form=lambda wildcards: (
            "full" if wildcards.rewriter == "canard-org" else "trimmed"
        ),
        # As in the authors' code.
        separator=lambda wildcards: (
            " <sep> " if wildcards.rewriter == "qrecc" else " ||| "
        ),
        length=512,
    message:
        "Rewriting the turns of CAsT {wildcards.year} ({wildcards.rewriter})"


use rule step as cast_search_lexically with:
    input:
        queries="work/castturns/queries.parquet",
        index="work/cast/index/STM2.vectors",
    output:
        runs=[f"work/castturns/runs/{'.'.join(run)}.run" for run in CAST_LEXICAL],
    pathvars:
        job="retrieval/castturns/search_lexically",
    conda:
        environment("lucene")
    resources:
        **needs(2000, 20),
    params:
        **runs("lajewska2025/ch3/search_lexically"),
        runs=CAST_LEXICAL,
        tokens="STM2",
        bm25={
            "bm25": CAST_SYSTEM.bm25.default.model_dump(),
            "bm25-organisers": CAST_SYSTEM.bm25.organisers.model_dump(),
            "bm25-tuned": CAST_SYSTEM.bm25.tuned.model_dump(),
            "bm25-rm3": CAST_SYSTEM.bm25.tuned.model_dump(),
        },
        rm3={"bm25-rm3": CAST_SYSTEM.rm3.model_dump()},
        hits=CAST_SYSTEM.candidates,
    message:
        "BM25 and RM3 on the CAsT passages"


# The dense vectors of the passages are there already; SPLADE's are made for the queries' terms.
use rule step as cast_search_encoded with:
    input:
        queries="work/castturns/queries.parquet",
        documents="work/cast/documents.parquet",
        vectors="work/cast/encoded/dense.minilm.zero-shot.npz",
        dense=registered_encoder("minilm"),
        splade=registered_encoder("splade-tiny"),
    output:
        encoded=[f"work/castturns/encoded/{kind}.npz" for kind in ("dense", "splade")],
        runs=[f"work/castturns/runs/{'.'.join(run)}.run" for run in CAST_ENCODED],
    pathvars:
        job="retrieval/castturns/search_encoded",
    conda:
        environment("torch")
    threads: 1
    resources:
        **needs(3000, 30),
    params:
        **runs("lajewska2025/ch3/search_encoded"),
        runs=CAST_ENCODED,
        length=SETTINGS.query_by_example.lengths.zero_shot,
        query=CAST_SYSTEM.query,
        hits=CAST_SYSTEM.candidates,
    message:
        "MiniLM and SPLADE-tiny on the CAsT passages"


use rule step as cast_rerank with:
    input:
        runs=[
            f"work/castturns/runs/{'.'.join(run)}.run"
            for run in CAST_LEXICAL + CAST_ENCODED
        ],
        encoded=[f"work/castturns/encoded/{kind}.npz" for kind in ("dense", "splade")],
        qrels="work/cast/qrels.parquet",
    output:
        runs=[f"work/castturns/runs/{run}.run" for run in [*CAST_FUSED, *CAST_RERANKED]],
    pathvars:
        job="retrieval/castturns/rerank",
    threads: 1
    resources:
        **needs(2000, 20),
    params:
        **runs("lajewska2025/ch3/rerank"),
        fused=CAST_FUSED,
        reranked=CAST_RERANKED,
        rrf=CAST_SYSTEM.rrf,
        candidates=CAST_SYSTEM.candidates,
        pairwise=CAST_SYSTEM.pairwise,
        relevance_level=2,
    message:
        "Fusing and re-ranking runs on the CAsT passages"


# Rows of a table that stands beside -> run. Rows are named after what they are.
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
    "steps": {
        "BM25": "bm25",
        "BM25, tuned": "bm25-tuned",
        "BM25, tuned + RM3": "bm25-rm3",
        "SPLADE-tiny": "splade",
        "MiniLM": "dense",
        "BM25 + mono": "bm25.mono",
        "MiniLM/BM25": "fused",
        "MiniLM/BM25 + mono": "fused.mono",
        "MiniLM/BM25 + mono/duo": "fused.duo",
        "MiniLM/BM25/RM3": "fused-rm3",
        "MiniLM/BM25/RM3 + mono": "fused-rm3.mono",
        "MiniLM/BM25/RM3 + mono/duo": "fused-rm3.duo",
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
CAST_SHOWN["steps"] = {
    name: {step: f"{rewriter}.{run}" for step, run in CAST_SHOWN["steps"].items()}
    for name, rewriter in (("T5-CANARD", "canard"), ("T5-QReCC", "qrecc"))
}
CAST_ROWS = list(CAST_SHOWN["systems"]["as Table 3.3"].values())


# Section 3.4 with the pipeline: a stand-in, since its passages and rankers are not the thesis's.
use rule table as lajewska2025_ch3_pipeline with:
    input:
        queries="work/castturns/queries.parquet",
        qrels="work/cast/qrels.parquet",
        runs=[
            f"work/castturns/runs/{run}.run"
            for run in dict.fromkeys(
                run
                for shown in CAST_SHOWN.values()
                for rows in shown.values()
                for run in rows.values()
            )
        ],
    output:
        **table_files("<result>"),
        **companion(table_files, "<result>", "systems"),
        **companion(table_files, "<result>", "rewriting"),
        **companion(table_files, "<result>", "steps"),
        **companion(table_files, "<result>", "aggregation"),
        **companion(table_files, "<result>", "tests"),
    pathvars:
        result="released/lajewska2025/text_3_4_1",
    resources:
        **needs(800),
    params:
        **runs("lajewska2025/ch3/pipeline"),
        measures={
            "recall": f"R@{CAST_SYSTEM.candidates}",
            "MAP": f"MAP@{CAST_SYSTEM.candidates}",
            "MRR": f"RR@{CAST_SYSTEM.candidates}",
            "NDCG": f"nDCG@{CAST_SYSTEM.candidates}",
            "NDCG@3": "nDCG@3",
        },
        relevance_level=2,
        shown=CAST_SHOWN,
        names={
            "systems": ("table", "row"),
            "rewriting": ("rewriting", "ranker"),
            "steps": ("rewriter", "step"),
            "aggregation": ("of", "score"),
        },
        comparisons={
            name: [(CAST_ROWS[a], CAST_ROWS[b]) for a, b in pairs]
            for name, pairs in CAST_COMPARISONS["3"].items()
        }
        | {
            # What the text compares with the system that has QReCC for both.
            "one rewriter a stage": [
                ("qrecc.fused-rm3.duo", other)
                for other in (
                    "canard.fused-rm3.duo",
                    "canard.fused-rm3.duo.qrecc",
                    "qrecc.fused-rm3.duo.canard",
                )
            ],
        },
        ranges=CAST_RANGES,
    message:
        "Variants of the pipeline on the CAsT passages (section 3.4)"
