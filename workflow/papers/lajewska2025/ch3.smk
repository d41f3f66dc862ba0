# lajewska2025, chapter 3: two reproduced systems of TREC CAsT, and variants of them.
# Released runs and judgements -> measures, and tests of the differences.


include: "ch3_inputs.smk"


# Table 3.1: parts of the two systems, from the names of their runs.
use rule table as lajewska2025_ch3_parts with:
    pathvars:
        result="embedded/lajewska2025/table_3_1",
    params:
        **runs("lajewska2025/ch3_design:parts"),
        runs={
            system: CAST_SYSTEMS["2"][row]
            for system, row in {
                "BaselineOrganizers": "BaselineOrganizers",
                "WaterlooClarke": "WaterlooClarke reproduced by us",
            }.items()
        },
    message:
        "Parts of the two systems (Table 3.1)"


# Tables 3.2, 3.3 and 3.4, and tests of the compared rows, with the runs of 2021. The full tier also
# has the runs of 2020, which are only in the authors' repository, or runs the systems itself.
use rule table as lajewska2025_ch3_table with:
    input:
        qrels=lambda wildcards: [
            resource(f"{CAST}/qrels/{year}.txt") for year in years_of_table(wildcards)
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
        measures=lambda wildcards: {year: CAST_MEASURES[year] for year in years_of_table(wildcards)},
        scale=(0, 4),  # labels of CAsT
        relevance_level=2,
        # The authors' runs have all topics; a query of ours may find nothing.
        missing_topics=lambda wildcards: "zero" if is_run_here(wildcards) else "error",
    message:
        "Measures and tests of Table 3.{wildcards.number} ({wildcards.tier})"


# Section 3.3.3: differences between the systems, and from the reported results.
use rule table as lajewska2025_ch3_distances with:
    input:
        rebuilt="results/{tier}/lajewska2025/table_3_2.csv",
        tests="results/{tier}/lajewska2025/table_3_2.tests.csv",
        reported="published/lajewska2025/table_3_2.csv",
        grids=bm25_grids,
    output:
        **table_files(tables=["tuning"]),
    pathvars:
        result="{tier}/lajewska2025/text_3_3_3",
    wildcard_constraints:
        tier="released|full",
    params:
        **runs("lajewska2025/ch3:distances"),
        declared=lambda wildcards: declared_inputs(wildcards.tier, "lajewska2025", "table_3_2"),
        alpha=0.05,  # L798
        # Pairs of a system and its baseline.
        pairs=[
            ("BaselineOrganizers", "BaselineOrganizers@TREC’21"),
            ("WaterlooClarke reproduced by us", "WaterlooClarke@TREC’21"),
            ("WaterlooClarke@TREC’21", "BaselineOrganizers@TREC’21"),
            ("WaterlooClarke reproduced by us", "BaselineOrganizers"),
        ],
        years=CAST_YEARS["full"],
        bm25={
            "of the thesis": CAST_SYSTEM.bm25.tuned.model_dump(),
            "of WaterlooClarke": {"k1": 1.18, "b": 0.45},  # L776
        },
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
