# heuss2025, chapter 5: faithfulness of citations to the source of an answer.
# Questions with known claims -> answerers with known behaviour -> forged documents -> recovered
# statements and their citations. Synthetic answerers are controls, since the model of the thesis needs
# an 80 GB GPU.


include: "ch5_inputs.smk"


use rule step as heuss2025_ch5_planted with:
    output:
        selection="work/heuss2025/ch5/planted/selection.parquet",
        sizes="work/heuss2025/ch5/planted/sizes.parquet",
        outcomes="work/heuss2025/ch5/planted/outcomes.parquet",
        estimates="work/heuss2025/ch5/planted/estimates.parquet",
    pathvars:
        job="heuss2025/ch5/planted",
    params:
        **runs("heuss2025/ch5_planted:planted"),
        questions=CITED.questions,
        readers=CITED.readers,
        memories=CITED.memories,
        opens=CITED.opens,
        behaviour=READERS_BEHAVIOUR,
        seed=SETTINGS.seed,
    message:
        "Forged documents for answerers with known behaviour"


# Table 5.1: a measure for each desideratum.
use rule table as heuss2025_ch5_desiderata with:
    input:
        outcomes="work/heuss2025/ch5/planted/outcomes.parquet",
    pathvars:
        result="embedded/heuss2025/table_5_1",
    params:
        **runs("heuss2025/ch5_desiderata:desiderata"),
        questions=CITED.questions,
        readers=CITED.readers,
        behaviour=READERS_BEHAVIOUR,
        seed=SETTINGS.seed,
    message:
        "Desiderata for attributions, measured (Table 5.1)"


# Table 5.2: citation of selected documents.
use rule table as heuss2025_ch5_selection with:
    input:
        selection=answerer_files("selection"),
    output:
        **table_files(tables=["answerers"]),
    pathvars:
        result="{tier}/heuss2025/table_5_2",
    wildcard_constraints:
        tier="embedded|full",
    params:
        **runs("heuss2025/ch5:selection"),
        shown=lambda wildcards: list(
            CITED.readers if wildcards.tier == "embedded" else CITED.full.models
        )[0],
    message:
        "Selected and cited documents (Table 5.2, {wildcards.tier})"


# Figures 5.3 and 5.4: sizes of answers and positions of cited documents.
use rule figure as heuss2025_ch5_sizes with:
    input:
        sizes=answerer_files("sizes"),
    pathvars:
        result="{tier}/heuss2025/figure_5_{number}",
    wildcard_constraints:
        tier="embedded|full",
        number="3|4",
    params:
        **runs("heuss2025/ch5:sizes"),
        titles=lambda wildcards: SIZE_TITLES[wildcards.tier][wildcards.number],
    message:
        "Sizes of answers and cited documents (Figure 5.{wildcards.number}, {wildcards.tier})"


# Figure 5.6: citation of forged documents, with a supplementary figure of estimated planted effects.
use rule figure as heuss2025_ch5_forged_planted with:
    input:
        outcomes=["work/heuss2025/ch5/planted/outcomes.parquet"],
        estimates="work/heuss2025/ch5/planted/estimates.parquet",
    output:
        **figure_files(tables=["shares"], figures=["planted"]),
    pathvars:
        result="embedded/heuss2025/figure_5_6",
    params:
        **runs("heuss2025/ch5:forged"),
        **FORGED,
    message:
        "Forged documents and their citations (Figure 5.6)"


use rule figure as heuss2025_ch5_forged with:
    input:
        outcomes=answerer_files("outcomes"),
    output:
        **figure_files(tables=["shares"]),
    pathvars:
        result="{tier}/heuss2025/figure_5_6",
    wildcard_constraints:
        tier="released|full",
    params:
        **runs("heuss2025/ch5:forged"),
        **FORGED,
    message:
        "Forged documents and their citations (Figure 5.6, {wildcards.tier})"


