# Stages of a retrieval experiment, for any collection and ranker: tokenise, index, score or search;
# train, encode, re-rank. A chapter configures its collections in COLLECTIONS, writes
# work/{collection}/{documents,queries,candidates}.parquet and reads runs.


include: "retrieval_inputs.smk"


wildcard_constraints:
    collection=r"[a-z0-9]+",
    tokens=r"SA|STM1|STM2|BERT-Token|BERT-Token-cut|SciBERT-Token",


# Tokenised text; the index uses these terms without further analysis.
use rule step as tokenise with:
    input:
        documents="work/{collection}/documents.parquet",
        queries="work/{collection}/queries.parquet",
        vocabulary=vocabulary_of,
    output:
        documents="work/{collection}/tokens/{tokens}/documents.parquet",
        queries="work/{collection}/tokens/{tokens}/queries.parquet",
    pathvars:
        job="retrieval/{collection}/tokenise_{tokens}",
    resources:
        **needs(800, 10),
    params:
        **runs("shared/retrieval:tokenise"),
        name=tokenisation_of,
        first=first_terms_of,
    message:
        "Tokenising {wildcards.collection} ({wildcards.tokens})"


# Feedback needs an index with term vectors; a search does not.
use rule cached_step as index with:
    input:
        documents="work/{collection}/tokens/{tokens}/documents.parquet",
    output:
        index=directory("work/{collection}/index/{tokens}{vectors}"),
    pathvars:
        job="retrieval/{collection}/index_{tokens}{vectors}",
    wildcard_constraints:
        vectors=r"(\.vectors)?",
    cache: True
    conda:
        environment("lucene")
    resources:
        **needs(2000, 20),
    params:
        **runs("shared/retrieval_indexing:index"),
        term_vectors=lambda wildcards: bool(wildcards.vectors),
    message:
        "Lucene index of {wildcards.collection} ({wildcards.tokens}{wildcards.vectors})"


# Scores of the candidates, with statistics of the complete index; or the top documents of a search,
# for a collection without candidates.
use rule step as score_lexically with:
    input:
        index="work/{collection}/index/{tokens}",
        queries="work/{collection}/tokens/{tokens}/queries.parquet",
        candidates=candidates_to_score,
    output:
        bm25="work/{collection}/runs/bm25.{tokens}.run",
        lm="work/{collection}/runs/lm.{tokens}.run",
    pathvars:
        job="retrieval/{collection}/score_{tokens}",
    conda:
        environment("lucene")
    resources:
        **needs(2000, 20),
    params:
        **runs("shared/retrieval:score_lexically"),
        **SCORING,
    message:
        "BM25 and language models on {wildcards.collection} ({wildcards.tokens})"


# The language model with Dirichlet smoothing.
use rule step as score_dirichlet with:
    input:
        index="work/{collection}/index/{tokens}",
        queries="work/{collection}/tokens/{tokens}/queries.parquet",
        candidates=candidates_to_score,
    output:
        lm_dirichlet="work/{collection}/runs/lm-dirichlet.{tokens}.run",
    pathvars:
        job="retrieval/{collection}/score_dirichlet_{tokens}",
    conda:
        environment("lucene")
    resources:
        **needs(2000, 20),
    params:
        **runs("shared/retrieval:score_lexically"),
        **SCORING,
    message:
        "Dirichlet-smoothed language model on {wildcards.collection} ({wildcards.tokens})"


# BM25 with the best parameters on the validation queries.
use rule step as tune_bm25 with:
    input:
        index="work/{collection}/index/{tokens}",
        queries="work/{collection}/tokens/{tokens}/queries.parquet",
        candidates="work/{collection}/candidates.parquet",
    output:
        run="work/{collection}/runs/bm25-tuned.{tokens}.run",
        grid="work/{collection}/tuning/bm25.{tokens}.csv",
    pathvars:
        job="retrieval/{collection}/tune_bm25_{tokens}",
    conda:
        environment("lucene")
    resources:
        **needs(2000, 20),
    params:
        **runs("shared/retrieval:tune_bm25"),
        grid=lexical("tuning"),
        measure="nDCG",
        tasks=of_collection("tasks"),
        setting=of_collection("setting"),
    message:
        "Tuning BM25 on {wildcards.collection} ({wildcards.tokens})"


