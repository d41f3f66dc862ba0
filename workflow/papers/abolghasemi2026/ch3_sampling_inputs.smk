# Inputs and parameters of the rules of abolghasemi2026, ch3_sampling.smk.

#: Parameters of training on sampled dialogues; factors of Table 3.6 are trained for it.
SAMPLED_TRAINING = {
    **{name: value for name, value in ESTIMATOR_TRAINING.items() if name != "setups"},
    "factors": [
        factor for factor in SATISFACTION.sampling.factors if factor not in SATISFACTION.upsampling
    ],
    "share": SATISFACTION.sampling.share,
}


def sampled_answers(wildcards):
    """Predictions of estimators that were trained on sampled dialogues."""
    seeds = SATISFACTION.full.seeds if wildcards.tier == "full" else 1
    return [
        f"work/satisfaction/{wildcards.tier}/{kind}.sampled.seed-{seed}.parquet"
        for kind in ESTIMATORS
        for seed in range(SETTINGS.seed, SETTINGS.seed + seeds)
    ]


def estimator_limits(wildcards):
    """Number of training samples that each estimator uses; None for all."""
    tier = SATISFACTION.full if wildcards.tier == "full" else SATISFACTION
    return {kind: getattr(tier, kind).samples for kind in ESTIMATORS}
