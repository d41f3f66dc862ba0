# Input functions and names of the rules of abolghasemi2026, chapter 4.


#: What a swap of genders goes by. As an input of rules, so that their receipts name it.
GENDER_PAIRS = "src/everycell/text/gender_pairs.yaml"


def is_cast(wildcards):
    """Whether the models were trained on folds of the wildcard's collection."""
    return wildcards.collection.startswith("cast")


def folds_for(wildcards):
    """Folds whose models rank the wildcard's collection: one serves a collection new to it."""
    return FOLDS if is_cast(wildcards) else FOLDS[:1]


def fold_models(wildcards):
    """Models that rank the wildcard's collection."""
    return [
        f"work/cast/models/cross-encoder.{wildcards.encoder}.fold-{fold}"
        for fold in folds_for(wildcards)
    ]


def fold_queries(wildcards):
    """Queries of each fold, with the split that its model saw."""
    return [f"work/cast/folds/{fold}/queries.parquet" for fold in folds_for(wildcards)]


def baseline_of(wildcards):
    """Ranker that the others are compared with."""
    return None if wildcards.tier == "embedded" else "BM25"


def measured_files(folders, rankers):
    """Runs and counts of a tier's query sets; `folders` is folder -> what its files end with."""
    if any("msmarco" in folder for folder, _ in folders):
        check_msmarco(rankers)
    return {
        "runs": [
            f"{folder}/runs/{ranker}{suffix}.run"
            for folder, suffix in folders
            for ranker in rankers
        ],
        "counts": [f"{folder}/counts.parquet" for folder in dict(folders)],
    }


def fairness_inputs(wildcards):
    """What Table 4.1 of abolghasemi2026 rests on: runs, counts and judgements of a tier."""
    sets = [place[:2] for place in MEASURED_SETS[wildcards.tier].values()]
    files = measured_files(sets, [run for *_, run in RANKERS[wildcards.tier]])
    if wildcards.tier != "embedded":
        files["qrels"] = [f"{folder}/qrels{suffix}.parquet" for folder, suffix in sets]
    return files


def overlap_inputs(wildcards):
    """What Table 4.2 rests on: runs before and after the exchange, and counts."""
    places = COUNTERFACTUALS[wildcards.tier].values()
    rankers = [run for _, run in OVERLAP_ROWS[wildcards.tier]]
    files = measured_files([(folder, suffix) for folder, _, suffix in places], rankers)
    files["counterfactuals"] = [
        f"{counterfactual}/runs/{ranker}{suffix}.run"
        for _, counterfactual, suffix in places
        for ranker in rankers
    ]
    return files


def depth_inputs(tier):
    """What Figure 4.2 rests on, where rankers made the runs."""
    sets = [place[:2] for place in MEASURED_SETS[tier].values()]
    rankers = [run for *_, run in RANKERS[tier]]
    return lambda wildcards: measured_files(sets, rankers)


def depth_systems(tier):
    """Systems of Figure 4.2: query set, collection, run, name."""
    return [
        (query_set, folder.removeprefix("work/"), run + suffix, name)
        for query_set, (folder, suffix, _) in MEASURED_SETS[tier].items()
        for _, name, run in RANKERS[tier]
    ]
