# abolghasemi2026, chapter 2: term-based ranking with contextual weights, query by example.
# Each tier has its own collection; those of the embedded and released tiers are surrogates for
# SciDocs. `concepts` (embedded) is synthetic, with known effects of the methods. Experiments that
# need real text (tokenisation, short and long queries) use pydocs.
from functools import partial
from importlib.metadata import version
from everycell.collections.pydocs import PACKAGES
from everycell.collections.scidocs import FOLDERS, METADATA
from everycell.collections.smart import FILES
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
    """Versions of the documented packages; a new version rebuilds the collection."""
    return {name: version(PACKAGES[name]) for name in packages}


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


use rule step as collection_pydocs with:
    output:
        documents="work/pydocs/documents.parquet",
        queries="work/pydocs/queries.parquet",
        candidates="work/pydocs/candidates.parquet",
    pathvars:
        job="retrieval/pydocs/collection",
    resources:
        **needs(1500, 10),
    params:
        **runs("abolghasemi2026/ch2_collections:collection_pydocs"),
        seed=SETTINGS.seed,
        sizes=CH2.pydocs.model_dump(),
        versions=package_versions(CH2.pydocs.packages),
    message:
        "Collection pydocs, from the installed packages"


use rule step as collection_concepts with:
    output:
        documents="work/concepts/documents.parquet",
        queries="work/concepts/queries.parquet",
        candidates="work/concepts/candidates.parquet",
        mentions="work/concepts/mentions.parquet",
        scores=[f"work/concepts/runs/planted.{name}.run" for name in PLANTED_SCORES],
        encoder=directory(f"work/concepts/{NEW_ENCODER}"),
    pathvars:
        job="retrieval/concepts/collection",
    conda:
        environment("torch")
    resources:
        **needs(1500, 10),
    params:
        **runs("abolghasemi2026/ch2_planted:collection_concepts"),
        seed=SETTINGS.seed,
        sizes=CH2.concepts.sizes,
        positions=CH2.concepts.lengths.expanded,
    message:
        "Collection concepts, with planted relevance, and an untrained encoder"


use rule step as collection_cacm with:
    input:
        **smart_files("cacm"),
    output:
        documents="work/cacm/documents.parquet",
        queries="work/cacm/queries.parquet",
        candidates="work/cacm/candidates.parquet",
    pathvars:
        job="retrieval/cacm/collection",
    resources:
        **needs(800, 10),
    params:
        **runs("abolghasemi2026/ch2_collections:collection_cacm"),
        seed=SETTINGS.seed,
        sizes=CH2.cacm.model_dump(),
        # Minimum number of words in a query's abstract, so that queries are long.
        min_words=50,
    message:
        "Collection CACM, from its links"


# Classic ad-hoc collections, for the comparison of tokenisers.
use rule step as collection_ad_hoc with:
    input:
        unpack(ad_hoc_files),
    output:
        documents="work/{collection}/documents.parquet",
        queries="work/{collection}/queries.parquet",
        qrels="work/{collection}/qrels.parquet",
    pathvars:
        job="retrieval/{collection}/collection",
    wildcard_constraints:
        collection="cisi|cranfield",
    params:
        **runs("abolghasemi2026/ch2_collections:collection_ad_hoc"),
    message:
        "Collection {wildcards.collection}"


# Table 2.1 of each tier, with supplements that differ between tiers.
use rule table as abolghasemi2026_ch2_quality with:
    input:
        candidates="work/concepts/candidates.parquet",
        runs=[f"work/concepts/runs/{system[3]}.run" for system in SYSTEMS["embedded"]],
        new_terms=expansion_files("embedded"),
        mentions="work/concepts/mentions.parquet",
        tilde=f"work/concepts/encoded/tilde.{NEW_ENCODER}.all.npz",
        tildev2=f"work/concepts/encoded/tildev2.{NEW_ENCODER}.all.npz",
        pydocs_candidates="work/pydocs/candidates.parquet",
        pydocs_runs=[f"work/pydocs/runs/{run}.run" for run in SHORT_AND_LONG.values()],
    output:
        **table_files(tables=["checks", "expansion"], figures=["lengths"]),
        **RANX_FILES,
    pathvars:
        result="embedded/abolghasemi2026/table_2_1",
    resources:
        **needs(1500, 10),
    params:
        **runs("abolghasemi2026/ch2:quality"),
        **compared("embedded"),
        expansion=EXPANSION["embedded"],
        seed=SETTINGS.seed,
        scaling=CH2.scaling,
        short_and_long=SHORT_AND_LONG,
        pydocs_setting=COLLECTIONS["pydocs"].setting,
        query_kinds={task: "long: a document" for task in COLLECTIONS["pydocs"].tasks}
        | {"known-item": "short: one line"},
    message:
        "Effectiveness of all rankers on planted concepts (Table 2.1)"


use rule table as abolghasemi2026_ch2_quality_cacm with:
    input:
        candidates="work/cacm/candidates.parquet",
        runs=[f"work/cacm/runs/{system[3]}.run" for system in SYSTEMS["released"]],
        new_terms=expansion_files("released"),
    output:
        **table_files(tables=["expansion", "validation"]),
        **RANX_FILES,
    pathvars:
        result="released/abolghasemi2026/table_2_1",
    resources:
        **needs(1500, 10),
    params:
        **runs("abolghasemi2026/ch2:quality"),
        **compared("released"),
        expansion=EXPANSION["released"],
        # Baselines on the validation queries: the first stage for TILDE, and the initial weights
        # for TILDEv2.
        baselines={"e": "a", "h": "g"},
    message:
        "Effectiveness of all rankers on CACM (Table 2.1)"


