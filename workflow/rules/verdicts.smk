# Each printed cell against its rebuilt value; conclusions and errata of the card.


rule verdicts:
    input:
        rebuilt="results/{tier}/{paper}/{artefact}.csv",
        receipt="results/{tier}/{paper}/{artefact}.receipt.json",
        card=card_file,
        cells=printed_cells,
    output:
        verdicts="results/{tier}/{paper}/{artefact}.verdicts.json",
    log:
        "logs/verdicts/{tier}/{paper}/{artefact}.log",
    benchmark:
        "benchmarks/verdicts/{tier}/{paper}/{artefact}.tsv"
    wildcard_constraints:
        tier="|".join(TIERS),
        artefact=r"(table|figure|text)_\w+",
    conda:
        environment("base")
    resources:
        mem_mb=memory(400),
        runtime=5,
    params:
        code=code_of("verdicts"),
    message:
        "Verdicts of {wildcards.paper} {wildcards.artefact} ({wildcards.tier})"
    script:
        script_file("verdicts")


# Every erratum that printed numbers alone can show, checked by its audit.
rule errata:
    input:
        published=published(),
    output:
        **table_files("embedded", "errata"),
    log:
        "logs/errata.log",
    benchmark:
        "benchmarks/errata.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(400),
        runtime=5,
    params:
        code=code_of("errata"),
    message:
        "Auditing the printed numbers"
    script:
        script_file("errata")
