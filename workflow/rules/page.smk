localrules:
    page,


def requested_verdicts(wildcards):
    """Verdict files of the targets of this run: what the page must wait for.

    Results of other tiers that lie on disk are shown too, but are not made for it.
    """
    asked = [target for target in workflow.dag_settings.targets if target in TARGETS]
    return sorted({file for target in asked or ["embedded"] for file in TARGETS[target]})


# One static page with every artefact, its verdicts, and what does not stand.
rule page:
    input:
        verdicts=requested_verdicts,
    output:
        page=ensure("results/index.html", non_empty=True),
    log:
        "logs/page.log",
    benchmark:
        "benchmarks/page.tsv"
    params:
        code=code_of("render", "verdicts.py", "receipts.py"),
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    message:
        "Drawing the page results/index.html"
    script:
        "../scripts/page.py"
