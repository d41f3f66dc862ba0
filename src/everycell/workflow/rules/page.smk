include: "page_inputs.smk"


localrules:
    page,


# An overview with differences and contradicted claims, a static page for each chapter with its
# artefacts and their verdicts, all cells and claims as data; and the jobs behind all results.
use rule step as page with:
    input:
        verdicts=shown_verdicts,
        published=published(),
    output:
        # Not removed before the job: the last good page outlives a job that fails, and the lineage
        # keeps what Snakemake no longer has a record of.
        page=update(ensure("results/index.html", non_empty=True)),
        chapters=update(ensure(pages_of_chapters(), non_empty=True)),
        data=update(
            ensure(
                [
                    "results/cells.csv",
                    "results/cells.parquet",
                    "results/claims.csv",
                    "results/badge.svg",
                ],
                non_empty=True,
            )
        ),
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
