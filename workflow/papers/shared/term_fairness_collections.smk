# Collections for measuring group bias in ranked lists: planted rankings (embedded tier), and two
# surrogates of MS MARCO with rankers of all three families (released tier).


include: "term_fairness_inputs.smk"
include: "term_fairness_collections_inputs.smk"


# Documents and rankings with a known bias.
use rule step as collection_planted with:
    output:
        documents="work/planted/documents.parquet",
        words="work/planted/words.txt",
        truth="work/planted/truth.parquet",
        runs=[
            f"work/planted/runs/{system}.run"
            for system in [
                *PLANTED,
                *PLANTED_RANKERS,
                *(ranker + CONTROL for ranker in PLANTED_RANKERS),
            ]
        ],
    pathvars:
        job="retrieval/planted/collection",
    resources:
        **needs(600),
    params:
        **runs("shared/term_fairness_collections:collection_planted"),
        sizes=FAIRNESS.planted.model_dump(exclude={"ranker_queries"}),
        rankers={
            "queries": FAIRNESS.planted.ranker_queries,
            "depth": FAIRNESS.k,
            "length": FAIRNESS.planted.length,
        },
        seed=SETTINGS.seed,
    message:
        "Collection planted: {params.sizes[queries]} lists per kind of ranking"


use rule step as collection_cast with:
    input:
        **{part: resource(key) for part, key in JUDGED_PASSAGES.items()},
    output:
        documents="work/cast/documents.parquet",
        queries="work/cast/queries.parquet",
        candidates="work/cast/candidates.parquet",
        qrels="work/cast/qrels.parquet",
        fold_queries=[f"work/cast/folds/{fold}/queries.parquet" for fold in FOLDS],
        fold_candidates=[f"work/cast/folds/{fold}/candidates.parquet" for fold in FOLDS],
    pathvars:
        job="retrieval/cast/collection",
    resources:
        **needs(600),
    params:
        **runs("shared/term_fairness_collections:collection_cast"),
        setting=FAIRNESS.cast_setting,
        relevant_from=FAIRNESS.cast_relevant_from,
        folds=FAIRNESS.cross_encoder.folds,
        seed=SETTINGS.seed,
    message:
        "Collection CAsT: judged passages, and folds of conversations"


use rule step as collection_grepbias with:
    input:
        queries=resource(GREPBIAS_QUERIES),
        documents=[resource(key) for key in GREPBIAS_DOCUMENTS],
    output:
        documents="work/grepbias{wording}/documents.parquet",
        queries="work/grepbias{wording}/queries.parquet",
        candidates="work/grepbias{wording}/candidates.parquet",
        qrels="work/grepbias{wording}/qrels.parquet",
    pathvars:
        job="retrieval/grepbias{wording}/collection",
    wildcard_constraints:
        wording="|male|female",
    resources:
        **needs(600),
    params:
        **runs("shared/term_fairness_collections:collection_grepbias"),
        wording=lambda wildcards: wildcards.wording or None,
        seed=SETTINGS.seed,
    message:
        "Collection GrepBiasIR {wildcards.wording}"


# Counterfactual collections with swapped genders.
use rule step as collection_swapped with:
    input:
        **PRONOUN_TAGGER,
        documents="work/{collection}/documents.parquet",
        queries="work/{collection}/queries.parquet",
        candidates="work/{collection}/candidates.parquet",
        qrels="work/{collection}/qrels.parquet",
        words=resource(WORD_LIST),
        pairs=GENDER_PAIRS,
    output:
        documents="work/{collection}swapped/documents.parquet",
        queries="work/{collection}swapped/queries.parquet",
        candidates="work/{collection}swapped/candidates.parquet",
        qrels="work/{collection}swapped/qrels.parquet",
        coverage="work/{collection}swapped/coverage.csv",
    pathvars:
        job="retrieval/{collection}swapped/collection",
    wildcard_constraints:
        collection="cast|grepbiasmale",
    resources:
        **needs(600, 10),
    params:
        **runs(SWAP_OF_COLLECTIONS),
    message:
        "Swapping gender in {wildcards.collection}"


use rule step as score_with_feedback with:
    input:
        index="work/{collection}/index/STM2.vectors",
        queries="work/{collection}/tokens/STM2/queries.parquet",
        candidates="work/{collection}/candidates.parquet",
    output:
        bm25="work/{collection}/runs/bm25.run",
        rm3="work/{collection}/runs/bm25+rm3.run",
    pathvars:
        job="retrieval/{collection}/score_with_feedback",
    conda:
        environment("lucene")
    resources:
        **needs(2000, 20),
    params:
        **runs("shared/retrieval:score_with_feedback"),
        bm25=FAIRNESS.bm25.model_dump(),
        rm3=FAIRNESS.rm3.model_dump(),
    message:
        "BM25 and RM3 on {wildcards.collection}"


# A cross-encoder for each fold of CAsT's conversations.
use rule cached_step as train_fold with:
    input:
        documents="work/{collection}/documents.parquet",
        queries="work/{collection}/folds/{fold}/queries.parquet",
        candidates="work/{collection}/folds/{fold}/candidates.parquet",
        encoder=encoder_files,
    output:
        model=directory("work/{collection}/models/{kind}.{encoder}.fold-{fold}"),
    pathvars:
        job="retrieval/{collection}/train_{kind}.{encoder}.fold-{fold}",
    wildcard_constraints:
        collection="cast",
        kind="cross-encoder",
        encoder="[a-z-]+",
        fold=r"\d+",
    cache: True
    resources:
        **needs(3000, 120),
    params:
        **runs_ranker("shared/retrieval_training:train"),
        pairs=FAIRNESS.cross_encoder.pairs,
        # With one negative per pair, the tiny encoder learned nothing in so few steps.
        negatives=3,
        input_options={"pair_length": {"total": FAIRNESS.cross_encoder.length}},
        seed=SETTINGS.seed,
        tasks=None,
        options={
            "epochs": FAIRNESS.cross_encoder.epochs,
            "batch_size": FAIRNESS.cross_encoder.batch,
            "learning_rate": FAIRNESS.cross_encoder.learning_rate,
            "optimiser": "adamw",
            "warmup_ratio": 0.1,
            "checkpoint_steps": 50,
        },
    message:
        "Training a cross-encoder without the conversations of fold {wildcards.fold}"


use rule torch_step as rerank_cross_fitted with:
    input:
        documents="work/{collection}/documents.parquet",
        queries="work/{collection}/queries.parquet",
        run="work/{collection}/runs/bm25.run",
        models=fold_models,
        folds=fold_queries,
    output:
        run="work/{collection}/runs/cross-fitted.{encoder}.run",
    pathvars:
        job="retrieval/{collection}/rerank_cross-fitted.{encoder}",
    wildcard_constraints:
        encoder="[a-z-]+",
    resources:
        **needs(3000, 60),
    params:
        **runs("shared/retrieval_reranking:rerank_cross_fitted"),
        gpu_precision=SETTINGS.gpu_precision,
        cross_fitted=is_cast,
        depth=FAIRNESS.cross_encoder.depth,
        pair_length={"total": FAIRNESS.cross_encoder.length},
    message:
        "Re-ranking {wildcards.collection} (cross-encoders by fold)"