# One model of a kind for all tasks of a collection ("all"), or for one task.
use rule cached_step as train with:
    input:
        documents="work/{collection}/documents.parquet",
        queries="work/{collection}/queries.parquet",
        candidates="work/{collection}/candidates.parquet",
        encoder=encoder_files,
    output:
        model=directory("work/{collection}/models/{kind}.{encoder}.{trained_on}"),
    pathvars:
        job="retrieval/{collection}/train_{kind}.{encoder}.{trained_on}",
    wildcard_constraints:
        kind=names_of(TrainedRanker),
        encoder="[a-z-]+",
        trained_on="[a-z-]+",
    cache: True
    resources:
        **needs(3000, 120),
    params:
        **runs_ranker("shared/retrieval_training:train"),
        **TRAINING,
        seed=SETTINGS.seed,
    message:
        "Training {wildcards.kind} on {wildcards.collection} ({wildcards.trained_on})"


# Documents and queries encoded by a ranker, once for all uses of the scores.
use rule cached_step as encode with:
    input:
        documents="work/{collection}/documents.parquet",
        queries="work/{collection}/queries.parquet",
        model=model_files,
    output:
        vectors="work/{collection}/encoded/{kind}.{model}.npz",
    pathvars:
        job="retrieval/{collection}/encode_{kind}.{model}",
    wildcard_constraints:
        kind=names_of(TextEncodingRanker),
    cache: True
    params:
        **runs_ranker("shared/retrieval_encoding:encode"),
        gpu_precision=SETTINGS.gpu_precision,
        kind=lambda wildcards: wildcards.kind,
        input_options=input_options_of,
    message:
        "Encoding {wildcards.collection} ({wildcards.kind}, {wildcards.model})"


# TILDEv2 on documents expanded with terms that TILDE proposes.
use rule cached_step as encode_expanded with:
    input:
        documents="work/{collection}/documents.parquet",
        queries="work/{collection}/queries.parquet",
        proposals="work/{collection}/encoded/tilde.{model}.npz",
        model="work/{collection}/models/tildev2.{model}",
    output:
        vectors="work/{collection}/encoded/tildev2-expanded-{m}.{model}.npz",
        new_terms="work/{collection}/encoded/tildev2-expanded-{m}.{model}.csv",
    benchmark:
        "benchmarks/<job>.tsv"
    pathvars:
        job="retrieval/{collection}/encode_tildev2-expanded-{m}.{model}",
    wildcard_constraints:
        m=r"\d+",
    params:
        **runs_ranker("shared/retrieval_encoding:encode_expanded", "tildev2-expanded"),
        gpu_precision=SETTINGS.gpu_precision,
        kind="tildev2-expanded",
        input_options=expanded_input_options_of,
    message:
        "Encoding {wildcards.collection} with {wildcards.m} expansion terms ({wildcards.model})"


# Scores of the candidates from encoded documents and queries.
use rule step as rerank with:
    input:
        vectors="work/{collection}/encoded/{system}.npz",
        candidates="work/{collection}/candidates.parquet",
    output:
        run="work/{collection}/runs/{system}.run",
    pathvars:
        job="retrieval/{collection}/rerank_{system}",
    wildcard_constraints:
        system=rf"({names_of(EncodingRanker)})\..+",
    resources:
        **needs(2000, 20),
    params:
        **runs("shared/retrieval:rerank"),
    message:
        "Re-ranking {wildcards.collection} ({wildcards.system})"


# Scores of the candidates by a ranker that reads pairs, for the test queries, and for the validation
# queries, which show whether the ranker has learned anything.
use rule cached_step as rerank_pairs with:
    input:
        documents="work/{collection}/documents.parquet",
        queries="work/{collection}/queries.parquet",
        candidates="work/{collection}/candidates.parquet",
        model="work/{collection}/models/{kind}.{model}",
    output:
        run="work/{collection}/runs/{kind}.{model}.run",
    pathvars:
        job="retrieval/{collection}/rerank_{kind}.{model}",
    wildcard_constraints:
        kind=names_of(PairRanker),
    cache: True
    params:
        **runs_ranker("shared/retrieval_reranking:rerank_pairs"),
        gpu_precision=SETTINGS.gpu_precision,
        splits=["test", "validation"],
        setting=of_collection("setting"),
        tasks=of_collection("tasks"),
        input_options=pair_input_options_of,
    message:
        "Re-ranking {wildcards.collection} ({wildcards.kind}, {wildcards.model})"
