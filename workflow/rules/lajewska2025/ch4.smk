# lajewska2025, chapter 4: do users notice the limitations of a response?
# Two crowd studies (answerability, viewpoints): ratings -> ANOVA tables, correlations, figures.

CH4 = "cis-response-limitations"
# Released responses of the study whose queries Table 4.3 or 4.4 lists.
CH4_RESPONSES = {"3": "answerability_data", "4": "viewpoints_data"}


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
    conda:
        environment("base")
    resources:
        mem_mb=memory(600),
        runtime=5,
    params:
        scale="culpepper",
        face=face_of("released", "lajewska2025/table_4_{number}"),
        code=code_of("lajewska2025/ch4/anova"),
    message:
        "ANOVA of Table 4.{wildcards.number}"
    script:
        script_file("lajewska2025/ch4/anova")


# Table 4.12: one-way, by query and by familiarity.
use rule lajewska2025_ch4_anova as lajewska2025_ch4_oneway with:
    output:
        **table_files("released", "lajewska2025/table_4_{number}"),
    wildcard_constraints:
        number="12",


# Table 4.7: sizes of the runs.
rule lajewska2025_ch4_sizes:
    input:
        first_run=resource(f"{CH4}/answerability_first_run.csv"),
        both_runs=resource(f"{CH4}/answerability_both_runs.csv"),
        viewpoints=resource(f"{CH4}/viewpoints.csv"),
    output:
        **table_files("released", "lajewska2025/table_4_7"),
    log:
        "logs/lajewska2025/table_4_7.log",
    benchmark:
        "benchmarks/lajewska2025/table_4_7.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(400),
        runtime=5,
    params:
        pairs_per_hit=10,  # section 4.2
        hits_per_pair=3,  # section 4.2
        face=face_of("released", "lajewska2025/table_4_7"),
        code=code_of("lajewska2025/ch4/sizes"),
    message:
        "Sizes of the studies (Table 4.7)"
    script:
        script_file("lajewska2025/ch4/sizes")


# Tables 4.3 and 4.4: the queries, as hashes.
rule lajewska2025_ch4_queries:
    input:
        responses=lambda wildcards: resource(
            f"{CH4}/responses/{CH4_RESPONSES[wildcards.number]}.csv"
        ),
    output:
        **table_files("released", "lajewska2025/table_4_{number}"),
    log:
        "logs/lajewska2025/table_4_{number}.log",
    benchmark:
        "benchmarks/lajewska2025/table_4_{number}.tsv"
    wildcard_constraints:
        number="3|4",
    conda:
        environment("base")
    resources:
        mem_mb=memory(400),
        runtime=5,
    params:
        face=face_of("released", "lajewska2025/table_4_{number}"),
        code=code_of("lajewska2025/ch4/queries"),
    message:
        "Queries of Table 4.{wildcards.number}"
    script:
        script_file("lajewska2025/ch4/queries")


# Table 4.11: each rating against overall satisfaction.
rule lajewska2025_ch4_correlations:
    input:
        answerability=resource(f"{CH4}/answerability_both_runs.csv"),
        viewpoints=resource(f"{CH4}/viewpoints.csv"),
    output:
        **table_files("released", "lajewska2025/table_4_11"),
    log:
        "logs/lajewska2025/table_4_11.log",
    benchmark:
        "benchmarks/lajewska2025/table_4_11.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(600),
        runtime=5,
    params:
        face=face_of("released", "lajewska2025/table_4_11"),
        code=code_of("lajewska2025/ch4/correlations"),
    message:
        "Correlations with satisfaction (Table 4.11)"
    script:
        script_file("lajewska2025/ch4/correlations")


# Numbers of the text: sizes, comments, power of the first run.
rule lajewska2025_ch4_text:
    input:
        first_run=resource(f"{CH4}/answerability_first_run.csv"),
        both_runs=resource(f"{CH4}/answerability_both_runs.csv"),
        viewpoints=resource(f"{CH4}/viewpoints.csv"),
        experts=resource(f"{CH4}/responses/viewpoints_answer_validation.csv"),
        # This file holds both runs, whatever its name says.
        answerability_comments=resource(
            f"{CH4}/qualitative/answerability_second_run_stats.csv"
        ),
        viewpoints_comments=resource(f"{CH4}/qualitative/viewpoints_stats.csv"),
    output:
        **table_files("released", "lajewska2025/text_4_3"),
        **beside("released", "lajewska2025/text_4_3", "power"),
    log:
        "logs/lajewska2025/text_4_3.log",
    benchmark:
        "benchmarks/lajewska2025/text_4_3.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(600),
        runtime=5,
    params:
        pairs_per_hit=10,
        alpha=SETTINGS.user_studies.alpha,
        power=SETTINGS.user_studies.power,
        face=face_of("released", "lajewska2025/text_4_3"),
        code=code_of("lajewska2025/ch4/text"),
    message:
        "Numbers of the text of chapter 4"
    script:
        script_file("lajewska2025/ch4/text")


