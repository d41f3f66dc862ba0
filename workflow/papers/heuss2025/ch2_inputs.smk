# Inputs and names of the rules of heuss2025, ch2.smk.

from papers.heuss2025.data import DATASETS as FAIR_DATASETS
from papers.heuss2025.data import FILES as FAIR_FILES

FAIR_EXPOSURE = SETTINGS.fair_exposure


def fair_lists(*datasets):
    """Released lists of data sets, as `DATASET_part`."""
    return {
        f"{dataset}_{part}": resource(key)
        for (dataset, part), key in FAIR_FILES.items()
        if dataset in datasets
    }


def lists_of_dataset(part):
    """Lists of the wildcards' data set: released ones, or simulated ones in the embedded tier."""

    def lists(wildcards):
        if wildcards.tier == "embedded":
            return f"work/heuss2025/ch2/planted/{wildcards.dataset}_{part}.csv"
        return resource(FAIR_FILES[wildcards.dataset, part])

    return lists


FETCHED_TOGETHER["felix-trec-fair-lists"] = list(fair_lists(*FAIR_DATASETS).values())

#: Number of the table -> ranks of a ranking; None for all.
RANKS = {"2": 10, "3": None}


def number_of_trainings(wildcards):
    """Number of training runs; two show the effect of seeds on surrogate data."""
    return 2 if wildcards.tier == "embedded" else FAIR_EXPOSURE.seeds


def readings_of_tier(wildcards):
    """Training as in the text and as in the code; on simulated lists only the first."""
    both = list(FAIR_EXPOSURE.readings)
    return both[:1] if wildcards.tier == "embedded" else both


def policy_setup(wildcards):
    """Options of the policies of a table."""
    return {
        "ranks": RANKS[wildcards.number],
        "samples": FAIR_EXPOSURE.samples,
        "marginals": FAIR_EXPOSURE.marginals,
        # As in the text or in the authors' code.
        "items": 60,
        "outlier_ranks": 10,
        "iterations": 20,
    }
