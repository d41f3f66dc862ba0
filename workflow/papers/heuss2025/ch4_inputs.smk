# Inputs and names of the rules of heuss2025, ch4.smk.

from papers.heuss2025.ch4_talent_search import LIST_FIGURES

#: Tier -> data set -> its name in Figure 4.4.
EXPLAINED_DATA = {
    "embedded": {"planted": "Planted", "pydocs": "pydocs"},
    "released": {"mq2008_fold1": "MQ2008", "mslr_slice": "MSLR slice (surrogate data)"},
    "full": {"mq2008": "MQ2008", "mslr_web10k": "MSLR-WEB10K"},
}

#: Feature of pydocs candidates -> run whose scores it has.
RUNS_OF_FEATURES = {
    "BM25, words": "bm25.SA",
    "BM25, stems": "bm25.STM2",
    "BM25, word pieces": "bm25.BERT-Token",
    "JM language model, stems": "lm.STM2",
    "Dirichlet language model, stems": "lm-dirichlet.STM2",
    "SPLADE": "splade.splade-tiny.zero-shot",
}

#: Data set -> number of features.
LETOR_FEATURES = {
    "mq2008": 46,
    "mq2008_fold1": 46,
    "mslr_slice": 136,
    "mslr_web10k": 136,
}

#: Published inputs of the talent search.
TALENT_SEARCH = {
    "candidates": "published/heuss2025/table_4_A_1.csv",
    "universities": "published/heuss2025/table_4_A_2.csv",
}

TALENT_SEARCH_CELLS = declared_inputs("embedded", "heuss2025", "table_4_A_1", "table_4_A_2")

EXPLAINED = SETTINGS.list_explanations


def explained_data(tier):
    """Data sets of Figure 4.4; in the full tier those with a configured folder, or all."""
    data = EXPLAINED_DATA[tier]
    # Data sets of the other tiers have no folders in config.yaml.
    configured = {
        name: title for name, title in data.items() if getattr(EXPLAINED.folders, name, None)
    }
    return configured or data


#: Released files in LETOR format. Fold 1 of MQ2008 trains on S1, S2 and S3 and tests on S5, and each
#: of these is the test part of a fold. For the slice of MSLR, training uses the validation part.
LETOR_PARTS = {
    "mq2008_fold1": {
        "train": [resource(f"mq2008/Fold{fold}.test.txt") for fold in (2, 3, 4)],
        "test": [resource("mq2008/Fold1.test.txt")],
    },
    "mslr_slice": {
        "train": [resource("mslr-sample/valid.txt")],
        "test": [resource("mslr-sample/test.txt")],
    },
}

FETCHED_TOGETHER |= {
    "mq2008": [path for part in LETOR_PARTS["mq2008_fold1"].values() for path in part],
    "mslr-sample": [path for part in LETOR_PARTS["mslr_slice"].values() for path in part],
}


def letor_parts(wildcards):
    """Files of the training and test parts: released ones, or a configured fold."""
    if wildcards.data in LETOR_PARTS:
        return LETOR_PARTS[wildcards.data]
    return letor_fold(wildcards)


def letor_fold(wildcards):
    """Files of a fold in the user's folder."""
    folder = named_by_user(
        f"list_explanations.folders.{wildcards.data}",
        "a fold with train.txt and test.txt",
        "explaining-rankings.md",
    )
    return {part: [f"{folder}/{part}.txt"] for part in ("train", "test")}


def explained_data_files(kind):
    """Input function: one file per data set of the wildcard's tier."""

    def files(wildcards):
        return [
            f"work/heuss2025/ch4/{data}/{kind}.parquet" for data in explained_data(wildcards.tier)
        ]

    return files
