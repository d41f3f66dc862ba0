# Inputs and names of the rules of heuss2025, ch5.smk.

CITED = SETTINGS.citation_faithfulness

#: Common behaviour of all synthetic answerers.
READERS_BEHAVIOUR = {"matching": CITED.matching, "steady": CITED.steady}

#: Counts in Figure 5.6.
FORGED = {
    "of": "instances",
    "metrics": {"recovered": "recovered", "cites the forged document": "forged one cited"},
}

#: Tier -> figure -> panel -> title. Simulated readers write statements, not sentences.
SIZE_TITLES = {
    tier: {
        "3": {
            unit: f"{unit.capitalize()} of an answer",
            "citations": "Citations of an answer",
            "words": "Words of a cited statement",
        },
        "4": {
            "documents": "Documents that an answer cites",
            "places": "Position of a cited document",
        },
    }
    for tier, unit in (("embedded", "statements"), ("full", "sentences"))
}

#: Claims that do not apply to models that are given the answer.
CLAIMS_ON_OWN_ANSWERS = [
    "random document: statements recovered",
    "statements recovered, lowest share",
    "statements recovered, highest share",
    "answers that cite nothing",
    "answers that cite what was not predicted to be cited",
]

#: Settings with files of KILT -> content.
KILT_FILES = {
    "pages": "the pages of KILT's Wikipedia",
    "questions": "the questions of a task of KILT",
    "tokenizer": "the tokenizer whose tokens are counted",
}

#: Outputs of a job that runs one model of the full tier.
FULL_OUTPUTS = ("selection", "sizes", "outcomes", "numbers", "answers")


def choice_files(ending):
    """Files of the language models that choose a document, one per model."""
    return [f"work/heuss2025/ch5/chosen/{model}.{ending}" for model in CITED.released.models]


def full_job_outputs(model):
    """Outputs of a job that runs one model of the full tier, by name."""
    folder = f"work/heuss2025/ch5/asked/{model}"
    return {name: f"{folder}.{name}.parquet" for name in FULL_OUTPUTS} | {
        "provenance": f"{folder}.provenance.json"
    }


def full_model_outputs(name):
    """Input function: one output per model of the full tier."""

    def files(wildcards):
        models = named_by_user(
            "citation_faithfulness.full.models",
            "language models that answer and cite",
            "citation-faithfulness.md",
            kind="language models",
        )
        return [full_job_outputs(model)[name] for model in models]

    return files


def answerer_files(name):
    """Input function: outputs of the answerers of a tier (planted, small models, the user's)."""

    def files(wildcards):
        if wildcards.tier == "embedded":
            return [f"work/heuss2025/ch5/planted/{name}.parquet"]
        if wildcards.tier == "released":
            return [
                f"work/heuss2025/ch5/attributed/{name}.parquet",
                *choice_files(f"{name}.parquet"),
            ]
        return full_model_outputs(name)(wildcards)

    return files


def cited_data(wildcards):
    """Questions, passages and a run, from the configured folder or from files of KILT."""
    names = ("questions.jsonl", "passages.jsonl", "retrieved.run")
    if CITED.full.data is None and CITED.full.kilt.pages is not None:
        # Snakemake reacts to an error in an upstream rule by trying another rule.
        for name in KILT_FILES:
            kilt_file(name)(wildcards)
        kilt_model(wildcards)
        return [f"work/heuss2025/ch5/kilt/{name}" for name in names]
    return files_named_by_user(
        "citation_faithfulness.full.data",
        names,
        "questions, passages and retrieved.run",
        "citation-faithfulness.md",
    )


def kilt_file(name):
    """Input function: a configured file of KILT."""
    return lambda wildcards: named_by_user(
        f"citation_faithfulness.full.kilt.{name}",
        KILT_FILES[name],
        "citation-faithfulness.md",
        kind="file",
    )


def kilt_model(wildcards):
    """Files of the ColBERT that re-ranks BM25's candidates."""
    return named_model_files(
        "citation_faithfulness.full.kilt.model",
        "citation-faithfulness.md",
        "a ColBERT in safetensors with its tokenizer",
    )
