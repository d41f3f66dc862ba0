# lajewska2025, chapter 6 and appendix C, full tier: a language model detects nuggets and writes responses.
# Passages -> marked spans -> ranked clusters -> responses -> entailment. The stages in between are
# those of the released tier (ch6.smk).


include: "ch6_full_inputs.smk"


# Passages of all inputs: relevant and irrelevant ones, the former in other words, and a ranker's.
use rule asking_step as lajewska2025_ch6_further_input with:
    input:
        **answerability_labels(),
        passages="work/ginger/released/passages.parquet",
        run=retrieved_file("run", "a TREC run for the questions"),
        texts=retrieved_file("passages", "the passages of the run"),
        model=lambda wildcards: language_model_files(wildcards.model),
        prompt=GINGER.prompts.get("rephrase", []),
    output:
        passages="work/ginger/full/{model}/passages.parquet",
        provenance="work/ginger/full/{model}/rephrasing.provenance.json",
    pathvars:
        job="ginger/full/{model}/further_input",
    params:
        **runs("lajewska2025/ch6_further_input:further_input"),
        questions=GINGER.full.questions,
        depth=GINGER.full.retrieved.depth,
        max_tokens=GINGER.full.passage_tokens,
        record="lajewska2025-ch6-rephrase-{model}",
    message:
        "Passages of all inputs, rephrased by {wildcards.model}"


use rule asking_step as lajewska2025_ch6_detect with:
    input:
        **annotations("dataset"),
        passages="work/ginger/full/{model}/passages.parquet",
        nuggets="work/ginger/released/nuggets.parquet",
        model=lambda wildcards: language_model_files(wildcards.model),
        template=GINGER.prompts.get("detection", []),
    output:
        nuggets="work/ginger/full/{model}/nuggets.parquet",
        agreement="work/ginger/full/{model}/agreement.parquet",
        provenance="work/ginger/full/{model}/detection.provenance.json",
    pathvars:
        job="ginger/full/{model}/detect",
    params:
        **runs("lajewska2025/ch6_nuggets:detect"),
        questions=GINGER.full.questions,
        max_tokens=GINGER.full.passage_tokens,
        record="lajewska2025-ch6-detect-{model}",
    message:
        "Nuggets detected by {wildcards.model}"


use rule torch_step as lajewska2025_ch6_ranks_full with:
    input:
        passages=passages_of,
        nuggets="work/ginger/{source}/nuggets.parquet",
        clusters="work/ginger/{source}/clusters.parquet",
        vectors="work/ginger/{source}/vectors.parquet",
        duo=duo_files,
    output:
        ranks="work/ginger/{source}/ranks.parquet",
    pathvars:
        job="ginger/{source}/ranks",
    wildcard_constraints:
        source="(full|rag24)/[^/.]+",
    resources:
        **needs(3000, 240),
    params:
        **runs("lajewska2025/ch6_clusters:ranks"),
    message:
        "Ranking of clusters ({wildcards.source})"


use rule asking_step as lajewska2025_ch6_write_full with:
    input:
        passages="work/ginger/full/{model}/passages.parquet",
        nuggets="work/ginger/full/{model}/nuggets.parquet",
        clusters="work/ginger/full/{model}/clusters.parquet",
        ranks="work/ginger/full/{model}/ranks.parquet",
        model=lambda wildcards: language_model_files(wildcards.model),
        prompts=list(GINGER.prompts.values()),
    output:
        responses="work/ginger/full/{model}/responses.parquet",
        provenance="work/ginger/full/{model}/responses.provenance.json",
    pathvars:
        job="ginger/full/{model}/write",
    params:
        **runs("lajewska2025/ch6_writing:write"),
        **(WRITING | {"max_tokens": GINGER.full.response_tokens}),
        questions=GINGER.full.questions,
        everything=True,
        record="lajewska2025-ch6-full-{model}",
    message:
        "Responses by {wildcards.model}"


