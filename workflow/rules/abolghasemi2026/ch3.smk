# abolghasemi2026, chapter 3: counterfactual dialogues and estimators of user satisfaction (CAUSE).
# Ratings and split, released test sets -> labelled samples and tables; estimators trained on them.


include: "ch3_inputs.smk"


SATISFACTION = SETTINGS.user_satisfaction


# What estimators are trained and tested on: parts train, valid, main and cf (MultiWOZ alone).
rule abolghasemi2026_ch3_samples:
    input:
        **rated_dialogues("ratings", "valid", "test"),
        **counterfactual_dialogues(),
    output:
        samples="work/satisfaction/samples.parquet",
    log:
        "logs/satisfaction/samples.log",
    benchmark:
        "benchmarks/satisfaction/samples.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(900),
        runtime=5,
    params:
        code=code_of("abolghasemi2026/ch3/samples"),
    message:
        "Samples of dialogues with satisfaction"
    script:
        script_file("abolghasemi2026/ch3/samples")


# Table 3.1: counts of ratings, by each rule that makes one of several; how far raters agree.
rule abolghasemi2026_ch3_ratings:
    input:
        **rated_dialogues("ratings"),
        printed="published/abolghasemi2026/table_3_1.csv",
        card="published/abolghasemi2026/ch3.yaml",
    output:
        **table_files("released", "abolghasemi2026/table_3_1"),
        **beside("released", "abolghasemi2026/table_3_1", "rules"),
        **beside("released", "abolghasemi2026/table_3_1", "raters"),
    log:
        "logs/abolghasemi2026/table_3_1.log",
    benchmark:
        "benchmarks/abolghasemi2026/table_3_1.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(600),
        runtime=5,
    params:
        face=face_of("released", "abolghasemi2026/table_3_1"),
        code=code_of("abolghasemi2026/ch3/ratings"),
    message:
        "Ratings of user satisfaction (Table 3.1)"
    script:
        script_file("abolghasemi2026/ch3/ratings")


# Table 3.2: the three parts of the split.
rule abolghasemi2026_ch3_split:
    input:
        **rated_dialogues("ratings", "valid", "test"),
    output:
        **table_files("released", "abolghasemi2026/table_3_2"),
        **beside("released", "abolghasemi2026/table_3_2", "readings"),
    log:
        "logs/abolghasemi2026/table_3_2.log",
    benchmark:
        "benchmarks/abolghasemi2026/table_3_2.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(900),
        runtime=5,
    params:
        face=face_of("released", "abolghasemi2026/table_3_2"),
        code=code_of("abolghasemi2026/ch3/split"),
    message:
        "Training, validation and test samples (Table 3.2)"
    script:
        script_file("abolghasemi2026/ch3/split")


# Table 3.5: original and counterfactual test sets.
rule abolghasemi2026_ch3_test_sets:
    input:
        **counterfactual_dialogues(),
        samples="work/satisfaction/samples.parquet",
        printed="published/abolghasemi2026/table_3_5.csv",
        card="published/abolghasemi2026/ch3.yaml",
    output:
        **table_files("released", "abolghasemi2026/table_3_5"),
        **beside("released", "abolghasemi2026/table_3_5", "pairs"),
    log:
        "logs/abolghasemi2026/table_3_5.log",
    benchmark:
        "benchmarks/abolghasemi2026/table_3_5.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(600),
        runtime=5,
    params:
        face=face_of("released", "abolghasemi2026/table_3_5"),
        code=code_of("abolghasemi2026/ch3/test_sets"),
    message:
        "Original and counterfactual test sets (Table 3.5)"
    script:
        script_file("abolghasemi2026/ch3/test_sets")


# New last utterances for some dialogues, by a language model and by rules. Answers are recorded; the
# committed record has those that a run with the defaults needs, but for a few that are asked anew.
rule abolghasemi2026_ch3_generate:
    input:
        **generation_inputs(),
        samples="work/satisfaction/samples.parquet",
    output:
        generated="work/satisfaction/released/generated.parquet",
        rules="work/satisfaction/released/rules.parquet",
        provenance="work/satisfaction/released/provenance.json",
    log:
        "logs/abolghasemi2026/generate_released.log",
    benchmark:
        "benchmarks/abolghasemi2026/generate_released.tsv"
    conda:
        environment("torch")
    threads: 1
    resources:
        mem_mb=memory(2500),
        runtime=90,
    params:
        **GENERATION,
        record="abolghasemi2026-ch3-released",
        samples=SETTINGS.counterfactuals.samples,
        code=code_of("abolghasemi2026/ch3/generate"),
    message:
        "Rewriting utterances of MultiWOZ with {params.model} and with rules"
    script:
        script_file("abolghasemi2026/ch3/generate")


