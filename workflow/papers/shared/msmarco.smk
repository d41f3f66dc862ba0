# MS MARCO passages (full tier of group bias in ranked lists): 11 rankers on both query sets, and BM25
# and re-rankers on the collection with swapped genders.


include: "msmarco_inputs.smk"


use rule step as msmarco_queries with:
    input:
        **{name: resource(key) for name, key in QUERY_SETS.items()},
        judgements=lambda wildcards: msmarco_file(MSMARCO.qrels),
    output:
        **{f"qrels_{name}": f"work/msmarco/qrels.{name}.parquet" for name in QUERY_SETS},
        queries="work/msmarco/queries.parquet",
    pathvars:
        job="retrieval/msmarco/queries",
    resources:
        **needs(500),
    params:
        **runs("shared/msmarco:queries"),
        sets=list(QUERY_SETS),
    message:
        "Queries and qrels of MS MARCO"


use rule step as msmarco_counts with:
    input:
        collection=lambda wildcards: msmarco_file(MSMARCO_PASSAGES),
        words=resource(WORD_LIST),
    output:
        counts="work/msmarco/counts.parquet",
    pathvars:
        job="retrieval/msmarco/counts",
    resources:
        **needs(1000, 60),
    params:
        **runs("shared/msmarco:counts"),
        passages=MSMARCO.passages,
    message:
        "Gendered terms in the passages of MS MARCO"


use rule torch_step as msmarco_encode_queries with:
    input:
        queries="work/msmarco/queries.parquet",
        encoder=lambda wildcards: msmarco_encoder_files(wildcards.ranker),
    output:
        vectors="work/msmarco/encoded/{ranker}.jsonl",
    pathvars:
        job="retrieval/msmarco/encode_{ranker}",
    wildcard_constraints:
        ranker="|".join(name for name, (_, kind) in MSMARCO_INDEXES.items() if kind),
    resources:
        **needs(3000, 30),
    params:
        **runs("shared/msmarco_models:encode_queries"),
        kind=lambda wildcards: MSMARCO_INDEXES[wildcards.ranker][1],
    message:
        "Encoding the queries for {wildcards.ranker}"


# One search for both sets, since loading a vector index takes minutes and QS2 is a subset of QS1.
use rule step as msmarco_search with:
    input:
        queries="work/msmarco/queries.parquet",
        encoded=msmarco_encoded,
        fetched=lambda wildcards: msmarco_fetched_index(wildcards.ranker),
    output:
        **{name: f"work/msmarco/runs/{{ranker}}.{name}.run" for name in QUERY_SETS},
    pathvars:
        job="retrieval/msmarco/search_{ranker}",
    wildcard_constraints:
        ranker="|".join(MSMARCO_INDEXES),
    conda:
        environment("lucene")
    threads: 4
    resources:
        mem_mb=msmarco_search_memory,
        runtime=720,
    params:
        **runs("shared/msmarco_search:search"),
        kind=lambda wildcards: MSMARCO_INDEXES[wildcards.ranker][0],
        index=lambda wildcards: getattr(MSMARCO.indexes, wildcards.ranker),
        ranker=lambda wildcards: wildcards.ranker,
        bm25=MSMARCO.bm25.model_dump(),
        hits=MSMARCO.hits,
    message:
        "Searching MS MARCO ({wildcards.ranker})"


use rule torch_step as msmarco_rerank with:
    input:
        queries="work/msmarco/queries.parquet",
        collection=lambda wildcards: msmarco_file(MSMARCO_PASSAGES),
        candidates=msmarco_candidates("msmarco"),
        model=lambda wildcards: msmarco_model(wildcards.reranker),
    output:
        **{name: f"work/msmarco/runs/{{reranker}}.{name}.run" for name in QUERY_SETS},
    pathvars:
        job="retrieval/msmarco/rerank_{reranker}",
    wildcard_constraints:
        reranker="|".join(MSMARCO_RERANKERS),
    resources:
        **ON_GPU,
    params:
        **runs("shared/msmarco_models:rerank"),
        gpu_precision=SETTINGS.gpu_precision,
        pair=MSMARCO.pair,
        swapped=False,
    message:
        "Re-ranking MS MARCO ({wildcards.reranker})"


# BM25 and the cross-encoders on passages with swapped genders.
use rule step as msmarco_swapped_index with:
    input:
        **PRONOUN_TAGGER,
        collection=lambda wildcards: msmarco_file(MSMARCO_PASSAGES),
        pairs=GENDER_PAIRS,
    output:
        index=directory("work/msmarcoswapped/lucene"),
    pathvars:
        job="retrieval/msmarcoswapped/index",
    conda:
        environment("lucene")
    threads: 4
    resources:
        **needs(6000, 240),
    params:
        **runs("shared/msmarco_search:swapped_index"),
        passages=MSMARCO.passages,
    message:
        "Lucene index of MS MARCO with genders swapped"


use rule step as msmarco_swapped_search with:
    input:
        queries="work/msmarco/queries.parquet",
        index="work/msmarcoswapped/lucene",
    output:
        **{name: f"work/msmarcoswapped/runs/bm25.{name}.run" for name in QUERY_SETS},
    pathvars:
        job="retrieval/msmarcoswapped/search_bm25",
    conda:
        environment("lucene")
    threads: 4
    resources:
        **needs(8000, 120),
    params:
        **runs("shared/msmarco_search:search"),
        kind="text",
        index=None,
        ranker="bm25",
        bm25=MSMARCO.bm25.model_dump(),
        hits=MSMARCO.hits,
    message:
        "Searching MS MARCO with genders swapped"


use rule torch_step as msmarco_swapped_rerank with:
    input:
        **PRONOUN_TAGGER,
        queries="work/msmarco/queries.parquet",
        collection=lambda wildcards: msmarco_file(MSMARCO_PASSAGES),
        candidates=msmarco_candidates(
            "msmarcoswapped" if MSMARCO.swapped_candidates == "swapped" else "msmarco"
        ),
        model=lambda wildcards: msmarco_model(wildcards.reranker),
        pairs=GENDER_PAIRS,
    output:
        **{name: f"work/msmarcoswapped/runs/{{reranker}}.{name}.run" for name in QUERY_SETS},
    pathvars:
        job="retrieval/msmarcoswapped/rerank_{reranker}",
    wildcard_constraints:
        reranker="|".join(MSMARCO_RERANKERS),
    resources:
        **ON_GPU,
    params:
        **runs("shared/msmarco_models:rerank"),
        gpu_precision=SETTINGS.gpu_precision,
        pair=MSMARCO.pair,
        swapped=True,
    message:
        "Re-ranking MS MARCO with genders swapped ({wildcards.reranker})"
