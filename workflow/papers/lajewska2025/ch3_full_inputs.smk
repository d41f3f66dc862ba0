# Inputs and names of the rules of lajewska2025, ch3_full.smk.

from everycell.collections.cast import FILES as CAST_COLLECTION_FILES
from papers.lajewska2025.ch3_systems import (
    CAST_FULL_DENSE_RUNS,
    CAST_FULL_LEXICAL_RUNS,
    CAST_FULL_REWRITERS,
)

#: Page that describes the material.
CAST_PAGE = "data-cards/cast-collections.md"
#: Options of training; the thesis does not state a seed.
CAST_TRAINING = {
    "epochs": CAST_SYSTEM.rewriter_training.epochs,
    "batch_size": CAST_SYSTEM.rewriter_training.batch,
    "learning_rate": CAST_SYSTEM.rewriter_training.learning_rate,
    "validation_steps": CAST_SYSTEM.rewriter_training.validation_steps,
}


def cast_collection_files(wildcards):
    """Published files of the collections of the wildcard's year."""
    return files_named_by_user(
        f"cast_systems.collection_{wildcards.year}",
        CAST_COLLECTION_FILES[wildcards.year],
        f"the collections of CAsT {wildcards.year}",
        CAST_PAGE,
    )


def cast_qrels(wildcards):
    """Judgements of the wildcard's year."""
    return resource(f"{CAST}/qrels/{wildcards.year}.txt")


def cast_topics(wildcards):
    """Topics of the wildcard's year."""
    return resource(f"{CAST}/topics/{wildcards.year}_manual_evaluation_topics_v1.0.json")


def cast_rewrites(wildcards):
    """Rewrites by each model; none for the queries by hand."""
    rewriters = CAST_FULL_REWRITERS if wildcards.queries == "queries" else []
    return [f"work/castturns/rewrites/{wildcards.year}.{name}.csv" for name in rewriters]


def cast_model_files(name, what):
    """Parameter function: files of a model of the systems."""
    return lambda wildcards: named_model_files(f"cast_systems.{name}", CAST_PAGE, what)


def cast_first_passes(wildcards):
    """First passes that the wildcard's run re-ranks."""
    stage = CAST_RERANKED_RUNS[wildcards.run][0]
    return [
        f"work/castfull/{wildcards.year}/first/{part}.run"
        for part in CAST_FUSED_RUNS.get(stage, [stage])
    ]


def cast_fused(wildcards):
    """The fusion that the wildcard's run re-ranks, if it re-ranks one."""
    stage = CAST_RERANKED_RUNS[wildcards.run][0]
    return {stage: CAST_FUSED_RUNS[stage]} if stage in CAST_FUSED_RUNS else {}


def qrecc_files():
    """Files of QReCC."""
    return files_named_by_user(
        "cast_systems.qrecc", ["qrecc_train.json", "qrecc_test.json"], "QReCC", CAST_PAGE
    )
