# abolghasemi2026, chapter 5: answers with citations, by language models and by a control.


# Natural Questions of the full tier, downloaded automatically: BEIR's questions and passages, with
# answers that were released with other passages.
use rule step as abolghasemi2026_ch5_nq_converted with:
    input:
        corpus=fetched_corpus(f"nq/{BEIR_CORPUS}"),
        queries=fetched_corpus(f"nq/{BEIR_QUERIES}"),
        judgements=fetched_corpus("nq/qrels/test.tsv"),
        answers=resource(NQ_OPEN),
    output:
        questions=f"{FETCHED_NQ}/{QUESTIONS}",
        passages=f"{FETCHED_NQ}/{PASSAGES}",
    pathvars:
        job="attribution/nq_full/converted",
    resources:
        **needs(2000, 60),
    params:
        **runs("abolghasemi2026/ch5_nq:nq_converted"),
    message:
        "Natural Questions of BEIR with released answers"


use rule step as abolghasemi2026_ch5_nq_fetched_bm25 with:
    input:
        questions=f"{FETCHED_NQ}/{QUESTIONS}",
        passages=f"{FETCHED_NQ}/{PASSAGES}",
    output:
        run=f"{FETCHED_NQ}/bm25.run",
    pathvars:
        job="attribution/nq_full/bm25",
    conda:
        environment("lucene")
    threads: 4
    resources:
        **needs(8000, 240),
    params:
        **runs("abolghasemi2026/ch5_nq:nq_bm25"),
        bm25=ATTRIBUTION.nq.bm25.model_dump(),
        hits=ATTRIBUTION.nq.hits,
    message:
        "BM25 on Natural Questions of BEIR"


# Table 5.9: the other retrievers, if they are set to encode the passages.
use rule torch_step as abolghasemi2026_ch5_nq_retriever with:
    input:
        files=nq_texts,
        encoder=retriever_encoder,
    output:
        run="work/attribution/nq_encoded/{run}.run",
    pathvars:
        job="attribution/nq_full/{run}",
    wildcard_constraints:
        run="|".join(RETRIEVER_KEYS),
    resources:
        **ON_GPU,
    params:
        **runs("abolghasemi2026/ch5_retrievers:encoded_run"),
        gpu_precision=SETTINGS.gpu_precision,
        kind=lambda wildcards: RETRIEVER_KEYS[wildcards.run],
        length=ATTRIBUTION.full.retrievers.length,
        hits=ATTRIBUTION.nq.hits,
    message:
        "Ranking all passages of Natural Questions ({wildcards.run})"


# Natural Questions on the user's collection or on BEIR's, with the available runs.
use rule step as abolghasemi2026_ch5_nq_full with:
    input:
        files=attribution_nq,
    output:
        questions="work/attribution/nq_full/questions.parquet",
        relevant="work/attribution/nq_full/relevant.parquet",
        passages="work/attribution/nq_full/passages.parquet",
        runs=attribution_runs("nq_full"),
    pathvars:
        job="attribution/nq_full/collection",
    resources:
        **needs(16000, 60),
    params:
        **runs("abolghasemi2026/ch5_nq:user_benchmark"),
    message:
        "Natural Questions as set in config.yaml"


use rule step as abolghasemi2026_ch5_msmarco_qa with:
    input:
        published=attribution_msmarco_qa,
    output:
        questions="work/attribution/msmarco_qa/questions.parquet",
        relevant="work/attribution/msmarco_qa/relevant.parquet",
        passages="work/attribution/msmarco_qa/passages.parquet",
        runs=attribution_runs("msmarco_qa"),
    pathvars:
        job="attribution/msmarco_qa/collection",
    resources:
        **needs(16000, 60),
    params:
        **runs("abolghasemi2026/ch5_nq:user_benchmark"),
    message:
        "MS MARCO QA as set in config.yaml"


use rule asking_step as abolghasemi2026_ch5_ask with:
    input:
        **attribution_templates(),
        questions="work/attribution/{bench}/questions.parquet",
        relevant="work/attribution/{bench}/relevant.parquet",
        passages="work/attribution/{bench}/passages.parquet",
        runs=lambda wildcards: attribution_runs(wildcards.bench),
        paraphrases="work/attribution/{tier}/{bench}/paraphrases.parquet",
        asked="work/attribution/{tier}/{bench}/asked.parquet",
        model=lambda wildcards: language_model_files(wildcards.model),
        recorded="recorded/abolghasemi2026_ch5.jsonl",
    output:
        answers="work/attribution/{tier}/{bench}/answers/{model}.parquet",
        # The same answers under other readings.
        readings="work/attribution/{tier}/{bench}/answers/{model}.readings.parquet",
        provenance="work/attribution/{tier}/{bench}/answers/{model}.provenance.json",
        record="work/attribution/{tier}/{bench}/answers/{model}.record.jsonl",
    pathvars:
        job="attribution/{tier}/{bench}/{model}",
    wildcard_constraints:
        tier="released|full",
        bench="nq|nq_full|msmarco_qa",
        model="[^/.]+",
    resources:
        **where(
            lambda wildcards: wildcards.tier == "full" and needs_gpu(wildcards.model),
            ON_GPU,
            needs(2500, 300),
        ),
    params:
        **runs("abolghasemi2026/ch5_generation:ask"),
        sizes=lambda wildcards: getattr(ATTRIBUTION, wildcards.tier).model_dump(exclude={"few"}),
        few=lambda wildcards: getattr(ATTRIBUTION, wildcards.tier)
        .model_dump()["few"]
        .get(wildcards.model),
        retrievers=lambda wildcards: list(ATTRIBUTION_RUNS[wildcards.bench]),
        dataset=lambda wildcards: ATTRIBUTION_NAMES[wildcards.bench],
        logprobs=lambda wildcards: wildcards.model
        not in getattr(ATTRIBUTION, wildcards.tier).without_logprobs,
        labels=ATTRIBUTION.labels.model_dump(),
        reading=ATTRIBUTION.reading.model_dump(),
        record="abolghasemi2026-ch5-{tier}-{bench}-{model}",
        seed=SETTINGS.seed,
    message:
        "Querying {wildcards.model} for answers with citations ({wildcards.bench})"


# The control uses the same questions and documents, with k as in the thesis.
use rule step as abolghasemi2026_ch5_control with:
    input:
        questions="work/attribution/nq/questions.parquet",
        relevant="work/attribution/nq/relevant.parquet",
        passages="work/attribution/nq/passages.parquet",
        runs=attribution_runs("nq"),
    output:
        answers="work/attribution/released/nq/control.parquet",
    pathvars:
        job="attribution/released/nq/control",
    resources:
        **needs(900, 10),
    params:
        **runs("abolghasemi2026/ch5_controls:control"),
        shown=ATTRIBUTION.planted.shown,
        odds=PLANTED_PREFERENCE["odds"],
        dataset=ATTRIBUTION_NAMES["nq"],
        retrievers=list(ATTRIBUTION_RUNS["nq"]),
        questions=ATTRIBUTION.released.questions.main,
        k=ATTRIBUTION.k,
        depths=ATTRIBUTION.depths,
        seed=SETTINGS.seed,
    message:
        "Answers of generators with a planted preference to Natural Questions"
