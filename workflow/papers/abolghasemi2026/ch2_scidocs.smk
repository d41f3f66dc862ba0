# abolghasemi2026, chapter 2, on SciDocs, with the settings of the thesis and one model per task. The
# stages are those of retrieval.smk, except that a model encodes only the candidates of its task:
# TILDE's scores of all 142,009 papers would take some 10 GB per model. The name of a trained model
# ends with its seed.
ruleorder: train_scidocs > train
ruleorder: train_pairs_scidocs > train
ruleorder: encode_scidocs > encode
ruleorder: encode_expanded_scidocs > encode_expanded
ruleorder: rerank_scidocs > rerank
ruleorder: rerank_pairs_scidocs > rerank_pairs


use rule step as collection_scidocs with:
    input:
        unpack(scidocs_files),
    output:
        documents="work/scidocs/documents.parquet",
        queries="work/scidocs/queries.parquet",
        candidates="work/scidocs/candidates.parquet",
    pathvars:
        job="retrieval/scidocs/collection",
    resources:
        **needs(3000, 10),
    params:
        **runs("abolghasemi2026/ch2_collections:collection_scidocs"),
        seed=SETTINGS.seed,
        choices=CH2.scidocs.model_dump(exclude={"folder"}),
    message:
        "Collection SciDocs, from its published files"


use rule step as ranked_scidocs with:
    input:
        documents="work/scidocs/documents.parquet",
        queries="work/scidocs/queries.parquet",
        candidates="work/scidocs/candidates.parquet",
    output:
        documents="work/scidocs/ranked/{trained_on}/documents.parquet",
        queries="work/scidocs/ranked/{trained_on}/queries.parquet",
        candidates="work/scidocs/ranked/{trained_on}/candidates.parquet",
    pathvars:
        job="retrieval/scidocs/ranked_{trained_on}",
    resources:
        **needs(2000, 10),
    params:
        **runs("abolghasemi2026/ch2_collections:ranked_scidocs"),
        # A zero-shot model ranks the candidates of all tasks.
        tasks=lambda wildcards: (
            COLLECTIONS["scidocs"].tasks
            if is_zero_shot_on_scidocs(wildcards)
            else [wildcards.trained_on]
        ),
    message:
        "Candidates on SciDocs ({wildcards.trained_on})"


use rule cached_step as train_scidocs with:
    input:
        documents="work/{collection}/documents.parquet",
        queries="work/{collection}/queries.parquet",
        candidates="work/{collection}/candidates.parquet",
        encoder=scidocs_encoder_files,
    output:
        model=directory("work/{collection}/models/{kind}.{encoder}.{trained_on}{seed}"),
    pathvars:
        job="retrieval/{collection}/train_{kind}.{encoder}.{trained_on}{seed}",
    wildcard_constraints:
        collection="scidocs",
        kind=names_of(TrainedRanker, EncodingRanker),
        encoder="[a-z-]+",
        trained_on="[a-z-]+",
        seed=A_SEED,
    cache: True
    resources:
        **ON_GPU,
    params:
        **runs_ranker("shared/retrieval_training:train"),
        **TRAINING,
        seed=seed_of_training,
    message:
        "Training {wildcards.kind} with {wildcards.encoder} on SciDocs ({wildcards.trained_on}{wildcards.seed})"


# Rankers of pairs use early stopping on their validation lists.
use rule cached_step as train_pairs_scidocs with:
    input:
        documents="work/{collection}/documents.parquet",
        queries="work/{collection}/queries.parquet",
        candidates="work/{collection}/candidates.parquet",
        encoder=scidocs_encoder_files,
    output:
        model=directory("work/{collection}/models/{kind}.{encoder}.{trained_on}{seed}"),
    pathvars:
        job="retrieval/{collection}/train_pairs_{kind}.{encoder}.{trained_on}{seed}",
    wildcard_constraints:
        collection="scidocs",
        kind=names_of(TrainedRanker, PairRanker),
        encoder="[a-z-]+",
        trained_on="[a-z-]+",
        seed=A_SEED,
    cache: True
    resources:
        **ON_GPU,
    params:
        **runs_ranker("abolghasemi2026/ch2_training:train_pairs_scidocs"),
        **TRAINING,
        seed=seed_of_training,
        dropout=FULL.cross_encoder.dropout,
        setting=of_collection("setting"),
    message:
        "Training {wildcards.kind} with {wildcards.encoder} on SciDocs ({wildcards.trained_on}{wildcards.seed})"


