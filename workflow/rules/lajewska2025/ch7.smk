# lajewska2025, chapter 7: do explanations help? One crowd study of ten conditions:
# ratings -> ANOVA tables, a figure of means, numbers of the text.

CH7 = "transparent-cis"
CH7_PILOT = [f"{CH7}/pilot/qs{number}.csv" for number in (3, 4, 7)]


# Tables 7.4 and 7.5 (one-way) and 7.6 (interactions of two factors).
rule lajewska2025_ch7_anova:
    input:
        ratings=resource(f"{CH7}/user_study.csv"),
    output:
        **table_files("released", "lajewska2025/table_7_{number}"),
    log:
        "logs/lajewska2025/table_7_{number}.log",
    benchmark:
        "benchmarks/lajewska2025/table_7_{number}.tsv"
    wildcard_constraints:
        number="4|5|6",
    conda:
        environment("base")
    resources:
        mem_mb=memory(600),
        runtime=5,
    params:
        scale="culpepper_zero",
        face=face_of("released", "lajewska2025/table_7_{number}"),
        code=code_of("lajewska2025/ch7/anova"),
    message:
        "ANOVA of Table 7.{wildcards.number}"
    script:
        script_file("lajewska2025/ch7/anova")


# Figure 7.4: mean ratings by quality and form of the explanations.
rule lajewska2025_ch7_means:
    input:
        ratings=resource(f"{CH7}/user_study.csv"),
    output:
        **figure_files("released", "lajewska2025/figure_7_4"),
    log:
        "logs/lajewska2025/figure_7_4.log",
    benchmark:
        "benchmarks/lajewska2025/figure_7_4.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(600),
        runtime=5,
    params:
        code=code_of("lajewska2025/ch7/means"),
    message:
        "Mean ratings (Figure 7.4)"
    script:
        script_file("lajewska2025/ch7/means")


# Numbers of section 7.3: workers, power analysis of the pilot, comments.
rule lajewska2025_ch7_text:
    input:
        ratings=resource(f"{CH7}/user_study.csv"),
        comments=resource(f"{CH7}/comments_annotations.csv"),
        pilot=[resource(key) for key in CH7_PILOT],
    output:
        **table_files("released", "lajewska2025/text_7_3"),
        **beside("released", "lajewska2025/text_7_3", "power"),
    log:
        "logs/lajewska2025/text_7_3.log",
    benchmark:
        "benchmarks/lajewska2025/text_7_3.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(600),
        runtime=5,
    params:
        alpha=SETTINGS.user_studies.alpha,
        power=SETTINGS.user_studies.power,
        face=face_of("released", "lajewska2025/text_7_3"),
        code=code_of("lajewska2025/ch7/text"),
    message:
        "Numbers of the text of section 7.3"
    script:
        script_file("lajewska2025/ch7/text")


# Stand-in: the ANOVA of Table 7.4 on simulated studies with a planted effect.
rule lajewska2025_ch7_simulation:
    output:
        **table_files("embedded", "lajewska2025/table_7_4"),
        **beside("embedded", "lajewska2025/table_7_4", "power", figure=True),
    log:
        "logs/lajewska2025/table_7_4_simulation.log",
    benchmark:
        "benchmarks/lajewska2025/table_7_4_simulation.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(1500),
        runtime=5,
    params:
        **SETTINGS.user_studies.simulation.model_dump(),
        seed=SETTINGS.seed,
        alpha=SETTINGS.user_studies.alpha,
        scale="culpepper_zero",
        face=face_of("embedded", "lajewska2025/table_7_4"),
        code=code_of("lajewska2025/ch7/simulation"),
    message:
        "Simulating {params.studies} studies an effect (Table 7.4)"
    script:
        script_file("lajewska2025/ch7/simulation")
