# lajewska2025, chapter 6: responses generated from nuggets (GINGER).
# Labels of nuggets by three judge models -> V_strict of each response -> means by judge.


include: "ch6_inputs.smk"


# Table 6.7: systems by judge; beside it what the scores rest on, and how far the judges agree.
rule lajewska2025_ch6_judges:
    input:
        labels=nugget_labels(),
    output:
        **table_files("released", "lajewska2025/table_6_7"),
        **beside("released", "lajewska2025/table_6_7", "agreement"),
        **beside("released", "lajewska2025/table_6_7", "ranks", figure=True),
        **beside("released", "lajewska2025/table_6_7", "readings"),
        **beside("released", "lajewska2025/table_6_7", "measures"),
        **beside("released", "lajewska2025/table_6_7", "rewriting"),
    log:
        "logs/lajewska2025/table_6_7.log",
    benchmark:
        "benchmarks/lajewska2025/table_6_7.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(1000),
        runtime=5,
    params:
        seed=SETTINGS.seed,
        resamples=1000,
        face=face_of("released", "lajewska2025/table_6_7"),
        code=code_of("lajewska2025/ch6/judges"),
    message:
        "Scores of three judges (Table 6.7)"
    script:
        script_file("lajewska2025/ch6/judges")


# Table 6.8: clustering by ranking.
rule lajewska2025_ch6_parts:
    input:
        labels=nugget_labels(),
    output:
        **table_files("released", "lajewska2025/table_6_8"),
        **beside("released", "lajewska2025/table_6_8", "tests"),
    log:
        "logs/lajewska2025/table_6_8.log",
    benchmark:
        "benchmarks/lajewska2025/table_6_8.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(1000),
        runtime=5,
    params:
        face=face_of("released", "lajewska2025/table_6_8"),
        code=code_of("lajewska2025/ch6/parts"),
    message:
        "Scores by clustering and ranking (Table 6.8)"
    script:
        script_file("lajewska2025/ch6/parts")
