# Downloads of corpora, indexes and models for the full tier.

# Corpora for which config.yaml has `fetch` instead of a folder.
for fetched, corpus in CORPORA.items():

    rule:
        name:
            f"fetch_corpus_{fetched}"
        output:
            [ensure(fetched_corpus(f"{fetched}/{file}"), non_empty=True) for file in corpus.files],
        log:
            f"logs/fetch/corpora/{fetched}.log",
        benchmark:
            f"benchmarks/fetch/corpora/{fetched}.tsv"
        # Compute nodes of a cluster often have no network.
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
            "Downloading the corpus {params.corpus}"
        script:
            SCRIPT


# An index by its name in pyserini. It stays in pyserini's cache, since it may take 27 GB; the output
# file identifies it.
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
        "Downloading the index {wildcards.index}"
    script:
        SCRIPT


# A Hugging Face model "NAME" or "NAME@REVISION", with "--" for each slash.
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
        "Downloading the model {wildcards.model}"
    script:
        SCRIPT
