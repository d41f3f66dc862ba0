# Stages of a retrieval experiment, for any collection: tokenise, index, score or search. A
# chapter writes work/{collection}/{documents,queries,candidates}.parquet and reads runs.


include: "retrieval_inputs.smk"


wildcard_constraints:
    collection=r"[a-z0-9]+",
    tokens=r"SA|STM1|STM2|BERT-Token|BERT-Token-cut|SciBERT-Token",


# Text as terms; the index takes them as they are.
rule tokenise:
    input:
        documents="work/{collection}/documents.parquet",
        queries="work/{collection}/queries.parquet",
        vocabulary=vocabulary_of,
    output:
        documents="work/{collection}/tokens/{tokens}/documents.parquet",
        queries="work/{collection}/tokens/{tokens}/queries.parquet",
    log:
        "logs/retrieval/{collection}/tokenise_{tokens}.log",
    benchmark:
        "benchmarks/retrieval/{collection}/tokenise_{tokens}.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(800),
        runtime=10,
    params:
        name=tokenisation_of,
        first=first_terms_of,
        code=code_of("retrieval/tokenise"),
    message:
        "Terms of {wildcards.collection} ({wildcards.tokens})"
    script:
        script_file("retrieval/tokenise")


rule index:
    input:
        documents="work/{collection}/tokens/{tokens}/documents.parquet",
    output:
        index=directory("work/{collection}/index/{tokens}"),
    log:
        "logs/retrieval/{collection}/index_{tokens}.log",
    cache: True
    conda:
        environment("lucene")
    threads: 1
    resources:
        mem_mb=memory(2000),
        runtime=20,
    params:
        term_vectors=False,
        code=code_of("retrieval/lucene_index"),
    message:
        "Lucene index of {wildcards.collection} ({wildcards.tokens})"
    script:
        script_file("retrieval/lucene_index")


# Scores of the candidates alone, with the statistics of the whole index.
rule score_lexically:
    input:
        index="work/{collection}/index/{tokens}",
        queries="work/{collection}/tokens/{tokens}/queries.parquet",
        candidates="work/{collection}/candidates.parquet",
    output:
        bm25="work/{collection}/runs/bm25.{tokens}.run",
        lm="work/{collection}/runs/lm.{tokens}.run",
    log:
        "logs/retrieval/{collection}/score_{tokens}.log",
    benchmark:
        "benchmarks/retrieval/{collection}/score_{tokens}.tsv"
    conda:
        environment("lucene")
    resources:
        mem_mb=memory(2000),
        runtime=20,
    params:
        bm25=SETTINGS.query_by_example.bm25.model_dump(),
        jelinek_mercer=SETTINGS.query_by_example.jelinek_mercer,
        dirichlet=SETTINGS.query_by_example.dirichlet,
        hits=1000,
        code=code_of("retrieval/lucene_score"),
    message:
        "BM25 and language models on {wildcards.collection} ({wildcards.tokens})"
    script:
        script_file("retrieval/lucene_score")


# The language model with the other smoothing.
use rule score_lexically as score_dirichlet with:
    output:
        lm_dirichlet="work/{collection}/runs/lm-dirichlet.{tokens}.run",
    log:
        "logs/retrieval/{collection}/score_dirichlet_{tokens}.log",
    benchmark:
        "benchmarks/retrieval/{collection}/score_dirichlet_{tokens}.tsv"


# Best documents of the whole collection for each topic.
use rule score_lexically as search with:
    input:
        index="work/{collection}/index/{tokens}",
        queries="work/{collection}/tokens/{tokens}/queries.parquet",
    wildcard_constraints:
        collection="cisi|cranfield",
    message:
        "Searching {wildcards.collection} ({wildcards.tokens})"


use rule score_dirichlet as search_dirichlet with:
    input:
        index="work/{collection}/index/{tokens}",
        queries="work/{collection}/tokens/{tokens}/queries.parquet",
    wildcard_constraints:
        collection="cisi|cranfield",


# BM25 with the parameters that rank the validation queries best.
rule tune_bm25:
    input:
        index="work/{collection}/index/{tokens}",
        queries="work/{collection}/tokens/{tokens}/queries.parquet",
        candidates="work/{collection}/candidates.parquet",
    output:
        run="work/{collection}/runs/bm25-tuned.{tokens}.run",
        grid="work/{collection}/tuning/bm25.{tokens}.csv",
    log:
        "logs/retrieval/{collection}/tune_bm25_{tokens}.log",
    benchmark:
        "benchmarks/retrieval/{collection}/tune_bm25_{tokens}.tsv"
    conda:
        environment("lucene")
    resources:
        mem_mb=memory(2000),
        runtime=20,
    params:
        grid=SETTINGS.query_by_example.tuning,
        measure="nDCG",
        tasks=tasks_of,
        setting=setting_of,
        code=code_of("retrieval/lucene_tune"),
    message:
        "Tuning BM25 on {wildcards.collection} ({wildcards.tokens})"
    script:
        script_file("retrieval/lucene_tune")


