# Input functions of the rules of heuss2025, chapter 5.
from everycell.studies.heuss2025.ch5.figure_titles import FORGED, SIZE_TITLES, CLAIMS_ON_OWN_ANSWERS

CITED = SETTINGS.citation_faithfulness

#: What is the same of all answerers of the control.
READERS_BEHAVIOUR = {"matching": CITED.matching, "steady": CITED.steady}

#: What a job on a model of the full tier writes.
ASKED = ("selection", "sizes", "outcomes", "numbers", "answers")


def chosen(ending):
    """Files of the language models that choose a document."""
    return [f"work/heuss2025/ch5/chosen/{model}.{ending}" for model in CITED.released.models]


def asked_files(model):
    """Files of a job on a model of the full tier, by their names."""
    folder = f"work/heuss2025/ch5/asked/{model}"
    return {name: f"{folder}.{name}.parquet" for name in ASKED} | {
        "provenance": f"{folder}.provenance.json"
    }


def asked(name):
    """One of these files for each model of the full tier."""

    def files(wildcards):
        models = named_by_user(
            "citation_faithfulness.full.models",
            "language models that answer and cite",
            "citation-faithfulness.md",
            kind="language models",
        )
        return [asked_files(model)[name] for model in models]

    return files


def of_answerers(name):
    """A frame of all answerers of the wildcard's tier: planted, small models, or the user's."""

    def files(wildcards):
        if wildcards.tier == "embedded":
            return [f"work/heuss2025/ch5/planted/{name}.parquet"]
        if wildcards.tier == "released":
            return [f"work/heuss2025/ch5/attributed/{name}.parquet", *chosen(f"{name}.parquet")]
        return asked(name)(wildcards)

    return files


def cited_data(wildcards):
    """Questions, passages and a run from the configured folder."""
    return files_named_by_user(
        "citation_faithfulness.full.data",
        ("questions.jsonl", "passages.jsonl", "retrieved.run"),
        "questions, passages and retrieved.run",
        "citation-faithfulness.md",
    )
