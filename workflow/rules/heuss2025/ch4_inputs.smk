# Names of the rules of heuss2025, chapter 4.
from everycell.collections.fair_ranking_lists import FILES as LISTS_OF_PAPERS
from everycell.studies.heuss2025.ch4.talent_search import OF_CANDIDATES, OF_LISTS

#: Printed inputs of the talent search.
TALENT_SEARCH = {
    "candidates": "published/heuss2025/table_4_A_1.csv",
    "universities": "published/heuss2025/table_4_A_2.csv",
}
TALENT_SEARCH_CELLS = declared_inputs(
    "embedded", "heuss2025", "table_4_A_1", "table_4_A_2"
)

EXPLAINED = SETTINGS.list_explanations

#: Data sets of Figure 4.4 by tier, and their names in it.
EXPLAINED_DATA = {
    "embedded": {"planted": "Planted", "pydocs": "pydocs"},
    "released": {"lambdarank": "LightGBM's sample", "trecfair": "TREC Fair 2020"},
    "full": {"mq2008": "MQ2008", "mslr_web10k": "MSLR-WEB10K"},
}


def explained_data(tier):
    """Data sets of Figure 4.4: in the full tier those whose folders the user names."""
    data = EXPLAINED_DATA[tier]
    # The other tiers have no folders to name.
    named = {
        name: shown
        for name, shown in data.items()
        if getattr(EXPLAINED.folders, name, None)
    }
    return named or data


#: Features of candidates of pydocs from runs, and the runs.
RUNS_OF_FEATURES = {
    "BM25, words": "bm25.SA",
    "BM25, stems": "bm25.STM2",
    "BM25, word pieces": "bm25.BERT-Token",
    "JM language model, stems": "lm.STM2",
    "Dirichlet language model, stems": "lm-dirichlet.STM2",
    "TILDE": "tilde.splade-tiny.all",
    "TILDEv2": "tildev2.splade-tiny.all",
    "SPLADE": "splade.splade-tiny.zero-shot",
}

#: LightGBM's sample, and features that it numbers.
LAMBDARANK = {
    "train": resource("lambdarank-sample/rank.train"),
    "train_lengths": resource("lambdarank-sample/rank.train.query"),
    "test": resource("lambdarank-sample/rank.test"),
    "test_lengths": resource("lambdarank-sample/rank.test.query"),
}
FETCHED_TOGETHER["lambdarank-sample"] = list(LAMBDARANK.values())

#: Features of the published data sets.
LETOR_FEATURES = {"mq2008": 46, "mslr_web10k": 136}


def letor_fold(wildcards):
    """Files of a fold that the user names."""
    folder = named_by_user(
        f"list_explanations.folders.{wildcards.data}",
        "a fold with train.txt and test.txt",
        "explaining-rankings.md",
    )
    return {part: f"{folder}/{part}.txt" for part in ("train", "test")}


def of_explained(kind):
    """A file of each data set of the wildcards' tier."""

    def files(wildcards):
        return [
            f"work/heuss2025/ch4/{data}/{kind}.parquet"
            for data in explained_data(wildcards.tier)
        ]

    return files