# Source spans of each sentence, as an HTML page and as JSON.
use rule step as lajewska2025_ch6_show with:
    input:
        passages=passages_of,
        nuggets="work/ginger/{source}/nuggets.parquet",
        responses=lambda wildcards: "work/ginger/{}/{}.parquet".format(
            wildcards.source, "sentences" if is_rag(wildcards) else "responses"
        ),
    output:
        json="work/ginger/{source}/responses.json",
        page="work/ginger/{source}/responses.html",
    pathvars:
        job="ginger/{source}/show",
    wildcard_constraints:
        source="(full|rag24)/[^/.]+",
    params:
        **runs("lajewska2025/ch6_responses:show"),
        model=lambda wildcards: wildcards.source.partition("/")[2],
        kind=lambda wildcards: "top20" if is_rag(wildcards) else "relevant",
        system=lambda wildcards: "ginger-fluency_top_20" if is_rag(wildcards) else "GINGER",
        note=lambda wildcards: NOTES_ON_PAGES[is_rag(wildcards)],
    message:
        "Page of the responses of {wildcards.source}"


use rule torch_step as lajewska2025_ch6_infer with:
    input:
        nuggets="work/ginger/full/{model}/nuggets.parquet",
        responses="work/ginger/full/{model}/responses.parquet",
        inference=inference_files,
    output:
        scores="work/ginger/full/{model}/inferred.parquet",
    pathvars:
        job="ginger/full/{model}/infer",
    wildcard_constraints:
        model="[^/.]+",
    resources:
        **ON_GPU,
    params:
        **runs("lajewska2025/ch6_judging:infer"),
    message:
        "Entailment by responses of {wildcards.model}"


use rule asking_step as lajewska2025_ch6_ragas with:
    input:
        passages="work/ginger/full/{model}/passages.parquet",
        responses="work/ginger/full/{model}/responses.parquet",
        encoder=registered_encoder("minilm"),
        model=lambda wildcards: language_model_files(wildcards.model),
    output:
        scores="work/ginger/full/{model}/ragas.parquet",
        runs="work/ginger/full/{model}/ragas.runs.parquet",
        provenance="work/ginger/full/{model}/ragas.provenance.json",
    pathvars:
        job="ginger/full/{model}/ragas",
    params:
        **runs("lajewska2025/ch6_judging:ragas"),
        **GINGER.full.ragas.model_dump(),
        max_tokens=GINGER.full.passage_tokens,
        length=GINGER.length,
        record="lajewska2025-ch6-ragas-{model}",
    message:
        "Faithfulness of responses by {wildcards.model}"


# Tables C.3 and C.4: detected nuggets compared with human nuggets.
use rule table as lajewska2025_ch6_detected_nuggets with:
    input:
        nuggets=full_ginger_files("nuggets.parquet"),
        agreement=full_ginger_files("agreement.parquet"),
        provenance=full_ginger_files("detection.provenance.json"),
    output:
        **table_files(),
        **table_files("full/lajewska2025/table_C_4", tables=["agreement"]),
    pathvars:
        result="full/lajewska2025/table_C_3",
    params:
        **runs("lajewska2025/ch6_nugget_tables:detected_nuggets"),
    message:
        "Detected nuggets (Tables C.3 and C.4)"


# Table C.5: numbers of clusters of detected nuggets.
use rule table as lajewska2025_ch6_detected_clusters with:
    input:
        nuggets=full_ginger_files("nuggets.parquet"),
        clusters=full_ginger_files("clusters.parquet"),
    output:
        **table_files(tables=["halves"]),
    pathvars:
        result="full/lajewska2025/table_C_5",
    params:
        **runs("lajewska2025/ch6_nugget_tables:detected_clusters"),
    message:
        "Numbers of clusters of detected nuggets (Table C.5)"


# Tables 6.1, 6.4, 6.6, C.6 and C.7: scores by an inference model and by a language model.
use rule table as lajewska2025_ch6_response_scores with:
    input:
        scores=full_ginger_files("inferred.parquet", "ragas.parquet"),
        runs=full_ginger_files("ragas.runs.parquet"),
        provenance=full_ginger_files("responses.provenance.json", "ragas.provenance.json"),
    output:
        **table_files(),
        **table_files("full/lajewska2025/table_6_4", tables=["reasoning"]),
        **table_files("full/lajewska2025/table_6_6"),
        **table_files("full/lajewska2025/table_C_6", tables=["runs"]),
        **table_files("full/lajewska2025/table_C_7"),
    pathvars:
        result="full/lajewska2025/table_6_1",
    params:
        **runs("lajewska2025/ch6_response_tables:response_scores"),
    message:
        "Scores of responses by models (Tables 6.1, 6.4, 6.6, C.6 and C.7)"
