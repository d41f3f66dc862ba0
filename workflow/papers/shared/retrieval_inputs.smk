# Input functions and names of the rules of retrieval.
from everycell.learning.rankers import (
    EncodingRanker,
    PairRanker,
    TextEncodingRanker,
    TrainedRanker,
    get_ranker,
    ranker_module,
    rankers_of,
)
from everycell.retrieval.settings import Collection, Lexical
from everycell.text.tokenise import VOCABULARIES

#: Configurations of the collections, by name. The files of chapters add them after this file has
#: been read, so only functions may read COLLECTIONS.
COLLECTIONS = {}
#: Encoders from installed packages, for all chapters.
PACKAGED_ENCODERS = ("splade-tiny", "minilm")
FETCHED_TOGETHER |= {encoder: registered_encoder(encoder) for encoder in PACKAGED_ENCODERS}
FETCHED_TOGETHER["wordpiece-vocab"] = [resource(key) for key in VOCABULARIES.values()]


def collection_of(wildcards):
    """Configuration of the wildcard's collection."""
    name = wildcards.collection
    if name not in COLLECTIONS:
        raise WorkflowError(
            f"Unknown collection {name!r}. Use one of {', '.join(sorted(COLLECTIONS))}, or add it "
            "to COLLECTIONS in the rules of its chapter."
        )
    return COLLECTIONS[name]


def of_collection(attribute):
    """Parameter function: an attribute of the wildcard's collection."""
    return lambda wildcards: getattr(collection_of(wildcards), attribute)


def lexical(attribute):
    """Parameter function: an option of the lexical rankers on the wildcard's collection."""
    return lambda wildcards: getattr(collection_of(wildcards).lexical, attribute)


def candidates_to_score(wildcards):
    """Candidate lists of the wildcard's collection; none if the collection is searched."""
    if collection_of(wildcards).searched:
        return []
    return f"work/{wildcards.collection}/candidates.parquet"


def vocabulary_of(wildcards):
    """Vocabulary file of a word-piece tokeniser; none for other tokenisers."""
    name = tokenisation_of(wildcards)
    if name not in VOCABULARIES:
        return []
    return resource(collection_of(wildcards).vocabularies.get(name, VOCABULARIES[name]))


def tokenisation_of(wildcards):
    """Name of the tokeniser, without the suffix for truncation."""
    return wildcards.tokens.removesuffix("-cut")


def first_terms_of(wildcards):
    """Maximum number of terms of a text that is truncated for an encoder; None for no limit."""
    if not wildcards.tokens.endswith("-cut"):
        return None
    # Two special tokens count towards the length.
    return collection_of(wildcards).lengths["text"] - 2


def names_of(*kinds):
    """Wildcard pattern for the names of rankers that are of all these kinds."""
    return "|".join(
        ranker.pattern
        for ranker in rankers_of(kinds[0])
        if all(isinstance(ranker, kind) for kind in kinds)
    )


def runs_ranker(function, name=None):
    """Like `runs`, for a function that uses the ranker `name` or that of the wildcard `kind`.

    The hash of the code covers the function and only this ranker, since no other is imported.
    """

    def code(wildcards):
        return hash_of_code(function, ranker_file(name or wildcards.kind))

    def modules(wildcards):
        return [ranker_file(name or wildcards.kind)]

    return runs(function) | {"code": code, "modules": modules}


def ranker_file(name):
    """File of a ranker's module, from the folder of the repository."""
    return f"src/{ranker_module(name).replace('.', '/')}.py"


def training_of(part):
    """Parameter function: a training option of the wildcard's ranker and collection."""
    return lambda wildcards: collection_of(wildcards).training(get_ranker(wildcards.kind))[part]


def training_tasks_of(wildcards):
    """Training tasks of a model: a single task, or None for all."""
    return None if wildcards.trained_on == "all" else [wildcards.trained_on]


#: Parameters for training a model.
TRAINING = {name: training_of(name) for name in ("pairs", "negatives", "input_options", "options")}
TRAINING["tasks"] = training_tasks_of
#: Parameters of the lexical rankers.
SCORING = {name: lexical(name) for name in ("bm25", "jelinek_mercer", "dirichlet", "hits")}


def encoder_files(wildcards):
    """The wildcard's encoder: trained for its collection, or from the registry."""
    own_encoder = collection_of(wildcards).encoders.get(wildcards.encoder)
    return own_encoder or registered_encoder(wildcards.encoder)


def model_files(wildcards):
    """Encoder of a ranker: a model trained here, or a pretrained one."""
    if is_zero_shot(wildcards.model):
        return registered_encoder(wildcards.model.partition(".")[0])
    return f"work/{wildcards.collection}/models/{wildcards.kind}.{wildcards.model}"


def is_zero_shot(model):
    """Whether a model is used without training, according to its name."""
    return model.endswith(".zero-shot")


def input_options_of(wildcards):
    """Input options of the wildcard's ranker for encoding texts."""
    return encoded_as(wildcards, wildcards.kind, is_zero_shot(wildcards.model))


def encoded_as(wildcards, name, zero_shot=False):
    """Input options of a ranker on the wildcard's collection."""
    options = collection_of(wildcards)
    return get_ranker(name).input_options(
        options.lengths, zero_shot=zero_shot, proposals=options.proposals
    )


def expanded_input_options_of(wildcards):
    """Input options of TILDEv2 for expanded documents."""
    return encoded_as(wildcards, "tildev2-expanded")


def pair_input_options_of(wildcards):
    """Input options of the wildcard's ranker for pairs of a query and a document."""
    return get_ranker(wildcards.kind).pair_input_options(collection_of(wildcards).lengths)
