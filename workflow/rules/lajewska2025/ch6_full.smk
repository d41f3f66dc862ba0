# lajewska2025, chapter 6 and appendix C, full tier: a language model detects nuggets and writes.
# Passages -> marked spans -> clusters -> their ranking -> responses -> what they entail. The stages
# between are those of the released tier (ch6_pipeline.smk).


include: "ch6_full_inputs.smk"


use rule step as lajewska2025_ch6_detect with:
    input:
        **annotations("dataset"),
        passages="work/ginger/released/passages.parquet",
        nuggets="work/ginger/released/nuggets.parquet",
        model=lambda wildcards: language_model_files(wildcards.model),
        template=GINGER.prompts.get("detection", []),
    output:
        nuggets="work/ginger/full/{model}/nuggets.parquet",
        agreement="work/ginger/full/{model}/agreement.parquet",
        provenance="work/ginger/full/{model}/detection.provenance.json",
    pathvars:
        job="ginger/full/{model}/detect",
    wildcard_constraints:
        model="[^/.]+",
    conda:
        environment("torch")
    threads: 1
    resources:
        **asking(),
    params:
        **runs("lajewska2025/ch6/detect"),
        model="{model}",
        answered_by=lambda wildcards: answered_by(wildcards.model),
        questions=GINGER.full.questions,
        max_tokens=GINGER.full.passage_tokens,
        record="lajewska2025-ch6-detect-{model}",
    message:
        "Nuggets that {wildcards.model} detects"


use rule lajewska2025_ch6_vectors as lajewska2025_ch6_vectors_full with:
    input:
        passages="work/ginger/released/passages.parquet",
        nuggets="work/ginger/full/{model}/nuggets.parquet",
        encoder=registered_encoder("minilm"),
    output:
        vectors="work/ginger/full/{model}/vectors.parquet",
    pathvars:
        job="ginger/full/{model}/vectors",
    wildcard_constraints:
        model="[^/.]+",


use rule lajewska2025_ch6_clusters as lajewska2025_ch6_clusters_full with:
    input:
        nuggets="work/ginger/full/{model}/nuggets.parquet",
        vectors="work/ginger/full/{model}/vectors.parquet",
    output:
        clusters="work/ginger/full/{model}/clusters.parquet",
    pathvars:
        job="ginger/full/{model}/clusters",
    wildcard_constraints:
        model="[^/.]+",


use rule lajewska2025_ch6_ranks as lajewska2025_ch6_ranks_full with:
    input:
        passages="work/ginger/released/passages.parquet",
        nuggets="work/ginger/full/{model}/nuggets.parquet",
        clusters="work/ginger/full/{model}/clusters.parquet",
        vectors="work/ginger/full/{model}/vectors.parquet",
        duo=duo_files,
    output:
        ranks="work/ginger/full/{model}/ranks.parquet",
    pathvars:
        job="ginger/full/{model}/ranks",
    wildcard_constraints:
        model="[^/.]+",
    conda:
        environment("torch")
    threads: 1
    resources:
        **needs(3000, 240),


use rule lajewska2025_ch6_write as lajewska2025_ch6_write_full with:
    input:
        passages="work/ginger/released/passages.parquet",
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
    resources:
        **asking(),
    params:
        questions=GINGER.full.questions,
        everything=True,
        record="lajewska2025-ch6-full-{model}",


# Where each sentence comes from: a page for readers, JSON for machines.
use rule step as lajewska2025_ch6_show with:
    input:
        passages="work/ginger/released/passages.parquet",
        nuggets="work/ginger/full/{model}/nuggets.parquet",
        responses="work/ginger/full/{model}/responses.parquet",
    output:
        json="work/ginger/full/{model}/responses.json",
        page="work/ginger/full/{model}/responses.html",
    pathvars:
        job="ginger/full/{model}/show",
    wildcard_constraints:
        model="[^/.]+",
    params:
        **runs("lajewska2025/ch6/show"),
        model="{model}",
        kind="relevant",
        system="GINGER",
        note=(
            "Questions and passages are those of CAsT-snippets (Lajewska and Balog, CIKM 2023), "
            "which come from TREC CAsT."
        ),
    message:
        "Page of the responses of {wildcards.model}"


use rule step as lajewska2025_ch6_infer with:
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
    conda:
        environment("torch")
    threads: 1
    resources:
        **ON_GPU,
    params:
        **runs("lajewska2025/ch6/infer"),
    message:
        "What responses of {wildcards.model} entail"


use rule step as lajewska2025_ch6_ragas with:
    input:
        passages="work/ginger/released/passages.parquet",
        responses="work/ginger/full/{model}/responses.parquet",
        encoder=registered_encoder("minilm"),
        model=lambda wildcards: language_model_files(wildcards.model),
    output:
        scores="work/ginger/full/{model}/ragas.parquet",
        provenance="work/ginger/full/{model}/ragas.provenance.json",
    pathvars:
        job="ginger/full/{model}/ragas",
    wildcard_constraints:
        model="[^/.]+",
    conda:
        environment("torch")
    threads: 1
    resources:
        **asking(),
    params:
        **runs("lajewska2025/ch6/ragas"),
        model="{model}",
        answered_by=lambda wildcards: answered_by(wildcards.model),
        max_tokens=GINGER.full.passage_tokens,
        length=GINGER.length,
        record="lajewska2025-ch6-ragas-{model}",
    message:
        "Faithfulness of responses by {wildcards.model}"


# Tables C.3 and C.4: what is detected, against what people marked.
use rule table as lajewska2025_ch6_detected with:
    input:
        nuggets=written_in_full("nuggets.parquet"),
        agreement=written_in_full("agreement.parquet"),
        provenance=written_in_full("detection.provenance.json"),
    output:
        **table_files(),
        **table_files("full/lajewska2025/table_C_4", tables=["agreement"]),
    pathvars:
        result="full/lajewska2025/table_C_3",
    params:
        **runs("lajewska2025/ch6/detected"),
    message:
        "Detected nuggets (Tables C.3 and C.4)"


use rule lajewska2025_ch6_cluster_sizes as lajewska2025_ch6_cluster_sizes_full with:
    input:
        nuggets=written_in_full("nuggets.parquet"),
        clusters=written_in_full("clusters.parquet"),
    output:
        **table_files(tables=["halves"]),
    pathvars:
        result="full/lajewska2025/table_C_5",


# Tables 6.1, 6.4, 6.6, C.6 and C.7: scores by a model of inference and by a language model.
use rule table as lajewska2025_ch6_inferred with:
    input:
        scores=written_in_full("inferred.parquet", "ragas.parquet"),
        provenance=written_in_full("responses.provenance.json", "ragas.provenance.json"),
    output:
        **table_files(),
        **table_files("full/lajewska2025/table_6_4", tables=["reasoning"]),
        **table_files("full/lajewska2025/table_6_6"),
        **table_files("full/lajewska2025/table_C_6"),
        **table_files("full/lajewska2025/table_C_7"),
    pathvars:
        result="full/lajewska2025/table_6_1",
    params:
        **runs("lajewska2025/ch6/inferred"),
    message:
        "Scores of responses by models (Tables 6.1, 6.4, 6.6, C.6 and C.7)"


include: "ch6_rag24.smk"
