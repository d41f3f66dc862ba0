# abolghasemi2026, chapter 3: counterfactual dialogues and estimators of user satisfaction (CAUSE).
# Ratings and split, released test sets -> labelled samples and tables.


# What estimators are trained and tested on: parts train, valid, main and cf (MultiWOZ alone).
rule abolghasemi2026_ch3_samples:
    input:
        **rated_dialogues("ratings", "valid", "test"),
        **counterfactual_dialogues(),
    output:
        samples="work/satisfaction/samples.parquet",
    log:
        "logs/satisfaction/samples.log",
    benchmark:
        "benchmarks/satisfaction/samples.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=900,
        runtime=5,
    params:
        code=code_of("abolghasemi2026_ch3_samples.py"),
    message:
        "Samples of dialogues with satisfaction"
    script:
        "../scripts/abolghasemi2026_ch3_samples.py"


# Table 3.1: counts of ratings, by each rule that makes one of several; how far raters agree.
rule abolghasemi2026_ch3_ratings:
    input:
        **rated_dialogues("ratings"),
        printed="published/abolghasemi2026/table_3_1.csv",
        card="published/abolghasemi2026/ch3.yaml",
    output:
        **table_files("released", "abolghasemi2026/table_3_1"),
        **beside("released", "abolghasemi2026/table_3_1", "rules"),
        **beside("released", "abolghasemi2026/table_3_1", "raters"),
    log:
        "logs/abolghasemi2026/table_3_1.log",
    benchmark:
        "benchmarks/abolghasemi2026/table_3_1.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=600,
        runtime=5,
    params:
        face=face_of("released", "abolghasemi2026/table_3_1"),
        code=code_of("abolghasemi2026_ch3_ratings.py"),
    message:
        "Ratings of user satisfaction (Table 3.1)"
    script:
        "../scripts/abolghasemi2026_ch3_ratings.py"


# Table 3.2: the three parts of the split.
rule abolghasemi2026_ch3_split:
    input:
        **rated_dialogues("ratings", "valid", "test"),
    output:
        **table_files("released", "abolghasemi2026/table_3_2"),
        **beside("released", "abolghasemi2026/table_3_2", "readings"),
    log:
        "logs/abolghasemi2026/table_3_2.log",
    benchmark:
        "benchmarks/abolghasemi2026/table_3_2.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=900,
        runtime=5,
    params:
        face=face_of("released", "abolghasemi2026/table_3_2"),
        code=code_of("abolghasemi2026_ch3_split.py"),
    message:
        "Training, validation and test samples (Table 3.2)"
    script:
        "../scripts/abolghasemi2026_ch3_split.py"


# Table 3.5: original and counterfactual test sets.
rule abolghasemi2026_ch3_test_sets:
    input:
        **counterfactual_dialogues(),
        samples="work/satisfaction/samples.parquet",
        printed="published/abolghasemi2026/table_3_5.csv",
        card="published/abolghasemi2026/ch3.yaml",
    output:
        **table_files("released", "abolghasemi2026/table_3_5"),
        **beside("released", "abolghasemi2026/table_3_5", "pairs"),
    log:
        "logs/abolghasemi2026/table_3_5.log",
    benchmark:
        "benchmarks/abolghasemi2026/table_3_5.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=600,
        runtime=5,
    params:
        face=face_of("released", "abolghasemi2026/table_3_5"),
        code=code_of("abolghasemi2026_ch3_test_sets.py"),
    message:
        "Original and counterfactual test sets (Table 3.5)"
    script:
        "../scripts/abolghasemi2026_ch3_test_sets.py"


# Table 3.4: which share of the generated utterances flips the label.
rule abolghasemi2026_ch3_success:
    input:
        sizes="results/released/abolghasemi2026/table_3_5.csv",
    output:
        **table_files("released", "abolghasemi2026/table_3_4"),
        **beside("released", "abolghasemi2026/table_3_4", "intervals"),
    log:
        "logs/abolghasemi2026/table_3_4.log",
    benchmark:
        "benchmarks/abolghasemi2026/table_3_4.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=400,
        runtime=5,
    params:
        face=face_of("released", "abolghasemi2026/table_3_4"),
        code=code_of("abolghasemi2026_ch3_success.py"),
    message:
        "Success of generating counterfactuals (Table 3.4)"
    script:
        "../scripts/abolghasemi2026_ch3_success.py"
