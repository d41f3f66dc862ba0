# Input functions and names of the rules of retrieval.
from everycell.text.tokenise import VOCABULARIES


def vocabulary_of(wildcards):
    """Vocabulary of a tokenisation into word pieces; none for the others.

    The embedded tier takes BERT's from the wheel of a model, since it can fetch nothing.
    """
    name = tokenisation_of(wildcards)
    if name not in VOCABULARIES:
        return []
    if wildcards.collection == "pydocs":
        return resource("minilm/vocab.txt")
    return resource(VOCABULARIES[name])


def tokenisation_of(wildcards):
    """Name of the tokenisation, whether or not documents are cut."""
    return wildcards.tokens.removesuffix("-cut")


def first_terms_of(wildcards):
    """Terms after which a text is cut: what an encoder sees of it, or None for all."""
    # Without the two special pieces.
    return (
        SETTINGS.query_by_example.lengths.text - 2
        if wildcards.tokens.endswith("-cut")
        else None
    )


def tasks_of(wildcards):
    """Tasks of the wildcard's collection."""
    return COLLECTIONS[wildcards.collection]["tasks"]


def setting_of(wildcards):
    """Main candidate lists of the wildcard's collection."""
    return COLLECTIONS[wildcards.collection]["setting"]


def length_of(wildcards):
    """Word pieces that a ranker reads of a text."""
    if wildcards.collection == "nq":
        return SETTINGS.attribution.nq.length
    lengths = SETTINGS.query_by_example.lengths
    return lengths.zero_shot if wildcards.model.endswith(".zero-shot") else lengths.text


def proposals_of(wildcards):
    """Likely terms that TILDE finds for each document: as many as any expansion takes."""
    if wildcards.kind != "tilde":
        return 0
    return max(SETTINGS.query_by_example.expansion)


def model_files(wildcards):
    """What encodes for a ranker: a model that is trained here, or one as it comes."""
    encoder, _, trained_on = wildcards.model.partition(".")
    if trained_on == "zero-shot":
        return files_of_encoder(encoder)
    return f"work/{wildcards.collection}/models/{wildcards.kind}.{wildcards.model}"
