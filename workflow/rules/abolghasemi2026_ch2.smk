# abolghasemi2026, chapter 2: term-based ranking with contextual weights, query by example.
# Each tier has its collection; embedded and released are stand-ins for SciDocs.


rule collection_pydocs:
    output:
        documents="work/pydocs/documents.parquet",
        queries="work/pydocs/queries.parquet",
        candidates="work/pydocs/candidates.parquet",
    log:
        "logs/retrieval/pydocs/collection.log",
    benchmark:
        "benchmarks/retrieval/pydocs/collection.tsv"
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        seed=SETTINGS.seed,
        sizes=SETTINGS.query_by_example.pydocs.model_dump(),
        code=code_of("collection_pydocs.py"),
    message:
        "Collection pydocs, from the installed packages"
    script:
        "../scripts/collection_pydocs.py"
