# lajewska2025, appendix C: votes of three pilots for two pairs of responses.


# Table C.2: ANOVA of the printed votes.
rule lajewska2025_chC_votes:
    input:
        votes="published/lajewska2025/table_C_2.csv",
        card="published/lajewska2025/chC.yaml",
    output:
        **table_files("embedded", "lajewska2025/table_C_2"),
    log:
        "logs/lajewska2025/table_C_2.log",
    benchmark:
        "benchmarks/lajewska2025/table_C_2.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(600),
        runtime=5,
    params:
        scale="culpepper_zero",
        face=face_of("embedded", "lajewska2025/table_C_2"),
        code=code_of("lajewska2025/chC/votes"),
    message:
        "ANOVA of the printed votes (Table C.2)"
    script:
        script_file("lajewska2025/chC/votes")
