# abolghasemi2026, chapter 3: counterfactual dialogues and estimators of user satisfaction (CAUSE).
# From ratings, splits and released test sets to labelled samples, estimators and tables.


include: "ch3_inputs.smk"
include: "ch3_texts.smk"


# Samples for training and testing estimators: parts train, valid, main and cf (only MultiWOZ).
use rule step as abolghasemi2026_ch3_samples with:
    input:
        **rated_dialogues("ratings", "valid", "test"),
        **counterfactual_dialogues(),
    output:
        samples="work/satisfaction/samples.parquet",
    pathvars:
        job="satisfaction/samples",
    resources:
        **needs(900),
    params:
        **runs("abolghasemi2026/ch3_samples:samples"),
    message:
        "Dialogue samples with satisfaction labels"


# Table 3.1: counts of ratings under rules for combining several ratings; agreement of raters.
use rule table as abolghasemi2026_ch3_ratings with:
    input:
        **rated_dialogues("ratings"),
    output:
        **table_files(tables=["rules", "raters"]),
    pathvars:
        result="released/abolghasemi2026/table_3_1",
    params:
        **runs("abolghasemi2026/ch3:ratings"),
    message:
        "Ratings of user satisfaction (Table 3.1)"


# Table 3.2: the three parts of the split.
use rule table as abolghasemi2026_ch3_split with:
    input:
        **rated_dialogues("ratings", "valid", "test"),
    output:
        **table_files(tables=["readings"]),
    pathvars:
        result="released/abolghasemi2026/table_3_2",
    resources:
        **needs(900),
    params:
        **runs("abolghasemi2026/ch3:split"),
    message:
        "Training, validation and test samples (Table 3.2)"


# Table 3.5: original and counterfactual test sets.
use rule table as abolghasemi2026_ch3_test_sets with:
    input:
        **counterfactual_dialogues(),
        samples="work/satisfaction/samples.parquet",
        published="published/abolghasemi2026/table_3_5.csv",
    output:
        **table_files(tables=["pairs"]),
    pathvars:
        result="released/abolghasemi2026/table_3_5",
    params:
        **runs("abolghasemi2026/ch3:test_sets"),
        declared=declared_inputs("released", "abolghasemi2026", "table_3_5"),
    message:
        "Original and counterfactual test sets (Table 3.5)"


# New last utterances for some dialogues, by a language model and by rules. Answers are recorded. The
# committed record has all answers that a run with the defaults needs, except a few that are
# requested again.
use rule torch_step as abolghasemi2026_ch3_generate with:
    input:
        **generation_inputs(),
        samples="work/satisfaction/samples.parquet",
    output:
        generated="work/satisfaction/released/generated.parquet",
        rules="work/satisfaction/released/rules.parquet",
        provenance="work/satisfaction/released/provenance.json",
    pathvars:
        job="abolghasemi2026/generate_released",
    resources:
        **needs(2500, 90),
    params:
        **runs("abolghasemi2026/ch3_generation:generate"),
        **GENERATION,
        record="abolghasemi2026-ch3-released",
        samples=SETTINGS.counterfactuals.samples,
    message:
        "Rewriting utterances of MultiWOZ with {params.model} and with rules"


# The same for dialogues with planted satisfaction.
use rule torch_step as abolghasemi2026_ch3_generate_planted with:
    input:
        **generation_inputs(),
    output:
        samples="work/satisfaction/embedded/samples.parquet",
        generated="work/satisfaction/embedded/generated.parquet",
        rules="work/satisfaction/embedded/rules.parquet",
        provenance="work/satisfaction/embedded/provenance.json",
    pathvars:
        job="abolghasemi2026/generate_embedded",
    resources:
        **needs(2500, 60),
    params:
        **runs("abolghasemi2026/ch3_generation:generate"),
        **GENERATION,
        record="abolghasemi2026-ch3-embedded",
        samples=SETTINGS.counterfactuals.planted.samples,
        planted=SETTINGS.counterfactuals.planted.model_dump(exclude={"samples"}),
    message:
        "Rewriting utterances of synthetic dialogues with {params.model} and with rules"


