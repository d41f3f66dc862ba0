include: "page_inputs.smk"


localrules:
    page,


# An overview with what does not stand, a static page for each chapter with its artefacts and
# their verdicts, all cells as data; and the jobs behind all results.
use rule step as page with:
    input:
        verdicts=shown_verdicts,
        published=published(),
    output:
        page=ensure("results/index.html", non_empty=True),
        chapters=ensure(pages_of_chapters(), non_empty=True),
        cells=ensure(["results/cells.csv", "results/cells.parquet"], non_empty=True),
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
