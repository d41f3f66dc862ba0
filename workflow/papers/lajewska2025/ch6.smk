# lajewska2025, chapter 6: responses generated from nuggets (GINGER).
# Labels of nuggets by three judge models -> V_strict of each response -> means by judge.
# Human marks, or sentences detected by a classifier -> nuggets -> ranked clusters -> one sentence per
# top cluster -> share of human nuggets in a response.


include: "ch6_inputs.smk"


# Table 6.7: systems by judge; supplements describe the nuggets and the agreement of the judges.
use rule table as lajewska2025_ch6_judges with:
    input:
        labels=nugget_labels(),
    output:
        **table_files(
            tables=["agreement", "nuggets", "readings", "rewriting"], figures=["responses"]
        ),
    pathvars:
        result="released/lajewska2025/table_6_7",
    resources:
        **needs(1000),
    params:
        **runs("lajewska2025/ch6:judges"),
    message:
        "Scores of three judges (Table 6.7)"


# Table 6.8: scores by methods of clustering and ranking.
use rule table as lajewska2025_ch6_parts with:
    input:
        labels=nugget_labels(),
    output:
        **table_files(tables=["tests", "changes"]),
    pathvars:
        result="released/lajewska2025/table_6_8",
    resources:
        **needs(1000),
    params:
        **runs("lajewska2025/ch6:parts"),
    message:
        "Scores by clustering and ranking (Table 6.8)"


# Sources of nuggets: people and a classifier, or a language model that detects them in the same
# passages or in those of TREC RAG 2024.
wildcard_constraints:
    source=r"released|(full|rag24)/[^/.]+",


# The 44 test queries: the only five topics of CAsT-snippets that have the published numbers.
use rule step as lajewska2025_ch6_test_queries with:
    input:
        **annotations("dataset"),
        published="published/lajewska2025/table_C_4.csv",
    output:
        queries="work/ginger/released/test_queries.parquet",
        search="work/ginger/released/test_queries.search.parquet",
    pathvars:
        job="ginger/released/test_queries",
    params:
        **runs("lajewska2025/ch6_test_queries:infer_queries"),
        # From the README of CAsT-snippets, and section 6.4.1 (L1704).
        topics=5,
        queries=44,
    message:
        "Search for the topics of the test queries"


use rule cached_step as lajewska2025_ch6_classifier with:
    input:
        **answerability_labels(),
        encoder=registered_encoder("minilm"),
        test_queries="work/ginger/released/test_queries.parquet",
    output:
        scores="work/ginger/released/classifier.scores.parquet",
    pathvars:
        job="ginger/released/classifier",
    cache: True
    resources:
        **needs(3000, 20),
    params:
        **runs("lajewska2025/ch5_training:answerability_frozen"),
        **SETTINGS.answerability.frozen.model_dump(),
        gpu_precision=SETTINGS.gpu_precision,
        strengths=ANSWERABILITY_STRENGTHS,
        seed=SETTINGS.seed,
    message:
        "Answers in the sentences of the test queries (MiniLM, zero-shot)"


use rule step as lajewska2025_ch6_nuggets with:
    input:
        **annotations("dataset"),
        **answerability_labels(),
        scores="work/ginger/released/classifier.scores.parquet",
        test_queries="work/ginger/released/test_queries.parquet",
    output:
        passages="work/ginger/released/passages.parquet",
        nuggets="work/ginger/released/nuggets.parquet",
        agreement="work/ginger/released/agreement.parquet",
    pathvars:
        job="ginger/released/nuggets",
    resources:
        **needs(1000),
    params:
        **runs("lajewska2025/ch6_nuggets:nuggets"),
    message:
        "Nuggets by annotators and a classifier"


use rule torch_step as lajewska2025_ch6_vectors with:
    input:
        passages=passages_of,
        nuggets="work/ginger/{source}/nuggets.parquet",
        encoder=registered_encoder("minilm"),
    output:
        vectors="work/ginger/{source}/vectors.parquet",
    pathvars:
        job="ginger/{source}/vectors",
    resources:
        **where(is_rag, needs(4000, 240), needs(2000)),
    params:
        **runs("lajewska2025/ch6_clusters:vectors"),
        length=GINGER.length,
    message:
        "Embeddings of nuggets and questions ({wildcards.source})"


use rule step as lajewska2025_ch6_clusters with:
    input:
        nuggets="work/ginger/{source}/nuggets.parquet",
        vectors="work/ginger/{source}/vectors.parquet",
        stop_words=resource("nltk/english_stopwords.txt"),
        nouns=resource("nltk/wordnet30_noun_lemmas.txt"),
        exceptions=resource("nltk/wordnet30_noun_exceptions.txt"),
    output:
        clusters="work/ginger/{source}/clusters.parquet",
    pathvars:
        job="ginger/{source}/clusters",
    resources:
        **where(is_rag, needs(2500, 240), needs(1500)),
    params:
        **runs("lajewska2025/ch6_clusters:clusters"),
        # The seed in the authors' code, for UMAP and for LSA.
        cluster_seed=42,
    message:
        "Clusters of nuggets ({wildcards.source})"


