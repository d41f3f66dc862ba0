# Inputs and names of the rules of abolghasemi2026, ch2.smk.

from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from papers.abolghasemi2026.ch2_query_by_example import PACKAGES
from papers.abolghasemi2026.ch2_scidocs import FOLDERS, METADATA
from papers.abolghasemi2026.ch2_test_collections import FILES
from papers.abolghasemi2026.ch2_planted import CHECKED, SETTING, TASKS
from papers.abolghasemi2026.ch2_systems import (
    AD_HOC,
    COLLECTION,
    ENCODERS,
    FULL_EXPANSION,
    NEW_ENCODER,
    PLANTED_SCORES,
    SHORT_AND_LONG,
    STATED_EXPANSIONS,
    TOKENISED_COLLECTION,
    combined_systems,
    expansions,
    ranking_systems,
    tokenised_systems,
    training_on_scidocs,
    training_on_surrogate_data,
)

CH2 = SETTINGS.query_by_example

FULL = CH2.full

#: Training seeds on SciDocs. Combinations of rankers and the sizes in the text use only the first.
FULL_SEEDS = [SETTINGS.seed + number for number in range(FULL.seeds)]

FIRST = f"seed-{SETTINGS.seed}"

#: Suffix of the name of a trained model; a zero-shot model has none.
A_SEED = r"\.seed-[0-9]+"

A_SEED_OR_NONE = rf"({A_SEED})?"

EXPANSION = expansions(CH2)

#: Rows of Tables 2.1 and 2.2, and of the tables of combinations, by tier.
SYSTEMS, TOKENISED = ranking_systems(CH2), tokenised_systems()

COMBINED = combined_systems(SETTINGS.seed)

LEXICAL = Lexical(
    bm25=CH2.bm25.model_dump(),
    jelinek_mercer=CH2.jelinek_mercer,
    dirichlet=CH2.dirichlet,
    tuning=CH2.tuning,
)

#: Options of the two surrogates of SciDocs that have links.
LINKED = {
    "tasks": ["cite", "co-cite", "coupling"],
    "lexical": LEXICAL,
    "lengths": CH2.lengths.model_dump(),
}

COLLECTIONS |= {
    "concepts": Collection(
        tasks=list(CHECKED),
        setting=SETTING,
        lexical=LEXICAL,
        lengths=CH2.concepts.lengths.model_dump(),
        proposals=max(CH2.concepts.expansion),
        encoders={
            NEW_ENCODER: f"work/concepts/{NEW_ENCODER}",
            # Cross-encoders start from TILDE, which has learned the terms.
            "tilde": f"work/concepts/models/tilde.{NEW_ENCODER}.all",
        },
        training=partial(training_on_surrogate_data, settings=CH2.concepts),
    ),
    "pydocs": Collection(
        setting="package",
        # The embedded tier downloads nothing; this vocabulary is part of an installed package.
        vocabularies={"BERT-Token": "minilm/vocab.txt"},
        **LINKED,
    ),
    "cacm": Collection(
        setting="mixed",
        proposals=max(CH2.expansion),
        training=partial(training_on_surrogate_data, settings=CH2),
        **LINKED,
    ),
    "cisi": Collection(searched=True, lexical=LEXICAL),
    "cranfield": Collection(searched=True, lexical=LEXICAL),
    "scidocs": Collection(
        tasks=["co-view", "co-read", "co-cite", "cite"],
        setting="published",
        lexical=LEXICAL,
        lengths=FULL.lengths.model_dump(),
        proposals=max(FULL_EXPANSION),
        training=partial(
            training_on_scidocs, settings=FULL, bf16=SETTINGS.gpu_precision == "bfloat16"
        ),
    ),
}

#: Candidate lists of a tier's collection; the combinations leave out tasks that only checks use.
LISTS = {tier: {name: COLLECTIONS[name].lists} for tier, name in COLLECTION.items()}

LISTS["embedded"]["concepts"]["tasks"] = list(TASKS)

TOKENISED_LISTS = {
    tier: {name: COLLECTIONS[name].lists} | dict.fromkeys(AD_HOC[tier])
    for tier, name in TOKENISED_COLLECTION.items()
}

#: Table 2.1 in the format of a ranx comparison.
RANX_FILES = {f"comparison_{form}": f"results/<result>.ranx.{form}" for form in ("md", "tex")}

FETCHED_TOGETHER |= {
    f"ir-collections-{collection}": [resource(key) for key in files.values()]
    for collection, files in FILES.items()
}


def seed_of_training(wildcards):
    """Seed of a training run whose name ends in it."""
    return int(wildcards.seed.rpartition("-")[2])


def scidocs_encoder_files(wildcards):
    """Files of the wildcard's encoder: from the configured folder, or from the registry."""
    if wildcards.encoder in CH2.encoders.model_dump():
        return files_of_named_encoder(wildcards.encoder)
    return registered_encoder(wildcards.encoder)


def files_of_named_encoder(name):
    """Files of the encoder configured under this name."""
    return named_model_files(
        f"query_by_example.encoders.{name}",
        "query-by-example.md",
        "a BERT in safetensors with its tokenizer",
    )