# The same for dialogues with planted satisfaction.
rule abolghasemi2026_ch3_generate_planted:
    input:
        **generation_inputs(),
    output:
        samples="work/satisfaction/embedded/samples.parquet",
        generated="work/satisfaction/embedded/generated.parquet",
        rules="work/satisfaction/embedded/rules.parquet",
        provenance="work/satisfaction/embedded/provenance.json",
    log:
        "logs/abolghasemi2026/generate_embedded.log",
    benchmark:
        "benchmarks/abolghasemi2026/generate_embedded.tsv"
    conda:
        environment("torch")
    threads: 1
    resources:
        mem_mb=memory(2500),
        runtime=60,
    params:
        **GENERATION,
        record="abolghasemi2026-ch3-embedded",
        samples=SETTINGS.counterfactuals.planted.samples,
        planted=SETTINGS.counterfactuals.planted.model_dump(exclude={"samples"}),
        code=code_of("abolghasemi2026/ch3/generate"),
    message:
        "Rewriting utterances of planted dialogues with {params.model} and with rules"
    script:
        script_file("abolghasemi2026/ch3/generate")


# Table 3.4: which share of the generated utterances flips the label; beside it generators that run
# here, under a stand-in judge.
rule abolghasemi2026_ch3_success:
    input:
        main=resource(CAUSE_FILES["main"]),
        released=resource(CAUSE_FILES["generated"]),
        sizes="results/released/abolghasemi2026/table_3_5.csv",
        generated="work/satisfaction/released/generated.parquet",
        rules="work/satisfaction/released/rules.parquet",
        provenance="work/satisfaction/released/provenance.json",
    output:
        **table_files("released", "abolghasemi2026/table_3_4"),
        **beside("released", "abolghasemi2026/table_3_4", "intervals"),
        **beside("released", "abolghasemi2026/table_3_4", "generators"),
        **beside("released", "abolghasemi2026/table_3_4", "answers"),
        **beside("released", "abolghasemi2026/table_3_4", "judges"),
    log:
        "logs/abolghasemi2026/table_3_4.log",
    benchmark:
        "benchmarks/abolghasemi2026/table_3_4.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(800),
        runtime=10,
    params:
        **GENERATION,
        folds=SETTINGS.counterfactuals.folds,
        face=face_of("released", "abolghasemi2026/table_3_4"),
        code=code_of("abolghasemi2026/ch3/success"),
    message:
        "Success of generating counterfactuals (Table 3.4)"
    script:
        script_file("abolghasemi2026/ch3/success")


# The stand-ins of Tables 3.4 and 3.5, on planted dialogues.
rule abolghasemi2026_ch3_planted_success:
    input:
        samples="work/satisfaction/embedded/samples.parquet",
        generated="work/satisfaction/embedded/generated.parquet",
        rules="work/satisfaction/embedded/rules.parquet",
        provenance="work/satisfaction/embedded/provenance.json",
    output:
        **table_files("embedded", "abolghasemi2026/table_3_4"),
        **beside("embedded", "abolghasemi2026/table_3_4", "generators"),
        **beside("embedded", "abolghasemi2026/table_3_4", "answers"),
        **further(table_files, "embedded", "abolghasemi2026/table_3_5"),
    log:
        "logs/abolghasemi2026/table_3_4_embedded.log",
    benchmark:
        "benchmarks/abolghasemi2026/table_3_4_embedded.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(800),
        runtime=10,
    params:
        **GENERATION,
        folds=SETTINGS.counterfactuals.folds,
        face=face_of("embedded", "abolghasemi2026/table_3_4"),
        table_3_5_face=face_of("embedded", "abolghasemi2026/table_3_5"),
        code=code_of("abolghasemi2026/ch3/planted_success"),
    message:
        "Success of generating counterfactuals of planted dialogues (Tables 3.4 and 3.5)"
    script:
        script_file("abolghasemi2026/ch3/planted_success")


# Dialogues with planted satisfaction: the embedded stand-in, in the same form.
rule abolghasemi2026_ch3_planted:
    output:
        samples="work/satisfaction/planted.parquet",
    log:
        "logs/satisfaction/planted.log",
    benchmark:
        "benchmarks/satisfaction/planted.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(600),
        runtime=5,
    params:
        sizes=SATISFACTION.planted.model_dump(),
        seed=SETTINGS.seed,
        code=code_of("abolghasemi2026/ch3/planted"),
    message:
        "Dialogues with planted satisfaction: {params.sizes[dialogues]} to learn from"
    script:
        script_file("abolghasemi2026/ch3/planted")