use rule step as lajewska2025_ch6_ranks with:
    input:
        passages="work/ginger/released/passages.parquet",
        nuggets="work/ginger/released/nuggets.parquet",
        clusters="work/ginger/released/clusters.parquet",
        vectors="work/ginger/released/vectors.parquet",
    output:
        ranks="work/ginger/released/ranks.parquet",
    pathvars:
        job="ginger/released/ranks",
    params:
        **runs("lajewska2025/ch6_clusters:ranks"),
    message:
        "Ranking of clusters"


use rule step as lajewska2025_ch6_extract with:
    input:
        passages="work/ginger/released/passages.parquet",
        nuggets="work/ginger/released/nuggets.parquet",
        clusters="work/ginger/released/clusters.parquet",
        ranks="work/ginger/released/ranks.parquet",
        vectors="work/ginger/released/vectors.parquet",
    output:
        responses="work/ginger/released/extracted.parquet",
        json="work/ginger/released/responses.json",
        page="work/ginger/released/responses.html",
    pathvars:
        job="ginger/released/extract",
    params:
        **runs("lajewska2025/ch6_responses:extract"),
        **RESPONSE_SIZES,
    message:
        "Extractive responses from nuggets"


use rule asking_step as lajewska2025_ch6_write with:
    input:
        passages="work/ginger/released/passages.parquet",
        nuggets="work/ginger/released/nuggets.parquet",
        clusters="work/ginger/released/clusters.parquet",
        ranks="work/ginger/released/ranks.parquet",
        model=lambda wildcards: language_model_files(wildcards.model),
        prompts=list(GINGER.prompts.values()),
    output:
        responses="work/ginger/released/written/{model}.parquet",
        provenance="work/ginger/released/written/{model}.provenance.json",
    pathvars:
        job="ginger/released/{model}",
    resources:
        **needs(2500, 60),
    params:
        **runs("lajewska2025/ch6_writing:write"),
        **WRITING,
        questions=GINGER.released.questions,
        everything=False,
        record="lajewska2025-ch6-released-{model}",
    message:
        "Responses by {wildcards.model}"


# Table C.4: numbers of human nuggets; supplements describe the classifier's, and the search for the
# test queries.
use rule table as lajewska2025_ch6_nugget_sizes with:
    input:
        nuggets="work/ginger/released/nuggets.parquet",
        agreement="work/ginger/released/agreement.parquet",
        search="work/ginger/released/test_queries.search.parquet",
    output:
        **table_files(tables=["agreement", "classifier", "search"]),
    pathvars:
        result="released/lajewska2025/table_C_4",
    params:
        **runs("lajewska2025/ch6_nugget_tables:nugget_sizes"),
    message:
        "Numbers of nuggets (Table C.4)"


# Table C.5: numbers of clusters of human nuggets, and of the classifier's.
use rule table as lajewska2025_ch6_cluster_sizes with:
    input:
        nuggets="work/ginger/released/nuggets.parquet",
        clusters="work/ginger/released/clusters.parquet",
    output:
        **table_files(tables=["classifier", "halves"]),
    pathvars:
        result="released/lajewska2025/table_C_5",
    params:
        **runs("lajewska2025/ch6_nugget_tables:cluster_sizes"),
    message:
        "Numbers of clusters (Table C.5)"


# Table C.7: completeness of the variants on human nuggets.
use rule table as lajewska2025_ch6_completeness with:
    input:
        labels=nugget_labels(),
        responses=[resource(key) for key in GINGER_RESPONSES],
        passages="work/ginger/released/passages.parquet",
        nuggets="work/ginger/released/nuggets.parquet",
        extracted="work/ginger/released/extracted.parquet",
        written=written_by("released"),
    output:
        **table_files(tables=["tests", "judge", "writers"]),
    pathvars:
        result="released/lajewska2025/table_C_7",
    resources:
        **needs(1500),
    params:
        **runs("lajewska2025/ch6_completeness:completeness"),
        models=list(GINGER.released.models.values()),
        trained=GINGER.trained,
        seed=SETTINGS.seed,
        resamples=1000,
    message:
        "Completeness of responses (Table C.7)"


# Figure 6.1: the steps of GINGER, as the rules for responses in the released tier.
use rule figure as lajewska2025_ch6_steps with:
    pathvars:
        result="embedded/lajewska2025/figure_6_1",
    params:
        **runs("shared/pipelines:pipeline"),
        rules=rules_before({"": "results/released/lajewska2025/table_C_7.csv"}),
    message:
        "Steps from nuggets to responses (Figure 6.1)"
