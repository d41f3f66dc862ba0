# Inputs and names of the rules of abolghasemi2026, ch3.smk.

from papers.abolghasemi2026.ch3_data import CAUSE_FILES
from papers.abolghasemi2026.ch3_data import FILES as RATING_FILES
from papers.abolghasemi2026.ch3_training import ESTIMATORS
from papers.abolghasemi2026.ch3_training import make_setups

SATISFACTION = SETTINGS.user_satisfaction

#: Settings of an estimator that concern its training and not its input.
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
COUNTERFACTUAL_PROMPT = "workflow/papers/abolghasemi2026/ch3_counterfactual.txt"

#: Options for generating counterfactual utterances, for the rules of both tiers.
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
    """Inputs of the generation in addition to dialogues: model, template and recorded answers."""
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
    """Settings of the wildcard's estimator in its tier; empty if it has no block."""
    settings = SATISFACTION
    tier = settings.full if wildcards.tier == "full" else settings
    block = getattr(tier, wildcards.kind, None)
    return {} if block is None else block.model_dump()


def training_sample_limit(wildcards):
    """Number of training samples that an estimator uses, from the start; None for all."""
    return satisfaction_settings(wildcards).get("samples")


def has_frozen_encoder(wildcards):
    """Whether the encoder of an estimator is frozen."""
    return satisfaction_settings(wildcards).get("frozen", False)


def satisfaction_encoder(wildcards):
    """Files of an estimator's initial encoder, if it has one."""
    encoder = ESTIMATORS[wildcards.kind].small_encoder(frozen=has_frozen_encoder(wildcards))
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
    # Checked here, since Snakemake would react to an error in an upstream rule by trying another.
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
    settings = few_shot_settings(wildcards)
    logprobs = wildcards.model not in settings.without_logprobs
    return {"max_tokens": settings.max_tokens, "logprobs": logprobs}


def few_shot_answers(ending):
    """Input function: answers or provenance of a tier's language models, by file ending."""

    def files(wildcards):
        folder = f"work/satisfaction/{wildcards.tier}/few_shot"
        return [f"{folder}/{model}.{ending}" for model in few_shot_settings(wildcards).models]

    return files


def satisfaction_training(wildcards):
    """Training options of an estimator, as in `everycell.learning`."""
    settings = satisfaction_settings(wildcards)
    options = {name: settings[name] for name in TRAINING if name in settings}
    if options and wildcards.tier == "embedded":
        options["steps"] = SATISFACTION.planted.steps
    if options and wildcards.tier == "full":
        options["bf16"] = SETTINGS.gpu_precision == "bfloat16"
    return options


def satisfaction_sizes(wildcards):
    """Input length and sizes of an estimator."""
    other_settings = (*TRAINING, "samples", "frozen")
    settings = satisfaction_settings(wildcards)
    return {name: value for name, value in settings.items() if name not in other_settings}


#: Parameters for training an estimator, for the rules of all tiers.
ESTIMATOR_TRAINING = {
    "training": satisfaction_training,
    "sizes": satisfaction_sizes,
    "samples": training_sample_limit,
    "frozen": has_frozen_encoder,
    "setups": make_setups(SATISFACTION.upsampling),
}