use rule table as abolghasemi2026_ch2_quality_scidocs with:
    input:
        candidates="work/scidocs/candidates.parquet",
        runs=lambda wildcards: run_files("scidocs", SYSTEMS["full"]),
    output:
        **table_files(tables=["seeds"]),
        **RANX_FILES,
    pathvars:
        result="full/abolghasemi2026/table_2_1",
    resources:
        **needs(1500, 10),
    params:
        **runs("abolghasemi2026/ch2:quality"),
        **compared("full"),
    message:
        "Effectiveness of all rankers on SciDocs (Table 2.1)"


# Table 2.2: two rankers with five tokenisers.
use rule table as abolghasemi2026_ch2_tokenisation with:
    input:
        candidates=lambda wildcards: candidates_in(TOKENISED_COLLECTION[wildcards.tier]),
        runs=lambda wildcards: run_files(
            TOKENISED_COLLECTION[wildcards.tier], TOKENISED[wildcards.tier]
        ),
        ad_hoc=ad_hoc_runs,
    pathvars:
        result="{tier}/abolghasemi2026/table_2_2",
    wildcard_constraints:
        tier="embedded|released|full",
    resources:
        **needs(1500, 10),
    params:
        **runs("abolghasemi2026/ch2:quality"),
        systems=of_tier(TOKENISED),
        seeds=[],
        lists=of_tier(TOKENISED_LISTS),
        alpha=CH2.alpha,
    message:
        "Tokenisations (Table 2.2, {wildcards.tier})"


# Tables 2.3 and 2.4 and Figure 2.3: BM25 with TILDE and with TILDEv2.
use rule table as abolghasemi2026_ch2_interpolation with:
    input:
        candidates=candidates_of,
        runs=runs_of(COMBINED),
    output:
        **table_files(tables=["weights"]),
    pathvars:
        result="{tier}/abolghasemi2026/table_2_3",
    wildcard_constraints:
        tier="embedded|full",
    resources:
        **needs(1500, 10),
    params:
        **runs("abolghasemi2026/ch2:interpolation"),
        systems=of_tier(COMBINED),
        lists=of_tier(LISTS),
        scaling=CH2.scaling,
        alpha=CH2.alpha,
    message:
        "Tuned interpolation (Table 2.3, {wildcards.tier})"


# Only CACM allows lists with other negatives.
use rule table as abolghasemi2026_ch2_interpolation_cacm with:
    input:
        candidates="work/cacm/candidates.parquet",
        runs=run_files("cacm", COMBINED["released"]),
    output:
        **table_files(tables=["weights", "other_negatives"]),
    pathvars:
        result="released/abolghasemi2026/table_2_3",
    resources:
        **needs(1500, 10),
    params:
        **runs("abolghasemi2026/ch2:interpolation"),
        systems=COMBINED["released"],
        lists=LISTS["released"],
        scaling=CH2.scaling,
        alpha=CH2.alpha,
        other_setting="random",
    message:
        "Tuned interpolation on CACM (Table 2.3)"


use rule table as abolghasemi2026_ch2_oracle with:
    input:
        candidates=candidates_of,
        runs=runs_of(COMBINED),
    output:
        **table_files(figures=["gains"]),
    pathvars:
        result="{tier}/abolghasemi2026/table_2_4",
    wildcard_constraints:
        tier="embedded|released|full",
    resources:
        **needs(1500, 10),
    params:
        **runs("abolghasemi2026/ch2:oracle"),
        systems=of_tier(COMBINED),
        lists=of_tier(LISTS),
        scaling=CH2.scaling,
        alpha=CH2.alpha,
        noise_seeds=CH2.noise_seeds,
        # Letters of the rows in Table 2.1.
        letters={"BM25": "a", "TILDE": "e", "TILDEv2": "h"},
        # The control is a row only on surrogate data; the supplementary figure always has it.
        control=lambda wildcards: wildcards.tier != "full",
        seed=SETTINGS.seed,
    message:
        "Oracle interpolation and its control (Table 2.4, {wildcards.tier})"


use rule figure as abolghasemi2026_ch2_curves with:
    input:
        candidates=candidates_of,
        runs=runs_of(COMBINED),
    output:
        **figure_files(tables=["ranges"]),
    pathvars:
        result="{tier}/abolghasemi2026/figure_2_3",
    wildcard_constraints:
        tier="embedded|released",
    resources:
        **needs(1500, 10),
    params:
        **runs("abolghasemi2026/ch2:curves"),
        systems=of_tier(COMBINED),
        lists=of_tier(LISTS),
        scaling=CH2.scaling,
        noise_seeds=CH2.noise_seeds,
    message:
        "Effectiveness by the weight of BM25 (Figure 2.3, {wildcards.tier})"


# The table has only numbers that are published; a supplementary file has all points.
use rule figure as abolghasemi2026_ch2_curves_scidocs with:
    input:
        candidates="work/scidocs/candidates.parquet",
        runs=lambda wildcards: run_files("scidocs", COMBINED["full"]),
    output:
        **figure_files(tables=["ranges"]),
        points="results/<result>.points.csv",
    pathvars:
        result="full/abolghasemi2026/figure_2_3",
    resources:
        **needs(1500, 10),
    params:
        **runs("abolghasemi2026/ch2:curves"),
        systems=COMBINED["full"],
        lists=LISTS["full"],
        scaling=CH2.scaling,
        noise_seeds=CH2.noise_seeds,
    message:
        "Effectiveness by the weight of BM25 on SciDocs (Figure 2.3)"
