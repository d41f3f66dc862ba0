# Corpora, indexes and models of the full tier that are downloaded.


# Corpora where config.yaml has `fetch` in place of a folder.
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
