# Input functions and names of the rules of abolghasemi2026, chapter 3.
from everycell.collections.user_satisfaction import CAUSE_FILES, FILES as RATING_FILES
from everycell.studies.abolghasemi2026.ch3.estimators import ESTIMATORS
from everycell.studies.abolghasemi2026.ch3.setups import make_setups

SATISFACTION = SETTINGS.user_satisfaction
#: Settings of an estimator that say how it is trained, not what it reads.
TRAINING = ("steps", "batch", "learning_rate", "validations", "dropout")


def rated_dialogues(*parts):
    """Released files of both benchmarks of user satisfaction, as `BENCHMARK_part`."""
    return {
        f"{benchmark}_{part}": resource(files[part])
        for benchmark, files in RATING_FILES.items()
        for part in parts
    }


def counterfactual_dialogues():
    """Released test set of MultiWOZ, and the counterfactuals generated from it."""
    return {part: resource(key) for part, key in CAUSE_FILES.items()}


FETCHED_TOGETHER["user-satisfaction-dialogues"] = [
    *rated_dialogues("ratings", "valid", "test").values(),
    *counterfactual_dialogues().values(),
]

#: The project's prompt for counterfactual utterances.
COUNTERFACTUAL_PROMPT = "src/everycell/dialogue/templates/counterfactual.txt"


#: How counterfactual utterances are generated, for the rules of both tiers.
GENERATION = {
    "model": SETTINGS.counterfactuals.model,
    "answered_by": answered_by(SETTINGS.counterfactuals.model),
    "decoding": {
        "max_tokens": SETTINGS.counterfactuals.max_tokens,
        "temperature": SETTINGS.counterfactuals.temperature,
        "stop": SETTINGS.counterfactuals.stop,
    },
    "longest": SETTINGS.counterfactuals.longest,
    "seed": SETTINGS.seed,
}


def generation_inputs():
    """Inputs of the generation besides dialogues: a model, a template, recorded answers."""
    return {
        "model": language_model_files(SETTINGS.counterfactuals.model),
        "template": SETTINGS.counterfactuals.template or COUNTERFACTUAL_PROMPT,
        "recorded": "recorded/abolghasemi2026_ch3.jsonl",
    }


def satisfaction_samples(wildcards):
    """Labelled dialogues of the wildcard's tier."""
    name = "planted" if wildcards.tier == "embedded" else "samples"
    return f"work/satisfaction/{name}.parquet"


def satisfaction_settings(wildcards):
    """Settings of the wildcard's estimator in its tier; None if it has no block."""
    settings = SATISFACTION
    tier = settings.full if wildcards.tier == "full" else settings
    chosen = getattr(tier, wildcards.kind, None)
    return {} if chosen is None else chosen.model_dump()


def samples_taken(wildcards):
    """Number of training samples of an estimator, from the first on; None for all."""
    return satisfaction_settings(wildcards).get("samples")


def stays_frozen(wildcards):
    """Whether the encoder of an estimator is frozen."""
    return satisfaction_settings(wildcards).get("frozen", False)


def satisfaction_encoder(wildcards):
    """Files of an estimator's initial encoder, if it has one."""
    encoder = ESTIMATORS[wildcards.kind].small_encoder(frozen=stays_frozen(wildcards))
    if encoder is None:
        return []
    if wildcards.tier == "full":
        return full_satisfaction_files()
    return registered_encoder(encoder)


def full_satisfaction_files():
    """Files of the full tier's encoder."""
    return named_model_files(
        "user_satisfaction.full.model",
        "user-satisfaction.md",
        "a BERT in safetensors with its tokenizer",
        revision=SATISFACTION.full.revision,
    )


def satisfaction_answers(wildcards):
    """Predictions of trained estimators for all samples."""
    # Looked at here, since Snakemake takes an error in a rule further up for a reason to try another.
    if wildcards.tier == "full":
        full_satisfaction_files()
        return [
            f"work/satisfaction/full/{kind}.seed-{seed}.parquet"
            for kind in ESTIMATORS
            for seed in range(SETTINGS.seed, SETTINGS.seed + SATISFACTION.full.seeds)
        ]
    return [f"work/satisfaction/{wildcards.tier}/{kind}.parquet" for kind in ESTIMATORS]


def few_shot_settings(wildcards):
    """Language models of the wildcard's tier, and their settings."""
    settings = SATISFACTION
    if wildcards.tier == "embedded":
        return settings.few_shot.model_copy(update={"pairs": settings.planted.pairs})
    return settings.full.few_shot if wildcards.tier == "full" else settings.few_shot


def few_shot_decoding(wildcards):
    """Decoding options of a language model."""
    chosen = few_shot_settings(wildcards)
    logprobs = wildcards.model not in chosen.without_logprobs
    return {"max_tokens": chosen.max_tokens, "logprobs": logprobs}


def few_shot_answers(ending):
    """Answers of a tier's language models, or their names."""

    def files(wildcards):
        folder = f"work/satisfaction/{wildcards.tier}/few_shot"
        return [f"{folder}/{model}.{ending}" for model in few_shot_settings(wildcards).models]

    return files


def satisfaction_training(wildcards):
    """Training options of an estimator, as in `everycell.learning`."""
    chosen = satisfaction_settings(wildcards)
    options = {name: chosen[name] for name in TRAINING if name in chosen}
    if options and wildcards.tier == "embedded":
        options["steps"] = SATISFACTION.planted.steps
    if options and wildcards.tier == "full":
        options["bf16"] = SETTINGS.gpu_precision == "bfloat16"
    return options


def satisfaction_sizes(wildcards):
    """Input length and sizes of an estimator."""
    other = (*TRAINING, "samples", "frozen")
    chosen = satisfaction_settings(wildcards)
    return {name: value for name, value in chosen.items() if name not in other}


#: How an estimator is trained, as parameters of the rules of all tiers.
ESTIMATOR_TRAINING = {
    "training": satisfaction_training,
    "sizes": satisfaction_sizes,
    "samples": samples_taken,
    "frozen": stays_frozen,
    "setups": make_setups(SATISFACTION.upsampling),
}
