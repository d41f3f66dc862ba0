localrules:
    page,


# One static page with every artefact, its verdicts, and what does not stand; and the jobs behind
# all results.
rule page:
    input:
        verdicts=requested_verdicts,
        published=published(),
    output:
        page=ensure("results/index.html", non_empty=True),
        # Not removed before the job, which keeps what Snakemake no longer has a record of.
        lineage=update(ensure("results/lineage.json", non_empty=True)),
    log:
        "logs/page.log",
    benchmark:
        "benchmarks/page.tsv"
    conda:
        environment("base")
    resources:
        mem_mb=memory(500),
        runtime=5,
    params:
        code=code_of("page"),
    message:
        "Drawing the page results/index.html"
    script:
        script_file("page")
