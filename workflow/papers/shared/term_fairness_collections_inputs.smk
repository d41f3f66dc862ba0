# Input functions and names of the rules that create and rank collections for group bias.
from papers.shared.term_fairness_cast import FILES as JUDGED_PASSAGES
from papers.shared.term_fairness_grepbias import DOCUMENTS as GREPBIAS_DOCUMENTS
from papers.shared.term_fairness_grepbias import QUERIES as GREPBIAS_QUERIES

FETCHED_TOGETHER["gender-bias-ir-grepbiasir"] = [
    resource(key) for key in (GREPBIAS_QUERIES, *GREPBIAS_DOCUMENTS)
]
COLLECTIONS |= {
    name: Collection(lengths={"zero_shot": SETTINGS.term_fairness.text})
    for name in (
        "cast",
        "castswapped",
        "grepbias",
        "grepbiasmale",
        "grepbiasfemale",
        "grepbiasmaleswapped",
    )
}
#: Folds of the conversations of CAsT, one per cross-fitted model.
FOLDS = range(SETTINGS.term_fairness.cross_encoder.folds)


def is_cast(wildcards):
    """Whether the models were trained on folds of the wildcard's collection."""
    return wildcards.collection.startswith("cast")


def folds_for(wildcards):
    """Folds whose models rank the wildcard's collection; a single one for an unseen collection."""
    return FOLDS if is_cast(wildcards) else FOLDS[:1]


def fold_models(wildcards):
    """Models that rank the wildcard's collection."""
    return [
        f"work/cast/models/cross-encoder.{wildcards.encoder}.fold-{fold}"
        for fold in folds_for(wildcards)
    ]


def fold_queries(wildcards):
    """Queries of each fold, with the split used by its model."""
    return [f"work/cast/folds/{fold}/queries.parquet" for fold in folds_for(wildcards)]


#: Function that swaps the genders of a collection.
SWAP_OF_COLLECTIONS = (
    "shared/term_fairness_tagged:collection_swapped_by_tags"
    if PRONOUN_TAGGER
    else "shared/term_fairness_collections:collection_swapped"
)
