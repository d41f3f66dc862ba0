# abolghasemi2026, chapter 5: attribution bias in retrieval-augmented generation.

ATTRIBUTION = SETTINGS.attribution
#: Printed tables of which others are worked out.
ATTRIBUTION_TABLES = [
    "table_5_1",
    "table_5_2",
    "table_5_4",
    "table_5_11",
    "table_5_12",
    "table_5_13",
    "table_5_14",
    "table_5_15",
]


# Bias from quality, recall from counts and back, Figure 5.5: cells that other cells determine.
rule abolghasemi2026_ch5_derived:
    input:
        printed=expand(
            "published/abolghasemi2026/{table}.csv", table=ATTRIBUTION_TABLES
        ),
        card="published/abolghasemi2026/ch5.yaml",
    output:
        **table_files("embedded", "abolghasemi2026/table_5_3"),
        **beside("embedded", "abolghasemi2026/table_5_3", "tests"),
        **further(table_files, "embedded", "abolghasemi2026/table_5_5"),
        **further(table_files, "embedded", "abolghasemi2026/table_5_11"),
        **further(table_files, "embedded", "abolghasemi2026/table_5_12"),
        **further(table_files, "embedded", "abolghasemi2026/text_5"),
        **further(figure_files, "embedded", "abolghasemi2026/figure_5_5"),
    log:
        "logs/abolghasemi2026/table_5_3.log",
    benchmark:
        "benchmarks/abolghasemi2026/table_5_3.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=memory(600),
        runtime=5,
    params:
        inputs=ATTRIBUTION_TABLES,
        face=face_of("embedded", "abolghasemi2026/table_5_3"),
        table_5_5_face=face_of("embedded", "abolghasemi2026/table_5_5"),
        table_5_11_face=face_of("embedded", "abolghasemi2026/table_5_11"),
        table_5_12_face=face_of("embedded", "abolghasemi2026/table_5_12"),
        text_5_face=face_of("embedded", "abolghasemi2026/text_5"),
        code=code_of("abolghasemi2026_ch5_derived.py"),
    message:
        "Attribution bias and counts from other printed tables (Tables 5.3, 5.5, 5.11, 5.12)"
    script:
        "../scripts/abolghasemi2026_ch5_derived.py"


# A control whose bias is known, on short queries for docstrings and what BM25 finds for them.
rule abolghasemi2026_ch5_planted:
    input:
        documents="work/pydocs/documents.parquet",
        candidates="work/pydocs/candidates.parquet",
        run="work/pydocs/runs/bm25.STM2.run",
    output:
        **table_files("embedded", "abolghasemi2026/table_5_1"),
        **beside("embedded", "abolghasemi2026/table_5_1", "bias"),
        **beside("embedded", "abolghasemi2026/table_5_1", "questions"),
        **beside("embedded", "abolghasemi2026/table_5_1", "planted", figure=True),
        **further(table_files, "embedded", "abolghasemi2026/table_5_2"),
        **further(table_files, "embedded", "abolghasemi2026/table_5_4"),
        **further(figure_files, "embedded", "abolghasemi2026/figure_5_9"),
    log:
        "logs/abolghasemi2026/table_5_1.log",
    benchmark:
        "benchmarks/abolghasemi2026/table_5_1.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=memory(900),
        runtime=10,
    params:
        task="known-item",
        setting=COLLECTIONS["pydocs"]["setting"],
        k=ATTRIBUTION.k,
        depths=ATTRIBUTION.depths,
        strengths=ATTRIBUTION.planted.strengths,
        shown=ATTRIBUTION.planted.shown,
        skill=ATTRIBUTION.planted.skill,
        base=ATTRIBUTION.planted.base,
        seed=SETTINGS.seed,
        face=face_of("embedded", "abolghasemi2026/table_5_1"),
        table_5_2_face=face_of("embedded", "abolghasemi2026/table_5_2"),
        table_5_4_face=face_of("embedded", "abolghasemi2026/table_5_4"),
        code=code_of("abolghasemi2026_ch5_planted.py"),
    message:
        "A planted preference for a label, measured (Tables 5.1, 5.2, 5.4, Figure 5.9)"
    script:
        "../scripts/abolghasemi2026_ch5_planted.py"
