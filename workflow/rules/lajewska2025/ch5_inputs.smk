# Input functions and names of the rules of lajewska2025, chapter 5.
#: Supplementary tables of Table 5.6 in both tiers, and where answers of ChatGPT are cut (section 5.7).
ACCURACY_TABLES = ["readings", "unanswerable", "classifiers", "tests"]
CHATGPT_THRESHOLDS = [0.33, 0.66]


def released_predictions():
    """Released predictions for the passages of CAsT-answerability."""
    return {
        part: resource(ANSWERABILITY_FILES[part])
        for part in ("chatgpt_passages", "classifier", "augmented_classifier")
    }


def classifier_settings(wildcards):
    """Training options of a sentence classifier, as in `everycell.learning.training`."""
    settings = SETTINGS.answerability
    chosen = settings.tiny if wildcards.classifier == "tiny" else settings.full
    kept = chosen.model_dump(exclude={"model", "revision", "seeds", "squad", "squad_dev", "batch"})
    bf16 = wildcards.classifier != "tiny" and SETTINGS.gpu_precision == "bfloat16"
    return kept | {"batch_size": chosen.batch, "bf16": bf16}


def classifier_files(wildcards):
    """Files of the encoder that a classifier starts from."""
    if wildcards.classifier == "tiny":
        return registered_encoder("splade-tiny")
    return full_classifier_files()


def full_classifier_files():
    """Files of the thesis' encoder."""
    return named_model_files(
        "answerability.full.model",
        "papers/lajewska2025.md",
        "a BERT in safetensors with its tokenizer",
        revision=SETTINGS.answerability.full.revision,
    )


def classifier_squad(wildcards):
    """File of SQuAD 2.0, for the classifier that is trained on it too."""
    return squad_file() if wildcards.classifier == "squad" else []


def classifier_scores(*classifiers):
    """Probabilities that each classifier gives sentences, by its name."""
    return {name: f"work/answerability/{name}.scores.parquet" for name in classifiers}


def full_classifier_scores(wildcards):
    """Probabilities by the thesis' classifiers, one file per training run.

    What only the user can name is looked at here, since Snakemake takes an error in a rule further
    up for a reason to try another one.
    """
    squad_file()
    full_classifier_files()
    seeds = range(SETTINGS.seed, SETTINGS.seed + SETTINGS.answerability.full.seeds)
    return {
        name: [f"work/answerability/{name}.seed-{seed}.scores.parquet" for seed in seeds]
        for name in ("full", "squad")
    }