# One kind of estimator, in each setup, for each benchmark; BERT's has the baselines too.
rule abolghasemi2026_ch3_train:
    input:
        samples=satisfaction_samples,
        encoder=satisfaction_encoder,
    output:
        predictions="work/satisfaction/{tier}/{kind}.parquet",
    log:
        "logs/satisfaction/{tier}/{kind}.log",
    wildcard_constraints:
        kind="bert|asap",
        tier="embedded|released|full",
    cache: True
    conda:
        environment("torch")
    threads: 1
    resources:
        **on_gpu_where(lambda wildcards: wildcards.tier == "full", 3000, 60),
    params:
        training=satisfaction_training,
        sizes=satisfaction_sizes,
        samples=lambda wildcards: satisfaction_settings(wildcards).samples,
        frozen=lambda wildcards: getattr(
            satisfaction_settings(wildcards), "frozen", False
        ),
        setups=satisfaction_setups(),
        model=satisfaction_model,
        seeds=SATISFACTION.seeds,
        seed=SETTINGS.seed,
        code=code_of("abolghasemi2026/ch3/train"),
    message:
        "Training satisfaction estimators ({wildcards.kind}, {wildcards.tier})"
    script:
        script_file("abolghasemi2026/ch3/train")


# A sample of MultiWOZ's test sets, labelled by a language model. Its answers are recorded, and the
# committed record has those that a run with the defaults needs.
rule abolghasemi2026_ch3_few_shot:
    input:
        samples="work/satisfaction/samples.parquet",
        model=language_model_files(SATISFACTION.few_shot.model),
        recorded="recorded/abolghasemi2026_ch3_labels.jsonl",
    output:
        answers="work/satisfaction/released/few_shot.parquet",
        provenance="work/satisfaction/released/few_shot.provenance.json",
    log:
        "logs/satisfaction/released/few_shot.log",
    benchmark:
        "benchmarks/satisfaction/released/few_shot.tsv"
    conda:
        environment("torch")
    threads: 1
    resources:
        mem_mb=memory(2500),
        runtime=60,
    params:
        **SATISFACTION.few_shot.model_dump(),
        record="abolghasemi2026-ch3-labels",
        seed=SETTINGS.seed,
        code=code_of("abolghasemi2026/ch3/few_shot"),
    message:
        "Labelling {params.samples} pairs of MultiWOZ with {params.model}"
    script:
        script_file("abolghasemi2026/ch3/few_shot")


# Tables 3.6 and 3.7, Figures 3.4 and 3.5: all from the same answers, in seconds.
rule abolghasemi2026_ch3_estimators:
    input:
        trained=satisfaction_answers,
        few_shot=few_shot_answers,
    output:
        **table_files("{tier}", "abolghasemi2026/table_3_6"),
        **beside("{tier}", "abolghasemi2026/table_3_6", "spread"),
        **beside("{tier}", "abolghasemi2026/table_3_6", "counts"),
        **beside("{tier}", "abolghasemi2026/table_3_6", "robustness"),
        **beside("{tier}", "abolghasemi2026/table_3_6", "apologies"),
        **further(table_files, "{tier}", "abolghasemi2026/table_3_7"),
        **further(figure_files, "{tier}", "abolghasemi2026/figure_3_4"),
        **further(figure_files, "{tier}", "abolghasemi2026/figure_3_5"),
    log:
        "logs/abolghasemi2026/{tier}/table_3_6.log",
    benchmark:
        "benchmarks/abolghasemi2026/{tier}/table_3_6.tsv"
    wildcard_constraints:
        tier="embedded|released|full",
    conda:
        environment("base")
    resources:
        mem_mb=memory(900),
        runtime=10,
    params:
        orders=SATISFACTION.orders,
        draws=SATISFACTION.draws,
        augmented=AUGMENTED,
        control=CONTROL,
        printed_rows=lambda wildcards: wildcards.tier == "full",
        seed=SETTINGS.seed,
        face=face_of("{tier}", "abolghasemi2026/table_3_6"),
        table_3_7_face=face_of("{tier}", "abolghasemi2026/table_3_7"),
        code=code_of("abolghasemi2026/ch3/estimators"),
    message:
        "Estimators of user satisfaction (Tables 3.6 and 3.7, {wildcards.tier})"
    script:
        script_file("abolghasemi2026/ch3/estimators")