# Section 4.4.4: themes of the comments.
rule lajewska2025_ch4_comments:
    input:
        answerability=rules.lajewska2025_ch4_text.input.answerability_comments,
        viewpoints=rules.lajewska2025_ch4_text.input.viewpoints_comments,
    output:
        **table_files("released", "lajewska2025/text_4_4_4"),
    log:
        "logs/lajewska2025/text_4_4_4.log",
    benchmark:
        "benchmarks/lajewska2025/text_4_4_4.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(400),
        runtime=5,
    params:
        face=face_of("released", "lajewska2025/text_4_4_4"),
        code=code_of("lajewska2025/ch4/comments"),
    message:
        "Themes of the comments (section 4.4.4)"
    script:
        script_file("lajewska2025/ch4/comments")


# Table A.1: who took part.
rule lajewska2025_chA_demographics:
    input:
        answerability=resource(f"{CH4}/answerability_both_runs.csv"),
        viewpoints=resource(f"{CH4}/viewpoints.csv"),
    output:
        **table_files("released", "lajewska2025/table_A_1"),
    log:
        "logs/lajewska2025/table_A_1.log",
    benchmark:
        "benchmarks/lajewska2025/table_A_1.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(400),
        runtime=5,
    params:
        pairs_per_hit=10,
        face=face_of("released", "lajewska2025/table_A_1"),
        code=code_of("lajewska2025/chA/demographics"),
    message:
        "Demographics (Table A.1)"
    script:
        script_file("lajewska2025/chA/demographics")


# Figure 4.3: ratings by query.
rule lajewska2025_ch4_ratings_by_query:
    input:
        answerability=resource(f"{CH4}/answerability_both_runs.csv"),
        viewpoints=resource(f"{CH4}/viewpoints.csv"),
    output:
        **figure_files("released", "lajewska2025/figure_4_3"),
    log:
        "logs/lajewska2025/figure_4_3.log",
    benchmark:
        "benchmarks/lajewska2025/figure_4_3.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(600),
        runtime=5,
    params:
        code=code_of("lajewska2025/ch4/ratings_by_query"),
    message:
        "Ratings by query (Figure 4.3)"
    script:
        script_file("lajewska2025/ch4/ratings_by_query")


# Figure A.1: how experts scored the variants of the responses.
rule lajewska2025_chA_expert_scores:
    input:
        experts=rules.lajewska2025_ch4_text.input.experts,
    output:
        **figure_files("released", "lajewska2025/figure_A_1"),
    log:
        "logs/lajewska2025/figure_A_1.log",
    benchmark:
        "benchmarks/lajewska2025/figure_A_1.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(600),
        runtime=5,
    params:
        # Reach of the whiskers in interquartile ranges, as the authors' code sets it.
        whiskers={"Diversity": 0.5, "Balance": 1.5},
        code=code_of("lajewska2025/chA/expert_scores"),
    message:
        "Expert scores (Figure A.1)"
    script:
        script_file("lajewska2025/chA/expert_scores")


# Stand-in: the ANOVA of Table 4.8 on simulated studies with a planted effect.
rule lajewska2025_ch4_simulation:
    output:
        **table_files("embedded", "lajewska2025/table_4_8"),
        **beside("embedded", "lajewska2025/table_4_8", "power", figure=True),
    log:
        "logs/lajewska2025/table_4_8_simulation.log",
    benchmark:
        "benchmarks/lajewska2025/table_4_8_simulation.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(1000),
        runtime=5,
    params:
        **SETTINGS.user_studies.simulation.model_dump(),
        seed=SETTINGS.seed,
        alpha=SETTINGS.user_studies.alpha,
        scale="culpepper",
        face=face_of("embedded", "lajewska2025/table_4_8"),
        code=code_of("lajewska2025/ch4/simulation"),
    message:
        "Simulating {params.studies} studies an effect (Table 4.8)"
    script:
        script_file("lajewska2025/ch4/simulation")
