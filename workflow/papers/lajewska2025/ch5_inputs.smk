# Inputs and names of the rules of lajewska2025, ch5.smk.

#: Supplementary tables of Table 5.6 in both tiers, and thresholds on ChatGPT's scores (section 5.7).
ACCURACY_TABLES = ["readings", "unanswerable", "classifiers", "tests"]

CHATGPT_THRESHOLDS = [0.33, 0.66]

#: The passage of Figure 5.2, identified by its text.
SAMPLE_PASSAGE = {"turn": "132_1-1", "passage": "MARCO_30_1605964568-1"}


def released_predictions():
    """Released predictions for the passages of CAsT-answerability."""
    return {
        part: resource(ANSWERABILITY_FILES[part])
        for part in ("chatgpt_passages", "classifier", "augmented_classifier")
    }


def classifier_settings(wildcards):
    """Training options of a sentence classifier, as in `everycell.learning.training`."""
    is_tiny = wildcards.classifier == "tiny"
    settings = SETTINGS.answerability.tiny if is_tiny else SETTINGS.answerability.full
    options = settings.model_dump(
        exclude={"model", "revision", "seeds", "squad", "squad_dev", "batch"}
    )
    bf16 = not is_tiny and SETTINGS.gpu_precision == "bfloat16"
    return options | {"batch_size": settings.batch, "bf16": bf16}


def classifier_files(wildcards):
    """Files of a classifier's initial encoder."""
    if wildcards.classifier == "tiny":
        return registered_encoder("splade-tiny")
    return full_classifier_files()


def full_classifier_files():
    """Files of the encoder in the thesis."""
    return named_model_files(
        "answerability.full.model",
        "papers/lajewska2025.md",
        "a BERT in safetensors with its tokenizer",
        revision=SETTINGS.answerability.full.revision,
    )


def classifier_squad(wildcards):
    """File of SQuAD 2.0, for the classifier that is also trained on it."""
    return squad_file() if wildcards.classifier == "squad" else []


def classifier_scores(*classifiers):
    """Answer probabilities of sentences by each classifier."""
    return {name: f"work/answerability/{name}.scores.parquet" for name in classifiers}


def full_classifier_scores(wildcards):
    """Answer probabilities by the classifiers of the thesis, one file per training run.

    User-provided files are checked here, since Snakemake would react to an error in an upstream rule
    by trying another rule.
    """
    squad_file()
    full_classifier_files()
    seeds = range(SETTINGS.seed, SETTINGS.seed + SETTINGS.answerability.full.seeds)
    return {
        name: [f"work/answerability/{name}.seed-{seed}.scores.parquet" for seed in seeds]
        for name in ("full", "squad")
    }
