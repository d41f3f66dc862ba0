# lajewska2025, chapter 3: two systems of TREC CAsT reproduced, and variants of them.
# Released runs and judgements of 2021 -> measures, and tests of the differences.

CAST = "cast-reproducibility"
# Table -> its rows of the thesis's own -> the released run behind each.
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
CAST_RUN_FILES = sorted(
    f"{CAST}/runs-2021/{run}_2021.trec"
    for run in {run for systems in CAST_SYSTEMS.values() for run in systems.values()}
)
# What the text compares: name of the comparison -> pairs of systems, by their place above.
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
# Printed metric -> measure. `trec_eval -c -l2 -M500`; no topic has 500 relevant documents, so that
# a cut-off of the measure and one of the run are the same.
CAST_MEASURES = {
    "R@500": "R@500",
    "MAP": "MAP@500",
    "MRR": "RR@500",
    "NDCG": "nDCG@500",
    "NDCG@3": "nDCG@3",
}


# Tables 3.2, 3.3 and 3.4 with the runs of 2021, and tests of the compared rows.
rule lajewska2025_ch3_table:
    input:
        qrels=resource(f"{CAST}/qrels/2021.txt"),
        runs=lambda wildcards: [
            resource(f"{CAST}/runs-2021/{run}_2021.trec")
            for run in CAST_SYSTEMS[wildcards.number].values()
        ],
    output:
        **table_files("released", "lajewska2025/table_3_{number}"),
        **beside("released", "lajewska2025/table_3_{number}", "tests"),
    log:
        "logs/lajewska2025/table_3_{number}.log",
    benchmark:
        "benchmarks/lajewska2025/table_3_{number}.tsv"
    wildcard_constraints:
        number="2|3|4",
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=600,
        runtime=5,
    params:
        systems=lambda wildcards: list(CAST_SYSTEMS[wildcards.number]),
        comparisons=lambda wildcards: CAST_COMPARISONS[wildcards.number],
        year="2021",
        measures=CAST_MEASURES,
        # What the text compares; Table 3.4 has no other measures.
        compared=["R@500", "NDCG@3"],
        scale=(0, 4),  # labels of CAsT
        relevance_level=2,
        face=face_of("released", "lajewska2025/table_3_{number}"),
        code=code_of("lajewska2025_ch3_table.py"),
    message:
        "Measures and tests of Table 3.{wildcards.number}"
    script:
        "../scripts/lajewska2025_ch3_table.py"


# Section 3.3.3: how far the systems are from what was reported, and from each other.
rule lajewska2025_ch3_distances:
    input:
        rebuilt="results/released/lajewska2025/table_3_2.csv",
        tests="results/released/lajewska2025/table_3_2.tests.csv",
        reported="published/lajewska2025/table_3_2.csv",
        card="published/lajewska2025/ch3.yaml",
    output:
        **table_files("released", "lajewska2025/text_3_3_3"),
    log:
        "logs/lajewska2025/text_3_3_3.log",
    benchmark:
        "benchmarks/lajewska2025/text_3_3_3.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=400,
        runtime=5,
    params:
        alpha=0.05,  # L798
        # A system, and what it is compared with.
        pairs=[
            ("BaselineOrganizers", "BaselineOrganizers@TREC’21"),
            ("WaterlooClarke reproduced by us", "WaterlooClarke@TREC’21"),
            ("WaterlooClarke reproduced by us", "BaselineOrganizers"),
        ],
        face=face_of("released", "lajewska2025/text_3_3_3"),
        code=code_of("lajewska2025_ch3_distances.py"),
    message:
        "Distances of the text of section 3.3.3"
    script:
        "../scripts/lajewska2025_ch3_distances.py"


# Section 3.4: which of the differences in Tables 3.3 and 3.4 are significant.
rule lajewska2025_ch3_significance:
    input:
        tests=expand(
            "results/released/lajewska2025/table_3_{number}.tests.csv", number=[3, 4]
        ),
    output:
        **table_files("released", "lajewska2025/text_3_4"),
    log:
        "logs/lajewska2025/text_3_4.log",
    benchmark:
        "benchmarks/lajewska2025/text_3_4.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=400,
        runtime=5,
    params:
        alpha=0.05,  # L798
        face=face_of("released", "lajewska2025/text_3_4"),
        code=code_of("lajewska2025_ch3_significance.py"),
    message:
        "Significance of the differences of section 3.4"
    script:
        "../scripts/lajewska2025_ch3_significance.py"
