# Inputs and names of the rules of lajewska2025, ch3.smk.

from papers.lajewska2025.cast_data import FILES as CAST_TURNS
from papers.lajewska2025.ch3_systems import (
    CAST_COMPARISONS,
    CAST_ENCODER_RUNS,
    CAST_FULL_RUNS,
    CAST_FUSED_RUNS,
    CAST_LEXICAL_RUNS,
    CAST_MEASURES,
    CAST_RANGES,
    CAST_RERANKED_RUNS,
    CAST_REWRITER_PAIRS,
    CAST_SUPPLEMENTS,
    CAST_SYSTEMS,
    CAST_TABLE_3_RUNS,
    CAST_YEARS,
)

#: Settings of the chapter.
CAST_SYSTEM = SETTINGS.cast_systems

#: Data set of the chapter in the registry.
CAST = "cast-reproducibility"

#: The authors' grids of BM25, for both years.
CAST_GRIDS = [
    resource(f"{CAST}/bm25_tuning/bm25_parameters_ranking_{year}.csv")
    for year in CAST_YEARS["full"]
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
] + CAST_GRIDS


def files_of_2021(wildcards):
    """The authors' runs of CAsT 2021 for the wildcard's table."""
    systems = CAST_SYSTEMS[wildcards.number].values()
    return [resource(f"{CAST}/runs-2021/{run}_2021.trec") for run in systems]


def files_of_tier(wildcards):
    """The authors' runs of the tier's years, or runs on the collections.

    The authors' runs of 2020 are in a configured folder; without it, and for Table 3.2, whose runs
    are of 2021, the systems run on the collections.
    """
    if wildcards.tier == "released":
        return files_of_2021(wildcards)
    if is_run_here(wildcards):
        return [
            f"work/castfull/{year}/reranked/{run}.run"
            for year in years_of_table(wildcards)
            for run in CAST_FULL_RUNS[wildcards.number].values()
        ]
    key = "cast_systems.runs_2020"
    folder = named_by_user(key, "the authors' runs of 2020", "papers/lajewska2025.md")
    runs = []
    for run in CAST_SYSTEMS[wildcards.number].values():
        candidates = [folder / f"{run}_2020.trec{suffix}" for suffix in ("", ".gz")]
        existing = [path for path in candidates if path.exists()]
        if not existing:
            refuse(
                f"config.yaml: `{key}` is {str(folder)!r}, which has no {run}_2020.trec(.gz). "
                f"Unpack the authors' {run}_2020.trec.tar.gz there."
            )
        runs.append(str(existing[0]))
    return runs + files_of_2021(wildcards)


def bm25_grids(wildcards):
    """Recall of BM25 by its parameters, per year: the authors' files, or ours."""
    if wildcards.tier == "full":
        return [f"work/castfull/{year}/bm25.csv" for year in CAST_YEARS["full"]]
    return CAST_GRIDS


def is_run_here(wildcards):
    """Whether the systems of the wildcard's table run on the collections."""
    return wildcards.tier == "full" and (wildcards.number == "2" or CAST_SYSTEM.runs_2020 is None)


def years_of_table(wildcards):
    """Years of the wildcard's table; Table 3.2 has only the last one."""
    years = CAST_YEARS[wildcards.tier]
    return years[-1:] if wildcards.number == "2" else years


def organisers_run(wildcards):
    """The organisers' document run of 2021, which the user must configure."""
    return organisers_file("run", "document_runs/")


def organisers_passages(wildcards):
    """The same run as passages, if configured."""
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
    """Rows of the wildcard's table with results of the thesis itself."""
    return list(CAST_SYSTEMS[wildcards.number])


def comparisons_of_table(wildcards):
    """Comparisons of the text for the wildcard's table."""
    return CAST_COMPARISONS[wildcards.number]


def rewriter_files(wildcards):
    """Files of the wildcard's rewriter."""
    key = f"cast_systems.rewriters.{wildcards.rewriter.removesuffix('-org')}"
    if wildcards.rewriter == "qrecc" and CAST_SYSTEM.rewriters.qrecc is None:
        return "work/castturns/models/t5-qrecc"
    return named_model_files(key, "papers/lajewska2025.md", "a T5 that rewrites questions")


def supplement_runs():
    """Runs of all supplementary tables."""
    return [
        f"work/castturns/runs/{run}.run"
        for run in dict.fromkeys(
            run
            for groups in CAST_SUPPLEMENTS.values()
            for rows in groups.values()
            for run in rows.values()
        )
    ]
