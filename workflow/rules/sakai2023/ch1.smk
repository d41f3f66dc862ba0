# sakai2023: group fairness and relevance of two annotated conversations (GFRC).


# Tables 1 (relevance) and 2 (group fairness): from the annotations of Figure 5 and the targets.
rule sakai2023_gfrc:
    input:
        annotations="published/sakai2023/figure_5.csv",
        targets="published/sakai2023/targets.csv",
        card="published/sakai2023/ch1.yaml",
    output:
        **table_files("embedded", "sakai2023/table_{number}"),
    log:
        "logs/sakai2023/table_{number}.log",
    benchmark:
        "benchmarks/sakai2023/table_{number}.tsv"
    wildcard_constraints:
        number="1|2",
    conda:
        environment("base")
    resources:
        mem_mb=memory(400),
        runtime=5,
    params:
        # 5 minutes of reading at 250 words a minute.
        budget=1250,
        gains={"L0": 0.0, "L1": 0.5, "L2": 1.0},
        # Groups by number of ratings are ordered, regions are not.
        divergences={"RATINGS": "RNOD", "ORIGIN": "JSD"},
        method="independent",
        face=face_of("embedded", "sakai2023/table_{number}"),
        code=code_of("sakai2023/ch1/gfrc"),
    message:
        "Scores of two conversations, Table {wildcards.number}"
    script:
        script_file("sakai2023/ch1/gfrc")