def scidocs_files(wildcards):
    """Published files of SciDocs, in the configured folder or downloaded."""
    files = {"metadata": METADATA} | {
        f"{name}_{part}": f"{name}/{part}.qrel"
        for name in FOLDERS.values()
        for part in ("val", "test")
    }
    paths = files_named_by_user(
        "query_by_example.scidocs.folder",
        files.values(),
        "the published files of SciDocs",
        "data-cards/scidocs.md",
        corpus="scidocs",
    )
    return dict(zip(files, paths))


def smart_files(collection):
    """Documents, topics and judgements of a classic collection."""
    return {part: resource(key) for part, key in FILES[collection].items()}


def ad_hoc_files(wildcards):
    """Files of the wildcard's classic collection."""
    return smart_files(wildcards.collection)


def package_versions(packages):
    """Versions of the documented packages; a new version rebuilds the collection.

    A light installation lacks some, and can still plan and make other results.
    """
    return {name: version(PACKAGES[name]) for name in packages if find_spec(name)}


def is_zero_shot_on_scidocs(wildcards):
    """Whether the wildcard's model is used zero-shot."""
    return wildcards.trained_on == "zero-shot"


def scidocs_input_options_of(wildcards):
    """Input lengths of the wildcard's ranker on SciDocs."""
    zero_shot = is_zero_shot_on_scidocs(wildcards)
    return encoded_as(wildcards, wildcards.kind, zero_shot)


def scidocs_model_files(wildcards):
    """Model of a ranker on SciDocs: trained on one task, or zero-shot from MS MARCO."""
    if is_zero_shot_on_scidocs(wildcards):
        return files_of_named_encoder(f"{wildcards.kind}_{wildcards.encoder}")
    return "work/scidocs/models/{kind}.{encoder}.{trained_on}{seed}".format(**wildcards)


def run_files(collection, systems):
    """Run files of systems.

    `{task}` and `{seed}` in the name of a run are replaced with every task and every seed.

    User-provided files are checked here, since Snakemake would react to an error in an upstream rule
    by trying another rule.
    """
    if collection == "scidocs":
        check_named(systems)
    return list(
        dict.fromkeys(
            f"work/{collection}/runs/{run}.run".format(task=task, seed=seed)
            for *_, run in systems
            for task in COLLECTIONS[collection].tasks
            for seed in FULL_SEEDS
        )
    )


def check_named(systems):
    """Reject systems on SciDocs if their encoder, or SciDocs itself, is not configured."""
    scidocs_files(None)
    known = CH2.encoders.model_dump()
    for *_, run in systems:
        kind, encoder = run.split(".")[:2]
        for key in (encoder, f"{kind}_{encoder}"):
            if key in known:
                files_of_named_encoder(key)


def compared(tier):
    """Parameters of Table 2.1 in every tier."""
    return {
        "systems": SYSTEMS[tier],
        "seeds": FULL_SEEDS if tier == "full" else [],
        "lists": {COLLECTION[tier]: COLLECTIONS[COLLECTION[tier]].lists},
        "alpha": CH2.alpha,
    }


def expansion_files(tier):
    """Files with the new terms per document of each expansion."""
    return [
        f"work/{COLLECTION[tier]}/encoded/tildev2-expanded-{m}.{ENCODERS[tier]}.all.csv"
        for m in EXPANSION[tier]
    ]


def stated_size_inputs(wildcards):
    """Candidate lists, tokens, BM25 tuning, and the terms added by each expansion on SciDocs."""
    check_named([("h", "TILDEv2", "SciBERT", "tildev2.scibert.{task}.seed-{seed}")])
    added = {
        f"m{m}": [
            f"work/scidocs/encoded/tildev2-expanded-{m}.scibert.{task}.{FIRST}.csv"
            for task in COLLECTIONS["scidocs"].tasks
        ]
        for m in STATED_EXPANSIONS
    }
    return added | {
        "candidates": "work/scidocs/candidates.parquet",
        "bert": "work/scidocs/tokens/BERT-Token/documents.parquet",
        "scibert": "work/scidocs/tokens/SciBERT-Token/documents.parquet",
        "grid": "work/scidocs/tuning/bm25.STM2.csv",
    }


def runs_of(table):
    """Input function: runs compared in a table, in the wildcard's tier."""
    return lambda wildcards: run_files(COLLECTION[wildcards.tier], table[wildcards.tier])


def candidates_of(wildcards):
    """Candidate lists of the wildcard's tier."""
    return candidates_in(COLLECTION[wildcards.tier])


def candidates_in(collection):
    """Candidate lists of a collection."""
    return f"work/{collection}/candidates.parquet"


def ad_hoc_runs(wildcards):
    """Judgements and runs of the classic collections of a tier."""
    return [
        f"work/{collection}/{file}"
        for collection in AD_HOC[wildcards.tier]
        for file in [
            "qrels.parquet",
            *(f"runs/{system[3]}.run" for system in TOKENISED[wildcards.tier]),
        ]
    ]
