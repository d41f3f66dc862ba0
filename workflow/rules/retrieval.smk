# Stages of a retrieval experiment, for any collection: tokenise, index, score or search. A
# chapter writes work/{collection}/{documents,queries,candidates}.parquet and reads runs.


include: "retrieval_inputs.smk"


wildcard_constraints:
    collection=r"[a-z0-9]+",
    tokens=r"SA|STM1|STM2|BERT-Token|BERT-Token-cut|SciBERT-Token",


# Text as terms; the index takes them as they are.
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
        **runs("retrieval/tokenise"),
        name=tokenisation_of,
        first=first_terms_of,
    message:
        "Terms of {wildcards.collection} ({wildcards.tokens})"


use rule cached_step as index with:
    input:
        documents="work/{collection}/tokens/{tokens}/documents.parquet",
    output:
        index=directory("work/{collection}/index/{tokens}"),
    pathvars:
        job="retrieval/{collection}/index_{tokens}",
    conda:
        environment("lucene")
    resources:
        **needs(2000, 20),
    params:
        **runs("retrieval/lucene_index"),
        term_vectors=False,
    message:
        "Lucene index of {wildcards.collection} ({wildcards.tokens})"


# Scores of the candidates alone, with the statistics of the whole index.
use rule step as score_lexically with:
    input:
        index="work/{collection}/index/{tokens}",
        queries="work/{collection}/tokens/{tokens}/queries.parquet",
        candidates="work/{collection}/candidates.parquet",
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
        **runs("retrieval/lucene_score"),
        bm25=SETTINGS.query_by_example.bm25.model_dump(),
        jelinek_mercer=SETTINGS.query_by_example.jelinek_mercer,
        dirichlet=SETTINGS.query_by_example.dirichlet,
        hits=1000,
    message:
        "BM25 and language models on {wildcards.collection} ({wildcards.tokens})"


# The language model with the other smoothing.
use rule score_lexically as score_dirichlet with:
    output:
        lm_dirichlet="work/{collection}/runs/lm-dirichlet.{tokens}.run",
    pathvars:
        job="retrieval/{collection}/score_dirichlet_{tokens}",


# Best documents of the whole collection for each topic.
use rule score_lexically as search with:
    input:
        index="work/{collection}/index/{tokens}",
        queries="work/{collection}/tokens/{tokens}/queries.parquet",
    wildcard_constraints:
        collection="cisi|cranfield",
    message:
        "Searching {wildcards.collection} ({wildcards.tokens})"


use rule score_dirichlet as search_dirichlet with:
    input:
        index="work/{collection}/index/{tokens}",
        queries="work/{collection}/tokens/{tokens}/queries.parquet",
    wildcard_constraints:
        collection="cisi|cranfield",


# BM25 with the parameters that rank the validation queries best.
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
        **runs("retrieval/lucene_tune"),
        grid=SETTINGS.query_by_example.tuning,
        measure="nDCG",
        tasks=tasks_of,
        setting=setting_of,
    message:
        "Tuning BM25 on {wildcards.collection} ({wildcards.tokens})"


# Documents and queries as a ranker sees them: once, whatever is done with the scores.
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
        kind="tilde|tildev2|splade|dense",
    params:
        **runs("retrieval/encode"),
        kind=lambda wildcards: wildcards.kind,
        length=length_of,
        query_length=SETTINGS.query_by_example.lengths.query,
        proposals=proposals_of,
    message:
        "Encoding {wildcards.collection} ({wildcards.kind}, {wildcards.model})"


# TILDEv2 on documents with terms that TILDE thinks likely and that they lack.
use rule encode as encode_expanded with:
    input:
        documents="work/{collection}/documents.parquet",
        queries="work/{collection}/queries.parquet",
        tilde="work/{collection}/encoded/tilde.{model}.npz",
        model="work/{collection}/models/tildev2.{model}",
    output:
        vectors="work/{collection}/encoded/tildev2-expanded-{m}.{model}.npz",
        new_terms="work/{collection}/encoded/tildev2-expanded-{m}.{model}.csv",
    pathvars:
        job="retrieval/{collection}/encode_tildev2-expanded-{m}.{model}",
    wildcard_constraints:
        m=r"\d+",
    params:
        **runs("retrieval/encode"),
        kind="tildev2",
        proposals=0,
        own=SETTINGS.query_by_example.lengths.text,
        length=SETTINGS.query_by_example.lengths.expanded,
        query_length=SETTINGS.query_by_example.lengths.query,
    message:
        "Encoding {wildcards.collection} with {wildcards.m} new terms ({wildcards.model})"


# Scores of the candidates from what was encoded.
use rule step as rerank with:
    input:
        vectors="work/{collection}/encoded/{system}.npz",
        candidates="work/{collection}/candidates.parquet",
    output:
        run="work/{collection}/runs/{system}.run",
    pathvars:
        job="retrieval/{collection}/rerank_{system}",
    wildcard_constraints:
        system=r"(tilde|tildev2|tildev2-expanded-\d+|splade|dense)\..+",
    resources:
        **needs(2000, 20),
    params:
        **runs("retrieval/rerank"),
    message:
        "Re-ranking {wildcards.collection} ({wildcards.system})"


# The same by a cross-encoder, for the test queries of what it was trained for alone: it reads
# each pair.
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
        kind="cross-encoder|mtft",
    params:
        **runs("retrieval/rerank_pairs"),
        setting=setting_of,
        tasks=tasks_of,
        pair_length={"total": SETTINGS.query_by_example.lengths.pair},
    message:
        "Re-ranking {wildcards.collection} ({wildcards.kind}, {wildcards.model})"
