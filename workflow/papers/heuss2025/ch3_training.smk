# Rankers of chapter 3 of heuss2025 that are trained on MS MARCO (full tier): BERT-Mini on triples ->
# ADV from it, by strength; vectors of TAS-B -> lists of training queries -> CODER, by strength.


use rule cached_step as heuss2025_ch3_train_mini with:
    input:
        triples=training_triples,
        words=resource(WORD_LIST),
        encoder=mini_encoder,
    output:
        model=directory("work/heuss2025/ch3/models/bert-mini"),
    pathvars:
        job="heuss2025/ch3/train_bert-mini",
    cache: True
    resources:
        **ON_GPU,
    params:
        **runs("heuss2025/ch3_training:train_mini"),
        **PAIR_TRAINING,
    message:
        "Training BERT-Mini on MS MARCO"


use rule cached_step as heuss2025_ch3_train_adversarial with:
    input:
        triples=training_triples,
        words=resource(WORD_LIST),
        start=uncertain_model_files,
    output:
        model=directory("work/heuss2025/ch3/models/adv-{strength}"),
    pathvars:
        job="heuss2025/ch3/train_adv-{strength}",
    wildcard_constraints:
        strength="[0-9.]+",
    cache: True
    resources:
        **ON_GPU,
    params:
        **runs("heuss2025/ch3_training:train_adversarial"),
        **PAIR_TRAINING,
        strength=lambda wildcards: float(wildcards.strength),
    message:
        "Training ADV on MS MARCO (strength {wildcards.strength})"


use rule torch_step as heuss2025_ch3_adversarial_run with:
    input:
        queries="work/msmarco/queries.parquet",
        collection=lambda wildcards: msmarco_file(MSMARCO_PASSAGES),
        candidates=UNCERTAIN.msmarco.candidates or "work/msmarco/runs/bm25.qs2.run",
        model="work/heuss2025/ch3/models/adv-{strength}",
    output:
        run="work/heuss2025/ch3/runs/adv-{strength}.run",
    pathvars:
        job="heuss2025/ch3/runs/adv-{strength}",
    wildcard_constraints:
        strength="[0-9.]+",
    resources:
        **ON_GPU,
    params:
        **runs("heuss2025/ch3_training:adversarial_run"),
        gpu_precision=SETTINGS.gpu_precision,
        query_set="qs2",
        depth=UNCERTAIN.msmarco.depth,
        pair=MSMARCO.pair,
    message:
        "Re-ranking MS MARCO with ADV (strength {wildcards.strength})"


use rule step as heuss2025_ch3_passage_vectors with:
    input:
        fetched=lambda wildcards: msmarco_fetched_index("distilbert_tasb"),
    output:
        vectors="work/heuss2025/ch3/tasb.npy",
    pathvars:
        job="heuss2025/ch3/tasb",
    conda:
        environment("lucene")
    resources:
        **needs(40000, 120),
    params:
        **runs("heuss2025/ch3_coder:passage_vectors"),
        index=MSMARCO.indexes.distilbert_tasb,
    message:
        "Vectors of the passages of MS MARCO (TAS-B)"


use rule torch_step as heuss2025_ch3_coder_lists with:
    input:
        training_queries=lambda wildcards: msmarco_file("queries.train.tsv"),
        training_judgements=lambda wildcards: msmarco_file("qrels.train.tsv"),
        vectors="work/heuss2025/ch3/tasb.npy",
        encoder=lambda wildcards: msmarco_encoder_files("distilbert_tasb"),
    output:
        lists="work/heuss2025/ch3/coder.lists.parquet",
    pathvars:
        job="heuss2025/ch3/coder.lists",
    resources:
        **ON_GPU,
    params:
        **runs("heuss2025/ch3_coder:coder_lists"),
        queries=RANKER_TRAINING.coder.queries,
        candidates=RANKER_TRAINING.coder.candidates,
        seed=SETTINGS.seed,
    message:
        "Candidates of the training queries (TAS-B)"


use rule cached_step as heuss2025_ch3_train_coder with:
    input:
        lists="work/heuss2025/ch3/coder.lists.parquet",
        counts="work/msmarco/counts.parquet",
        vectors="work/heuss2025/ch3/tasb.npy",
        encoder=lambda wildcards: msmarco_encoder_files("distilbert_tasb"),
    output:
        model=directory("work/heuss2025/ch3/models/coder-{strength}"),
    pathvars:
        job="heuss2025/ch3/train_coder-{strength}",
    wildcard_constraints:
        strength="[0-9.]+",
    cache: True
    resources:
        **ON_GPU,
    params:
        **runs("heuss2025/ch3_coder:train_coder"),
        options=training_options(RANKER_TRAINING.coder)
        | RANKER_TRAINING.coder.model_dump(include={"warmup_steps", "weight_decay"}),
        query_length=RANKER_TRAINING.coder.query_length,
        cutoff=RANKER_TRAINING.coder.cutoff,
        strength=lambda wildcards: float(wildcards.strength),
        seed=SETTINGS.seed,
    message:
        "Training CODER on MS MARCO (strength {wildcards.strength})"


use rule torch_step as heuss2025_ch3_coder_run with:
    input:
        queries="work/msmarco/queries.parquet",
        vectors="work/heuss2025/ch3/tasb.npy",
        encoder=lambda wildcards: msmarco_encoder_files("distilbert_tasb"),
        model="work/heuss2025/ch3/models/coder-{strength}",
    output:
        run="work/heuss2025/ch3/runs/coder-{strength}.run",
    pathvars:
        job="heuss2025/ch3/runs/coder-{strength}",
    wildcard_constraints:
        strength="[0-9.]+",
    resources:
        **ON_GPU,
    params:
        **runs("heuss2025/ch3_coder:coder_run"),
        query_set="qs2",
        depth=UNCERTAIN.msmarco.depth,
    message:
        "Re-ranking MS MARCO with CODER (strength {wildcards.strength})"
