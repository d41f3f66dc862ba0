# MS MARCO passages for chapter 4 of abolghasemi2026, full tier: 11 rankers on both query sets, and
# on the collection with genders swapped.


include: "ch4_msmarco_files.smk"


rule msmarco_queries:
    input:
        **{name: resource(key) for name, key in QUERY_SETS.items()},
        judgements=lambda wildcards: msmarco_file(MSMARCO.qrels),
    output:
        **{f"qrels_{name}": f"work/msmarco/qrels.{name}.parquet" for name in QUERY_SETS},
        queries="work/msmarco/queries.parquet",
    log:
        "logs/retrieval/msmarco/queries.log",
    benchmark:
        "benchmarks/retrieval/msmarco/queries.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(500),
        runtime=5,
    params:
        sets=list(QUERY_SETS),
        code=code_of("abolghasemi2026/ch4/msmarco_queries"),
    message:
        "Queries and judgements of MS MARCO"
    script:
        script_file("abolghasemi2026/ch4/msmarco_queries")


rule msmarco_counts:
    input:
        collection=lambda wildcards: msmarco_file(MSMARCO_PASSAGES),
        words=resource("gender-bias-ir/fairr/wordlist_gender_representative.txt"),
    output:
        counts="work/msmarco/counts.parquet",
    log:
        "logs/retrieval/msmarco/counts.log",
    benchmark:
        "benchmarks/retrieval/msmarco/counts.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(1000),
        runtime=60,
    params:
        passages=MSMARCO.passages,
        code=code_of("abolghasemi2026/ch4/msmarco_counts"),
    message:
        "Gendered terms in the passages of MS MARCO"
    script:
        script_file("abolghasemi2026/ch4/msmarco_counts")


rule msmarco_encode_queries:
    input:
        queries="work/msmarco/queries.parquet",
        encoder=msmarco_encoder_files,
    output:
        vectors="work/msmarco/encoded/{ranker}.jsonl",
    log:
        "logs/retrieval/msmarco/encode_{ranker}.log",
    benchmark:
        "benchmarks/retrieval/msmarco/encode_{ranker}.tsv"
    wildcard_constraints:
        ranker="|".join(name for name, (_, kind) in MSMARCO_INDEXES.items() if kind),
    conda:
        environment("torch")
    threads: 1
    resources:
        mem_mb=memory(3000),
        runtime=30,
    params:
        kind=lambda wildcards: MSMARCO_INDEXES[wildcards.ranker][1],
        source=msmarco_source,
        network=SETTINGS.network,
        code=code_of("abolghasemi2026/ch4/msmarco_encode_queries"),
    message:
        "Encoding the queries for {wildcards.ranker}"
    script:
        script_file("abolghasemi2026/ch4/msmarco_encode_queries")


# Both sets in one search: an index of vectors takes minutes to read, and QS2 is a part of QS1.
rule msmarco_search:
    input:
        queries="work/msmarco/queries.parquet",
        encoded=msmarco_encoded,
    output:
        **{name: f"work/msmarco/runs/{{ranker}}.{name}.run" for name in QUERY_SETS},
    log:
        "logs/retrieval/msmarco/search_{ranker}.log",
    benchmark:
        "benchmarks/retrieval/msmarco/search_{ranker}.tsv"
    wildcard_constraints:
        ranker="|".join(MSMARCO_INDEXES),
    conda:
        environment("lucene")
    threads: 4
    resources:
        mem_mb=msmarco_search_memory,
        runtime=720,
    params:
        kind=lambda wildcards: MSMARCO_INDEXES[wildcards.ranker][0],
        index=lambda wildcards: getattr(MSMARCO.indexes, wildcards.ranker),
        ranker=lambda wildcards: wildcards.ranker,
        bm25=MSMARCO.bm25.model_dump(),
        hits=MSMARCO.hits,
        code=code_of("abolghasemi2026/ch4/msmarco_search"),
    message:
        "Searching MS MARCO ({wildcards.ranker})"
    script:
        script_file("abolghasemi2026/ch4/msmarco_search")


rule msmarco_rerank:
    input:
        queries="work/msmarco/queries.parquet",
        collection=lambda wildcards: msmarco_file(MSMARCO_PASSAGES),
        candidates=msmarco_candidates("msmarco"),
        model=lambda wildcards: msmarco_model(wildcards.reranker),
    output:
        **{name: f"work/msmarco/runs/{{reranker}}.{name}.run" for name in QUERY_SETS},
    log:
        "logs/retrieval/msmarco/rerank_{reranker}.log",
    benchmark:
        "benchmarks/retrieval/msmarco/rerank_{reranker}.tsv"
    wildcard_constraints:
        reranker="|".join(MSMARCO_RERANKERS),
    conda:
        environment("torch")
    threads: 1
    resources:
        **ON_GPU,
    params:
        pair=MSMARCO.pair,
        swapped=False,
        code=code_of("abolghasemi2026/ch4/msmarco_rerank"),
    message:
        "Re-ranking MS MARCO ({wildcards.reranker})"
    script:
        script_file("abolghasemi2026/ch4/msmarco_rerank")


# What BM25 and the cross-encoders find where the passages have the other gender.
rule msmarco_swapped_index:
    input:
        collection=lambda wildcards: msmarco_file(MSMARCO_PASSAGES),
        pairs=GENDER_PAIRS,
    output:
        index=directory("work/msmarcoswapped/lucene"),
    log:
        "logs/retrieval/msmarcoswapped/index.log",
    benchmark:
        "benchmarks/retrieval/msmarcoswapped/index.tsv"
    conda:
        environment("lucene")
    threads: 4
    resources:
        mem_mb=memory(6000),
        runtime=240,
    params:
        passages=MSMARCO.passages,
        code=code_of("abolghasemi2026/ch4/msmarco_swapped_index"),
    message:
        "Lucene index of MS MARCO with genders swapped"
    script:
        script_file("abolghasemi2026/ch4/msmarco_swapped_index")


use rule msmarco_search as msmarco_swapped_search with:
    input:
        queries="work/msmarco/queries.parquet",
        index="work/msmarcoswapped/lucene",
    output:
        **{name: f"work/msmarcoswapped/runs/bm25.{name}.run" for name in QUERY_SETS},
    log:
        "logs/retrieval/msmarcoswapped/search_bm25.log",
    benchmark:
        "benchmarks/retrieval/msmarcoswapped/search_bm25.tsv"
    resources:
        mem_mb=memory(8000),
        runtime=120,
    params:
        kind="text",
        index=None,
        ranker="bm25",
    message:
        "Searching MS MARCO with genders swapped"


use rule msmarco_rerank as msmarco_swapped_rerank with:
    input:
        queries="work/msmarco/queries.parquet",
        collection=lambda wildcards: msmarco_file(MSMARCO_PASSAGES),
        candidates=msmarco_candidates(
            "msmarcoswapped" if MSMARCO.swapped_candidates == "swapped" else "msmarco"
        ),
        model=lambda wildcards: msmarco_model(wildcards.reranker),
        pairs=GENDER_PAIRS,
    output:
        **{
            name: f"work/msmarcoswapped/runs/{{reranker}}.{name}.run"
            for name in QUERY_SETS
        },
    log:
        "logs/retrieval/msmarcoswapped/rerank_{reranker}.log",
    benchmark:
        "benchmarks/retrieval/msmarcoswapped/rerank_{reranker}.tsv"
    params:
        swapped=True,
    message:
        "Re-ranking MS MARCO with genders swapped ({wildcards.reranker})"
