# Input functions and names of the rules of group bias in ranked lists.
from papers.shared.term_fairness_planted import CONTROL
from papers.shared.term_fairness_planted import RANKERS as PLANTED_RANKERS
from papers.shared.term_fairness_planted import SYSTEMS as PLANTED

# TAU is imported from here, since importing the module of the measures takes another second.
from papers.shared.term_fairness_planted import TAU
from papers.shared.term_fairness_systems import (
    COUNTERFACTUALS,
    OVERLAP_ROWS,
    RANKERS,
    measured_sets,
)

FAIRNESS = SETTINGS.term_fairness
MEASURED_SETS = measured_sets(FAIRNESS)
#: Results of papers by kind: artefact (KEY/table_1) -> option. The option of an "example" is the
#: artefact with the published lists, that of "means" the names of metrics.
FAIRNESS_RESULTS = {"example": {}, "depth": {}, "means": {}, "overlap": {}}
#: Group-specific terms released by the NFaiRR authors.
WORD_LIST = "gender-bias-ir/fairr/wordlist_gender_representative.txt"
#: Pairs of words for swapping genders. An input of rules, so that receipts include it.
GENDER_PAIRS = "src/everycell/text/gender_pairs.yaml"
#: Weights of the tagger that decides "her", if the settings ask for it.
PRONOUN_TAGGER = (
    {"tagger": resource("nltk/averaged_perceptron_tagger.json")}
    if FAIRNESS.pronouns == "tags"
    else {}
)


def baseline_of(wildcards):
    """Baseline of the comparisons."""
    return "baseline" if wildcards.tier == "embedded" else "BM25"


def measured_files(folders, rankers):
    """Runs and counts of a tier's query sets; `folders` has pairs of a folder and a suffix."""
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


def depth_inputs(wildcards):
    """Inputs of the measures at every cut-off: runs and counts of a tier."""
    folders = [query_set[:2] for query_set in MEASURED_SETS[wildcards.tier].values()]
    return measured_files(folders, [run for *_, run in depth_rankers(wildcards)])


def depth_rankers(wildcards):
    """Rankers of a tier, as in `RANKERS`; embedded: rankings of every kind, with known curves."""
    if wildcards.tier == "embedded":
        return [("planted", system, system) for system in PLANTED]
    return RANKERS[wildcards.tier]


def depth_systems(wildcards):
    """Systems of a tier: query set, collection, run, displayed name."""
    return [
        (query_set, folder.removeprefix("work/"), run + suffix, name)
        for query_set, (folder, suffix, _) in MEASURED_SETS[wildcards.tier].items()
        for _, name, run in depth_rankers(wildcards)
    ]


def depth_cutoffs(wildcards):
    """Largest cut-off; the paper does not state its own."""
    return {
        "embedded": FAIRNESS.planted.depth,
        # The depth of re-ranking.
        "released": FAIRNESS.cross_encoder.depth,
        "full": FAIRNESS.cutoffs,
    }[wildcards.tier]


def means_inputs(wildcards):
    """Inputs of mean effectiveness and fairness: runs, counts and qrels of a tier."""
    folders = [query_set[:2] for query_set in MEASURED_SETS[wildcards.tier].values()]
    if wildcards.tier == "embedded":
        folders.append(("work/planted", CONTROL))
    files = measured_files(folders, [run for *_, run in RANKERS[wildcards.tier]])
    if wildcards.tier != "embedded":
        files["qrels"] = [
            f"{folder}/qrels{suffix}.parquet"
            for folder, suffix, _ in MEASURED_SETS[wildcards.tier].values()
        ]
    return files


def overlap_inputs(wildcards):
    """Inputs of an overlap: runs before and after the swap, and counts."""
    query_sets = COUNTERFACTUALS[wildcards.tier].values()
    rankers = [run for _, run in OVERLAP_ROWS[wildcards.tier]]
    files = measured_files([(folder, suffix) for folder, _, suffix in query_sets], rankers)
    files["counterfactuals"] = [
        f"{counterfactual}/runs/{ranker}{suffix}.run"
        for _, counterfactual, suffix in query_sets
        for ranker in rankers
    ]
    return files


def artefact_pattern(kind):
    """Wildcard pattern for the artefacts of a kind."""
    return "|".join(FAIRNESS_RESULTS[kind])


def lists_of_example(wildcards):
    """Artefact whose published cells are the lists of the wildcard's example."""
    return FAIRNESS_RESULTS["example"][wildcards.artefact_id]


#: Parameters of the measures at every cut-off, and of their means, in all tiers.
DEPTH = {"systems": depth_systems, "cutoffs": depth_cutoffs, "tau": TAU}
MEANS = {
    "systems": of_tier(RANKERS),
    "query_sets": of_tier(MEASURED_SETS),
    "k": FAIRNESS.k,
    "alpha": FAIRNESS.alpha,
    "baseline": baseline_of,
    "names": lambda wildcards: FAIRNESS_RESULTS["means"][wildcards.artefact_id],
}
