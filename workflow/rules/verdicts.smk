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
        "../../envs/base.yaml"
    resources:
        mem_mb=memory(400),
        runtime=5,
    params:
        code=code_of("verdicts.py"),
    message:
        "Verdicts of {wildcards.paper} {wildcards.artefact} ({wildcards.tier})"
    script:
        "../scripts/verdicts.py"


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
        "../../envs/base.yaml"
    resources:
        mem_mb=memory(400),
        runtime=5,
    params:
        code=code_of("errata.py"),
    message:
        "Auditing the printed numbers"
    script:
        "../scripts/errata.py"