# Figure 5.7: statements recovered from cited documents, or from the forged one alone.
use rule figure as heuss2025_ch5_controls with:
    input:
        outcomes=answerer_files("outcomes"),
    pathvars:
        result="{tier}/heuss2025/figure_5_7",
    wildcard_constraints:
        tier="embedded|full",
    params:
        **runs("heuss2025/ch5:controls"),
        of="forged one cited",
        metrics={name: name for name in ("all cited", "one cited", "forged alone")},
    message:
        "Statements recovered from fewer documents (Figure 5.7, {wildcards.tier})"


# The same experiment on Natural Questions, for attributors with a known mechanism.
use rule torch_step as heuss2025_ch5_attributed with:
    input:
        questions="work/attribution/nq/questions.parquet",
        relevant="work/attribution/nq/relevant.parquet",
        passages="work/attribution/nq/passages.parquet",
        run="work/attribution/nq/runs/bm25.run",
        encoder=registered_encoder("minilm"),
    output:
        outcomes="work/heuss2025/ch5/attributed/outcomes.parquet",
    pathvars:
        job="heuss2025/ch5/attributed",
    resources:
        **needs(2000, 20),
    params:
        **runs("heuss2025/ch5_attributed:attributed"),
        **CITED.released.model_dump(include={"questions", "depth", "length"}),
        seed=SETTINGS.seed,
    message:
        "Forged documents on Natural Questions"


# A language model that is given the answer, and chooses the document that the answer comes from.
use rule asking_step as heuss2025_ch5_chosen with:
    input:
        questions="work/attribution/nq/questions.parquet",
        relevant="work/attribution/nq/relevant.parquet",
        passages="work/attribution/nq/passages.parquet",
        run="work/attribution/nq/runs/bm25.run",
        model=lambda wildcards: language_model_files(wildcards.model),
        recorded="recorded/heuss2025_ch5.jsonl",
    output:
        outcomes="work/heuss2025/ch5/chosen/{model}.outcomes.parquet",
        numbers="work/heuss2025/ch5/chosen/{model}.numbers.parquet",
        answers="work/heuss2025/ch5/chosen/{model}.answers.parquet",
        right="work/heuss2025/ch5/chosen/{model}.right.parquet",
        provenance="work/heuss2025/ch5/chosen/{model}.provenance.json",
        record="work/heuss2025/ch5/chosen/{model}.record.jsonl",
    pathvars:
        job="heuss2025/ch5/chosen/{model}",
    resources:
        **needs(2500, 30),
    params:
        **runs("heuss2025/ch5_generation:choices"),
        **CITED.released.model_dump(include={"chosen", "depth"}),
        name=lambda wildcards: CITED.released.models[wildcards.model],
        record="heuss2025-ch5-released-{model}",
        seed=SETTINGS.seed,
    message:
        "Documents that {wildcards.model} chooses for known answers"


# Numbers in the text, from Table 5.2 and from other numbers in the text.
use rule table as heuss2025_ch5_stated with:
    input:
        published=expand("published/heuss2025/{artefact}.csv", artefact=["table_5_2", "text_5_5"]),
    pathvars:
        result="embedded/heuss2025/text_5_5",
    params:
        **runs("heuss2025/ch5:stated"),
        declared=declared_inputs("embedded", "heuss2025", "table_5_2", "text_5_5"),
    message:
        "Stated numbers derived from other published ones (section 5.5)"


use rule table as heuss2025_ch5_reported_nq with:
    input:
        numbers=choice_files("numbers.parquet"),
        answers=choice_files("answers.parquet"),
        right=choice_files("right.parquet"),
        provenance=choice_files("provenance.json"),
    output:
        **table_files(tables=["measured", "right"]),
    pathvars:
        result="released/heuss2025/text_5_5",
    params:
        **runs("heuss2025/ch5:reported"),
        untold=CLAIMS_ON_OWN_ANSWERS,
    message:
        "Numbers of a small language model (section 5.5)"