# Table 3.4: share of the released utterances that flip the label. A supplement evaluates our own
# generators with a surrogate judge.
use rule table as abolghasemi2026_ch3_success with:
    input:
        main=resource(CAUSE_FILES["main"]),
        released=resource(CAUSE_FILES["generated"]),
        sizes="results/released/abolghasemi2026/table_3_5.csv",
        generated="work/satisfaction/released/generated.parquet",
        rules="work/satisfaction/released/rules.parquet",
        provenance="work/satisfaction/released/provenance.json",
    output:
        **table_files(tables=["intervals", "generators", "answers", "judges"]),
    pathvars:
        result="released/abolghasemi2026/table_3_4",
    resources:
        **needs(800, 10),
    params:
        **runs("abolghasemi2026/ch3_success:success"),
        **GENERATION,
        folds=SETTINGS.counterfactuals.folds,
    message:
        "Success rates of counterfactual generation (Table 3.4)"


# Tables 3.4 and 3.5 on surrogate data: planted dialogues.
use rule table as abolghasemi2026_ch3_planted_success with:
    input:
        samples="work/satisfaction/embedded/samples.parquet",
        generated="work/satisfaction/embedded/generated.parquet",
        rules="work/satisfaction/embedded/rules.parquet",
        provenance="work/satisfaction/embedded/provenance.json",
    output:
        **table_files(tables=["intervals", "generators", "answers"]),
        **table_files("embedded/abolghasemi2026/table_3_5"),
    pathvars:
        result="embedded/abolghasemi2026/table_3_4",
    resources:
        **needs(800, 10),
    params:
        **runs("abolghasemi2026/ch3_success:planted_success"),
        **GENERATION,
        folds=SETTINGS.counterfactuals.folds,
    message:
        "Success rates of counterfactual generation on synthetic dialogues (Tables 3.4 and 3.5)"


# Text 3.6: values implied by the published rows of Table 3.6.
use rule table as abolghasemi2026_ch3_implied with:
    input:
        rows="published/abolghasemi2026/table_3_6.csv",
        sizes="published/abolghasemi2026/table_3_5.csv",
    pathvars:
        result="embedded/abolghasemi2026/text_3_6",
    params:
        **runs("abolghasemi2026/ch3:implied"),
        declared=declared_inputs("embedded", "abolghasemi2026", "table_3_6", "table_3_5"),
    message:
        "Values implied by the published rows of Table 3.6"


# Dialogues with planted satisfaction: the surrogate data of the embedded tier, in the same format.
use rule step as abolghasemi2026_ch3_planted with:
    output:
        samples="work/satisfaction/planted.parquet",
    pathvars:
        job="satisfaction/planted",
    resources:
        **needs(600),
    params:
        **runs("abolghasemi2026/ch3_samples:planted"),
        sizes=SATISFACTION.planted.model_dump(),
        seed=SETTINGS.seed,
    message:
        "Synthetic dialogues with known satisfaction: {params.sizes[dialogues]} for training"


# One estimator and its baselines in all setups, on all benchmarks.
use rule cached_step as abolghasemi2026_ch3_train with:
    input:
        samples=satisfaction_samples,
        encoder=satisfaction_encoder,
    output:
        predictions="work/satisfaction/{tier}/{kind}.parquet",
    pathvars:
        job="satisfaction/{tier}/{kind}",
    wildcard_constraints:
        kind="|".join(ESTIMATORS),
        tier="embedded|released",
    cache: True
    resources:
        **needs(3000, 60),
    params:
        **runs("abolghasemi2026/ch3_training:train"),
        **ESTIMATOR_TRAINING,
        seeds=SATISFACTION.seeds,
        seed=SETTINGS.seed,
    message:
        "Training satisfaction estimators ({wildcards.kind}, {wildcards.tier})"


# In the full tier each training run is a separate job.
use rule cached_step as abolghasemi2026_ch3_train_full with:
    input:
        samples=satisfaction_samples,
        encoder=satisfaction_encoder,
    output:
        predictions="work/satisfaction/{tier}/{kind}.seed-{seed}.parquet",
    pathvars:
        job="satisfaction/{tier}/{kind}.seed-{seed}",
    wildcard_constraints:
        kind="|".join(ESTIMATORS),
        tier="full",
        seed="[0-9]+",
    cache: True
    resources:
        **ON_GPU,
    params:
        **runs("abolghasemi2026/ch3_training:train"),
        **ESTIMATOR_TRAINING,
        seeds=1,
        seed=lambda wildcards: int(wildcards.seed),
    message:
        "Training satisfaction estimators ({wildcards.kind}, full, seed {wildcards.seed})"


