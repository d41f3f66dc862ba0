# Inputs and parameters of the rules of abolghasemi2026, ch3_annotation.smk.

#: Options for generating the counterfactuals of the full tier that differ from the other tiers.
FULL_GENERATION = {
    "model": lambda wildcards: full_rewriter(wildcards),
    "answered_by": lambda wildcards: answered_by(full_rewriter(wildcards)),
}

#: Truth and errors of the planted annotators.
PLANTED_ANNOTATORS = {
    "truth": {
        "flipped": {
            "satisfied": SETTINGS.counterfactuals.annotators.flipped_satisfied,
            "dissatisfied": SETTINGS.counterfactuals.annotators.flipped_dissatisfied,
        },
        "incoherent": SETTINGS.counterfactuals.annotators.incoherent,
    },
    "errors": {
        "satisfied": SETTINGS.counterfactuals.annotators.satisfied,
        "coherent": SETTINGS.counterfactuals.annotators.coherent,
    },
}


def full_rewriter(wildcards):
    """The language model that rewrites utterances in the full tier."""
    return named_by_user(
        "counterfactuals.full.model",
        "a language model that rewrites utterances",
        "counterfactuals.md",
        kind="language model",
    )


def annotators_labels(wildcards):
    """The user's file of labels."""
    return named_by_user(
        "counterfactuals.full.labels",
        "the labels of annotators",
        "counterfactuals.md",
        kind="file",
    )
