include: "page_inputs.smk"


localrules:
    page,


# One static page with every artefact, its verdicts, and what does not stand; and the jobs behind
# all results.
use rule step as page with:
    input:
        verdicts=requested_verdicts,
        published=published(),
    output:
        page=ensure("results/index.html", non_empty=True),
        # Not removed before the job, which keeps what Snakemake no longer has a record of.
        lineage=update(ensure("results/lineage.json", non_empty=True)),
    pathvars:
        job="page",
    resources:
        **needs(500),
    params:
        **runs("page"),
        audits=code_of_all_audits,
    message:
        "Drawing the page results/index.html"
