# Input functions and names of the rules of lajewska2025, chapter 3.
from everycell.collections.cast_turns import FILES as CAST_TURNS

#: Settings of the chapter.
CAST_SYSTEM = SETTINGS.cast_systems
#: Its set of the registry.
CAST = "cast-reproducibility"


#: Table -> its rows of the thesis's own -> the released run behind each.
CAST_SYSTEMS = {
    "2": {
        "BaselineOrganizers-QR-BM25": "t5-canard-org_bm25_mono-t5",
        "BaselineOrganizers-BM25": "t5-canard_bm25-b-446-k-82_mono-t5",
        "BaselineOrganizers": "t5-canard_bm25_mono-t5",
        "WaterlooClarke reproduced by us": "prf-17-26_t5-qrecc_ance_bm25-b-45-k-95_mono-duo-t5",
    },
    "3": {
        "T5_C + BM25 + monoT5": "t5-canard_bm25_mono-t5",
        "T5_Q + BM25 + monoT5": "t5-qrecc_bm25_mono-t5",
        "T5_C + ANCE/BM25 + m/dT5": "t5-canard_ance_bm25-b-45-k-95_mono-duo-t5",
        "T5_Q + ANCE/BM25 + m/dT5": "t5-qrecc_ance_bm25-b-45-k-95_mono-duo-t5",
        "T5_C + ANCE/BM25/PRF + m/dT5": "prf-17-26_t5-canard_ance_bm25-b-45-k-95_mono-duo-t5",
        "T5_Q + ANCE/BM25/PRF + m/dT5": "prf-17-26_t5-qrecc_ance_bm25-b-45-k-95_mono-duo-t5",
    },
    # The rewriter of the first stage, and that of the second.
    "4": {
        "T5_CANARD, T5_CANARD": "prf-17-26_t5-canard_ance_bm25-b-45-k-95_mono-duo-t5",
        "T5_CANARD, T5_QReCC": "prf-17-26_t5-canard_ance_bm25-b-45-k-95_t5-qrecc_mono-duo-t5",
        "T5_QReCC, T5_CANARD": "prf-17-26_t5-qrecc_ance_bm25-b-45-k-95_t5-canard_mono-duo-t5",
        "T5_QReCC, T5_QReCC": "prf-17-26_t5-qrecc_ance_bm25-b-45-k-95_mono-duo-t5",
    },
}


#: What the text compares: name of the comparison -> pairs of systems, by their place above.
CAST_COMPARISONS = {
    "2": {
        "input of the rewriter": [(0, 1)],
        "parameters of BM25": [(1, 2)],
        "system": [(2, 3)],
    },
    "3": {
        "rewriter": [(0, 1), (2, 3), (4, 5)],
        "rankers": [(0, 2), (1, 3)],
        "feedback": [(2, 4), (3, 5)],
    },
    "4": {"one rewriter a stage": [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]},
}


#: Year -> printed metric -> measure. `trec_eval -c -l2 -M500`, and 1000 for 2020; no topic has as many
#: relevant documents, so that a cut-off of the measure and one of the run are the same.
CAST_MEASURES = {
    year: {
        f"R@{cutoff}": f"R@{cutoff}",
        "MAP": f"MAP@{cutoff}",
        "MRR": f"RR@{cutoff}",
        "NDCG": f"nDCG@{cutoff}",
        "NDCG@3": "nDCG@3",
    }
    for year, cutoff in (("2020", 1000), ("2021", 500))
}


#: Years whose runs a tier has.
CAST_YEARS = {"released": ["2021"], "full": ["2020", "2021"]}


#: Changes in percent that section 3.4 gives: comparison, measure, end of the range.
CAST_RANGES = [
    ("rewriter", "recall change", "lowest"),
    ("rewriter", "recall change", "highest"),
    ("rankers", "recall change", "lowest"),
    ("rankers", "recall change", "highest"),
    ("rankers", "NDCG@3 change", "lowest"),
    ("rankers", "NDCG@3 change", "highest"),
    ("feedback", "recall change", "lowest"),
    ("feedback", "recall change", "highest"),
    ("one rewriter a stage", "recall change", "highest"),
    ("one rewriter a stage", "NDCG@3 change", "highest"),
]


# All small files of the chapter.
FETCHED_TOGETHER[CAST] = [
    resource(key)
    for key in (
        *CAST_TURNS.values(),
        f"{CAST}/qrels/2021.txt",
        *dict.fromkeys(
            f"{CAST}/runs-2021/{run}_2021.trec"
            for systems in CAST_SYSTEMS.values()
            for run in systems.values()
        ),
    )
]


def files_of_2021(wildcards):
    """The authors' runs of CAsT 2021 behind the wildcard's table."""
    systems = CAST_SYSTEMS[wildcards.number].values()
    return [resource(f"{CAST}/runs-2021/{run}_2021.trec") for run in systems]


def files_of_tier(wildcards):
    """The authors' runs of the tier's years: those of 2020 are in a folder of the user."""
    if wildcards.tier == "released":
        return files_of_2021(wildcards)
    key = "cast_systems.runs_2020"
    folder = named_by_user(key, "the authors' runs of 2020", "papers/lajewska2025.md")
    runs = []
    for run in CAST_SYSTEMS[wildcards.number].values():
        found = [folder / f"{run}_2020.trec{end}" for end in ("", ".gz")]
        found = [path for path in found if path.exists()]
        if not found:
            refuse(
                f"config.yaml: `{key}` is {str(folder)!r}, which has no {run}_2020.trec(.gz); "
                f"unpack the authors' {run}_2020.trec.tar.gz there."
            )
        runs.append(str(found[0]))
    return runs + files_of_2021(wildcards)


def organisers_run(wildcards):
    """The organisers' run of documents of 2021, which only the user can name."""
    return organisers_file("run", "document_runs/")


def organisers_passages(wildcards):
    """The same run as passages, where the user names it."""
    if CAST_SYSTEM.organisers_passages is None:
        return []
    return organisers_file("passages", "")


def organisers_file(key, folder):
    """A file of the organisers' run, below 2021/baselines in the track's repository."""
    return named_by_user(
        f"cast_systems.organisers_{key}",
        f"{folder}org_automatic_results_1000.v1.0.run of the organisers",
        "papers/lajewska2025.md",
        kind="file",
    )


def systems_of_table(wildcards):
    """Rows of the wildcard's table that are the thesis's own."""
    return list(CAST_SYSTEMS[wildcards.number])


def comparisons_of_table(wildcards):
    """What the text compares of the wildcard's table."""
    return CAST_COMPARISONS[wildcards.number]