# Documents and queries as a ranker sees them: once, whatever is done with the scores.
rule encode:
    input:
        documents="work/{collection}/documents.parquet",
        queries="work/{collection}/queries.parquet",
        model=model_files,
    output:
        vectors="work/{collection}/encoded/{kind}.{model}.npz",
    log:
        "logs/retrieval/{collection}/encode_{kind}.{model}.log",
    wildcard_constraints:
        kind="tilde|tildev2|splade|dense",
    cache: True
    conda:
        environment("torch")
    threads: 1
    resources:
        mem_mb=memory(3000),
        runtime=60,
    params:
        kind=lambda wildcards: wildcards.kind,
        length=length_of,
        query_length=SETTINGS.query_by_example.lengths.query,
        proposals=proposals_of,
        code=code_of("retrieval/encode"),
    message:
        "Encoding {wildcards.collection} ({wildcards.kind}, {wildcards.model})"
    script:
        script_file("retrieval/encode")


# TILDEv2 on documents with terms that TILDE thinks likely and that they lack.
use rule encode as encode_expanded with:
    input:
        documents="work/{collection}/documents.parquet",
        queries="work/{collection}/queries.parquet",
        tilde="work/{collection}/encoded/tilde.{model}.npz",
        model="work/{collection}/models/tildev2.{model}",
    output:
        vectors="work/{collection}/encoded/tildev2-expanded-{m}.{model}.npz",
        new_terms="work/{collection}/encoded/tildev2-expanded-{m}.{model}.csv",
    log:
        "logs/retrieval/{collection}/encode_tildev2-expanded-{m}.{model}.log",
    benchmark:
        "benchmarks/retrieval/{collection}/encode_tildev2-expanded-{m}.{model}.tsv"
    wildcard_constraints:
        m=r"\d+",
    params:
        kind="tildev2",
        proposals=0,
        own=SETTINGS.query_by_example.lengths.text,
        length=SETTINGS.query_by_example.lengths.expanded,
        query_length=SETTINGS.query_by_example.lengths.query,
        code=code_of("retrieval/encode"),
    message:
        "Encoding {wildcards.collection} with {wildcards.m} new terms ({wildcards.model})"


# Scores of the candidates from what was encoded.
rule rerank:
    input:
        vectors="work/{collection}/encoded/{system}.npz",
        candidates="work/{collection}/candidates.parquet",
    output:
        run="work/{collection}/runs/{system}.run",
    log:
        "logs/retrieval/{collection}/rerank_{system}.log",
    benchmark:
        "benchmarks/retrieval/{collection}/rerank_{system}.tsv"
    wildcard_constraints:
        system=r"(tilde|tildev2|tildev2-expanded-\d+|splade|dense)\..+",
    conda:
        environment("base")
    resources:
        mem_mb=memory(2000),
        runtime=20,
    params:
        code=code_of("retrieval/rerank"),
    message:
        "Re-ranking {wildcards.collection} ({wildcards.system})"
    script:
        script_file("retrieval/rerank")


# The same by a cross-encoder, for the test queries of what it was trained for alone: it reads
# each pair.
rule rerank_pairs:
    input:
        documents="work/{collection}/documents.parquet",
        queries="work/{collection}/queries.parquet",
        candidates="work/{collection}/candidates.parquet",
        model="work/{collection}/models/{kind}.{model}",
    output:
        run="work/{collection}/runs/{kind}.{model}.run",
    log:
        "logs/retrieval/{collection}/rerank_{kind}.{model}.log",
    wildcard_constraints:
        kind="cross-encoder|mtft",
    cache: True
    conda:
        environment("torch")
    threads: 1
    resources:
        mem_mb=memory(3000),
        runtime=60,
    params:
        setting=setting_of,
        tasks=tasks_of,
        pair_length={"total": SETTINGS.query_by_example.lengths.pair},
        code=code_of("retrieval/rerank_pairs"),
    message:
        "Re-ranking {wildcards.collection} ({wildcards.kind}, {wildcards.model})"
    script:
        script_file("retrieval/rerank_pairs")
