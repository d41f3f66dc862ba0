# abolghasemi2026, chapter 5: Natural Questions, retrieval runs, and paraphrases of passages.

COLLECTIONS["nq"] = Collection(lengths={"zero_shot": ATTRIBUTION.nq.length})


use rule step as abolghasemi2026_ch5_nq with:
    input:
        questions=resource(NQ_OPEN),
    output:
        questions="work/attribution/nq/questions.parquet",
        relevant="work/attribution/nq/relevant.parquet",
        passages="work/attribution/nq/passages.parquet",
        documents="work/nq/documents.parquet",
        queries="work/nq/queries.parquet",
    pathvars:
        job="attribution/nq/collection",
    resources:
        **needs(600),
    params:
        **runs("abolghasemi2026/ch5_nq:nq"),
        questions=ATTRIBUTION.nq.questions,
        seed=SETTINGS.seed,
    message:
        "Natural Questions: {params.questions} questions and all gold passages"


use rule step as abolghasemi2026_ch5_nq_bm25 with:
    input:
        index="work/nq/index/STM2",
        queries="work/nq/tokens/STM2/queries.parquet",
    output:
        bm25="work/attribution/nq/runs/bm25.run",
    pathvars:
        job="attribution/nq/bm25",
    conda:
        environment("lucene")
    resources:
        **needs(2000, 20),
    params:
        **runs("shared/retrieval:score_lexically"),
        bm25=ATTRIBUTION.nq.bm25.model_dump(),
        jelinek_mercer=None,
        dirichlet=None,
        hits=ATTRIBUTION.nq.hits,
    message:
        "BM25 on Natural Questions"


use rule step as abolghasemi2026_ch5_nq_encoded with:
    input:
        splade="work/nq/encoded/splade.splade-tiny.zero-shot.npz",
        dense="work/nq/encoded/dense.minilm.zero-shot.npz",
    output:
        splade="work/attribution/nq/runs/splade.run",
        dense="work/attribution/nq/runs/dense.run",
    pathvars:
        job="attribution/nq/encoded",
    resources:
        **needs(800, 10),
    params:
        **runs("abolghasemi2026/ch5_nq:nq_encoded"),
        hits=ATTRIBUTION.nq.hits,
    message:
        "SPLADE-tiny and MiniLM on Natural Questions"


# Paraphrases of passages by a language model. Answers are recorded, and the committed record has
# those that a run with the defaults needs.
use rule torch_step as abolghasemi2026_ch5_paraphrase with:
    input:
        questions="work/attribution/{bench}/questions.parquet",
        relevant="work/attribution/{bench}/relevant.parquet",
        passages="work/attribution/{bench}/passages.parquet",
        run=lambda wildcards: attribution_runs(wildcards.bench)[0],
        model=lambda wildcards: language_model_files(paraphraser(wildcards)),
        template=paraphrase_prompt,
        recorded="recorded/abolghasemi2026_ch5_paraphrases.jsonl",
    output:
        paraphrases="work/attribution/{tier}/{bench}/paraphrases.parquet",
        asked="work/attribution/{tier}/{bench}/asked.parquet",
        provenance="work/attribution/{tier}/{bench}/paraphrases.provenance.json",
        # The answers that were used, in releasable form.
        record="work/attribution/{tier}/{bench}/paraphrases.jsonl",
    pathvars:
        job="attribution/{tier}/{bench}/paraphrases",
    wildcard_constraints:
        tier="released|full",
        bench="nq|nq_full|msmarco_qa",
    resources:
        **where(
            lambda wildcards: wildcards.tier == "full"
            and needs_gpu(ATTRIBUTION.paraphrases.full.model),
            ON_GPU,
            needs(2500, 300),
        ),
    params:
        **runs("abolghasemi2026/ch5_paraphrasing:paraphrase"),
        model=paraphraser,
        answered_by=lambda wildcards: answered_by(paraphraser(wildcards)),
        sizes=paraphrase_sizes,
        decoding=lambda wildcards: ATTRIBUTION.paraphrases.decoding(wildcards.tier),
        sampling=ATTRIBUTION.paraphrases.model_dump(include={"temperature", "top_p"}),
        copied=ATTRIBUTION.paraphrases.copied,
        records="abolghasemi2026-ch5-paraphrases-{bench}",
        seed=SETTINGS.seed,
    message:
        "Paraphrasing passages of {wildcards.bench} with {params.model}"