use rule cached_step as encode_scidocs with:
    input:
        documents="work/{collection}/ranked/{trained_on}/documents.parquet",
        queries="work/{collection}/ranked/{trained_on}/queries.parquet",
        model=scidocs_model_files,
    output:
        vectors="work/{collection}/encoded/{kind}.{encoder}.{trained_on}{seed}.npz",
    pathvars:
        job="retrieval/{collection}/encode_{kind}.{encoder}.{trained_on}{seed}",
    wildcard_constraints:
        collection="scidocs",
        kind=names_of(TrainedRanker, EncodingRanker),
        encoder="[a-z-]+",
        trained_on="[a-z-]+",
        seed=A_SEED_OR_NONE,
    cache: True
    resources:
        **ON_GPU,
    params:
        **runs_ranker("shared/retrieval_encoding:encode"),
        gpu_precision=SETTINGS.gpu_precision,
        kind=lambda wildcards: wildcards.kind,
        input_options=scidocs_input_options_of,
    message:
        "Encoding SciDocs ({wildcards.kind}, {wildcards.encoder}, {wildcards.trained_on})"


use rule cached_step as encode_expanded_scidocs with:
    input:
        documents="work/{collection}/ranked/{trained_on}/documents.parquet",
        queries="work/{collection}/ranked/{trained_on}/queries.parquet",
        proposals="work/{collection}/encoded/tilde.{encoder}.{trained_on}{seed}.npz",
        model="work/{collection}/models/tildev2.{encoder}.{trained_on}{seed}",
    output:
        vectors="work/{collection}/encoded/tildev2-expanded-{m}.{encoder}.{trained_on}{seed}.npz",
        new_terms="work/{collection}/encoded/tildev2-expanded-{m}.{encoder}.{trained_on}{seed}.csv",
    benchmark:
        "benchmarks/<job>.tsv"
    pathvars:
        job="retrieval/{collection}/encode_tildev2-expanded-{m}.{encoder}.{trained_on}{seed}",
    wildcard_constraints:
        collection="scidocs",
        m=r"\d+",
        encoder="[a-z-]+",
        trained_on="[a-z-]+",
        seed=A_SEED,
    resources:
        **ON_GPU,
    params:
        **runs_ranker("shared/retrieval_encoding:encode_expanded", "tildev2-expanded"),
        gpu_precision=SETTINGS.gpu_precision,
        kind="tildev2-expanded",
        input_options=expanded_input_options_of,
    message:
        "Encoding SciDocs with {wildcards.m} expansion terms ({wildcards.trained_on})"


use rule step as rerank_scidocs with:
    input:
        vectors="work/{collection}/encoded/{system}.{trained_on}{seed}.npz",
        candidates="work/{collection}/ranked/{trained_on}/candidates.parquet",
    output:
        run="work/{collection}/runs/{system}.{trained_on}{seed}.run",
    pathvars:
        job="retrieval/{collection}/rerank_{system}.{trained_on}{seed}",
    wildcard_constraints:
        collection="scidocs",
        system=rf"({names_of(EncodingRanker)})\.[a-z-]+",
        trained_on="[a-z-]+",
        seed=A_SEED_OR_NONE,
    resources:
        **needs(6000, 20),
    params:
        **runs("shared/retrieval:rerank"),
    message:
        "Re-ranking SciDocs ({wildcards.system}, {wildcards.trained_on})"


use rule cached_step as rerank_pairs_scidocs with:
    input:
        documents="work/{collection}/ranked/{trained_on}/documents.parquet",
        queries="work/{collection}/ranked/{trained_on}/queries.parquet",
        candidates="work/{collection}/ranked/{trained_on}/candidates.parquet",
        model="work/{collection}/models/{kind}.{encoder}.{trained_on}{seed}",
    output:
        run="work/{collection}/runs/{kind}.{encoder}.{trained_on}{seed}.run",
    pathvars:
        job="retrieval/{collection}/rerank_{kind}.{encoder}.{trained_on}{seed}",
    wildcard_constraints:
        collection="scidocs",
        kind=names_of(TrainedRanker, PairRanker),
        encoder="[a-z-]+",
        trained_on="[a-z-]+",
        seed=A_SEED,
    cache: True
    resources:
        **ON_GPU,
    params:
        **runs_ranker("shared/retrieval_reranking:rerank_pairs"),
        gpu_precision=SETTINGS.gpu_precision,
        splits=["test"],
        setting=of_collection("setting"),
        tasks=of_collection("tasks"),
        input_options=pair_input_options_of,
    message:
        "Re-ranking SciDocs ({wildcards.kind}, {wildcards.trained_on})"


# Sizes and settings stated in the text.
use rule table as abolghasemi2026_ch2_stated_sizes with:
    input:
        unpack(stated_size_inputs),
    output:
        **table_files(tables=["lists"]),
    pathvars:
        result="full/abolghasemi2026/text_2",
    resources:
        **needs(3000, 10),
    params:
        **runs("abolghasemi2026/ch2:stated_sizes"),
        expansions=STATED_EXPANSIONS,
    message:
        "Sizes stated in the text of chapter 2"
