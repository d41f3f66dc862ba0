# abolghasemi2026, chapter 3: counterfactuals of all test samples, and tables from annotators' labels.


include: "ch3_annotation_inputs.smk"


# All 851 + 924 test samples rewritten by a language model.
use rule torch_step as abolghasemi2026_ch3_generate_full with:
    input:
        samples="work/satisfaction/samples.parquet",
        model=lambda wildcards: language_model_files(full_rewriter(wildcards)),
        template=SETTINGS.counterfactuals.template or COUNTERFACTUAL_PROMPT,
        recorded="recorded/abolghasemi2026_ch3.jsonl",
    output:
        generated="work/satisfaction/full/generated.parquet",
        provenance="work/satisfaction/full/provenance.json",
    pathvars:
        job="abolghasemi2026/generate_full",
    resources:
        **where(
            lambda wildcards: needs_gpu(SETTINGS.counterfactuals.full.model),
            ON_GPU,
            needs(2500, 600),
        ),
    params:
        **runs("abolghasemi2026/ch3_full_generation:generate_all"),
        **GENERATION | FULL_GENERATION,
        record="abolghasemi2026-ch3-full",
        samples=SETTINGS.counterfactuals.full.samples,
    message:
        "Rewriting utterances of MultiWOZ and SGD with {params.model}"


# Dialogues for the annotators: rewritten ones mixed with real ones.
use rule step as abolghasemi2026_ch3_pool with:
    input:
        samples="work/satisfaction/samples.parquet",
        generated="work/satisfaction/full/generated.parquet",
    output:
        form="work/satisfaction/full/annotation/form.csv",
        pool="work/satisfaction/full/annotation/pool.parquet",
    pathvars:
        job="abolghasemi2026/annotation_pool",
    resources:
        **needs(900),
    params:
        **runs("abolghasemi2026/ch3_annotation:pool"),
        actual=SETTINGS.counterfactuals.full.actual,
        seed=SETTINGS.seed,
    message:
        "Dialogues to label: {output.form}"


# Tables 3.3, 3.4 and 3.5 from the annotators' labels.
use rule table as abolghasemi2026_ch3_annotated with:
    input:
        labels=annotators_labels,
        pool="work/satisfaction/full/annotation/pool.parquet",
        samples="work/satisfaction/samples.parquet",
        provenance="work/satisfaction/full/provenance.json",
    output:
        **table_files(tables=["kinds"]),
        **table_files("full/abolghasemi2026/table_3_4", tables=["intervals"]),
        **table_files("full/abolghasemi2026/table_3_5"),
    pathvars:
        result="full/abolghasemi2026/table_3_3",
    resources:
        **needs(900, 10),
    params:
        **runs("abolghasemi2026/ch3_annotation:annotated"),
    message:
        "Agreement of annotators, and counterfactuals that they confirm (Tables 3.3 to 3.5)"


# Labels of annotators with known errors, on dialogues rewritten by rules: surrogate data.
use rule step as abolghasemi2026_ch3_plant_labels with:
    input:
        samples="work/satisfaction/embedded/samples.parquet",
    output:
        pool="work/satisfaction/embedded/annotation/pool.parquet",
        labels="work/satisfaction/embedded/annotation/labels.csv",
        control="work/satisfaction/embedded/annotation/control.csv",
    pathvars:
        job="abolghasemi2026/plant_labels",
    resources:
        **needs(600),
    params:
        **runs("abolghasemi2026/ch3_annotation:plant_labels"),
        **PLANTED_ANNOTATORS,
        actual=SETTINGS.counterfactuals.annotators.actual,
        seed=SETTINGS.seed,
    message:
        "Planted labels of annotators"


# Table 3.3 on planted labels, read and evaluated as in the full tier.
use rule table as abolghasemi2026_ch3_planted_agreement with:
    input:
        samples="work/satisfaction/embedded/samples.parquet",
        pool="work/satisfaction/embedded/annotation/pool.parquet",
        labels="work/satisfaction/embedded/annotation/labels.csv",
        control="work/satisfaction/embedded/annotation/control.csv",
    output:
        **table_files(tables=["kinds", "recovered", "flips", "sizes"]),
    pathvars:
        result="embedded/abolghasemi2026/table_3_3",
    resources:
        **needs(800, 10),
    params:
        **runs("abolghasemi2026/ch3_annotation:planted_agreement"),
        errors=PLANTED_ANNOTATORS["errors"],
    message:
        "Agreement of planted annotators (Table 3.3)"
