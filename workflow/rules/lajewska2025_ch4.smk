# lajewska2025, chapter 4: do users notice the limitations of a response?
# Two crowd studies (answerability, viewpoints): ratings -> ANOVA tables, correlations, figures.

CH4 = "cis-response-limitations"


# Tables 4.8 (two-way), 4.9 (with query), 4.10 (with familiarity), and what their designs support.
rule lajewska2025_ch4_anova:
    input:
        answerability=resource(f"{CH4}/answerability_both_runs.csv"),
        viewpoints=resource(f"{CH4}/viewpoints.csv"),
    output:
        **table_files("released", "lajewska2025/table_4_{number}"),
        **beside("released", "lajewska2025/table_4_{number}", "supported"),
    log:
        "logs/lajewska2025/table_4_{number}.log",
    benchmark:
        "benchmarks/lajewska2025/table_4_{number}.tsv"
    wildcard_constraints:
        number="8|9|10",
    params:
        scale="culpepper",
        code=code_of("statistics", "collections/user_studies.py", "render"),
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=600,
        runtime=5,
    message:
        "ANOVA of Table 4.{wildcards.number}"
    script:
        "../scripts/lajewska2025_ch4_anova.py"


# Table 4.12: one-way, by query and by familiarity.
use rule lajewska2025_ch4_anova as lajewska2025_ch4_oneway with:
    output:
        **table_files("released", "lajewska2025/table_4_{number}"),
    wildcard_constraints:
        number="12",
