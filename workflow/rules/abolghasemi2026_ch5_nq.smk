# abolghasemi2026, chapter 5: Natural Questions, their retrievers, and paraphrases of passages.


rule abolghasemi2026_ch5_nq:
    input:
        questions=resource(NQ_OPEN),
    output:
        questions="work/attribution/nq/questions.parquet",
        relevant="work/attribution/nq/relevant.parquet",
        passages="work/attribution/nq/passages.parquet",
        documents="work/nq/documents.parquet",
        queries="work/nq/queries.parquet",
    log:
        "logs/attribution/nq/collection.log",
    benchmark:
        "benchmarks/attribution/nq/collection.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=memory(600),
        runtime=5,
    params:
        questions=ATTRIBUTION.nq.questions,
        seed=SETTINGS.seed,
        code=code_of("abolghasemi2026_ch5_nq.py"),
    message:
        "Natural Questions: {params.questions} questions and all gold passages"
    script:
        "../scripts/abolghasemi2026_ch5_nq.py"


use rule search as abolghasemi2026_ch5_nq_bm25 with:
    input:
        index="work/nq/index/STM2",
        queries="work/nq/tokens/STM2/queries.parquet",
    output:
        bm25="work/attribution/nq/runs/bm25.run",
    log:
        "logs/attribution/nq/bm25.log",
    benchmark:
        "benchmarks/attribution/nq/bm25.tsv"
    params:
        bm25=ATTRIBUTION.nq.bm25.model_dump(),
        hits=ATTRIBUTION.nq.hits,
        code=code_of("lucene_score.py"),
    message:
        "BM25 on Natural Questions"


rule abolghasemi2026_ch5_nq_encoded:
    input:
        splade="work/nq/encoded/splade.splade-tiny.zero-shot.npz",
        dense="work/nq/encoded/dense.minilm.zero-shot.npz",
    output:
        splade="work/attribution/nq/runs/splade.run",
        dense="work/attribution/nq/runs/dense.run",
    log:
        "logs/attribution/nq/encoded.log",
    benchmark:
        "benchmarks/attribution/nq/encoded.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=memory(800),
        runtime=10,
    params:
        hits=ATTRIBUTION.nq.hits,
        code=code_of("abolghasemi2026_ch5_nq_encoded.py"),
    message:
        "SPLADE-tiny and MiniLM on Natural Questions"
    script:
        "../scripts/abolghasemi2026_ch5_nq_encoded.py"
