# lajewska2025, chapter 3, full tier: the systems themselves on the collections of CAsT 2020 and 2021.
# Collections -> index and vectors; rewrites -> queries -> first passes -> fusion and re-ranking. The
# stages are those of ch3_pipeline.smk, with the models of the thesis.


include: "ch3_full_inputs.smk"


# Passages with the track's ids, and in 2021 its splits of documents.
use rule step as cast_collection with:
    input:
        files=cast_collection_files,
    output:
        passages="work/castfull/{year}/passages.parquet",
    pathvars:
        job="retrieval/castfull/{year}/collection",
    resources:
        **needs(4000, 720),
    params:
        **runs("lajewska2025/ch3_collections:cast_collection"),
        folder=lambda wildcards: getattr(CAST_SYSTEM, f"collection_{wildcards.year}"),
        expected=lambda wildcards: getattr(CAST_SYSTEM.passages, f"year_{wildcards.year}"),
    message:
        "Passages of CAsT {wildcards.year}"


use rule cached_step as cast_index with:
    input:
        passages="work/castfull/{year}/passages.parquet",
        stop_words=resource("nltk/english_stopwords.txt"),
    output:
        index=directory("work/castfull/{year}/lucene"),
    pathvars:
        job="retrieval/castfull/{year}/index",
    cache: True
    conda:
        environment("lucene")
    resources:
        **needs(16000, 1440),
    params:
        **runs("lajewska2025/ch3_collections:cast_index"),
    message:
        "Lucene index of CAsT {wildcards.year} (KStem)"


# Queries of all rewriters, or by hand alone, so that tuning waits for no rewriter.
use rule step as cast_full_queries with:
    input:
        topics=cast_topics,
        qrels=cast_qrels,
        rewrites=cast_rewrites,
    output:
        queries="work/castfull/{year}/{queries}.parquet",
    pathvars:
        job="retrieval/castfull/{year}/{queries}",
    wildcard_constraints:
        queries="queries|manual",
    params:
        **runs("lajewska2025/ch3_collections:cast_full_queries"),
    message:
        "Queries of CAsT {wildcards.year} ({wildcards.queries})"


use rule step as cast_tune_bm25 with:
    input:
        queries="work/castfull/{year}/manual.parquet",
        index="work/castfull/{year}/lucene",
        stop_words=resource("nltk/english_stopwords.txt"),
        qrels=cast_qrels,
    output:
        grid="work/castfull/{year}/bm25.csv",
    pathvars:
        job="retrieval/castfull/{year}/tune_bm25",
    conda:
        environment("lucene")
    resources:
        **needs(8000, 720),
    params:
        **runs("lajewska2025/ch3_collections:cast_tune_bm25"),
        grid=CAST_SYSTEM.bm25_grid.model_dump(),
        hits=CAST_SYSTEM.first_pass,
        scale=(0, 4),
        relevance_level=2,
    message:
        "Recall of BM25 on CAsT {wildcards.year} by its parameters"


# Tuned parameters are the mean of the best of both years (page 43).
use rule step as cast_full_search_lexically with:
    input:
        queries="work/castfull/{year}/queries.parquet",
        index="work/castfull/{year}/lucene",
        stop_words=resource("nltk/english_stopwords.txt"),
        grids=expand("work/castfull/{tuned}/bm25.csv", tuned=["2020", "2021"]),
    output:
        runs=[f"work/castfull/{{year}}/first/{'.'.join(run)}.run" for run in CAST_FULL_LEXICAL_RUNS],
    pathvars:
        job="retrieval/castfull/{year}/search_lexically",
    conda:
        environment("lucene")
    resources:
        **needs(8000, 360),
    params:
        **runs("lajewska2025/ch3_pipeline:cast_search_lexically"),
        runs=CAST_FULL_LEXICAL_RUNS,
        bm25={
            "bm25": CAST_SYSTEM.bm25.default.model_dump(),
            "bm25-organisers": CAST_SYSTEM.bm25.organisers.model_dump(),
        },
        tuned=["bm25-tuned", "bm25-rm3"],
        rm3={"bm25-rm3": CAST_SYSTEM.rm3.model_dump()},
        hits=CAST_SYSTEM.first_pass,
    message:
        "BM25 and RM3 on CAsT {wildcards.year}"


use rule cached_step as cast_encode with:
    input:
        passages="work/castfull/{year}/passages.parquet",
        encoder=cast_model_files("models.ance", "ANCE in safetensors"),
    output:
        vectors=directory("work/castfull/{year}/ance"),
    pathvars:
        job="retrieval/castfull/{year}/encode",
    cache: True
    conda:
        environment("torch")
    resources:
        **ON_GPU,
    params:
        **runs("lajewska2025/ch3_models:cast_encode"),
        gpu_precision=SETTINGS.gpu_precision,
        length=CAST_SYSTEM.models.length,
    message:
        "ANCE vectors of the passages of CAsT {wildcards.year}"


use rule step as cast_search_vectors with:
    input:
        queries="work/castfull/{year}/queries.parquet",
        passages="work/castfull/{year}/passages.parquet",
        vectors="work/castfull/{year}/ance",
        encoder=cast_model_files("models.ance", "ANCE in safetensors"),
    output:
        runs=[f"work/castfull/{{year}}/first/{'.'.join(run)}.run" for run in CAST_FULL_DENSE_RUNS],
    pathvars:
        job="retrieval/castfull/{year}/search_vectors",
    conda:
        environment("torch")
    resources:
        **ON_GPU,
    params:
        **runs("lajewska2025/ch3_models:cast_search_vectors"),
        runs=CAST_FULL_DENSE_RUNS,
        hits=CAST_SYSTEM.first_pass,
    message:
        "ANCE on CAsT {wildcards.year}"


use rule step as cast_full_rerank with:
    input:
        queries="work/castfull/{year}/queries.parquet",
        passages="work/castfull/{year}/passages.parquet",
        runs=cast_first_passes,
        mono=cast_model_files("models.mono_t5", "monoT5 in safetensors"),
        duo=cast_model_files("models.duo_t5", "duoT5 in safetensors"),
    output:
        runs=["work/castfull/{year}/reranked/{run}.run"],
    pathvars:
        job="retrieval/castfull/{year}/rerank_{run}",
    conda:
        environment("torch")
    resources:
        **ON_GPU,
    params:
        **runs("lajewska2025/ch3_models:cast_rerank_with_t5"),
        gpu_precision=SETTINGS.gpu_precision,
        fused=cast_fused,
        reranked=lambda wildcards: {wildcards.run: CAST_RERANKED_RUNS[wildcards.run]},
        rrf=CAST_SYSTEM.rrf,
        candidates=CAST_SYSTEM.first_pass,
        pairwise=CAST_SYSTEM.pairwise,
        length=CAST_SYSTEM.models.length,
    message:
        "monoT5 and duoT5 on CAsT {wildcards.year} ({wildcards.run})"


use rule cached_step as cast_train_rewriter with:
    input:
        train=lambda wildcards: qrecc_files()[0],
        validation=lambda wildcards: qrecc_files()[1],
        start=cast_model_files("rewriter_training.start", "a T5 in safetensors"),
    output:
        model=directory("work/castturns/models/t5-qrecc"),
    pathvars:
        job="retrieval/castturns/train_rewriter",
    cache: True
    conda:
        environment("torch")
    resources:
        **ON_GPU,
    params:
        **runs("lajewska2025/ch3_generation:cast_train_rewriter"),
        separator=" <sep> ",
        length=512,  # L747
        options=CAST_TRAINING,
    message:
        "Fine-tuning T5 on QReCC"
