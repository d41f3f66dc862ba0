# lajewska2025, chapter 3: two reproduced systems of TREC CAsT, and variants of them.
# Released runs and judgements -> measures, and tests of the differences.
from papers.lajewska2025.cast_data import FILES as CAST_TURNS
from papers.lajewska2025.ch3_systems import (
    CAST_COMPARISONS,
    CAST_ENCODER_RUNS,
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
    """The authors' runs of CAsT 2021 for the wildcard's table."""
    systems = CAST_SYSTEMS[wildcards.number].values()
    return [resource(f"{CAST}/runs-2021/{run}_2021.trec") for run in systems]


def files_of_tier(wildcards):
    """The authors' runs of the tier's years; those of 2020 are in a configured folder."""
    if wildcards.tier == "released":
        return files_of_2021(wildcards)
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


# Tables 3.2, 3.3 and 3.4, and tests of the compared rows, with the runs of 2021. The full tier also
# has the runs of 2020, which are only in the authors' repository.
use rule table as lajewska2025_ch3_table with:
    input:
        qrels=lambda wildcards: [
            resource(f"{CAST}/qrels/{year}.txt") for year in CAST_YEARS[wildcards.tier]
        ],
        runs=files_of_tier,
    output:
        **table_files(tables=["tests"]),
    pathvars:
        result="{tier}/lajewska2025/table_3_{number}",
    wildcard_constraints:
        tier="released|full",
        number="2|3|4",
    params:
        **runs("lajewska2025/ch3:table"),
        systems=systems_of_table,
        comparisons=comparisons_of_table,
        measures=lambda wildcards: {
            year: CAST_MEASURES[year] for year in CAST_YEARS[wildcards.tier]
        },
        scale=(0, 4),  # labels of CAsT
        relevance_level=2,
    message:
        "Measures and tests of Table 3.{wildcards.number} ({wildcards.tier})"


# Section 3.3.3: differences between the systems, and from the reported results.
use rule table as lajewska2025_ch3_distances with:
    input:
        rebuilt="results/released/lajewska2025/table_3_2.csv",
        tests="results/released/lajewska2025/table_3_2.tests.csv",
        reported="published/lajewska2025/table_3_2.csv",
    pathvars:
        result="released/lajewska2025/text_3_3_3",
    params:
        **runs("lajewska2025/ch3:distances"),
        declared=declared_inputs("released", "lajewska2025", "table_3_2"),
        alpha=0.05,  # L798
        # Pairs of a system and its baseline.
        pairs=[
            ("BaselineOrganizers", "BaselineOrganizers@TREC’21"),
            ("WaterlooClarke reproduced by us", "WaterlooClarke@TREC’21"),
            ("WaterlooClarke@TREC’21", "BaselineOrganizers@TREC’21"),
            ("WaterlooClarke reproduced by us", "BaselineOrganizers"),
        ],
    message:
        "Differences in the text of section 3.3.3"


# Section 3.4: significance of the differences in Tables 3.3 and 3.4.
use rule table as lajewska2025_ch3_significance with:
    input:
        tests=expand("results/{{tier}}/lajewska2025/table_3_{number}.tests.csv", number=[3, 4]),
    pathvars:
        result="{tier}/lajewska2025/text_3_4",
    wildcard_constraints:
        tier="released|full",
    params:
        **runs("lajewska2025/ch3:significance"),
        alpha=0.05,  # L798
    message:
        "Significance of the differences of section 3.4"


# Section 3.4: sizes of the differences, from the tables of both years.
use rule table as lajewska2025_ch3_changes with:
    input:
        tables=expand("results/full/lajewska2025/table_3_{number}.csv", number=[3, 4]),
    pathvars:
        result="full/lajewska2025/text_3_4_1",
    params:
        **runs("lajewska2025/ch3:changes"),
        systems=list(CAST_SYSTEMS["3"]),
        comparisons=CAST_COMPARISONS["3"],
        stages=list(CAST_SYSTEMS["4"]),
        years=list(CAST_MEASURES),
        ranges=CAST_RANGES,
    message:
        "Percentage changes in the text of section 3.4"


# Section 3.5: the organisers' run, which is only in the track's repository, in two files.
use rule table as lajewska2025_ch3_organisers with:
    input:
        qrels=resource(f"{CAST}/qrels/2021.txt"),
        run=organisers_run,
        passages=organisers_passages,
    output:
        **table_files(tables=["readings"]),
    pathvars:
        result="full/lajewska2025/text_3_5",
    params:
        **runs("lajewska2025/ch3:organisers"),
        row="organisers’ run file",
        # The measures in the text.
        measures={metric: CAST_MEASURES["2021"][metric] for metric in ("R@500", "MAP", "NDCG@3")},
        scale=(0, 4),
        relevance_level=2,
    message:
        "The organisers' run file (section 3.5)"
