# lajewska2025, chapter 6, full tier: TREC RAG 2024 (Tables 6.7 and 6.8).
# The user's topics, run and segments -> nuggets -> clusters -> responses of all runs -> support for
# the released nuggets, and for new ones. Without the user's data the released responses are judged.


include: "ch6_rag24_inputs.smk"


use rule step as lajewska2025_ch6_rag_passages with:
    input:
        rag_files,
    output:
        passages="work/ginger/rag24/passages.parquet",
    pathvars:
        job="ginger/rag24/passages",
    resources:
        **needs(2000, 600),
    params:
        **runs("lajewska2025/ch6_rag24:rag_passages"),
        folder=lambda wildcards: str(rag_folder()),
        segments=segment_sizes,
        topics=GINGER.full.topics,
    message:
        "Passages of TREC RAG 2024"


use rule asking_step as lajewska2025_ch6_rag_detect with:
    input:
        passages="work/ginger/rag24/passages.parquet",
        model=lambda wildcards: language_model_files(wildcards.model),
        template=GINGER.prompts.get("detection", []),
    output:
        nuggets="work/ginger/rag24/{model}/nuggets.parquet",
        provenance="work/ginger/rag24/{model}/detection.provenance.json",
    pathvars:
        job="ginger/rag24/{model}/detect",
    params:
        **runs("lajewska2025/ch6_nuggets:rag_detect"),
        max_tokens=GINGER.full.passage_tokens,
        record="lajewska2025-ch6-rag-detect-{model}",
    message:
        "Nuggets detected by {wildcards.model} in TREC RAG 2024"


use rule asking_step as lajewska2025_ch6_rag_write with:
    input:
        passages="work/ginger/rag24/passages.parquet",
        nuggets="work/ginger/rag24/{model}/nuggets.parquet",
        clusters="work/ginger/rag24/{model}/clusters.parquet",
        ranks="work/ginger/rag24/{model}/ranks.parquet",
        model=lambda wildcards: language_model_files(wildcards.model),
        prompts=list(GINGER.prompts.values()),
    output:
        sentences="work/ginger/rag24/{model}/sentences.parquet",
        responses="work/ginger/rag24/{model}/responses.parquet",
        provenance="work/ginger/rag24/{model}/responses.provenance.json",
    pathvars:
        job="ginger/rag24/{model}/write",
    params:
        **runs("lajewska2025/ch6_rag24:rag_write"),
        **RESPONSE_SIZES,
        max_tokens=GINGER.full.response_tokens,
        reasoning_tokens=GINGER.reasoning_tokens,
        prompts=GINGER.prompts,
        record="lajewska2025-ch6-rag-{model}",
    message:
        "Responses to TREC RAG 2024 by {wildcards.model}"


# All steps of AutoNuggetizer: a judge creates its own nuggets from the passages.
use rule asking_step as lajewska2025_ch6_create with:
    input:
        passages="work/ginger/rag24/passages.parquet",
        model=lambda wildcards: language_model_files(wildcards.model),
        prompts=list(GINGER.prompts.values()),
    output:
        nuggets="work/ginger/rag24/created/{model}.parquet",
        provenance="work/ginger/rag24/created/{model}.provenance.json",
    pathvars:
        job="ginger/rag24/create_{model}",
    params:
        **runs("lajewska2025/ch6_judging:create"),
        judge=lambda wildcards: GINGER.full.judges[wildcards.model],
        prompts=GINGER.prompts,
        max_tokens=GINGER.full.nugget_tokens,
        record="lajewska2025-ch6-create-{model}",
    message:
        "Nuggets created by {wildcards.model}"


use rule asking_step as lajewska2025_ch6_assign with:
    input:
        nuggets="work/ginger/rag24/created/{model}.parquet",
        responses=rag_model_file("responses.parquet"),
        model=lambda wildcards: language_model_files(wildcards.model),
        prompt=GINGER.prompts.get("assign", []),
    output:
        labels="work/ginger/rag24/assigned/{model}.parquet",
        provenance="work/ginger/rag24/assigned/{model}.provenance.json",
    pathvars:
        job="ginger/rag24/assign_{model}",
    params:
        **runs("lajewska2025/ch6_judging:assign"),
        judge=lambda wildcards: GINGER.full.judges[wildcards.model],
        max_tokens=GINGER.full.max_tokens,
        record="lajewska2025-ch6-assign-{model}",
    message:
        "Labelling which nuggets of {wildcards.model} the responses support"


# Support labels by the user's language models, for the released responses or for new ones.
use rule asking_step as lajewska2025_ch6_judge_again with:
    input:
        labels=nugget_labels(),
        responses=(
            rag_model_file("responses.parquet")
            if WRITES_NEW_RESPONSES
            else [resource(key) for key in GINGER_RESPONSES]
        ),
        prompt=GINGER.prompts.get("assign", []),
        model=lambda wildcards: language_model_files(wildcards.model),
    output:
        labels="work/ginger/full/judged/{model}.parquet",
        provenance="work/ginger/full/judged/{model}.provenance.json",
    pathvars:
        job="ginger/full/judge_{model}",
    params:
        **runs("lajewska2025/ch6_judging:judge_again"),
        judge=lambda wildcards: GINGER.full.judges[wildcards.model],
        topics=GINGER.full.topics,
        max_tokens=GINGER.full.max_tokens,
        record="lajewska2025-ch6-judge-{model}",
    message:
        "Labelling which released nuggets the responses support, with {wildcards.model}"


# Table 6.7; for new responses also scores by new nuggets.
use rule table as lajewska2025_ch6_judged_again with:
    input:
        labels=judge_files("work/ginger/full/judged", "parquet"),
        provenance=judge_files("work/ginger/full/judged", "provenance.json"),
        created=(
            judge_files("work/ginger/rag24/created", "parquet") if WRITES_NEW_RESPONSES else []
        ),
        assigned=(
            judge_files("work/ginger/rag24/assigned", "parquet") if WRITES_NEW_RESPONSES else []
        ),
        responses=rag_model_file("responses.parquet") if WRITES_NEW_RESPONSES else [],
        released=nugget_labels() if WRITES_NEW_RESPONSES else [],
        further=rag_provenance if WRITES_NEW_RESPONSES else [],
    output:
        **table_files(tables=["created", "created_agreement"] if WRITES_NEW_RESPONSES else []),
    pathvars:
        result="full/lajewska2025/table_6_7",
    params:
        **runs("lajewska2025/ch6:judged_again"),
    message:
        "Scores by configured judges (Table 6.7)"


# Table 6.8, from the same labels.
use rule table as lajewska2025_ch6_parts_again with:
    input:
        labels=three_judges("parquet"),
        provenance=three_judges("provenance.json"),
    output:
        **table_files(tables=["tests", "changes"]),
    pathvars:
        result="full/lajewska2025/table_6_8",
    params:
        **runs("lajewska2025/ch6:parts_again"),
    message:
        "Scores by clustering and ranking, three configured judges (Table 6.8)"