# Full tier: language models that answer and cite, again with forged documents.
use rule asking_step as heuss2025_ch5_asked with:
    input:
        data=cited_data,
        model=lambda wildcards: language_model_files(wildcards.model),
        template=CITED.full.template or [],
    output:
        **full_job_outputs("{model}"),
    pathvars:
        job="heuss2025/ch5/asked/{model}",
    params:
        **runs("heuss2025/ch5_generation:model_answers"),
        **CITED.full.model_dump(include={"questions", "depth", "longest", "max_tokens"}),
        style=lambda wildcards: CITED.full.models[wildcards.model],
        record="heuss2025-ch5-full-{model}",
        seed=SETTINGS.seed,
    message:
        "Querying {wildcards.model} for answers with citations, with and without forged documents"


# Chunks of KILT's Wikipedia, BM25's candidates, and their order by ColBERTv2 (section 5.5.1).
use rule step as heuss2025_ch5_kilt_index with:
    input:
        pages=kilt_file("pages"),
        tokenizer=kilt_file("tokenizer"),
    output:
        index=directory("work/heuss2025/ch5/kilt/index"),
    pathvars:
        job="heuss2025/ch5/kilt/index",
    conda:
        environment("lucene")
    threads: 4
    resources:
        **needs(8000, 720),
    params:
        **runs("heuss2025/ch5_kilt:kilt_index"),
        tokens=CITED.full.kilt.tokens,
    message:
        "Lucene index of chunks of KILT's Wikipedia"


use rule step as heuss2025_ch5_kilt_candidates with:
    input:
        pages=kilt_file("pages"),
        questions=kilt_file("questions"),
        tokenizer=kilt_file("tokenizer"),
        index="work/heuss2025/ch5/kilt/index",
    output:
        questions="work/heuss2025/ch5/kilt/questions.jsonl",
        passages="work/heuss2025/ch5/kilt/passages.jsonl",
        run="work/heuss2025/ch5/kilt/bm25.run",
    pathvars:
        job="heuss2025/ch5/kilt/candidates",
    conda:
        environment("lucene")
    threads: 4
    resources:
        **needs(8000, 360),
    params:
        **runs("heuss2025/ch5_kilt:kilt_candidates"),
        **CITED.full.kilt.model_dump(include={"tokens", "k1", "b", "candidates"}),
    message:
        "BM25 on chunks of KILT's Wikipedia"


use rule torch_step as heuss2025_ch5_kilt_rerank with:
    input:
        questions="work/heuss2025/ch5/kilt/questions.jsonl",
        passages="work/heuss2025/ch5/kilt/passages.jsonl",
        run="work/heuss2025/ch5/kilt/bm25.run",
        model=kilt_model,
    output:
        run="work/heuss2025/ch5/kilt/retrieved.run",
    pathvars:
        job="heuss2025/ch5/kilt/rerank",
    resources:
        **ON_GPU,
    params:
        **runs("heuss2025/ch5_late_interaction:kilt_rerank"),
        **CITED.full.kilt.model_dump(include={"query_length", "length"}),
        gpu_precision=SETTINGS.gpu_precision,
    message:
        "ColBERT on BM25's candidates"


use rule table as heuss2025_ch5_reported_full with:
    input:
        numbers=full_model_outputs("numbers"),
        answers=full_model_outputs("answers"),
        provenance=full_model_outputs("provenance"),
    output:
        **table_files(tables=["measured", "models"]),
    pathvars:
        result="full/heuss2025/text_5_5",
    params:
        **runs("heuss2025/ch5:reported"),
        untold=[],
    message:
        "Numbers of configured models (section 5.5)"


# Figure 5.1: kinds of citations, by four answerers.
use rule figure as heuss2025_ch5_scenarios with:
    pathvars:
        result="embedded/heuss2025/figure_5_1",
    conda:
        environment("torch")
    params:
        **runs("heuss2025/ch5_examples:scenarios"),
    message:
        "Correct and faithful citations (Figure 5.1)"


# Figure 5.5: a forged document and two answers, for two answerers.
use rule figure as heuss2025_ch5_injection_example with:
    pathvars:
        result="embedded/heuss2025/figure_5_5",
    conda:
        environment("torch")
    params:
        **runs("heuss2025/ch5_examples:injection_example"),
        seed=SETTINGS.seed,
    message:
        "Forging a document (Figure 5.5)"
