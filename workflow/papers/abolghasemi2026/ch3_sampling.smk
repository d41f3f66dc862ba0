# abolghasemi2026, chapter 3: sampling of the training data of satisfaction estimators.


include: "ch3_sampling_inputs.smk"


# One estimator with up-sampling by further factors, and with under-sampling.
use rule cached_step as abolghasemi2026_ch3_train_sampled with:
    input:
        samples=satisfaction_samples,
        encoder=satisfaction_encoder,
    output:
        predictions="work/satisfaction/{tier}/{kind}.sampled.seed-{seed}.parquet",
    pathvars:
        job="satisfaction/{tier}/{kind}.sampled.seed-{seed}",
    wildcard_constraints:
        kind="|".join(ESTIMATORS),
        tier="embedded|full",
        seed="[0-9]+",
    cache: True
    resources:
        **where(lambda wildcards: wildcards.tier == "full", ON_GPU, needs(3000, 60)),
    params:
        **runs("abolghasemi2026/ch3_sampling:train"),
        **SAMPLED_TRAINING,
        seed=lambda wildcards: int(wildcards.seed),
    message:
        "Training on sampled dialogues ({wildcards.kind}, {wildcards.tier}, seed {wildcards.seed})"


# Text 3.5.3: which factors of up-sampling work best, and whether under-sampling works.
use rule table as abolghasemi2026_ch3_sampling with:
    input:
        samples=satisfaction_samples,
        trained=satisfaction_answers,
        sampled=sampled_answers,
    pathvars:
        result="{tier}/abolghasemi2026/text_3_5_3",
    wildcard_constraints:
        tier="embedded|full",
    resources:
        **needs(900, 10),
    params:
        **runs("abolghasemi2026/ch3_sampling:sampling"),
        factors=SATISFACTION.sampling.factors,
        share=SATISFACTION.sampling.share,
        limits=estimator_limits,
        # Number of training runs per estimator with their own file of answers.
        trainings=lambda wildcards: SATISFACTION.full.seeds if wildcards.tier == "full" else 1,
    message:
        "Sampling of training dialogues (Text 3.5.3, {wildcards.tier})"
