# Stages of a retrieval experiment, for any collection: tokenise, index, score or search. A
# chapter writes work/{collection}/{documents,queries,candidates}.parquet and reads runs.


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
        "../../envs/base.yaml"
    resources:
        mem_mb=800,
        runtime=10,
    params:
        name=tokenisation_of,
        first=first_terms_of,
        code=code_of("tokenise.py"),
    message:
        "Terms of {wildcards.collection} ({wildcards.tokens})"
    script:
        "../scripts/tokenise.py"


rule index:
    input:
        documents="work/{collection}/tokens/{tokens}/documents.parquet",
    output:
        index=directory("work/{collection}/index/{tokens}"),
    log:
        "logs/retrieval/{collection}/index_{tokens}.log",
    benchmark:
        "benchmarks/retrieval/{collection}/index_{tokens}.tsv"
    conda:
        "../../envs/lucene.yaml"
    cache: True
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        code=code_of("lucene_index.py"),
    message:
        "Lucene index of {wildcards.collection} ({wildcards.tokens})"
    script:
        "../scripts/lucene_index.py"


# Scores of the candidates alone, with the statistics of the whole index.
rule score_lexically:
    input:
        index="work/{collection}/index/{tokens}",
        queries="work/{collection}/tokens/{tokens}/queries.parquet",
        candidates="work/{collection}/candidates.parquet",
    output:
        bm25="work/{collection}/runs/bm25.{tokens}.run",
        lm="work/{collection}/runs/lm.{tokens}.run",
        lm_dirichlet="work/{collection}/runs/lm-dirichlet.{tokens}.run",
    log:
        "logs/retrieval/{collection}/score_{tokens}.log",
    benchmark:
        "benchmarks/retrieval/{collection}/score_{tokens}.tsv"
    conda:
        "../../envs/lucene.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        **lexical_rankers(),
        code=code_of("lucene_score.py"),
    message:
        "BM25 and language models on {wildcards.collection} ({wildcards.tokens})"
    script:
        "../scripts/lucene_score.py"


# Best documents of the whole collection for each topic.
use rule score_lexically as search with:
    input:
        index="work/{collection}/index/{tokens}",
        queries="work/{collection}/tokens/{tokens}/queries.parquet",
    wildcard_constraints:
        collection="cisi|cranfield",
    message:
        "Searching {wildcards.collection} ({wildcards.tokens})"


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
        "../../envs/lucene.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        grid=SETTINGS.query_by_example.tuning,
        measure="nDCG",
        code=code_of("lucene_tune.py"),
    message:
        "Tuning BM25 on {wildcards.collection} ({wildcards.tokens})"
    script:
        "../scripts/lucene_tune.py"