# Test samples labelled by a language model prompted with two examples. Answers are recorded, and the
# committed record has those that a run with the defaults needs.
use rule asking_step as abolghasemi2026_ch3_few_shot with:
    input:
        samples=satisfaction_samples,
        model=lambda wildcards: language_model_files(wildcards.model),
        recorded="recorded/abolghasemi2026_ch3_labels.jsonl",
    output:
        predictions="work/satisfaction/{tier}/few_shot/{model}.parquet",
        provenance="work/satisfaction/{tier}/few_shot/{model}.provenance.json",
    pathvars:
        job="satisfaction/{tier}/few_shot/{model}",
    wildcard_constraints:
        tier="embedded|released|full",
        model="[^/.]+",
    resources:
        **where(
            lambda wildcards: wildcards.tier == "full" and needs_gpu(wildcards.model),
            ON_GPU,
            needs(2500, 60),
        ),
    params:
        **runs("abolghasemi2026/ch3_few_shot:few_shot"),
        name=lambda wildcards: few_shot_settings(wildcards).models[wildcards.model],
        pairs=lambda wildcards: few_shot_settings(wildcards).pairs,
        decoding=few_shot_decoding,
        record="abolghasemi2026-ch3-labels-{tier}-{model}",
        seed=SETTINGS.seed,
    message:
        "Labelling satisfaction with {wildcards.model} ({wildcards.tier})"


# Tables 3.6 and 3.7 and Figures 3.4 and 3.5, computed from the same answers in seconds.
use rule table as abolghasemi2026_ch3_estimators with:
    input:
        trained=satisfaction_answers,
        few_shot=few_shot_answers("parquet"),
        provenance=few_shot_answers("provenance.json"),
    output:
        **table_files(tables=["spread", "robustness", "doubled", "apologies", "ranking"]),
        **table_files("{tier}/abolghasemi2026/table_3_7"),
        **figure_files("{tier}/abolghasemi2026/figure_3_4"),
        **figure_files("{tier}/abolghasemi2026/figure_3_5"),
    pathvars:
        result="{tier}/abolghasemi2026/table_3_6",
    wildcard_constraints:
        tier="embedded|released",
    resources:
        **needs(900, 10),
    params:
        **runs("abolghasemi2026/ch3_estimators:estimators"),
        orders=SATISFACTION.orders,
        draws=SATISFACTION.draws,
        # Number of training runs per estimator with their own file of answers.
        trainings=1,
        published_rows=False,
        seed=SETTINGS.seed,
    message:
        "Estimators of user satisfaction (Tables 3.6 and 3.7, {wildcards.tier})"


# The same in the full tier, with the spread over seeds for the rows of the thesis.
use rule table as abolghasemi2026_ch3_estimators_full with:
    input:
        trained=satisfaction_answers,
        few_shot=few_shot_answers("parquet"),
        provenance=few_shot_answers("provenance.json"),
    output:
        **table_files(tables=["spread", "robustness", "doubled", "apologies", "ranking", "seeds"]),
        **table_files("{tier}/abolghasemi2026/table_3_7", tables=["seeds"]),
        **figure_files("{tier}/abolghasemi2026/figure_3_4"),
        **figure_files("{tier}/abolghasemi2026/figure_3_5"),
    pathvars:
        result="{tier}/abolghasemi2026/table_3_6",
    wildcard_constraints:
        tier="full",
    resources:
        **needs(900, 10),
    params:
        **runs("abolghasemi2026/ch3_estimators:estimators"),
        orders=SATISFACTION.orders,
        draws=SATISFACTION.draws,
        trainings=SATISFACTION.full.seeds,
        published_rows=True,
        seed=SETTINGS.seed,
    message:
        "Estimators of user satisfaction (Tables 3.6 and 3.7, {wildcards.tier})"
