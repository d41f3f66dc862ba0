# lajewska2025, chapter 3: the systems themselves, with small models on the passages of
# CAsT-answerability. One job per stage, with TREC runs between them: turns -> queries -> first passes ->
# fusion and re-ranking -> measures. Runs are named after the rewriter and the ranker.


# Turns and their rewrites by each rewriter.
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
        **runs("lajewska2025/ch3_pipeline:cast_queries"),
        released=[name for name in CAST_TURNS if name != "topics"],
        context=CAST_SYSTEM.context,
    message:
        "Queries of the turns of CAsT 2020"


# Full tier: rewrites by the models themselves, compared with the released ones.
use rule step as cast_rewrite with:
    input:
        topics=resource(f"{CAST}/topics/{{year}}_manual_evaluation_topics_v1.0.json"),
        released=lambda wildcards: resource(
            CAST_TURNS[wildcards.rewriter].replace("2020", wildcards.year)
        ),
        passages="work/castfull/{year}/passages.parquet",
        rewriter=rewriter_files,
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
        **ON_GPU,
    params:
        **runs("lajewska2025/ch3_generation:cast_rewrite"),
        form=lambda wildcards: ("full" if wildcards.rewriter == "canard-org" else "trimmed"),
        # As in the authors' code.
        separator=lambda wildcards: (" <sep> " if wildcards.rewriter == "qrecc" else " ||| "),
        length=512,
    message:
        "Rewriting the turns of CAsT {wildcards.year} ({wildcards.rewriter})"


use rule step as cast_search_lexically with:
    input:
        queries="work/castturns/queries.parquet",
        index="work/cast/index/STM2.vectors",
    output:
        runs=[f"work/castturns/runs/{'.'.join(run)}.run" for run in CAST_LEXICAL_RUNS],
    pathvars:
        job="retrieval/castturns/search_lexically",
    conda:
        environment("lucene")
    resources:
        **needs(2000, 20),
    params:
        **runs("lajewska2025/ch3_pipeline:cast_search_lexically"),
        runs=CAST_LEXICAL_RUNS,
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


# Dense vectors of the passages already exist; SPLADE weights are computed for the terms of queries.
use rule torch_step as cast_search_encoded with:
    input:
        queries="work/castturns/queries.parquet",
        documents="work/cast/documents.parquet",
        vectors="work/cast/encoded/dense.minilm.zero-shot.npz",
        dense=registered_encoder("minilm"),
        splade=registered_encoder("splade-tiny"),
    output:
        encoded=[f"work/castturns/encoded/{kind}.npz" for kind in ("dense", "splade")],
        runs=[f"work/castturns/runs/{'.'.join(run)}.run" for run in CAST_ENCODER_RUNS],
    pathvars:
        job="retrieval/castturns/search_encoded",
    resources:
        **needs(3000, 30),
    params:
        **runs("lajewska2025/ch3_pipeline:cast_search_encoded"),
        gpu_precision=SETTINGS.gpu_precision,
        runs=CAST_ENCODER_RUNS,
        # The length used for the dense vectors of these passages.
        length=lambda wildcards: COLLECTIONS["cast"].lengths["zero_shot"],
        query=CAST_SYSTEM.query,
        hits=CAST_SYSTEM.candidates,
    message:
        "MiniLM and SPLADE-tiny on the CAsT passages"


use rule step as cast_rerank with:
    input:
        runs=[
            f"work/castturns/runs/{'.'.join(run)}.run"
            for run in CAST_LEXICAL_RUNS + CAST_ENCODER_RUNS
        ],
        encoded=[f"work/castturns/encoded/{kind}.npz" for kind in ("dense", "splade")],
        qrels="work/cast/qrels.parquet",
    output:
        runs=[f"work/castturns/runs/{run}.run" for run in [*CAST_FUSED_RUNS, *CAST_RERANKED_RUNS]],
    pathvars:
        job="retrieval/castturns/rerank",
    threads: 1
    resources:
        **needs(2000, 20),
    params:
        **runs("lajewska2025/ch3_pipeline:cast_rerank"),
        fused=CAST_FUSED_RUNS,
        reranked=CAST_RERANKED_RUNS,
        rrf=CAST_SYSTEM.rrf,
        candidates=CAST_SYSTEM.candidates,
        pairwise=CAST_SYSTEM.pairwise,
        relevance_level=2,
    message:
        "Fusing and re-ranking runs on the CAsT passages"


# Section 3.4 with the pipeline on surrogate data: passages and rankers other than those of the thesis.
use rule table as lajewska2025_ch3_pipeline with:
    input:
        queries="work/castturns/queries.parquet",
        qrels="work/cast/qrels.parquet",
        runs=supplement_runs(),
    output:
        **table_files(tables=["systems", "rewriting", "aggregation", "tests"]),
    pathvars:
        result="released/lajewska2025/text_3_4_1",
    resources:
        **needs(800),
    params:
        **runs("lajewska2025/ch3:pipeline"),
        measures={
            "recall": f"R@{CAST_SYSTEM.candidates}",
            "MAP": f"MAP@{CAST_SYSTEM.candidates}",
            "MRR": f"RR@{CAST_SYSTEM.candidates}",
            "NDCG": f"nDCG@{CAST_SYSTEM.candidates}",
            "NDCG@3": "nDCG@3",
        },
        relevance_level=2,
        shown=CAST_SUPPLEMENTS,
        names={
            "systems": ("table", "row"),
            "rewriting": ("rewriting", "ranker"),
            "aggregation": ("of", "score"),
        },
        comparisons={
            name: [(CAST_TABLE_3_RUNS[a], CAST_TABLE_3_RUNS[b]) for a, b in pairs]
            for name, pairs in CAST_COMPARISONS["3"].items()
        }
        | {"one rewriter per stage": CAST_REWRITER_PAIRS},
        ranges=CAST_RANGES,
    message:
        "Variants of the pipeline on the CAsT passages (section 3.4)"


# Figure 3.1: stages of runs, one per architecture.
use rule figure as lajewska2025_ch3_architectures with:
    pathvars:
        result="embedded/lajewska2025/figure_3_1",
    params:
        **runs("lajewska2025/ch3_architectures:architectures"),
        runs={
            "One rewriter for both stages (a)": "canard.bm25.mono",
            "A rewriter per stage (b), with fusion of two rankers": "canard.fused-rm3.duo.qrecc",
            "Dense retrieval alone (f)": "canard.dense",
        },
    message:
        "Architectures of conversational search (Figure 3.1)"
