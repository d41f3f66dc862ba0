# Inputs and parameters of the rules of lajewska2025, ch5_asking.smk.

PROMPTED = SETTINGS.answerability.prompted


def prompted_answers(ending):
    """Input function: labels or provenance of the configured models, by file ending."""

    def files(wildcards):
        models = named_by_user(
            "answerability.prompted.models",
            "language models that detect answerability",
            "papers/lajewska2025.md",
            kind="language models",
        )
        return [f"work/answerability/asked/{model}.{ending}" for model in models]

    return files
