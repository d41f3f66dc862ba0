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
        environment("base")
    resources:
        mem_mb=memory(600),
        runtime=5,
    params:
        questions=ATTRIBUTION.nq.questions,
        seed=SETTINGS.seed,
        code=code_of("abolghasemi2026/ch5/nq"),
    message:
        "Natural Questions: {params.questions} questions and all gold passages"
    script:
        script_file("abolghasemi2026/ch5/nq")


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
        code=code_of("retrieval/lucene_score"),
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
        environment("base")
    resources:
        mem_mb=memory(800),
        runtime=10,
    params:
        hits=ATTRIBUTION.nq.hits,
        code=code_of("abolghasemi2026/ch5/nq_encoded"),
    message:
        "SPLADE-tiny and MiniLM on Natural Questions"
    script:
        script_file("abolghasemi2026/ch5/nq_encoded")


# Its answers are recorded, and the committed record has those that a run with the defaults needs.
rule abolghasemi2026_ch5_paraphrase:
    input:
        questions="work/attribution/{bench}/questions.parquet",
        relevant="work/attribution/{bench}/relevant.parquet",
        passages="work/attribution/{bench}/passages.parquet",
        run=lambda wildcards: attribution_runs(wildcards.bench)[0],
        model=lambda wildcards: language_model_files(paraphraser(wildcards)),
        template=ATTRIBUTION.paraphrases.template or PARAPHRASE_PROMPT,
        recorded="recorded/abolghasemi2026_ch5_paraphrases.jsonl",
    output:
        paraphrases="work/attribution/{tier}/{bench}/paraphrases.parquet",
        asked="work/attribution/{tier}/{bench}/asked.parquet",
        provenance="work/attribution/{tier}/{bench}/paraphrases.provenance.json",
        # The answers that were used, as they may be passed on.
        record="work/attribution/{tier}/{bench}/paraphrases.jsonl",
    log:
        "logs/attribution/{tier}/{bench}/paraphrases.log",
    benchmark:
        "benchmarks/attribution/{tier}/{bench}/paraphrases.tsv"
    wildcard_constraints:
        tier="released|full",
        bench="nq|nq_full|msmarco_qa",
    conda:
        environment("torch")
    threads: 1
    resources:
        **on_gpu_where(lambda wildcards: wildcards.tier == "full", 2500, 300),
    params:
        model=paraphraser,
        sizes=paraphrase_sizes,
        decoding=ATTRIBUTION.paraphrases.model_dump(include={"max_tokens", "stop"}),
        sampling=ATTRIBUTION.paraphrases.model_dump(include={"temperature", "top_p"}),
        copied=ATTRIBUTION.paraphrases.copied,
        records="abolghasemi2026-ch5-paraphrases-{bench}",
        seed=SETTINGS.seed,
        code=code_of("abolghasemi2026/ch5/paraphrase"),
    message:
        "Passages of {wildcards.bench} in the words of {params.model}"
    script:
        script_file("abolghasemi2026/ch5/paraphrase")
